#include "boundary/kernel_shares.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace hedgerow::boundary {

using base::Cancelled;
using base::parallel_for;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t small_group = 256;  // rows that are summed one by one
constexpr double cell_width = 0.5;         // in bandwidths
constexpr std::int64_t max_terms = 20;
constexpr std::int64_t queries_per_task = 64;

struct Sums {
    double in = 0.0;
    double out = 0.0;

    void add(const double* weights, double factor) {
        in += factor * weights[0];
        out += factor * weights[1];
    }
    double share() const { return in / (in + out); }
};

// Kernel weight at this squared distance, up to a constant.
double weight_at(Kernel kernel, double squared) {
    if (squared > 1) return 0.0;
    return kernel == Kernel::box ? 1.0 : 1.0 - squared;
}

// One group in units of its bandwidths, relative to its first row: differences stay exact where the numbers are large.
class KernelGroup {
public:
    KernelGroup(Kernel kernel, const KernelSample& sample, std::int64_t group, bool by_cells)
        : kernel_(kernel),
          n_dims_(sample.n_dims),
          begin_(sample.start[group]),
          n_rows_(sample.start[group + 1] - begin_),
          origin_(sample.points + begin_ * n_dims_),
          bandwidth_(sample.bandwidth + group * n_dims_),
          weights_(sample.weights + 2 * begin_),
          points_(static_cast<std::size_t>(n_rows_ * n_dims_)) {
        for (std::int64_t i = 0; i < n_rows_ * n_dims_; ++i)
            points_[static_cast<std::size_t>(i)] = (origin_[i] - origin_[i % n_dims_]) / bandwidth_[i % n_dims_];
        if (by_cells) make_cells();
    }

    // `left_out` is a row of the sample, or -1.
    double share(const double* point, std::int64_t left_out, const std::array<double, max_terms + 1>& reach,
                 double tolerance) const {
        std::array<double, 2> q{};
        for (std::int64_t d = 0; d < n_dims_; ++d)
            q[static_cast<std::size_t>(d)] = n_rows_ ? (point[d] - origin_[d]) / bandwidth_[d] : 0.0;
        const std::int64_t skip = left_out < 0 ? -1 : left_out - begin_;
        const double least = nearest(q.data(), skip);
        if (least == infinity) return std::numeric_limits<double>::quiet_NaN();
        Sums sums;
        if (cells_.empty())
            add_rows(sums, q.data(), 0, n_rows_, skip, least);
        else if (kernel_ == Kernel::gaussian)
            sums = gaussian_cells(q[0], skip, least, reach, tolerance);
        else
            sums = compact_cells(q[0], skip);
        if (!(sums.in + sums.out > 0)) {  // outside of every kernel
            sums = {};
            for (std::int64_t i = 0; i < n_rows_; ++i)
                if (i != skip && squared(q.data(), i) == least) sums.add(weights_ + 2 * i, 1.0);
        }
        return sums.share();
    }

private:
    // With s = t - centre, `moments` of a Gaussian cell are Σ w e^(-s²/2) s^k/k!.
    struct KernelCell {
        std::int64_t begin, end;
        double first, last, centre, radius;
        std::array<Sums, max_terms> moments;
    };

    // Cumulative sums over the rows of a cell, for kernels with bounded support: Σ w, Σ w s, Σ w s².
    struct Upto {
        Sums w, ws, wss;
    };

    double squared(const double* q, std::int64_t row) const {
        double sum = 0;
        for (std::int64_t d = 0; d < n_dims_; ++d) {
            const double difference = q[d] - points_[static_cast<std::size_t>(row * n_dims_ + d)];
            sum += difference * difference;
        }
        return sum;
    }

    // The squared distance of the nearest row.
    double nearest(const double* q, std::int64_t skip) const {
        double least = infinity;
        if (n_dims_ > 1) {
            for (std::int64_t i = 0; i < n_rows_; ++i)
                if (i != skip) least = std::min(least, squared(q, i));
            return least;
        }
        const std::int64_t at = std::lower_bound(points_.begin(), points_.end(), q[0]) - points_.begin();
        for (std::int64_t i = std::max<std::int64_t>(at - 2, 0); i < std::min(at + 2, n_rows_); ++i)
            if (i != skip) least = std::min(least, squared(q, i));
        return least;
    }

