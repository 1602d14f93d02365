"""How accurate rules are, and the single trees that they combine, as leaves get larger.

Busch et al., Combining Predictions under Uncertainty: The Case of Random Decision Trees (2022), Figure 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from hedgerow import rules as combination
from hedgerow.plots.canvas import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY_BLUE,
    VERMILION,
    axes_or_new,
    line_style,
    pyplot,
)
from hedgerow.plots.labels import legend_label, rule_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LeafSizeDisplay"]

Floats = NDArray[np.float64]

_COUNTS_AT_ONCE = 1 << 22
_COLOURS = (BLACK, ORANGE, GREEN, PURPLE, VERMILION)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


class LeafSizeDisplay:
    """The accuracy of rules, and of the single trees that they combine, for several sizes of leaves.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    min_samples_leaf : sequence of numbers, n_sizes
    rule_names : sequence of str, n_rules
    accuracies : ndarray of shape (n_rules, n_sizes)
        Of the whole ensemble under each rule.
    tree_accuracies : ndarray of shape (n_sizes, n_trees)
        Of each tree by itself.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One a rule.
    tree_dots_, tree_mean_line_ : matplotlib Line2D
    tree_bands_ : list of matplotlib PolyCollection
        One, two and three standard deviations around the mean of the trees.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import RandomTreesClassifier
    >>> from hedgerow.plots import LeafSizeDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = LeafSizeDisplay.from_estimator(RandomTreesClassifier(random_state=0), X, y, random_state=0)
    >>> display.accuracies.shape, display.tree_accuracies.shape
    ((5, 6), (6, 100))
    """

    ax_: Axes
    figure_: Figure
    lines_: list[Any]
    tree_dots_: Any
    tree_mean_line_: Any
    tree_bands_: list[Any]

    def __init__(
        self,
        *,
        min_samples_leaf: Sequence[float],
        rule_names: Sequence[str],
        accuracies: Floats,
        tree_accuracies: Floats,
    ) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.rule_names = rule_names
        self.accuracies = accuracies
        self.tree_accuracies = tree_accuracies

    def plot(
        self,
        ax: Axes | None = None,
        *,
        legend: bool = True,
        line_kw: dict[str, Any] | None = None,
        dot_kw: dict[str, Any] | None = None,
    ) -> LeafSizeDisplay:
        """Draw a line for each rule, over dots for the trees with their mean and bands of standard deviations.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        legend : bool
            Whether to say what the lines, dots and bands are.
        line_kw, dot_kw : dict or None
            For matplotlib's `plot`, instead of the styles of the rules' lines and the trees' dots that are built in.
        """
        beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}  # a new figure makes room for it
        place = beside if ax is None else {"loc": "best"}
        axes = axes_or_new(ax, f"{type(self).__name__}.plot", figsize=(8.0, 5.0), layout="constrained")
        self._draw_rules(axes, line_kw)
        self._draw_trees(axes, dot_kw)
        axes.set_xscale("log", base=2)  # sizes double rather than grow by one
        axes.set_xticks(self.min_samples_leaf, [f"{size:g}" for size in self.min_samples_leaf])
        axes.set_xticks([], minor=True)
        axes.set(xlabel="least number of samples in a leaf", ylabel="accuracy on held-out rows")
        axes.set_title(f"Rules, and the {self.tree_accuracies.shape[1]} trees that they combine")
        if legend:
            axes.legend(fontsize="small", **place)
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def _draw_trees(self, ax: Any, dot_kw: dict[str, Any] | None) -> None:
        sizes = self.min_samples_leaf
        place = np.repeat(sizes, self.tree_accuracies.shape[1])
        dots = {"color": BLUE, "linestyle": "", "marker": ".", "markersize": 5, "markeredgewidth": 0, "alpha": 0.35}
        style = line_style({**dots, "label": "single trees"}, dot_kw)
        (self.tree_dots_,) = ax.plot(place, self.tree_accuracies.ravel(), **style)
        mean, deviation = self.tree_accuracies.mean(axis=1), self.tree_accuracies.std(axis=1)
        (self.tree_mean_line_,) = ax.plot(sizes, mean, color=BLUE, linestyle="--", linewidth=1.4, label="their mean")
        self.tree_bands_ = []
        for times in (1, 2, 3):
            ends = np.clip([mean - times * deviation, mean + times * deviation], 0, 1)
            self.tree_bands_.append(ax.fill_between(sizes, *ends, color=SKY_BLUE, alpha=0.16, linewidth=0))
        self.tree_bands_[0].set_label("their 1, 2, 3 standard deviations")

    def _draw_rules(self, ax: Any, line_kw: dict[str, Any] | None) -> None:
        self.lines_ = []
        for number, (name, accuracy) in enumerate(zip(self.rule_names, self.accuracies, strict=True)):
            look = {**_look(number), "linewidth": 1.4, "zorder": 3, "label": legend_label(name)}
            self.lines_ += ax.plot(self.min_samples_leaf, accuracy, **line_style(look, line_kw))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        test_size: float = 0.5,
        min_samples_leaf: Iterable[float] = (1, 2, 3, 4, 8, 32),
        rules: Iterable[Any] = ("probability", "confidence", "pool", "dempster", "evidence"),
        random_state: Any = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> LeafSizeDisplay:
        """Fit clones of a classifier on some rows, and draw how often rules and trees are right on the others.

        One fit for each size of leaves: a rule reads what the leaves hold, so changing it needs no other.

        Parameters
        ----------
        estimator : classifier
            With the parameters `rule` and `min_samples_leaf` and the verb `leaf_counts`, as
            :class:`~hedgerow.RandomTreesClassifier`. It is cloned, not fitted; its `random_state` stays as it is.
        X, y
            Rows and their labels.
        test_size : float or int
            The share, or number, of rows that are held out; each class keeps its share in both parts.
        min_samples_leaf : iterable of numbers
            The sizes; they are sorted.
        rules : iterable of str or rules
            By default five: evidence and pool, which the paper's text sees in its figure, the usual mean of
            probabilities, and two of the others.
        random_state : int, RandomState instance or None
            Of the division of the rows.
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.

        Notes
        -----
        A tree by itself says the class that its leaf has most of, the first of equals.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        _check_estimator(estimator)
        sizes = sorted(_not_empty("min_samples_leaf", min_samples_leaf))
        chosen = [combination.get(rule) for rule in _not_empty("rules", rules)]
        X_fit, X_test, y_fit, y_test = train_test_split(
            X, y, test_size=test_size, stratify=y, random_state=random_state
        )
        labels = np.asarray(y_test)
        by_rule, by_tree = [], []
        for size in sizes:
            model = clone(estimator).set_params(min_samples_leaf=size).fit(X_fit, y_fit)
            by_rule.append([np.mean(model.set_params(rule=rule).predict(X_test) == labels) for rule in chosen])
            by_tree.append(_tree_accuracies(model, X_test, labels))
        display = cls(
            min_samples_leaf=sizes,
            rule_names=rule_labels(chosen),
            accuracies=np.array(by_rule).T,
            tree_accuracies=np.array(by_tree),
        )
        return display.plot(ax, **kwargs)


