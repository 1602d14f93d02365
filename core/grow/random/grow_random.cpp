#include "grow/random/grow_random.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "grow/random/ranks.hpp"
#include "grow/random/shared_forest.hpp"
#include "grow/random/tree.hpp"
#include "grow/random/writer.hpp"

namespace hedgerow::grow::random {
namespace {

// Buffers for growing, reused from tree to tree.
template <class Rank>
class TreePool {
public:
    explicit TreePool(const RandomTask<Rank>& task) : task_(task) {}

    std::unique_ptr<RandomTree<Rank>> take() {
        const std::lock_guard lock(mutex_);
        if (free_.empty()) return std::make_unique<RandomTree<Rank>>(task_);
        auto tree = std::move(free_.back());
        free_.pop_back();
        return tree;
    }
    void give_back(std::unique_ptr<RandomTree<Rank>> tree) {
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(tree));
    }

private:
    const RandomTask<Rank>& task_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<RandomTree<Rank>>> free_;
};

constexpr double no_threshold = std::numeric_limits<double>::quiet_NaN();

template <class Rank>
RandomTask<Rank> make_task(const TrainingData& data, const RankedData<Rank>& ranked, const RandomGrowOptions& options) {
    const std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    const bool only_numbers =
        std::none_of(data.n_categories, data.n_categories + data.n_features, [](std::int32_t n) { return n > 0; });
    const bool each_counts_once = ranked.all_complete && std::all_of(data.weight, data.weight + data.n_rows,
                                                                     [](double weight) { return weight == 1; });
    std::vector<std::uint32_t> marks(static_cast<std::size_t>(data.n_rows));
    std::iota(marks.begin(), marks.end(), 0u);
    if (each_counts_once) std::copy_n(data.labels, data.n_rows, marks.begin());
    std::vector<Thresholds> thresholds{{{&no_threshold, 0}, 0, no_threshold}};
    for (std::int64_t f = 0; f < data.n_features; ++f)
        thresholds.push_back(data.n_categories[f] > 0
                                 ? thresholds[0]
                                 : Thresholds{data.column(f), most, std::numeric_limits<double>::lowest()});
    return {data,
            ranked,
            options,
            std::move(marks),
            std::move(thresholds),
            each_counts_once,
            only_numbers,
            only_numbers && ranked.all_complete && options.min_samples_leaf == 1,
            static_cast<std::uint32_t>(std::min<std::int64_t>(options.min_samples_leaf, data.n_rows)),
            options.max_depth < 0 ? most : static_cast<std::uint32_t>(options.max_depth)};
}

template <class Rank>
GrownForest grow_ranked(const TrainingData& data, const RandomGrowOptions& options, std::int64_t n_threads,
                        std::atomic<std::int64_t>& n_done, const Poll& poll) {
    const RankedData<Rank> ranked = rank<Rank>(data, n_threads, poll);
    const RandomTask<Rank> task = make_task(data, ranked, options);
    TreePool<Rank> pool(task);
    SharedForest forest(options.n_trees);
    std::vector<LeavesOfSeveral> several(static_cast<std::size_t>(options.n_trees));
    parallel_for(
        options.n_trees, n_threads,
        [&](std::int64_t number, const Cancelled& cancelled) {
            auto tree = pool.take();
            try {
                tree->grow(number, cancelled);
                RandomWriter writer(task, tree->raw());
                forest.add(number, writer, cancelled);
                several[static_cast<std::size_t>(number)] = writer.take_several();
            } catch (const Stopped&) {
                return;
            }
            pool.give_back(std::move(tree));
            ++n_done;
        },
        poll);
    GrownForest grown = forest.take();
    if (task.each_counts_once) number_counts(grown, several, static_cast<std::size_t>(data.n_classes));
    return grown;
}

}  // namespace

GrownForest grow_random(const TrainingData& data, const RandomGrowOptions& options, std::atomic<std::int64_t>& n_done,
                        const Poll& poll) {
    // About 15 ms: too short for Ctrl-C, and the calling thread has memory from its last fit.
    const bool short_work = data.n_rows * options.n_trees < (options.n_threads > 1 ? 1 << 12 : 1 << 17);
    const std::int64_t n_threads = short_work ? 0 : std::max<std::int64_t>(options.n_threads, 1);
    return few_categories(data) ? grow_ranked<std::uint16_t>(data, options, n_threads, n_done, poll)
                                : grow_ranked<std::uint32_t>(data, options, n_threads, n_done, poll);
}

}  // namespace hedgerow::grow::random
