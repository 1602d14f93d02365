// Split criteria. Each gives a group of rows a score such that the weighted decrease of impurity is the sum of the
// scores of the branches less the score of the whole, so that one search serves them all. The table is at the end.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <vector>

namespace hedgerow::grow {

// A training row, or the fraction of one that reached a node.
template <class Target>
struct Instance {
    double weight;
    Target target;
};

// What a criterion is made from.
struct CriterionInputs {
    std::int64_t n_classes;
    double weight;              // of all rows of the tree
    const double* class_costs;  // true × predicted class, or null
};

struct Fraction {
    double numerator;
    double denominator;  // positive
};

// x·log2(x). With unit weights nearly all arguments are small whole numbers, whose values are cached. Not thread-safe.
class XLogX {
public:
    explicit XLogX(double largest) : table_(static_cast<std::size_t>(std::min(largest, max_table)) + 1, 0.0) {}
    double operator()(double x) const {
        if (x < static_cast<double>(table_.size())) {
            const auto whole = static_cast<std::size_t>(x > 0 ? x : 0);
            if (static_cast<double>(whole) == x) {
                double& known = table_[whole];
                if (known == 0) known = exact(x);  // exact(0) and exact(1) are 0
                return known;
            }
        }
        return exact(x);
    }

private:
    static constexpr double max_table = 1 << 20;
    static double exact(double x) { return x > 0 ? x * std::log2(x) : 0.0; }
    mutable std::vector<double> table_;
};

// Weighted class counts of a group; `n_constant`: the number of classes where the compiler knows it (2), else 0.
template <int n_constant>
class Classes {
public:
    using Target = std::int32_t;
    using Group = std::conditional_t<(n_constant > 0), std::array<double, n_constant>, std::vector<double>>;
    static constexpr int n_known_classes = n_constant;
    explicit Classes(const CriterionInputs& inputs) : n_classes_(inputs.n_classes) {}
    std::int64_t size() const { return n_constant > 0 ? n_constant : n_classes_; }  // of a group
    Group empty() const {
        if constexpr (n_constant > 0)
            return Group{};
        else
            return Group(static_cast<std::size_t>(n_classes_), 0.0);
    }

    static void add(double* group, const Instance<Target>& instance) { group[instance.target] += instance.weight; }
    double weight(const double* group) const {
        double sum = 0;
        for (std::int64_t k = 0; k < size(); ++k) sum += group[k];
        return sum;
    }
    // Scale of the scores of groups with this instance: two scores closer than rounding are a tie.
    static double magnitude(const Instance<Target>& instance) { return instance.weight; }

private:
    std::int64_t n_classes_;
};

// Gini index: W·(1 − Σ p²) = W − Σ c²/W, so the score is Σ c²/W.
template <int n_constant>
class Gini : public Classes<n_constant> {
public:
    using Classes<n_constant>::Classes;
    double score(const double* group) const {
        double weight = 0, squares = 0;
        for (std::int64_t k = 0; k < this->size(); ++k) {
            weight += group[k];
            squares += group[k] * group[k];
        }
        return weight > 0 ? squares / weight : 0.0;
    }
    // Gain of splitting `whole` into a part and the rest, neither empty, as a fraction: candidates are compared without
    // the division.
    Fraction split_gain(const double* part, const double* whole, double whole_score) const {
        if constexpr (n_constant == 2) {
            // l²/L + r²/R − n²/N = (l·N − n·L)² / (N·L·R), for each of the classes alike
            const double L = part[0] + part[1], N = whole[0] + whole[1];
            const double difference = part[1] * N - whole[1] * L;
            return {2 * difference * difference, N * (L * (N - L))};
        }
        double weight = 0, squares = 0, rest_weight = 0, rest_squares = 0;
        for (std::int64_t k = 0; k < this->size(); ++k) {
            const double rest = whole[k] - part[k];
            weight += part[k];
            squares += part[k] * part[k];
            rest_weight += rest;
            rest_squares += rest * rest;
        }
        const double denominator = weight * rest_weight;
        return {squares * rest_weight + rest_squares * weight - whole_score * denominator, denominator};
    }
};

// Gini index with costs: W·Σ λ_ij·p_i·p_j = Σ λ_ij·c_i·c_j/W with λ_ij the cost of calling class i class j (Honavar,
// Decision Trees and Forests, the slide on misclassification costs), so the score is its negative.
class CostGini : public Classes<0> {
public:
    explicit CostGini(const CriterionInputs& inputs)
        : Classes<0>(inputs),
          costs_(inputs.class_costs),
          largest_(*std::max_element(costs_, costs_ + inputs.n_classes * inputs.n_classes)) {}
    double score(const double* group) const {
        double weight = 0, sum = 0;
        for (std::int64_t i = 0; i < size(); ++i) {
            weight += group[i];
            double expected = 0;
            for (std::int64_t j = 0; j < size(); ++j) expected += costs_[i * size() + j] * group[j];
            sum += group[i] * expected;
        }
        return weight > 0 ? -sum / weight : 0.0;
    }
    Fraction split_gain(const double* part, const double* whole, double whole_score) const {
        double weight = 0, sum = 0, rest_weight = 0, rest_sum = 0;
        for (std::int64_t i = 0; i < size(); ++i) {
            const double rest = whole[i] - part[i];
            weight += part[i];
            rest_weight += rest;
            double expected = 0, rest_expected = 0;
            for (std::int64_t j = 0; j < size(); ++j) {
                expected += costs_[i * size() + j] * part[j];
                rest_expected += costs_[i * size() + j] * (whole[j] - part[j]);
            }
            sum += part[i] * expected;
            rest_sum += rest * rest_expected;
        }
        const double denominator = weight * rest_weight;
        return {-sum * rest_weight - rest_sum * weight - whole_score * denominator, denominator};
    }
    double magnitude(const Instance<Target>& instance) const { return instance.weight * largest_; }

private:
    const double* costs_;
    double largest_;
};

// Shannon entropy in bits: −W·Σ p·log2 p = W·log2 W − Σ c·log2 c, so the score is Σ c·log2 c − W·log2 W.
template <int n_constant>
class Entropy : public Classes<n_constant> {
public:
    explicit Entropy(const CriterionInputs& inputs) : Classes<n_constant>(inputs), x_log_x_(inputs.weight) {}
    double score(const double* group) const {
        double weight = 0, sum = 0;
        for (std::int64_t k = 0; k < this->size(); ++k) {
            weight += group[k];
            sum += x_log_x_(group[k]);
        }
        return sum - x_log_x_(weight);
    }
    Fraction split_gain(const double* part, const double* whole, double whole_score) const {
        double weight = 0, rest_weight = 0, sum = 0;
        for (std::int64_t k = 0; k < this->size(); ++k) {
            const double rest = whole[k] - part[k];
            weight += part[k];
            rest_weight += rest;
            sum += x_log_x_(part[k]) + x_log_x_(rest);
        }
        return {sum - x_log_x_(weight) - x_log_x_(rest_weight) - whole_score, 1.0};
    }

private:
    XLogX x_log_x_;
};

// Squared error: Σ w·(y − mean)² = Σ w·y² − S²/W, so the score is S²/W. Targets are centred before they come here.
class SquaredError {
public:
    using Target = double;
    explicit SquaredError(const CriterionInputs&) {}
    using Group = std::array<double, 2>;  // W and S
    static constexpr std::int64_t size() { return 2; }
    static Group empty() { return {}; }