def _look(number: int) -> dict[str, Any]:
    """Colour, marker and, from the sixth rule on, another kind of line. Smaller markers leave those below in sight."""
    turn, colour = divmod(number, len(_COLOURS))
    styles = ("-", ":", "-.")
    return {
        "color": _COLOURS[colour],
        "marker": _MARKERS[number % len(_MARKERS)],
        "markersize": max(3.5, 7.5 - 0.8 * number),
        "linestyle": styles[turn % len(styles)],
    }


def _check_estimator(estimator: Any) -> None:
    parameters = estimator.get_params() if hasattr(estimator, "get_params") else {}
    absent = [name for name in ("rule", "min_samples_leaf") if name not in parameters]
    absent += [] if hasattr(estimator, "leaf_counts") else ["leaf_counts(X)"]
    if absent:
        raise ValueError(
            f"estimator is {estimator!r}, which has no {' and no '.join(absent)}: take one that combines the leaves of "
            "its trees by a rule, such as RandomTreesClassifier() or ForestClassifier()"
        )


def _not_empty(name: str, given: Iterable[Any]) -> list[Any]:
    values = list(given)
    if not values:
        raise ValueError(f"{name} is empty, must have at least one")
    return values


def _tree_accuracies(model: Any, X: Any, labels: NDArray[Any]) -> Floats:
    """The share of rows whose leaf has most of the right class, (n_trees,). Some rows at a time: counts take memory."""
    rows = nw.from_native(X, eager_only=True, pass_through=True)

    def leaf_counts(part: slice) -> Floats:
        counts: Floats = model.leaf_counts(nw.to_native(rows[part], pass_through=True))
        return counts

    rows_at_once = max(1, _COUNTS_AT_ONCE // leaf_counts(slice(1)).size)
    parts = [slice(first, first + rows_at_once) for first in range(0, len(labels), rows_at_once)]
    right = [model.classes_[leaf_counts(part).argmax(axis=2)] == labels[part, np.newaxis] for part in parts]
    accuracies: Floats = np.concatenate(right).mean(axis=0)
    return accuracies
