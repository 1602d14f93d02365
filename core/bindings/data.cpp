// Bindings of core/data.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "bindings/training_data.hpp"
#include "data/codes.hpp"
#include "data/distinct_rows.hpp"
#include "data/hold_out.hpp"
#include "data/plain_numbers.hpp"
#include "data/rows.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

// Codes of one of the types that frames keep them in.
using Codes = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Use>
void with_codes(const Codes& codes, const Use& use) {
    const auto dtype = codes.dtype();
    if (dtype == nb::dtype<std::int8_t>())
        use(static_cast<const std::int8_t*>(codes.data()));
    else if (dtype == nb::dtype<std::int16_t>())
        use(static_cast<const std::int16_t*>(codes.data()));
    else if (dtype == nb::dtype<std::int32_t>())
        use(static_cast<const std::int32_t*>(codes.data()));
    else if (dtype == nb::dtype<std::int64_t>())
        use(static_cast<const std::int64_t*>(codes.data()));
    else
        throw std::invalid_argument("codes must be signed integers");
}

Array<bool> codes_in_use(const Codes& codes, std::size_t n_levels) {
    std::vector<std::uint8_t> used(n_levels, 0);
    with_codes(codes, [&](const auto* all) { data::mark_codes(all, codes.size(), used.data(), n_levels); });
    auto owned = std::make_unique<std::vector<std::uint8_t>>(std::move(used));
    auto* data = reinterpret_cast<bool*>(owned->data());
    return Array<bool>(data, {n_levels}, owner_of(std::move(owned)));
}

void place_codes(const Codes& codes, const In<double>& table, const Array<double>& out) {
    if (out.size() != codes.size()) throw std::invalid_argument("out has the wrong shape");
    with_codes(codes,
               [&](const auto* all) { data::place_codes(all, codes.size(), table.data(), table.size(), out.data()); });
}

// The distinct strings of a list, sorted, and the number of each item among them; None if not all items are strings.
// Strings cache their hash: most are found in the first slot, without the dictionary.
std::optional<std::tuple<nb::list, Array<std::int32_t>>> text_codes(const nb::list& items) {
    struct Known {
        PyObject* text = nullptr;
        std::int32_t code = 0;
    };
    std::array<Known, 256> known{};
    nb::dict code_of;
    nb::list distinct;
    std::vector<std::int32_t> codes(nb::len(items));
    for (std::size_t i = 0; i < codes.size(); ++i) {
        PyObject* text = PyList_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i));
        if (!PyUnicode_CheckExact(text)) return std::nullopt;
        Known& entry = known[static_cast<std::size_t>(PyObject_Hash(text)) % known.size()];
        if (entry.text != text && (entry.text == nullptr || PyUnicode_Compare(entry.text, text) != 0)) {
            PyObject* code = PyDict_GetItemWithError(code_of.ptr(), text);
            if (code == nullptr) {
                if (PyErr_Occurred()) throw nb::python_error();
                code_of[nb::handle(text)] = nb::len(distinct);
                distinct.append(nb::handle(text));
                code = PyDict_GetItemWithError(code_of.ptr(), text);
            }
            entry = {text, nb::cast<std::int32_t>(nb::handle(code))};
        }
        codes[i] = entry.code;
    }
    distinct.sort();
    std::vector<std::int32_t> position(nb::len(distinct));
    for (std::size_t i = 0; i < position.size(); ++i)
        position[nb::cast<std::size_t>(code_of[distinct[i]])] = static_cast<std::int32_t>(i);
    for (std::int32_t& code : codes) code = position[static_cast<std::size_t>(code)];
    return std::tuple{distinct, to_array(std::move(codes))};
}

// nanobind has converted `missing` to strings that live as long as this call.
std::int64_t plain_numbers(const In<std::uint8_t>& text, const std::string& delimiter,
                           const In<std::int32_t>& column_of, const std::vector<std::string>& missing,
                           const Array<double, 2>& out) {
    if (delimiter.size() != 1) throw std::invalid_argument("the delimiter must be one byte");
    const std::vector<std::int32_t> columns(column_of.data(), column_of.data() + column_of.size());
    for (const std::int32_t column : columns)
        if (column >= static_cast<std::int64_t>(out.shape(0))) throw std::invalid_argument("a column is not in out");
    const std::vector<std::string_view> markers(missing.begin(), missing.end());
    const ReleasedGil release;
    return data::plain_numbers({reinterpret_cast<const char*>(text.data()), text.size()}, delimiter[0], columns,
                               markers, out.data(), static_cast<std::int64_t>(out.shape(1)));
}

// Distinct rows, and the number of each row's among them; None if there are more than `most`.
std::optional<std::tuple<Array<double, 2>, Array<std::uint32_t>>> number_rows(const In<double, 2>& rows,
                                                                              std::size_t most) {
    const std::size_t n_columns = rows.shape(1);
    std::optional<data::NumberedRows> found =
        without_gil([&] { return data::number_rows(rows.data(), rows.shape(0), n_columns, most); });
    if (!found) return std::nullopt;
    const std::size_t n_distinct = found->distinct.size() / n_columns;
    return std::tuple{to_matrix(std::move(found->distinct), n_distinct, n_columns),
                      to_array(std::move(found->numbers))};
}

Array<double> positions_by_hash(const Columns& X, const In<std::int32_t>& n_categories, const In<double>& sample_weight,
                                const Labels& labels, const Targets& targets, std::int64_t n_classes,
                                std::uint64_t seed) {
    const data::TrainingData lent = training_data(X, n_categories, sample_weight, labels, targets, n_classes);
    const RowCopies copies(lent);
    const data::TrainingData data = copies.applied_to(lent);
    return to_array(without_gil([&] { return data::positions_by_hash(data, seed); }));
}

}  // namespace

void bind_data(nb::module_& m) {
    m.def("codes_in_use", &codes_in_use, "codes"_a.noconvert(), "n_levels"_a, "Which levels occur; -1 is none.");
    m.def("place_codes", &place_codes, "codes"_a.noconvert(), "table"_a.noconvert(), "out"_a.noconvert(),
          "Put the entry of a table for each code into out, NaN where the code is -1.");
    m.def("text_codes", &text_codes, "items"_a.noconvert(),
          "The distinct texts of a list, sorted, and each item's number among them; None if not all are text.");
    m.def("plain_numbers", &plain_numbers, "text"_a.noconvert(), "delimiter"_a, "column_of"_a.noconvert(), "missing"_a,
          "out"_a.noconvert(),
          "Read rows of plain numbers into out, (columns, rows); return their number, or -1 if the text is not plain.");
    m.def(
        "first_infinity",
        [](const In<double, 2>& X) {
            const ReleasedGil release;
            return data::first_infinity(X.data(), static_cast<std::int64_t>(X.size()));
        },
        "X"_a.noconvert(), "Flat position of the first infinite value, or -1.");
    m.def("number_rows", &number_rows, "rows"_a.noconvert(), "most"_a,
          "Distinct rows in the order in which they occur, and the number of each row's; None if there are more than "
          "`most`.");
    m.def("positions_by_hash", &positions_by_hash, "X"_a.noconvert(), "n_categories"_a.noconvert(),
          "sample_weight"_a.noconvert(), "labels"_a.noconvert().none(), "targets"_a.noconvert().none(), "n_classes"_a,
          "seed"_a, "Rows in a drawn order; see hedgerow.pruning.");
}

}  // namespace hedgerow::bindings
