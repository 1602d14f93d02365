from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import oracles
from effort import examples
from hedgerow._core import random_below, random_bits, random_reals

ALL_BITS = 0xFFFFFFFF
words_64 = st.integers(0, 2**64 - 1)
paths = st.lists(st.integers(0, 40) | words_64, max_size=5)
several = settings(max_examples=examples(14, 50), deadline=None)


# Known answers of the authors' Random123 (kat_vectors, philox4x32 with 10 rounds).
@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((ALL_BITS,) * 4, (ALL_BITS,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_the_oracle_gives_the_known_answers(
    counter: Sequence[int], key: Sequence[int], expected: Sequence[int]
) -> None:
    assert tuple(oracles.philox4x32(counter, key)) == tuple(expected)


# Of Vigna's splitmix64.c, from the seed 1234567.
def test_the_oracle_gives_the_known_answers_of_splitmix64() -> None:
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [oracles.splitmix64(1234567, k) for k in (1, 2, 3)] == known


def test_the_core_gives_the_known_answer_where_it_can_be_asked() -> None:
    # Seed 0, no path, first block: counter 0 and key 0.
    assert random_bits(0, [], 2).tolist() == [0xE169C58D6627E8D5, 0x9B00DBD8BC57AC4C]


@several
@given(words_64, paths, st.integers(0, 9))
def test_bits_are_those_of_the_definition(seed: int, path: list[int], n: int) -> None:
    drawn = random_bits(seed, path, n)
    assert drawn.dtype == np.uint64
    assert drawn.tolist() == oracles.random_bits(seed, path, n)


@several
@given(words_64, paths)
def test_reals_are_those_of_the_definition(seed: int, path: list[int]) -> None:
    drawn = random_reals(seed, path, 7)
    assert drawn.tolist() == oracles.random_reals(seed, path, 7)
    assert ((drawn >= 0) & (drawn < 1)).all()


@several
@given(words_64, paths, st.integers(1, 2**64 - 1) | st.sampled_from((1, 2, 3, 2**32, 2**63, 2**63 + 1)))
def test_integers_are_those_of_the_definition(seed: int, path: list[int], bound: int) -> None:
    assert random_below(seed, path, 7, bound).tolist() == oracles.random_below(seed, path, 7, bound)


# Written down once: whoever changes them changes every forest that was ever grown from a seed.
GOLDEN_BITS = [7921529107056929113, 260292826656758302, 8217965402672369031]
GOLDEN_REALS = [0.429426953363914, 0.01411050240718248, 0.4454967971494047]
GOLDEN_BELOW = [113, 302, 31, 816, 261, 697]


def test_the_bits_of_a_seed_and_path_never_change() -> None:
    assert random_bits(42, [3, 0, 1], 3).tolist() == GOLDEN_BITS
    assert random_reals(42, [3, 0, 1], 3).tolist() == GOLDEN_REALS
    assert random_below(42, [3, 0, 1], 6, 1000).tolist() == GOLDEN_BELOW


def test_the_first_draws_do_not_depend_on_how_many_are_taken() -> None:
    assert random_bits(7, [1], 3).tolist() == random_bits(7, [1], 1000).tolist()[:3]


def test_other_seeds_and_paths_give_other_draws() -> None:
    places = [
        *((seed, ()) for seed in range(50)),
        *((seed, (number,)) for seed in range(20) for number in range(20)),
        *((1, (a, b)) for a in range(20) for b in range(20)),
        *((1, (0,) * length) for length in range(2, 30)),
        *((1, (2**32 * n,)) for n in range(1, 20)),  # the high half of a number counts too
        *((2**32 * n, ()) for n in range(1, 20)),
    ]
    unique = dict.fromkeys(places)
    draws = {random_bits(seed, list(path), 1)[0] for seed, path in unique}
    assert len(draws) == len(unique)  # two of 1000 draws of 64 bits meet with probability 3e-14


def test_a_node_and_its_children_share_no_draws() -> None:
    key = oracles.child_key(5, 0)
    assert key not in random_bits(5, [], 1000).tolist()
    assert set(random_bits(5, [0], 1000).tolist()).isdisjoint(random_bits(5, [], 1000).tolist())


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 2**63 + 1, 2**64 - 1])
def test_integers_are_below_their_bound(bound: int) -> None:
    drawn = random_below(3, [1, 4], 2000, bound).tolist()
    assert all(0 <= x < bound for x in drawn)
    # Every value where there are few, both halves where there are many.
    assert len({x * min(bound, 10) // bound for x in drawn}) == min(bound, 10)


def test_no_integer_is_below_zero() -> None:
    with pytest.raises(ValueError, match="bound must be at least 1"):
        random_below(0, [], 1, 0)


def chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2).sum() / expected)


# If draws are uniform the statistic has a chi-square distribution with (cells - 1) degrees of freedom. Its quantile
# at 1 - 1e-6 is passed by one seed in a million; the seed is fixed, so that the tests pass always or never.
def limit(n_cells: int) -> float:
    return float(chi2.ppf(1 - 1e-6, n_cells - 1))


def test_reals_are_uniform() -> None:
    counts = np.bincount((random_reals(2024, [7], 200_000) * 256).astype(int), minlength=256)
    assert len(counts) == 256
    assert chi_square(counts) < limit(256)


def test_low_bits_are_uniform() -> None:
    assert chi_square(np.bincount(random_bits(2024, [8], 200_000).astype(np.uint8), minlength=256)) < limit(256)


# 3 · 2^62 refuses a quarter of all draws: without that, the lowest third would come twice as often.
@pytest.mark.parametrize("bound", [3, 7, 99, 3 * 2**62])
def test_integers_are_uniform(bound: int) -> None:
    n_cells = min(bound, 99)
    cells = [x * n_cells // bound for x in random_below(2024, [9], 100_000, bound).tolist()]
    assert chi_square(np.bincount(cells, minlength=n_cells)) < limit(n_cells)


def test_pairs_of_neighbouring_places_are_uniform() -> None:
    # First draws of neighbouring places: what a forest takes to be independent.
    first = [random_reals(11, [tree, child], 1)[0] for tree in range(150) for child in range(100)]
    pairs = zip(first[::2], first[1::2], strict=True)
    cells = [int(a * 10) * 10 + int(b * 10) for a, b in pairs]
    assert chi_square(np.bincount(cells, minlength=100)) < limit(100)
