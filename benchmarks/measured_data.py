"""Data whose latent truth is known: Friedman's first function and step functions, measured with error."""

from dataclasses import dataclass

import numpy as np

UNIFORM_SD = 12**-0.5


@dataclass(frozen=True)
class Sample:
    """What was observed, and what is true of it."""

    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray
    sigma: float


def friedman(rng: np.random.Generator, n: int, ratio: float) -> Sample:
    """Friedman 1 on ten uniform columns, five of which matter; errors of `ratio` standard deviations, y's of 1."""
    latent = rng.uniform(size=(n, 10))
    truth = 10 * np.sin(np.pi * latent[:, 0] * latent[:, 1]) + 20 * (latent[:, 2] - 0.5) ** 2
    return _measured(rng, latent, truth + 10 * latent[:, 3] + 5 * latent[:, 4], ratio)


def steps(rng: np.random.Generator, n: int, ratio: float, heights: np.ndarray) -> Sample:
    """Equally wide steps of these heights on one uniform column; y's errors are 1."""
    latent = rng.uniform(size=(n, 1))
    return _measured(rng, latent, heights[(latent[:, 0] * len(heights)).astype(int)], ratio)


def _measured(rng: np.random.Generator, latent: np.ndarray, truth: np.ndarray, ratio: float) -> Sample:
    sigma = ratio * UNIFORM_SD
    X = latent + rng.normal(scale=sigma, size=latent.shape)
    return Sample(X, truth + rng.normal(size=len(truth)), truth, sigma)


def pair(name: str, ratio: float, seed: int, n: int = 500, n_new: int = 2000) -> tuple[Sample, Sample]:
    """Rows to learn from and new ones; `name` is "friedman", or a number of steps."""
    rng = np.random.default_rng([seed, round(100 * ratio)])
    if name == "friedman":
        return friedman(rng, n, ratio), friedman(rng, n_new, ratio)
    heights = rng.normal(scale=2.0, size=int(name))
    return steps(rng, n, ratio, heights), steps(rng, n_new, ratio, heights)
