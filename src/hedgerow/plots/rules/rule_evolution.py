"""Scores of a rule while leaves fill with samples.

Busch et al., Combining Predictions under Uncertainty: The Case of Random Decision Trees (2022), Figures 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from hedgerow import rules as combination
from hedgerow._params import check_whole, is_number
from hedgerow.plots.display import AxesOrNone, Display, Floats, Keywords, line_style
from hedgerow.plots.labels import literal_label, rule_labels
from hedgerow.plots.palette import BLUE, GREY, LIGHT_GREY, SKY_BLUE, VERMILION
from hedgerow.rules import Rule

__all__ = ["RuleEvolutionDisplay"]

_LEAVES_AT_ONCE = 1 << 20


@dataclass(kw_only=True, eq=False, repr=False)
class RuleEvolutionDisplay(Display):
    """Score of a rule after each sample that a leaf, or each leaf of an ensemble, receives.

    Create it with :meth:`from_rule`, or one for each rule with :meth:`grid`.

    Parameters
    ----------
    scores : ndarray of shape (n_runs, n_samples)
        Decision of the rule after 1, 2, … samples in each run: above 0 for the positive class.
    rule_name : str
        Name of the rule, for the title.
    n_trees : int, default=1
        Number of leaves, which fill together.

    Attributes
    ----------
    mean : ndarray of shape (n_samples,), over the runs
    quantiles : ndarray of shape (4, n_samples), over the runs, at the `levels` 10, 25, 75 and 90 %
    run_lines_, quantile_lines_ : list of matplotlib Line2D
    mean_line_ : matplotlib Line2D

    Examples
    --------
    >>> from hedgerow.plots import RuleEvolutionDisplay
    >>> display = RuleEvolutionDisplay.from_rule("laplace", n_runs=20, random_state=0)
    >>> display.scores.shape, display.quantiles.shape
    ((20, 100), (4, 100))
    """

    levels: ClassVar[tuple[float, ...]] = (0.1, 0.25, 0.75, 0.9)

    scores: Floats
    rule_name: str
    n_trees: int = 1

    @property
    def mean(self) -> Floats:
        return self.scores.mean(axis=0)

    @property
    def quantiles(self) -> Floats:
        return np.quantile(self.scores, self.levels, axis=0)

    def plot(
        self,
        ax: AxesOrNone = None,
        *,
        legend: bool = True,
        run_kw: Keywords = None,
        mean_kw: Keywords = None,
        quantile_kw: Keywords = None,
    ) -> Self:
        """Draw all runs as thin lines, their quantiles and their mean; 0, where the decision changes, is in the middle.

        `run_kw`, `mean_kw` and `quantile_kw` are for matplotlib's `plot`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        legend : bool, default=True
            Whether to draw a legend.
        run_kw : dict or None, default=None
            Keywords for the lines of single runs.
        mean_kw : dict or None, default=None
            Keywords for the line of the mean.
        quantile_kw : dict or None, default=None
            Keywords for the lines of the quantiles.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        axes = self._axes(ax)
        n_samples = np.arange(1, self.scores.shape[1] + 1)
        axes.axhline(0, color=GREY, linewidth=0.8, zorder=1)
        style = line_style(run_kw, color=LIGHT_GREY, linewidth=0.6, zorder=2, label="runs")
        label = style.pop("label")
        self.run_lines_ = axes.plot(n_samples, self.scores.T, **style)
        self.run_lines_[0].set_label(label)  # one entry in the legend
        self.quantile_lines_ = [
            self._line(n_samples, quantile, quantile_kw, **_quantile_style(level))
            for level, quantile in zip(self.levels, self.quantiles, strict=True)
        ]
        thick = {"color": VERMILION, "linewidth": 1.6, "zorder": 4, "label": "mean"}
        self.mean_line_ = self._line(n_samples, self.mean, mean_kw, **thick)
        largest = np.abs(axes.dataLim.intervaly).max() * 1.08 or 1.0
        samples = "samples in the leaf" if self.n_trees == 1 else f"samples in each of {self.n_trees} leaves"
        axes.set(title=literal_label(self.rule_name), xlabel=samples, ylabel="score")
        axes.set(xlim=(1, max(2, n_samples[-1])), ylim=(-largest, largest))
        if legend:
            axes.legend(loc="lower right" if self.mean[-1] > 0 else "upper right")  # away from the lines
        return self

    @classmethod
    def from_rule(
        cls,
        rule: Any,
        *,
        n_trees: int = 1,
        n_samples: int = 100,
        positive_rate: float = 0.75,
        n_runs: int = 100,
        prior: ArrayLike | None = None,
        random_state: Any = None,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Simulate leaves that fill with samples, and draw the score of a rule after each sample.

        Parameters
        ----------
        rule : str or a rule
            Name, as in :func:`hedgerow.rules.names`, or instance.
        n_trees : int, default=1
            Number of leaves, which fill together with independent samples: 1 in Figure 1 of the paper, 100 in Figure 2.
        n_samples : int, default=100
            Final number of samples in each leaf.
        positive_rate : float, default=0.75
            Probability that a sample is positive.
        n_runs : int, default=100
            Number of simulations.
        prior : array-like of shape (2,) or None, default=None
            Prior probabilities of the classes, negative first, for rules that use them; None is ½ each.
        random_state : int, RandomState instance or None, default=None
            A sample is positive where a uniform draw is below `positive_rate`; the draws come as one array of shape
            (n_runs, n_trees, n_samples).
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        Display
            The Display, drawn.
        """
        cls._pyplot("from_rule")
        chosen = combination.get(rule)
        positives = _fill_leaves(n_runs, n_trees, n_samples, positive_rate, random_state)
        display = cls(scores=_scores(chosen, positives, prior), rule_name=chosen.name, n_trees=n_trees)
        return display.plot(ax, **kwargs)

    @classmethod
    def grid(
        cls,
        rules: Iterable[Any] | None = None,
        *,
        n_trees: int = 1,
        n_samples: int = 100,
        positive_rate: float = 0.75,
        n_runs: int = 100,
        prior: ArrayLike | None = None,
        random_state: Any = None,
        **kwargs: Any,
    ) -> list[Self]:
        """Draw several rules, by default the nine of the paper, with the same samples, side by side in a new figure.

        Parameters are those of :meth:`from_rule`; `kwargs` are for :meth:`plot`, except `ax` and `legend`. Every rule
        has its own scale: the score of evidence is a log-odds.

        Parameters
        ----------
        rules : iterable of rules or None, default=None
            The rules, by name or as instances; None is the nine of the paper.
        n_trees : int, default=1
            Number of trees of the ensemble.
        n_samples : int, default=100
            Number of samples that a leaf receives.
        positive_rate : float, default=0.75
            Probability of the positive class.
        n_runs : int, default=100
            Number of simulated leaves.
        prior : array-like of shape (2,) or None, default=None
            Share of each class; None is uniform.
        random_state : int, RandomState instance or None, default=None
            Seed of the draws.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        list of RuleEvolutionDisplay
            In the order of `rules`; they share their `figure_`.

        Raises
        ------
        ValueError
            If there are no rules.
        """
        plt = cls._pyplot("grid")
        chosen = [combination.get(rule) for rule in (combination.names() if rules is None else rules)]
        if not chosen:
            raise ValueError("rules is empty, must have at least one rule; None is the nine of the paper")
        positives = _fill_leaves(n_runs, n_trees, n_samples, positive_rate, random_state)
        displays = [
            cls(scores=_scores(rule, positives, prior), rule_name=label, n_trees=n_trees)
            for rule, label in zip(chosen, rule_labels(chosen), strict=True)
        ]
        figure, panels = _panels(plt, len(displays))
        for display, panel in zip(displays, panels, strict=True):
            display.plot(panel, legend=False, **kwargs)
            _label_outer_axes(panel)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        leaves = "A leaf that fills" if n_trees == 1 else f"{n_trees} leaves that fill"
        figure.suptitle(f"{leaves} with samples, {100 * positive_rate:g}% of them positive")
        return displays


def _fill_leaves(
    n_runs: int, n_trees: int, n_samples: int, positive_rate: float, random_state: Any
) -> NDArray[np.int32]:
    """Count the positive samples in each leaf after each sample, (n_runs, n_samples, n_trees)."""
    for name, number in (("n_runs", n_runs), ("n_trees", n_trees), ("n_samples", n_samples)):
        check_whole(name, number, 1)
    if not is_number(positive_rate) or not 0 <= positive_rate <= 1:
        raise ValueError(f"positive_rate is {positive_rate!r}, must be a probability in [0, 1]")
    random = check_random_state(random_state)
    positives = np.empty((n_runs, n_samples, n_trees), dtype=np.int32)
    for run in positives:  # drawing one run at a time gives the same numbers in less memory
        draws = random.uniform(size=(n_trees, n_samples)).T
        np.cumsum(draws < positive_rate, axis=0, out=run)
    return positives


def _scores(rule: Rule, positives: NDArray[np.int32], prior: ArrayLike | None) -> Floats:
    """Compute the decision of the rule after each sample, (n_runs, n_samples), in batches of runs."""
    n_runs, n_samples, n_trees = positives.shape
    received = np.arange(1, n_samples + 1)[:, np.newaxis]
    batch_size = max(1, _LEAVES_AT_ONCE // (n_samples * n_trees))
    batches = (positives[first : first + batch_size] for first in range(0, n_runs, batch_size))
    scores = [rule.decision(np.stack([received - batch, batch], axis=-1), prior) for batch in batches]
    return np.concatenate(scores)


def _quantile_style(level: float) -> dict[str, Any]:
    """Choose the same colour for both quantiles of a pair; the upper one is in the legend."""
    inner = 0.25 <= level <= 0.75
    style: dict[str, Any] = {"color": BLUE if inner else SKY_BLUE, "linewidth": 1.3, "zorder": 3}
    if level > 0.5:
        style["label"] = f"{1 - level:.0%} and {level:.0%} quantiles"
    return style


def _panels(plt: Any, number: int) -> tuple[Any, list[Any]]:
    """Create a figure with a nearly square grid of axes."""
    n_columns = math.ceil(math.sqrt(number))
    n_rows = math.ceil(number / n_columns)
    size = (max(3.2 * n_columns + 0.4, 6.8), 2.3 * n_rows + 1.0)  # the legend needs 6.8 inches
    figure, grid = plt.subplots(n_rows, n_columns, sharex=True, squeeze=False, figsize=size, layout="constrained")
    for column, unused in enumerate(grid.flat[number:], start=n_columns - grid.size + number):
        unused.remove()
        grid[-2, column].tick_params(labelbottom=True)  # now the lowest of its column
    return figure, list(grid.flat[:number])


def _label_outer_axes(panel: Any) -> None:
    """Keep axis labels on the left and at the bottom only; tick labels stay, as each rule has its own scale."""
    if not panel.get_subplotspec().is_first_col():
        panel.set_ylabel("")
    if not panel.xaxis.get_tick_params()["labelbottom"]:
        panel.set_xlabel("")
