"""Accuracy of rules, and of the single trees that they combine, against the size of leaves.

Busch et al., Combining Predictions under Uncertainty: The Case of Random Decision Trees (2022), Figure 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from hedgerow import rules as combination
from hedgerow.plots.display import BESIDE, AxesOrNone, Display, Floats, Keywords
from hedgerow.plots.labels import legend_label, rule_labels
from hedgerow.plots.palette import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY_BLUE, VERMILION
from hedgerow.plots.requirements import check_estimator

__all__ = ["LeafSizeDisplay"]

_COUNTS_AT_ONCE = 1 << 22
_COLORS = (BLACK, ORANGE, GREEN, PURPLE, VERMILION)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_LINE_STYLES = ("-", ":", "-.")


@dataclass(kw_only=True, eq=False, repr=False)
class LeafSizeDisplay(Display):
    """Accuracy of rules, and of the single trees that they combine, for several sizes of leaves.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    min_samples_leaf : sequence of numbers
        Sizes of leaves.
    rule_names : sequence of str
        Names of the rules.
    accuracies : ndarray of shape (n_rules, n_sizes)
        Accuracy of the ensemble under each rule.
    tree_accuracies : ndarray of shape (n_sizes, n_trees)
        Accuracy of each tree.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D, one for each rule
    tree_dots_, tree_mean_line_ : matplotlib Line2D
    tree_bands_ : list of matplotlib PolyCollection, one, two and three standard deviations around the mean

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

    min_samples_leaf: Sequence[float]
    rule_names: Sequence[str]
    accuracies: Floats
    tree_accuracies: Floats

    def plot(
        self, ax: AxesOrNone = None, *, legend: bool = True, line_kw: Keywords = None, dot_kw: Keywords = None
    ) -> Self:
        """Draw a line for each rule, over dots for the trees with their mean and bands of standard deviations.

        `line_kw`, of the rules, and `dot_kw`, of the trees, are for matplotlib's `plot`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        legend : bool, default=True
            Whether to draw a legend.
        line_kw : dict or None, default=None
            Keywords for matplotlib's `plot`, for the lines.
        dot_kw : dict or None, default=None
            Keywords for the dots of single trees.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        axes = self._axes(ax, figsize=(8.0, 5.0), layout="constrained")
        sizes = self.min_samples_leaf
        self.lines_ = []
        for number, (name, accuracy) in enumerate(zip(self.rule_names, self.accuracies, strict=True)):
            style = {**_rule_style(number), "linewidth": 1.4, "zorder": 3, "label": legend_label(name)}
            self.lines_.append(self._line(sizes, accuracy, line_kw, **style))
        self._draw_trees(dot_kw)
        axes.set_xscale("log", base=2)  # sizes usually double
        axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
        axes.set_xticks([], minor=True)
        axes.set(xlabel="minimum number of samples in a leaf", ylabel="accuracy on held-out rows")
        axes.set_title(f"Rules, and the {self.tree_accuracies.shape[1]} trees that they combine")
        if legend:
            axes.legend(fontsize="small", **(BESIDE if ax is None else {}))
        return self

    def _draw_trees(self, dot_kw: Keywords) -> None:
        axes: Any = self.ax_
        sizes, accuracies = self.min_samples_leaf, self.tree_accuracies
        dots = {"color": BLUE, "linestyle": "", "marker": ".", "markersize": 5, "markeredgewidth": 0, "alpha": 0.35}
        x = np.repeat(sizes, accuracies.shape[1])
        self.tree_dots_ = self._line(x, accuracies.ravel(), dot_kw, **dots, label="single trees")
        mean, deviation = accuracies.mean(axis=1), accuracies.std(axis=1)
        dashed = {"color": BLUE, "linestyle": "--", "linewidth": 1.4}
        self.tree_mean_line_ = self._line(sizes, mean, **dashed, label="their mean")
        self.tree_bands_ = []
        for times in (1, 2, 3):
            ends = np.clip([mean - times * deviation, mean + times * deviation], 0, 1)
            self.tree_bands_.append(axes.fill_between(sizes, *ends, color=SKY_BLUE, alpha=0.16, linewidth=0))
        self.tree_bands_[0].set_label("their 1, 2, 3 standard deviations")

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
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Fit clones of a classifier on some rows, and draw the accuracy of rules and trees on the others.

        There is one fit for each size of leaves, which all rules share.

        Parameters
        ----------
        estimator : classifier
            With the parameters `rule` and `min_samples_leaf` and the method `leaf_counts`, such as
            :class:`~hedgerow.RandomTreesClassifier`. It is cloned, with its `random_state`, and not fitted itself.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Classes, or targets, of the rows.
        test_size : float or int, default=0.5
            Fraction or number of held-out rows; the split is stratified by class.
        min_samples_leaf : iterable of numbers, default=(1, 2, 3, 4, 8, 32)
            Sizes of leaves, in any order.
        rules : iterable of str or rules, default=("probability", "confidence", "pool", "dempster", "evidence")
            Rules that are compared, by name or as instances.
        random_state : int, RandomState instance or None, default=None
            Seed of the split of the rows.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        Display
            The Display, drawn.

        Notes
        -----
        A single tree predicts the most frequent class of its leaf, the first of equals.
        """
        cls._pyplot("from_estimator")
        hint = "pass a forest that combines its leaves by a rule, such as RandomTreesClassifier() or ForestClassifier()"
        check_estimator(estimator, ["leaf_counts"], ["rule", "min_samples_leaf"], hint=hint)
        sizes = sorted(_not_empty("min_samples_leaf", min_samples_leaf))
        chosen = [combination.get(rule) for rule in _not_empty("rules", rules)]
        split = train_test_split(X, y, test_size=test_size, stratify=y, random_state=random_state)
        X_train, X_test, y_train, y_test = split
        labels = np.asarray(y_test)
        by_rule, by_tree = [], []
        for size in sizes:
            model = clone(estimator).set_params(min_samples_leaf=size).fit(X_train, y_train)
            by_rule.append([np.mean(model.set_params(rule=rule).predict(X_test) == labels) for rule in chosen])
            by_tree.append(_tree_accuracies(model, X_test, labels))
        return cls(
            min_samples_leaf=sizes,
            rule_names=rule_labels(chosen),
            accuracies=np.array(by_rule).T,
            tree_accuracies=np.array(by_tree),
        ).plot(ax, **kwargs)


