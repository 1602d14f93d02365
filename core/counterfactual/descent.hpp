// A good accepted row, found quickly: one column after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "counterfactual/trees.hpp"

namespace hedgerow::counterfactual {

// Changes the column that brings the sums of a row nearest to what is needed, for its cost, until they are there; then
// takes back what is not needed. Fast because what all candidates of all columns would give, one at a time, follows
// from one walk of the trees.
class Descent {
public:
    Descent(const Trees& trees, const Candidates& candidates, const std::vector<double>& offset,
            const std::vector<double>& needed, std::int64_t n_changes);

    // From a row within the box; nothing where single changes lead nowhere.
    std::optional<Choices> operator()(const Choices& from, const Box& box);

private:
    void profile(const Choices& choices, const Box& box);
    double walk(std::int32_t node, double weight, std::int64_t condition);
    void deviate(std::int32_t node, double weight, std::int64_t condition, std::int32_t column, std::int32_t first,
                 std::int32_t last);
    double missing(const double* added) const;  // by how much the sums miss what is needed
    bool reach(Choices& choices, const Box& box);
    void shrink(Choices& choices, const Box& box);
    std::int64_t changed(const Choices& choices) const;
    double distance(const Choices& choices) const;
    double* of(std::int64_t column, std::int32_t choice) {
        return added_.data() + (candidates_.start[column] + choice) * trees_.n_conditions();
    }

    const Trees& trees_;
    const Candidates candidates_;
    const std::vector<double>&offset_, &needed_;
    const std::int64_t n_changes_;

    // of the row in hand: its sums, and what another candidate of a column would add to them
    const Choices* choices_ = nullptr;
    const Box* box_ = nullptr;
    std::vector<double> sums_, added_;
};

}  // namespace hedgerow::counterfactual
