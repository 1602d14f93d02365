// Bindings of core/grow/binned and of Poisson draws: the steps of growth that may happen on several machines.
#include "bindings/binned.hpp"

#include <nanobind/stl/optional.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "bindings/forest_dict.hpp"
#include "grow/binned/bins.hpp"
#include "grow/bootstrap.hpp"
#include "grow/poisson.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

ArrayDict bin_columns(const Columns& X, const In<std::int32_t>& n_categories, const In<double>& sample_weight,
                      std::int64_t max_bins, std::int64_t n_threads) {
    const std::size_t n_rows = X.shape(0), n_columns = X.shape(1);
    if (n_rows == 0 || n_rows > 0x7FFFFFFF || n_categories.size() != n_columns || sample_weight.size() != n_rows)
        throw std::invalid_argument("training data of the wrong shape");
    if (max_bins < 1 || max_bins > grow::binned::missing_code)
        throw std::invalid_argument("max_bins is not in 1 .. 255");
    data::TrainingData data{};
    data.X = X.data();
    data.n_categories = n_categories.data();
    data.weight = sample_weight.data();
    data.n_rows = static_cast<std::int64_t>(n_rows);
    data.n_features = static_cast<std::int64_t>(n_columns);
    grow::binned::BinnedData binned =
        without_gil([&] { return grow::binned::bin(data, max_bins, n_threads, poll_signals); });
    std::vector<std::int64_t> start{0};
    std::vector<double> least, greatest;
    for (const grow::binned::BinnedColumn& column : binned.columns) {
        least.insert(least.end(), column.least.begin(), column.least.end());
        greatest.insert(greatest.end(), column.greatest.begin(), column.greatest.end());
        start.push_back(static_cast<std::int64_t>(least.size()));
    }
    ArrayDict found;
    found["codes"] = to_matrix(std::move(binned.own_codes), n_columns, n_rows);  // its transpose is column-major
    found["start"] = to_array(std::move(start));
    found["least"] = to_array(std::move(least));
    found["greatest"] = to_array(std::move(greatest));
    return found;
}

// Rows of any order in memory.
using Table = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::device::cpu>;

void encode_columns(const Table& X, const In<std::int32_t>& n_categories, const Bins& bins,
                    const Array<std::uint8_t, 2>& out) {
    const std::size_t n_rows = X.shape(0), n_columns = X.shape(1);
    if (n_categories.size() != n_columns || out.shape(0) != n_columns || out.shape(1) != n_rows)
        throw std::invalid_argument("X, n_categories and out differ in shape");
    const std::vector<grow::binned::BinnedColumn> columns = columns_of(bins, n_columns);
    const auto n = static_cast<std::int64_t>(n_rows);
    const ReleasedGil release;
    for (std::size_t j = 0; j < n_columns; ++j) {
        const data::TableColumn column{X.data() + static_cast<std::int64_t>(j) * X.stride(1), X.stride(0)};
        std::uint8_t* codes = out.data() + j * n_rows;
        if (n_categories.data()[j] > 0)
            grow::binned::bin_categories(column, n, n_categories.data()[j], codes);
        else
            grow::binned::encode_numbers(column, n, columns[j].least, codes);
    }
}

// How often rows are drawn for a tree: those with these numbers, else first .. first + n - 1. `rate` is the mean of a
// row of weight 1.
void poisson_counts(std::uint64_t key, std::uint64_t first, const std::optional<In<std::int64_t>>& numbers, double rate,
                    const std::optional<In<double>>& weight, const Array<std::uint32_t>& out) {
    if ((weight && weight->size() != out.size()) || (numbers && numbers->size() != out.size()))
        throw std::invalid_argument("numbers, weight and out differ in length");
    const ReleasedGil release;
    grow::PoissonDraws draws(base::Path(key), rate);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::uint64_t row = numbers ? static_cast<std::uint64_t>(numbers->data()[i]) : first + i;
        out.data()[i] = draws(row, weight ? weight->data()[i] : 1.0);
    }
}

// A draw in [0, 1) of each row at a node, which a missing value takes a branch by.
void row_draws(std::uint64_t key, const In<std::int64_t>& numbers, const Array<double>& out) {
    if (numbers.size() != out.size()) throw std::invalid_argument("numbers and out differ in length");
    const base::Path node(key);
    for (std::size_t i = 0; i < out.size(); ++i)
        out.data()[i] = base::Draws(node.of_row(static_cast<std::uint64_t>(numbers.data()[i]))).real();
}

}  // namespace

void bind_binned(nb::module_& m) {
    m.def("bin_columns", &bin_columns, "X"_a.noconvert(), "n_categories"_a.noconvert(), "sample_weight"_a.noconvert(),
          "max_bins"_a, "n_threads"_a, "Columns of one byte a row and their bins, as `grow` makes them.");
    m.def("encode_columns", &encode_columns, "X"_a.noconvert(), "n_categories"_a.noconvert(), "bins"_a.noconvert(),
          "out"_a.noconvert(), "Write the bin of each value to out, (n_columns, n_rows); 255 where it is missing.");
    m.def("poisson_counts", &poisson_counts, "key"_a, "first"_a, "numbers"_a.noconvert().none(), "rate"_a,
          "weight"_a.noconvert().none(), "out"_a.noconvert(),
          "Write how often each row is drawn for a tree to out; see hedgerow.growth.poisson.");
    m.def("row_draws", &row_draws, "key"_a, "numbers"_a.noconvert(), "out"_a.noconvert(),
          "Write a draw in [0, 1) of each row at a node to out.");
    m.def(
        "only_row", [](std::uint64_t key, std::uint64_t n_rows) { return grow::only_row(base::Path(key), n_rows); },
        "key"_a, "n_rows"_a, "Row of a Poisson bag in which no row was drawn.");
    m.def(
        "child_key", [](std::uint64_t key, std::uint64_t number) { return base::Path(key).child(number).key(); },
        "key"_a, "number"_a, "Address of a child of a node; tree t is child t of the seed.");
}

}  // namespace hedgerow::bindings