    // Gaussian sums are divided by the weight of the nearest row, so that nothing underflows.
    void add_rows(Sums& sums, const double* q, std::int64_t begin, std::int64_t end, std::int64_t skip,
                  double least) const {
        for (std::int64_t i = begin; i < end; ++i) {
            if (i == skip) continue;
            if (kernel_ == Kernel::gaussian)
                sums.add(weights_ + 2 * i, std::exp(-0.5 * (squared(q, i) - least)));
            else
                add_compact(sums, q, i);
        }
    }

    void add_compact(Sums& sums, const double* q, std::int64_t row) const {
        double weight = 1;
        for (std::int64_t d = 0; d < n_dims_ && weight > 0; ++d) {
            const double difference = q[d] - points_[static_cast<std::size_t>(row * n_dims_ + d)];
            weight *= weight_at(kernel_, difference * difference);
        }
        if (weight > 0) sums.add(weights_ + 2 * row, weight);
    }

    void make_cells() {
        for (std::int64_t begin = 0; begin < n_rows_;) {
            const double first = points_[static_cast<std::size_t>(begin)];
            const auto past = std::upper_bound(points_.begin() + begin, points_.end(), first + cell_width);
            const std::int64_t end = past - points_.begin();
            const double last = points_[static_cast<std::size_t>(end - 1)];
            KernelCell cell{begin, end, first, last, first + (last - first) / 2, (last - first) / 2, {}};
            for (std::int64_t i = begin; i < end; ++i)
                kernel_ == Kernel::gaussian ? add_moments(cell, i) : add_upto(cell, i);
            cells_.push_back(cell);
            begin = end;
        }
        if (kernel_ != Kernel::gaussian) return;
        before_.resize(cells_.size() + 1);
        after_.resize(cells_.size() + 1);
        for (std::size_t c = 0; c < cells_.size(); ++c) {
            before_[c + 1] = before_[c];
            for (std::int64_t i = cells_[c].begin; i < cells_[c].end; ++i) before_[c + 1].add(weights_ + 2 * i, 1.0);
        }
        for (std::size_t c = cells_.size(); c-- > 0;) {
            after_[c] = after_[c + 1];
            for (std::int64_t i = cells_[c].begin; i < cells_[c].end; ++i) after_[c].add(weights_ + 2 * i, 1.0);
        }
    }

    void add_moments(KernelCell& cell, std::int64_t row) const {
        const double s = points_[static_cast<std::size_t>(row)] - cell.centre;
        double factor = std::exp(-0.5 * s * s);
        for (std::int64_t k = 0; k < max_terms; ++k) {
            cell.moments[static_cast<std::size_t>(k)].add(weights_ + 2 * row, factor);
            factor *= s / static_cast<double>(k + 1);
        }
    }

    // A cell has one entry more than rows: cell c's begin at its first row plus c.
    void add_upto(const KernelCell& cell, std::int64_t row) {
        if (row == cell.begin) upto_.emplace_back();
        Upto next = upto_.back();
        const double s = points_[static_cast<std::size_t>(row)] - cell.centre;
        next.w.add(weights_ + 2 * row, 1.0);
        next.ws.add(weights_ + 2 * row, s);
        next.wss.add(weights_ + 2 * row, s * s);
        upto_.push_back(next);
    }