def _rule_style(number: int) -> dict[str, Any]:
    """Choose a colour, a marker and, from the sixth rule on, other dashes. Later markers are smaller to show others."""
    turn, color = divmod(number, len(_COLORS))
    return {
        "color": _COLORS[color],
        "marker": _MARKERS[number % len(_MARKERS)],
        "markersize": max(3.5, 7.5 - 0.8 * number),
        "linestyle": _LINE_STYLES[turn % len(_LINE_STYLES)],
    }


def _not_empty(name: str, given: Iterable[Any]) -> list[Any]:
    values = list(given)
    if not values:
        raise ValueError(f"{name} is empty, must have at least one value")
    return values


def _tree_accuracies(model: Any, X: Any, labels: NDArray[Any]) -> Floats:
    """Compute the accuracy of each tree, (n_trees,), in batches of rows that limit the memory of leaf counts."""
    rows = nw.from_native(X, eager_only=True, pass_through=True)

    def leaf_counts(batch: slice) -> Floats:
        return model.leaf_counts(nw.to_native(rows[batch], pass_through=True))

    batch_size = max(1, _COUNTS_AT_ONCE // leaf_counts(slice(1)).size)
    batches = [slice(first, first + batch_size) for first in range(0, len(labels), batch_size)]
    right = [model.classes_[leaf_counts(batch).argmax(axis=2)] == labels[batch, np.newaxis] for batch in batches]
    return np.concatenate(right).mean(axis=0)
