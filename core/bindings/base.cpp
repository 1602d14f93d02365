// Bindings of core/base: checksums, powers, and addressed random draws.
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/checksum.hpp"
#include "base/power.hpp"
#include "base/random.hpp"
#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

base::Draws draws_at(std::uint64_t seed, const std::vector<std::uint64_t>& path) {
    base::Path address(seed);
    for (const std::uint64_t number : path) address = address.child(number);
    return base::Draws(address);
}

std::uint64_t checksum(const In<std::uint8_t>& bytes) {
    const ReleasedGil release;
    return base::checksum(bytes.data(), bytes.size());
}

void raise_to_power(const In<double, 2>& values, double scale, double offset, double exponent,
                    const In<double>& factors, const Array<double, 2>& out) {
    if (factors.size() != values.shape(1) || out.shape(0) != values.shape(0) || out.shape(1) != values.shape(1))
        throw std::invalid_argument("factors or out has the wrong shape");
    const ReleasedGil release;
    base::raise_to_power(values.data(), values.shape(0), values.shape(1), {scale, offset, exponent}, factors.data(),
                         out.data());
}

template <class T, class Draw>
Array<T> draw_many(std::int64_t n, Draw draw) {
    std::vector<T> values(static_cast<std::size_t>(n));
    for (T& value : values) value = draw();
    return to_array(std::move(values));
}

}  // namespace

void bind_base(nb::module_& m) {
    m.def("checksum", &checksum, "data"_a.noconvert(), "XXH64 of bytes, with seed 0; see hedgerow.forest.packing.");
    m.def("raise_to_power", &raise_to_power, "values"_a.noconvert(), "scale"_a, "offset"_a, "exponent"_a,
          "factors"_a.noconvert(), "out"_a.noconvert(),
          "Scale and shift values, raise them to a power and multiply columns; see hedgerow.rules.base.");
    m.def(
        "random_bits",
        [](std::uint64_t seed, const std::vector<std::uint64_t>& path, std::int64_t n) {
            auto draws = draws_at(seed, path);
            return draw_many<std::uint64_t>(n, [&] { return draws.bits(); });
        },
        "seed"_a, "path"_a, "n"_a, "The first n 64-bit draws at a node of a tree.");
    m.def(
        "random_reals",
        [](std::uint64_t seed, const std::vector<std::uint64_t>& path, std::int64_t n) {
            auto draws = draws_at(seed, path);
            return draw_many<double>(n, [&] { return draws.real(); });
        },
        "seed"_a, "path"_a, "n"_a, "The first n reals in [0, 1) at a node of a tree.");
    m.def(
        "random_below",
        [](std::uint64_t seed, const std::vector<std::uint64_t>& path, std::int64_t n, std::uint64_t bound) {
            if (bound == 0) throw std::invalid_argument("bound must be at least 1");
            auto draws = draws_at(seed, path);
            return draw_many<std::uint64_t>(n, [&] { return draws.below(bound); });
        },
        "seed"_a, "path"_a, "n"_a, "bound"_a, "The first n integers in 0 .. bound-1 at a node of a tree.");
}

}  // namespace hedgerow::bindings
