"""How a rule's score changes while leaves fill with samples.

Busch et al., Combining Predictions under Uncertainty: The Case of Random Decision Trees (2022), Figures 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from hedgerow import rules as combination
from hedgerow._params import check_whole, is_number
from hedgerow.plots.canvas import BLUE, GREY, LIGHT_GREY, SKY_BLUE, VERMILION, axes_or_new, line_style, pyplot
from hedgerow.plots.labels import literal_label, rule_labels
from hedgerow.rules import Rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["RuleEvolutionDisplay"]

Floats = NDArray[np.float64]

_LEAVES_AT_ONCE = 1 << 20


class RuleEvolutionDisplay:
    """The score of a rule after each sample that a leaf, or each leaf of an ensemble, receives.

    Make one with :meth:`from_rule`, or one for each rule with :meth:`grid`.

    Parameters
    ----------
    scores : ndarray of shape (n_runs, n_samples)
        The rule's decision after 1, 2, … samples in each run: above 0 for the positive class.
    rule_name : str
    n_trees : int
        Leaves that fill together; 1 is a single leaf.

    Attributes
    ----------
    mean : ndarray of shape (n_samples,)
        Over the runs.
    quantiles : ndarray of shape (4, n_samples)
        Over the runs, at the `levels` 10, 25, 75 and 90 %.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
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

    ax_: Axes
    figure_: Figure
    run_lines_: list[Any]
    quantile_lines_: list[Any]
    mean_line_: Any

    def __init__(self, *, scores: Floats, rule_name: str, n_trees: int = 1) -> None:
        self.scores = scores
        self.rule_name = rule_name
        self.n_trees = n_trees

    @property
    def mean(self) -> Floats:
        mean: Floats = self.scores.mean(axis=0)
        return mean

    @property
    def quantiles(self) -> Floats:
        quantiles: Floats = np.quantile(self.scores, self.levels, axis=0)
        return quantiles

    def plot(
        self,
        ax: Axes | None = None,
        *,
        legend: bool = True,
        run_kw: dict[str, Any] | None = None,
        mean_kw: dict[str, Any] | None = None,
        quantile_kw: dict[str, Any] | None = None,
    ) -> RuleEvolutionDisplay:
        """Draw all runs as thin lines, their quantiles and their mean; 0, where the decision turns, is in the middle.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        legend : bool
            Whether to say what the lines are.
        run_kw, mean_kw, quantile_kw : dict or None
            For matplotlib's `plot`, instead of the styles that are built in.
        """
        axes = axes_or_new(ax, f"{type(self).__name__}.plot")
        n_samples = np.arange(1, self.scores.shape[1] + 1)
        axes.axhline(0, color=GREY, linewidth=0.8, zorder=1)
        run_style = line_style({"color": LIGHT_GREY, "linewidth": 0.6, "zorder": 2, "label": "runs"}, run_kw)
        label = run_style.pop("label")
        self.run_lines_ = axes.plot(n_samples, self.scores.T, **run_style)
        self.run_lines_[0].set_label(label)  # once in the legend
        self.quantile_lines_ = []
        for level, quantile in zip(self.levels, self.quantiles, strict=True):
            self.quantile_lines_ += axes.plot(n_samples, quantile, **line_style(_quantile_style(level), quantile_kw))
        mean_style = line_style({"color": VERMILION, "linewidth": 1.6, "zorder": 4, "label": "mean"}, mean_kw)
        (self.mean_line_,) = axes.plot(n_samples, self.mean, **mean_style)
        _put_zero_in_the_middle(axes)
        axes.set(title=literal_label(self.rule_name), xlabel=_samples_in(self.n_trees), ylabel="score")
        axes.set_xlim(1, max(2, n_samples[-1]))
        if legend:
            axes.legend(loc="lower right" if self.mean[-1] > 0 else "upper right")  # away from the lines
        self.ax_, self.figure_ = axes, axes.figure
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
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> RuleEvolutionDisplay:
        """Let leaves fill with samples, note the score of a rule after each, and draw the scores.

        Parameters
        ----------
        rule : str or rule
            A name, as in :func:`hedgerow.rules.names`, or an instance.
        n_trees : int
            Leaves that fill together, each with samples of its own: 1 is Figure 1 of the paper, 100 its Figure 2.
        n_samples : int
            Samples in each leaf at the end.
        positive_rate : float
            The probability that a sample is positive.
        n_runs : int
            How often all of it is repeated.
        prior : array-like of shape (2,) or None
            Probabilities of the classes beforehand, negative first, for rules that use them; None is ½ each.
        random_state : int, RandomState instance or None
            A sample is positive where a uniform draw is below `positive_rate`; the draws come as one array of shape
            (n_runs, n_trees, n_samples).
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_rule")
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
    ) -> list[RuleEvolutionDisplay]:
        """Draw several rules, by default the nine of the paper, side by side in a new figure, of the same samples.

        Parameters are those of :meth:`from_rule`; `kwargs` are for :meth:`plot`, except `ax` and `legend`. Every rule
        has its own scale: the score of evidence is a log-odds.

        Returns
        -------
        list of RuleEvolutionDisplay
            In the order of `rules`; the figure is the `figure_` of each.
        """
        plt = pyplot(f"{cls.__name__}.grid")
        chosen = [combination.get(rule) for rule in (combination.names() if rules is None else rules)]
        if not chosen:
            raise ValueError("rules is empty, must have at least one rule; None takes the nine of the paper")
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
    """Positive samples in each leaf after each sample, (n_runs, n_samples, n_trees)."""
    for name, number in (("n_runs", n_runs), ("n_trees", n_trees), ("n_samples", n_samples)):
        check_whole(name, number, 1)
    if not is_number(positive_rate) or not 0 <= positive_rate <= 1:
        raise ValueError(f"positive_rate is {positive_rate!r}, must be a probability in [0, 1]")
    random = check_random_state(random_state)
    positives = np.empty((n_runs, n_samples, n_trees), dtype=np.int32)
    for run in positives:  # the draws of one run at a time are the same as those of all, in less memory
        draws = random.uniform(size=(n_trees, n_samples)).T
        np.cumsum(draws < positive_rate, axis=0, out=run)
    return positives


def _scores(rule: Rule, positives: NDArray[np.int32], prior: ArrayLike | None) -> Floats:
    """The rule's decision after each sample, (n_runs, n_samples)."""
    n_runs, n_samples, n_trees = positives.shape
    received = np.arange(1, n_samples + 1)[:, np.newaxis]
    runs_at_once = max(1, _LEAVES_AT_ONCE // (n_samples * n_trees))

    def parts() -> Iterator[Floats]:
        for first in range(0, n_runs, runs_at_once):
            positive = positives[first : first + runs_at_once]
            yield rule.decision(np.stack([received - positive, positive], axis=-1), prior)

    return np.concatenate(list(parts()))


def _quantile_style(level: float) -> dict[str, Any]:
    """Pairs look alike, and the upper one of each stands in the legend."""
    inner = 0.25 <= level <= 0.75
    style: dict[str, Any] = {"color": BLUE if inner else SKY_BLUE, "linewidth": 1.3, "zorder": 3}
    if level > 0.5:
        style["label"] = f"{1 - level:.0%} and {level:.0%} quantiles"
    return style


def _put_zero_in_the_middle(ax: Any) -> None:
    reach = np.abs(ax.dataLim.intervaly).max() * 1.08 or 1.0
    ax.set_ylim(-reach, reach)


def _samples_in(n_trees: int) -> str:
    return "samples in the leaf" if n_trees == 1 else f"samples in each of {n_trees} leaves"


def _panels(plt: Any, number: int) -> tuple[Any, list[Any]]:
    """A figure and its axes, about as many across as down."""
    n_columns = math.ceil(math.sqrt(number))
    n_rows = math.ceil(number / n_columns)
    size = (max(3.2 * n_columns + 0.4, 6.8), 2.3 * n_rows + 1.0)  # the legend needs 6.8 inches
    figure, grid = plt.subplots(n_rows, n_columns, sharex=True, squeeze=False, figsize=size, layout="constrained")
    for column, unused in enumerate(grid.flat[number:], start=n_columns - grid.size + number):
        unused.remove()
        grid[-2, column].tick_params(labelbottom=True)  # now the lowest of its column
    return figure, list(grid.flat[:number])


def _label_outer_axes(panel: Any) -> None:
    """Words only at the left and at the bottom; the numbers of the scores stay, as each rule has its own."""
    if not panel.get_subplotspec().is_first_col():
        panel.set_ylabel("")
    if not panel.xaxis.get_tick_params()["labelbottom"]:
        panel.set_xlabel("")
