"""Check that aleatoric is noise and epistemic is ignorance, over several seeds.

    python tests/slow/check_uncertainty.py

Class probabilities are known, so that the entropy of the classes is. Figures are means over rows and seeds; each claim
says where its bound comes from, and fails the script where it does not hold.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hedgerow import CautiousForestClassifier, ForestClassifier, TreeClassifier
from hedgerow.folds import Uncertainty, entropy_bits

Floats = NDArray[np.float64]
Problem = Callable[[int, np.random.Generator], tuple[Floats, Floats]]

N_SEEDS = 5
N_ASKED = 1000
WITHIN = 0.1  # bits: the promise of docs/uncertainty.md for 10,000 rows


def step(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    X = rng.random((n, 5))
    return X, np.where(X[:, 0] > 0.5, 0.9, 0.1)


def checkers(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    X = rng.random((n, 5))
    return X, np.where((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5), 0.85, 0.15)


def slope(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    X = rng.normal(size=(n, 5))
    return X, 1 / (1 + np.exp(-2 * (X[:, 0] + X[:, 1])))


PROBLEMS: dict[str, Problem] = {"step": step, "checkers": checkers, "slope": slope}
failed: list[str] = []


def claim(text: str, found: float, bound: float, *, below: bool) -> None:
    holds = found < bound if below else found > bound
    print(f"{'ok  ' if holds else 'FAIL'} {text}: {found:.3f}, must be {'below' if below else 'above'} {bound:.3f}")
    if not holds:
        failed.append(text)


def coin_flips(n: int) -> float:
    """Aleatoric share of the total."""
    shares = []
    for seed in range(N_SEEDS):
        rng = np.random.default_rng(seed)
        X, asked = rng.normal(size=(n, 10)), rng.normal(size=(N_ASKED, 10))
        found = ForestClassifier(random_state=seed).fit(X, rng.integers(0, 2, n)).predict_uncertainty(asked)
        shares.append(found.aleatoric.mean() / found.total.mean())
    return min(shares)


def ask(make: Callable[..., ForestClassifier], problem: Problem, n: int, seed: int) -> tuple[Uncertainty, ...]:
    """Uncertainty inside the training range and outside it, and the entropy of the classes."""
    rng = np.random.default_rng([n, seed])
    X, share = problem(n, rng)
    asked, of_asked = problem(N_ASKED, rng)
    model = make().fit(X, rng.random(n) < share)
    far = asked + np.ptp(X, axis=0)
    truth = entropy_bits(np.stack([of_asked, 1 - of_asked], axis=1))
    return model.predict_uncertainty(asked), model.predict_uncertainty(far), truth


def main() -> None:
    for n in (100, 500, 2000):
        # By design: the share that a page promises, in each of the seeds.
        claim(f"coin flips, {n} rows: aleatoric share", coin_flips(n), 0.8, below=False)
    for name, problem in PROBLEMS.items():
        for kind in (ForestClassifier, CautiousForestClassifier, TreeClassifier):
            parts: dict[int, list[tuple[float, float, float]]] = {}
            for n in (300, 3000, 10_000):
                for seed in range(N_SEEDS if n < 10_000 else 2):
                    seeded = {} if kind is TreeClassifier else {"random_state": seed}
                    inside, outside, truth = ask(lambda seeded=seeded, kind=kind: kind(**seeded), problem, n, seed)
                    error = abs(float(inside.aleatoric.mean() - truth.mean()))
                    parts.setdefault(n, []).append((error, inside.epistemic.mean(), outside.epistemic.mean()))
            error, epistemic, outside = np.mean(parts[10_000], axis=0)
            title = f"{name}, {kind.__name__}"
            claim(f"{title}: |aleatoric - true entropy|, 10,000 rows", error, WITHIN, below=True)
            # It rises first where a forest of few rows takes structure for noise, as on a checkerboard.
            before = max(np.mean(parts[n], axis=0)[1] for n in (300, 3000))
            claim(f"{title}: epistemic, 10,000 rows, less than with fewer", epistemic, before, below=True)
            claim(f"{title}: epistemic one width outside the range", outside, 2 * epistemic, below=False)
    sys.exit(f"{len(failed)} claims do not hold" if failed else 0)


if __name__ == "__main__":
    main()
