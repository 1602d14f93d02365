#include "data/hold_out.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/hash.hpp"
#include "base/random.hpp"

namespace hedgerow::data {

using base::mix;
using base::Path;

namespace {

struct Keyed {
    std::uint64_t key;
    std::uint32_t row;

    bool operator<(const Keyed& other) const { return key < other.key; }
};

// Equal values have equal bits; NaN equals NaN, and 0 equals -0.
std::uint64_t bits_of(double value) {
    return std::bit_cast<std::uint64_t>(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value + 0.0);
}

// Hash of each row and the seed, column by column: rows do not wait for each other.
std::vector<std::uint64_t> keys_of(const TrainingData& data, std::uint64_t seed) {
    const auto n_rows = static_cast<std::size_t>(data.n_rows);
    std::vector<std::uint64_t> keys(n_rows, Path(seed).child(1).key());
    for (std::size_t row = 0; row < n_rows; ++row)
        keys[row] = mix(keys[row] ^ bits_of(data.labels != nullptr ? data.labels[row] : data.targets[row]));
    for (std::int64_t feature = 0; feature < data.n_features; ++feature) {
        const double* column = data.X + feature * data.n_rows;
        for (std::size_t row = 0; row < n_rows; ++row) keys[row] = mix(keys[row] ^ bits_of(column[row]));
    }
    return keys;
}

// Bucket sort: keys are uniform, about one to a bucket.
void sort(std::vector<Keyed>& rows) {
    const int n_bits = std::bit_width(rows.size());
    const auto bucket = [=](const Keyed& one) { return static_cast<std::size_t>(one.key >> (64 - n_bits)); };
    std::vector<std::size_t> ends((std::size_t{1} << n_bits) + 1, 0);
    for (const Keyed& one : rows) ++ends[bucket(one) + 1];
    for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
    std::vector<Keyed> sorted(rows.size());
    for (const Keyed& one : rows) sorted[ends[bucket(one)]++] = one;
    for (auto first = sorted.begin(); first != sorted.end();) {
        const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(ends[bucket(*first)]);
        std::sort(first, last);
        first = last;
    }
    rows = std::move(sorted);
}

}  // namespace

std::vector<double> positions_by_hash(const TrainingData& data, std::uint64_t seed) {
    const std::vector<std::uint64_t> keys = keys_of(data, seed);
    std::vector<std::vector<Keyed>> lines(static_cast<std::size_t>(std::max<std::int64_t>(data.n_classes, 1)));
    for (std::uint32_t row = 0; row < keys.size(); ++row)
        lines[data.labels != nullptr ? static_cast<std::size_t>(data.labels[row]) : 0].push_back({keys[row], row});
    std::vector<double> positions(keys.size());
    for (std::vector<Keyed>& line : lines) {
        if (line.empty()) continue;
        sort(line);
        double length = 0;
        for (const Keyed& one : line) length += data.weight[one.row];
        double end = 0;
        for (auto first = line.begin(); first != line.end();) {
            const auto last = std::find_if(first, line.end(), [=](const Keyed& one) { return one.key != first->key; });
            double weight = 0;
            for (auto one = first; one != last; ++one) weight += data.weight[one->row];
            end += weight;
            const double position = std::clamp((end - weight / 2) / length, 0.0, std::nextafter(1.0, 0.0));
            for (; first != last; ++first) positions[first->row] = position;
        }
    }
    return positions;
}

}  // namespace hedgerow::data
