#include "grow/class_groups.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace hedgerow::grow {
namespace {

constexpr int max_rounds = 20;

// Classes that occur, with their weights and mean values.
struct ClassMeans {
    std::vector<std::size_t> classes;
    std::vector<double> weights;
    std::vector<std::vector<double>> means;

    ClassMeans(const LinearRows& rows, const std::vector<std::int32_t>& labels, std::size_t n_classes) {
        const auto n_columns = static_cast<std::size_t>(rows.n_columns);
        std::vector<double> weight(n_classes, 0.0);
        std::vector<double> sums(n_classes * n_columns, 0.0);
        for (std::size_t row = 0; row < labels.size(); ++row) {
            const auto k = static_cast<std::size_t>(labels[row]);
            weight[k] += rows.weights[row];
            for (std::size_t i = 0; i < n_columns; ++i)
                sums[k * n_columns + i] += rows.weights[row] * rows.values[row * n_columns + i];
        }
        for (std::size_t k = 0; k < n_classes; ++k) {
            if (weight[k] <= 0) continue;
            classes.push_back(k);
            weights.push_back(weight[k]);
            means.emplace_back(sums.begin() + static_cast<std::ptrdiff_t>(k * n_columns),
                               sums.begin() + static_cast<std::ptrdiff_t>((k + 1) * n_columns));
            for (double& sum : means.back()) sum /= weight[k];
        }
    }
};

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

// The first of those farthest from a point.
std::size_t farthest(const std::vector<std::vector<double>>& points, const std::vector<double>& from) {
    std::size_t best = 0;
    double most = -1;
    for (std::size_t i = 0; i < points.size(); ++i)
        if (const double distance = squared_distance(points[i], from); distance > most) {
            best = i;
            most = distance;
        }
    return best;
}

// Lloyd's two-means from the class farthest from the mean of all rows, and the one farthest from that.
std::vector<bool> two_means(const ClassMeans& of) {
    const std::vector<double> origin(of.means[0].size(), 0.0);
    const std::size_t first = farthest(of.means, origin);
    std::array<std::vector<double>, 2> centres{of.means[first], of.means[farthest(of.means, of.means[first])]};
    std::vector<bool> in_first(of.means.size(), false);
    for (int round = 0; round < max_rounds; ++round) {
        std::vector<bool> next;
        for (const auto& mean : of.means)
            next.push_back(squared_distance(mean, centres[0]) <= squared_distance(mean, centres[1]));
        const auto n_first = std::count(next.begin(), next.end(), true);
        if (next == in_first || n_first == 0 || n_first == static_cast<std::ptrdiff_t>(next.size())) break;
        in_first = next;
        std::array<double, 2> weights{};
        centres = {origin, origin};
        for (std::size_t k = 0; k < next.size(); ++k) {
            const std::size_t side = next[k] ? 0 : 1;
            weights[side] += of.weights[k];
            for (std::size_t i = 0; i < origin.size(); ++i) centres[side][i] += of.weights[k] * of.means[k][i];
        }
        for (std::size_t side = 0; side < 2; ++side)
            for (double& sum : centres[side]) sum /= weights[side];
    }
    return in_first;
}

}  // namespace

std::vector<std::vector<bool>> class_groups(const LinearRows& rows, const std::vector<std::int32_t>& labels,
                                            std::int64_t n_classes) {
    const auto size = static_cast<std::size_t>(n_classes);
    const ClassMeans of(rows, labels, size);
    std::vector<std::vector<bool>> groups;
    const auto add = [&](const std::vector<bool>& in_first) {
        const auto n_first = std::count(in_first.begin(), in_first.end(), true);
        if (n_first == 0 || n_first == static_cast<std::ptrdiff_t>(in_first.size())) return;
        std::vector<bool> group(size, false);
        for (std::size_t i = 0; i < of.classes.size(); ++i) group[of.classes[i]] = in_first[i];
        groups.push_back(std::move(group));
    };
    std::vector<bool> heaviest(of.classes.size(), false);
    heaviest[static_cast<std::size_t>(std::max_element(of.weights.begin(), of.weights.end()) - of.weights.begin())] =
        true;
    if (of.classes.size() == 2) {
        add(heaviest);
        return groups;
    }
    std::vector<bool> near = two_means(of);
    std::vector<bool> far = near;
    far.flip();
    add(near);
    if (near != heaviest && far != heaviest) add(heaviest);
    return groups;
}

}  // namespace hedgerow::grow