    static void add(double* group, const Instance<Target>& instance) {
        group[0] += instance.weight;
        group[1] += instance.weight * instance.target;
    }
    static double weight(const double* group) { return group[0]; }
    static double score(const double* group) { return group[0] > 0 ? group[1] * group[1] / group[0] : 0.0; }
    static Fraction split_gain(const double* part, const double* whole, double) {
        // s²/L + (S − s)²/R − S²/N = (s·N − S·L)² / (N·L·R)
        const double difference = part[1] * whole[0] - whole[1] * part[0];
        return {difference * difference, whole[0] * (part[0] * (whole[0] - part[0]))};
    }
    static double magnitude(const Instance<Target>& instance) {
        return instance.weight * instance.target * instance.target;
    }
};

// Misclassification error: W·(1 − max p) = W − max c, so the score is max c. No estimator offers it: it shows that a
// criterion takes one place here and one in Python (tests/growth/test_criteria.py).
class Misclassification : public Classes<0> {
public:
    using Classes<0>::Classes;
    double score(const double* group) const { return *std::max_element(group, group + size()); }
};

// -- the table

// Position in `criteria`.
enum class CriterionId : std::uint8_t {};

// `Class<2>` is the criterion for two classes, `Class<0>` the one for any number of them.
template <template <int> class Class>
struct CriterionEntry {
    template <int n>
    using For = Class<n>;

    const char* name;
    bool is_ratio = false;     // the gain is divided by the information of the split (C4.5's gain ratio)
    bool takes_costs = false;  // class_costs are needed
};

// One class for any number of classes.
template <int>
using AnySquaredError = SquaredError;
template <int>
using AnyCostGini = CostGini;
template <int>
using AnyMisclassification = Misclassification;

// A new criterion takes a class above and a line here, and an entry in hedgerow/_criteria.py. One that has `split_gain`
// can also be used on binned columns.
inline constexpr std::tuple criteria{
    CriterionEntry<Gini>{"gini"},
    CriterionEntry<Entropy>{"entropy"},
    CriterionEntry<Entropy>{"gain_ratio", true},
    CriterionEntry<AnySquaredError>{"squared_error"},
    CriterionEntry<AnyCostGini>{"cost_gini", false, true},
    CriterionEntry<AnyMisclassification>{"misclassification"},
};

// Calls use(entry, id) for each criterion.
template <class Use>
void for_each_criterion(const Use& use) {
    std::uint8_t number = 0;
    std::apply([&](const auto&... entry) { (use(entry, CriterionId{number++}), ...); }, criteria);
}

inline bool is_ratio(CriterionId id) {
    bool found = false;
    for_each_criterion([&](const auto& entry, CriterionId other) { found |= entry.is_ratio && other == id; });
    return found;
}

inline bool takes_costs(CriterionId id) {
    bool found = false;
    for_each_criterion([&](const auto& entry, CriterionId other) { found |= entry.takes_costs && other == id; });
    return found;
}

// Returns use.operator()<Criterion>() for the class of a criterion.
template <std::size_t i = 0, class Use>
auto with_criterion(CriterionId id, std::int64_t n_classes, const Use& use) {
    using Entry = std::tuple_element_t<i, std::remove_const_t<decltype(criteria)>>;
    if constexpr (i + 1 < std::tuple_size_v<decltype(criteria)>)
        if (static_cast<std::size_t>(id) != i) return with_criterion<i + 1>(id, n_classes, use);
    if (static_cast<std::size_t>(id) != i) throw std::invalid_argument("unknown split criterion");
    return n_classes == 2 ? use.template operator()<typename Entry::template For<2>>()
                          : use.template operator()<typename Entry::template For<0>>();
}

}  // namespace hedgerow::grow
