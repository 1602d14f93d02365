#include "grow/bags.hpp"

namespace hedgerow::grow {

std::vector<std::uint8_t> draw_bags(const TrainingData& data, std::int64_t n_draws, DrawScheme scheme,
                                    std::uint64_t seed, std::int64_t n_trees, std::int64_t n_threads,
                                    const base::Poll& poll) {
    const Bootstrap bootstrap(data, n_draws, scheme);
    const std::int64_t mask_bytes = (data.n_rows + 7) / 8;
    std::vector<std::uint8_t> bags(static_cast<std::size_t>(n_trees * mask_bytes), 0);
    base::parallel_for(
        n_trees, n_threads,
        [&](std::int64_t tree, const Cancelled& cancelled) {
            try {
                const DrawCounts counts = bootstrap(Path(seed).child(static_cast<std::uint64_t>(tree)), cancelled);
                mark_bag(counts, bags.data() + tree * mask_bytes);
            } catch (const Stopped&) {
                return;
            }
        },
        poll);
    return bags;
}

}  // namespace hedgerow::grow
