// What makes a split good. Every criterion gives a group of rows a score such that the weighted decrease of impurity
// is the sum of the scores of the branches less the score of the whole, so that one search serves them all.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace hedgerow {

// A training row, or the part of one that reached a node.
template <class Target>
struct Instance {
    double weight;
    Target target;
};

struct Fraction {
    double numerator;
    double denominator;  // positive
};

// x·log2(x). For unit weights nearly all arguments are small whole numbers: those are looked up once they have been seen.
// Not for several threads at once.
class XLogX {
public:
    explicit XLogX(double largest) : table_(static_cast<std::size_t>(std::min(largest, max_table)) + 1, 0.0) {}
    double operator()(double x) const {
        if (x < static_cast<double>(table_.size())) {
            const auto whole = static_cast<std::size_t>(x > 0 ? x : 0);
            if (static_cast<double>(whole) == x) {
                double& known = table_[whole];
                if (known == 0) known = exact(x);  // of 0 and 1 it is 0
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

// Weighted class counts of a group; `n_constant` classes where that is known to the compiler (2), else 0.
template <int n_constant>
class Classes {
public:
    using Target = std::int32_t;
    using Group = std::conditional_t<(n_constant > 0), std::array<double, n_constant>, std::vector<double>>;
    explicit Classes(std::int64_t n_classes) : n_classes_(n_classes) {}
    std::int64_t size() const { return n_constant > 0 ? n_constant : n_classes_; }  // numbers a group is kept in
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
    // What the scores of groups with this instance are made of: two scores closer than rounding are a tie.
    static double magnitude(const Instance<Target>& instance) { return instance.weight; }

private:
    std::int64_t n_classes_;
};

// Gini index: W·(1 − Σ p²) = W − Σ c²/W, so the score is Σ c²/W.
template <int n_constant>
class Gini : public Classes<n_constant> {
public:
    Gini(std::int64_t n_classes, double) : Classes<n_constant>(n_classes) {}
    double score(const double* group) const {
        double weight = 0, squares = 0;
        for (std::int64_t k = 0; k < this->size(); ++k) {
            weight += group[k];
            squares += group[k] * group[k];
        }
        return weight > 0 ? squares / weight : 0.0;
    }
    // The gain of dividing `whole` into a part and the rest, neither empty, as a fraction: candidates are compared without
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

// Gini index with costs: W·Σ λ_ij·p_i·p_j = Σ λ_ij·c_i·c_j/W with λ_ij the cost of calling class i class j (Honavar, Decision
// Trees and Forests, the slide on misclassification costs), so the score is its negative.
class CostGini : public Classes<0> {
public:
    CostGini(std::int64_t n_classes, const double* costs)
        : Classes<0>(n_classes), costs_(costs), largest_(*std::max_element(costs, costs + n_classes * n_classes)) {}
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
    double magnitude(const Instance<Target>& instance) const { return instance.weight * largest_; }

private:
    const double* costs_;
    double largest_;
};

// Shannon entropy in bits: −W·Σ p·log2 p = W·log2 W − Σ c·log2 c, so the score is Σ c·log2 c − W·log2 W.
template <int n_constant>
class Entropy : public Classes<n_constant> {
public:
    Entropy(std::int64_t n_classes, double largest) : Classes<n_constant>(n_classes), x_log_x_(largest) {}
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
    SquaredError(std::int64_t, double) {}
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

}  // namespace hedgerow
