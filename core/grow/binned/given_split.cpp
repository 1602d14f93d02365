#include "grow/binned/given_split.hpp"

#include <stdexcept>
#include <type_traits>

#include "grow/binned/apply_split.hpp"
#include "grow/criteria.hpp"

namespace hedgerow::grow::binned {
namespace {

template <class Group>
NodeSplit written(const BinnedSplit<Group>& split, const std::vector<BinnedColumn>& columns,
                  const std::int32_t* n_categories) {
    const auto feature = static_cast<std::size_t>(split.feature);
    NodeSplit found{split.feature,
                    split.kind,
                    node_threshold(split, columns[feature]),
                    node_payload(split, n_categories[feature]),
                    split.child_of,
                    split.n_children,
                    split.any_missing,
                    split.share_left};
    if (split.kind == Kind::threshold)
        for (std::size_t code = 0; code < n_codes; ++code) found.child_of[code] = code > split.last_left;
    return found;
}

}  // namespace

std::optional<NodeSplit> split_given_node(const GivenNode& node, const std::vector<BinnedColumn>& columns,
                                          const std::int32_t* n_categories, const GrowOptions& options,
                                          const Root& root) {
    return with_criterion(options.criterion, node.n_classes, [&]<class Criterion>() -> std::optional<NodeSplit> {
        if constexpr (!std::is_same_v<typename Criterion::Target, double> && requires { &Criterion::split_gain; }) {
            const Criterion criterion({node.n_classes, root.tree_weight, options.class_costs.data()});
            const auto split = find_given_split(criterion, node, columns, n_categories, options, root);
            return split ? std::optional(written(*split, columns, n_categories)) : std::nullopt;
        } else {
            throw std::invalid_argument("this criterion can't be computed from histograms of classes");
        }
    });
}

}  // namespace hedgerow::grow::binned