    // From the nearest cell outwards, until the rest is negligible. With z = (q - centre)(t - centre), e^(-(q-t)²/2) =
    // e^(-(q-centre)²/2) · e^(-(t-centre)²/2) · Σ z^k/k!; the terms from the p-th on are at most |z|^p/p! · e^|z| of
    // e^z (Greengard and Strain, The fast Gauss transform, 1991, with a factored exponential).
    Sums gaussian_cells(double q, std::int64_t skip, double least, const std::array<double, max_terms + 1>& reach,
                        double tolerance) const {
        Sums sums;
        const auto n_cells = static_cast<std::int64_t>(cells_.size());
        const auto above = std::upper_bound(cells_.begin(), cells_.end(), q,
                                            [](double value, const KernelCell& cell) { return value < cell.first; });
        std::int64_t right = above - cells_.begin(), left = right - 1;
        const double far = -2 * std::log(tolerance);
        while (left >= 0 || right < n_cells) {
            const double to_left =
                left >= 0 ? std::max(0.0, q - cells_[static_cast<std::size_t>(left)].last) : infinity;
            const double to_right = right < n_cells ? cells_[static_cast<std::size_t>(right)].first - q : infinity;
            const double edge = std::min(to_left, to_right);
            if (edge * edge - least > far) {
                const double most = std::exp(-0.5 * (edge * edge - least));
                const Sums& lower = before_[static_cast<std::size_t>(left + 1)];
                const Sums& upper = after_[static_cast<std::size_t>(right)];
                if ((lower.in + upper.in) * most <= tolerance * sums.in &&
                    (lower.out + upper.out) * most <= tolerance * sums.out)
                    break;
            }
            add_gaussian(sums, cells_[static_cast<std::size_t>(to_left <= to_right ? left-- : right++)], q, skip, least,
                         reach);
        }
        return sums;
    }

    void add_gaussian(Sums& sums, const KernelCell& cell, double q, std::int64_t skip, double least,
                      const std::array<double, max_terms + 1>& reach) const {
        const double away = q - cell.centre;
        const double most = std::abs(away) * cell.radius;
        const bool holds_skipped = skip >= cell.begin && skip < cell.end;
        if (most > reach[max_terms] || cell.end - cell.begin < 4 ||
            (holds_skipped && !can_take_off(cell, away, skip))) {
            add_rows(sums, &q, cell.begin, cell.end, skip, least);
            return;
        }
        std::size_t terms = 1;
        while (most > reach[terms]) ++terms;
        Sums series = cell.moments[terms - 1];
        for (std::size_t k = terms - 1; k-- > 0;) {
            series.in = series.in * away + cell.moments[k].in;
            series.out = series.out * away + cell.moments[k].out;
        }
        const double factor = std::exp(-0.5 * (away * away - least));
        Sums cell_sums{factor * series.in, factor * series.out};
        if (holds_skipped) cell_sums.add(weights_ + 2 * skip, -std::exp(-0.5 * (squared(&q, skip) - least)));
        // Rounding may leave a negative sum for a class without rows here.
        sums.in += std::max(cell_sums.in, 0.0);
        sums.out += std::max(cell_sums.out, 0.0);
    }

    // Whether a row can be subtracted from the sum of its cell. Seen from inside the cell all its rows get e^(-1/8) to
    // 1; so where the others of its class weigh as much as it does, an error of the whole is at most 2·e^(1/8) < 4
    // times as large for them.
    bool can_take_off(const KernelCell& cell, double away, std::int64_t row) const {
        const double* own = weights_ + 2 * row;
        const std::size_t c = static_cast<std::size_t>(&cell - cells_.data());
        const double in = before_[c + 1].in - before_[c].in, out = before_[c + 1].out - before_[c].out;
        return std::abs(away) <= cell.radius && (own[0] == 0 || in >= 2 * own[0]) && (own[1] == 0 || out >= 2 * own[1]);
    }

    // The rows that a kernel reaches are a run in each cell.
    Sums compact_cells(double q, std::int64_t skip) const {
        Sums sums;
        const auto below = [q](double t) { return q - t > 0 && (q - t) * (q - t) > 1; };
        const auto within = [q](double t) { return !(t - q > 0 && (t - q) * (t - q) > 1); };
        const auto first = std::partition_point(cells_.begin(), cells_.end(),
                                                [&](const KernelCell& cell) { return below(cell.last); });
        for (auto cell = first; cell != cells_.end() && within(cell->first); ++cell) {
            const auto begin = points_.begin() + cell->begin, end = points_.begin() + cell->end;
            const std::int64_t low = std::partition_point(begin, end, below) - points_.begin();
            const std::int64_t high = std::partition_point(begin, end, within) - points_.begin();
            const std::int64_t entry = cell - cells_.begin();  // of the cell, beside those of its rows
            if (skip >= low && skip < high) {
                add_run(sums, q - cell->centre, entry + low, entry + skip);
                add_run(sums, q - cell->centre, entry + skip + 1, entry + high);
            } else {
                add_run(sums, q - cell->centre, entry + low, entry + high);
            }
        }
        return sums;
    }

