// An order of categories along which the best two-way split is searched.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace hedgerow::grow {

template <class Group>
struct CategoryGroup {
    std::int32_t code;
    double rows;
    Group group;  // class counts; regression: weight and sum
};

// With more than two classes: the first principal axis of the categories' class shares (Coppersmith, Hong, Hosking,
// 1999), by power iteration.
template <class Group>
std::vector<double> principal_scores(const std::vector<CategoryGroup<Group>>& categories) {
    const std::size_t n_classes = categories[0].group.size();
    std::vector<std::vector<double>> shares;
    std::vector<double> weights, mean(n_classes, 0.0);
    for (const CategoryGroup<Group>& category : categories) {
        weights.push_back(std::accumulate(category.group.begin(), category.group.end(), 0.0));
        shares.emplace_back(category.group.begin(), category.group.end());
        for (double& share : shares.back()) share /= weights.back();
    }
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t i = 0; i < shares.size(); ++i)
        for (std::size_t k = 0; k < n_classes; ++k) mean[k] += weights[i] / total * shares[i][k];
    for (auto& share : shares)
        for (std::size_t k = 0; k < n_classes; ++k) share[k] -= mean[k];

    // Starts along the class that varies most between categories.
    std::vector<double> variance(n_classes, 0.0);
    for (std::size_t i = 0; i < shares.size(); ++i)
        for (std::size_t k = 0; k < n_classes; ++k) variance[k] += weights[i] * shares[i][k] * shares[i][k];
    std::vector<double> axis(n_classes, 0.0);
    axis[static_cast<std::size_t>(std::max_element(variance.begin(), variance.end()) - variance.begin())] = 1.0;

    std::vector<double> scores(shares.size());
    for (int round = 0; round < 20; ++round) {
        for (std::size_t i = 0; i < shares.size(); ++i)
            scores[i] = std::inner_product(axis.begin(), axis.end(), shares[i].begin(), 0.0);
        std::vector<double> next(n_classes, 0.0);
        for (std::size_t i = 0; i < shares.size(); ++i)
            for (std::size_t k = 0; k < n_classes; ++k) next[k] += weights[i] * scores[i] * shares[i][k];
        const double norm = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
        if (norm <= 0) break;
        for (std::size_t k = 0; k < n_classes; ++k) axis[k] = next[k] / norm;
    }
    return scores;
}

// Two classes and real targets: by the mean, an order that holds the best split (Breiman et al., CART, 1984, 4.2.2).
template <class Group>
void order_categories(std::vector<CategoryGroup<Group>>& categories, bool real_targets) {
    std::vector<double> scores;
    if (real_targets) {
        for (const CategoryGroup<Group>& category : categories) scores.push_back(category.group[1] / category.group[0]);
    } else if (categories[0].group.size() == 2) {
        for (const CategoryGroup<Group>& category : categories)
            scores.push_back(category.group[1] / (category.group[0] + category.group[1]));
    } else {
        scores = principal_scores(categories);
    }
    std::vector<std::size_t> order(categories.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
    std::vector<CategoryGroup<Group>> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(categories[i]));
    categories = std::move(sorted);
}

}  // namespace hedgerow::grow