    // 1 - (q-t)² = 1 - away² + 2·away·s - s². Rounding may leave less than nothing.
    void add_run(Sums& sums, double away, std::int64_t low, std::int64_t high) const {
        if (low >= high) return;
        const Upto &a = upto_[static_cast<std::size_t>(low)], &b = upto_[static_cast<std::size_t>(high)];
        const auto sum = [&](double Sums::* side) {
            const double w = b.w.*side - a.w.*side;
            if (kernel_ == Kernel::box) return w;
            const double ws = b.ws.*side - a.ws.*side, wss = b.wss.*side - a.wss.*side;
            return std::max((1 - away * away) * w + 2 * away * ws - wss, 0.0);
        };
        sums.in += sum(&Sums::in);
        sums.out += sum(&Sums::out);
    }

    Kernel kernel_;
    std::int64_t n_dims_;
    std::int64_t begin_;
    std::int64_t n_rows_;
    const double* origin_;
    const double* bandwidth_;
    const double* weights_;
    std::vector<double> points_;
    std::vector<KernelCell> cells_;
    std::vector<Sums> before_, after_;  // weights of the cells below each, and from each on
    std::vector<Upto> upto_;
};

// For each number of terms p the largest |z| with |z|^p/p! · e^|z| ≤ tolerance.
std::array<double, max_terms + 1> reach_of_terms(double tolerance) {
    std::array<double, max_terms + 1> reach{};
    double factorial = 1;
    for (std::int64_t p = 1; p <= max_terms; ++p) {
        factorial *= static_cast<double>(p);
        double low = 0, high = 16;
        for (int step = 0; step < 60; ++step) {
            const double z = (low + high) / 2;
            (std::pow(z, static_cast<double>(p)) / factorial * std::exp(z) <= tolerance ? low : high) = z;
        }
        reach[static_cast<std::size_t>(p)] = low;
    }
    return reach;
}

}  // namespace

void kernel_shares(Kernel kernel, const KernelSample& sample, const KernelQueries& queries, double tolerance,
                   double* out, std::int64_t n_threads, const Poll& poll) {
    // Half of the tolerance for the rows that are left out, half for the terms.
    const double half = tolerance / 2;
    const auto reach = reach_of_terms(queries.left_out ? half / 4 : half);  // see can_take_off
    std::vector<std::optional<KernelGroup>> groups(static_cast<std::size_t>(sample.n_groups));
    for (std::int64_t i = 0; i < queries.n_queries; ++i) {
        const std::int64_t g = queries.groups[i];
        auto& group = groups[static_cast<std::size_t>(g)];
        const bool large = sample.start[g + 1] - sample.start[g] > small_group;
        if (!group) group.emplace(kernel, sample, g, large && tolerance > 0 && sample.n_dims == 1);
    }
    const std::int64_t n_tasks = (queries.n_queries + queries_per_task - 1) / queries_per_task;
    parallel_for(
        n_tasks, n_tasks <= 1 ? 0 : n_threads,
        [&](std::int64_t task, const Cancelled& cancelled) {
            const std::int64_t end = std::min(queries.n_queries, (task + 1) * queries_per_task);
            for (std::int64_t i = task * queries_per_task; i < end && !cancelled; ++i) {
                const auto& group = groups[static_cast<std::size_t>(queries.groups[i])];
                const std::int64_t left_out = queries.left_out ? queries.left_out[i] : -1;
                out[i] = group->share(queries.points + i * sample.n_dims, left_out, reach, half);
            }
        },
        poll);
}

}  // namespace hedgerow::boundary
