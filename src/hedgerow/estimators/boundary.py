"""Smooth probabilities for an unchanged tree, from the distance to its decision boundary."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator

from hedgerow._params import check_choice
from hedgerow.boundary.bandwidths import HeldOut, bandwidth
from hedgerow.boundary.boundary_explanation import BoundaryExplanation, separator_texts
from hedgerow.boundary.decision_boundary import DecisionBoundary, Fractions, Nearest, Separators
from hedgerow.boundary.distance import boundary_of
from hedgerow.boundary.estimate import Estimate, Settings, features
from hedgerow.boundary.kernels import check_tolerance, kernel
from hedgerow.boundary.mixture import FROZEN_WEIGHT, boundary_weight, mix
from hedgerow.boundary.partitions import n_groups, partition
from hedgerow.boundary.scales import check_scale, metric
from hedgerow.data.sparse import densify
from hedgerow.estimators.contract import CODES
from hedgerow.estimators.fitting.boundary_folds import Grow, TrainingRows, TreeAndBoundary, choose_by_held_out_rows
from hedgerow.estimators.fitting.costs import cheapest_classes
from hedgerow.estimators.stored import storable
from hedgerow.estimators.trees import TreeClassifier
from hedgerow.estimators.verbs.answers import Answers
from hedgerow.estimators.verbs.explained_classes import ClassRows, about_rows
from hedgerow.estimators.verbs.training_cases import TrainingCases, read_training
from hedgerow.estimators.verbs.tree import ClassTree
from hedgerow.estimators.wrapped import WrappedForest
from hedgerow.explain.explanation import LeafProbabilities
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import Levels, SetSizes, divide
from hedgerow.explain.reasons.leaf_certainty import ClassCertainty, LeafCertainty
from hedgerow.folds import Frequency, Uncertainty, entropy_bits, leaf_counts, tree_votes
from hedgerow.folds.uncertainty import all_aleatoric
from hedgerow.forest.forest import Forest
from hedgerow.walk import Query, route

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["BoundaryClassifier"]

Floats = NDArray[np.float64]


@storable
class BoundaryClassifier(ClassifierMixin, WrappedForest, Answers):  # type: ignore[misc]
    """Probabilities that change smoothly with the distance to the decision boundary of a tree, which is not changed.

    In a plain tree all rows of a leaf have the same probability, next to the boundary as far inside. The boundary's
    estimate of class c is its share among the training rows at the same distance from the area in which the tree
    predicts c (Alvarez, Bernard and Deffuant, Keep the Decision Tree and Estimate the Class Probabilities Using its
    Decision Boundary, 2007): Σ K over the training rows of class c, divided by Σ K over all, where K is a kernel on the
    difference of distances. The answer is a mixture of this estimate and the tree's own probability; the paper's is
    ``BoundaryClassifier(TreeClassifier.c45(), bandwidth=0.1, boundary_weight=1)``.

    Parameters
    ----------
    estimator : a tree, or None, default=None
        A TreeClassifier or ObliqueTreeClassifier, or one of scikit-learn's decision or extra trees. It is cloned and
        fitted, unless it is ``sklearn.frozen.FrozenEstimator(fitted)``, which is used without refitting. None is
        ``TreeClassifier()``, whose thresholds are midway between training values.
    metric : {"standard", "minmax"}, an instance of :class:`~hedgerow.boundary.Standard` \
or :class:`~hedgerow.boundary.MinMax`, or scales, default="standard"
        Unit of distance in each column: its standard deviation, its range, or your own number for each column (an
        array, or a dict by name), such as the precision of a sensor. Ordinal columns count by rank. A change of
        category has the length `nominal_weight` of the instance, 1 by default, or 1/scale.
    bandwidth : "held_out", float, "cv" or an instance from :mod:`hedgerow.boundary`, default="held_out"
        A number is the fraction of the range of the distance over all training rows, for every partition. "held_out"
        takes the one with the least log-loss in three-fold cross-validation, in which trees are grown again
        (:class:`~hedgerow.boundary.HeldOut`); "cv", for each class, the one under which the labels of training rows
        are likeliest, each left out in turn. ``Absolute(0.1)`` is in units of the metric.
    boundary_weight : "held_out" or float, default="held_out"
        Weight of the boundary's estimate in the answer, from 0 to 1; the rest is the tree's own probability. 1 is the
        paper's estimate. "held_out" chooses it by the same cross-validation; for a frozen tree, which can't be grown
        again, it is 0.5, and the bandwidth 0.1.
    kernel : {"gaussian", "box", "epanechnikov"}, default="gaussian"
        Weight of a training row by the difference of distances: a normal density with the bandwidth as its standard
        deviation; constant, or a parabola, up to the bandwidth.
    partition : {"global", "separator", "leaf"}, default="global"
        Compare with all training rows, or only with those at the same separator (the paper's local estimate), or only
        with those in the same leaf (which the paper argues against). A subset without training rows is replaced by all.
    features : ("distance",) or ("distance", "position"), default=("distance",)
        Arguments of the kernel. The position is that along the boundary: the coordinate of the row's projection in
        the direction in which those of the training rows of its subset vary most.
    decide : {"probability", "tree"}, default="probability"
        Whether `predict` gives the most probable class, or the tree's own. Can be changed after `fit`.
    tolerance : float, default=1e-06
        Largest relative error of sums over more than 256 training rows; 0 adds them one by one, as is always done with
        positions. Can be changed after `fit`.
    n_jobs : int or None, default=None
        Number of threads for distances and sums; None is 1, -1 all cores; identical results for any number.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    forest_ : Forest
        The tree itself.
    scale_ : array of shape (n_features,)
        Unit of distance in each column.
    bandwidth_ : array of shape (n_classes,)
        The kernel's bandwidth for the distance to each class's area.
    boundary_weight_ : float
        Weight of the boundary's estimate in the answer.
    estimate_ : Estimate
        Distances, weights and classes of the training rows.
    classes_ : array of shape (n_classes,)
        Labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    class_prior_ : array of shape (n_classes,)
        Weighted share of each class in the training data.
    schema_ : Schema
        Names, kinds and categories of the columns.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; absent if X had none.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the decrease of impurity; they add up to 1.

    Notes
    -----
    A class that labels no leaf has no area to be near to: its estimate is the leaf's Laplace frequency. Estimates of
    several classes, each by the distance to its own area, are divided by their sum. A row with missing values is in
    several leaves at once, and its probabilities are mixed.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X[::2], y[::2])
    >>> from hedgerow import BoundaryClassifier
    >>> model = BoundaryClassifier.from_fitted(tree, X[::2], y[::2])
    >>> len(set(tree.predict_proba(X[1::2])[:, 1])), len(set(model.predict_proba(X[1::2])[:, 1])) > 200
    (4, True)
    """

    _made_again = WrappedForest._made_again | {"bandwidth_", "boundary_weight_"}

    def __init__(
        self,
        estimator: Any = None,
        *,
        metric: Any = "standard",
        bandwidth: Any = "held_out",
        boundary_weight: Any = "held_out",
        kernel: str = "gaussian",
        partition: str = "global",
        features: Any = ("distance",),
        decide: str = "probability",
        tolerance: float = 1e-6,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.bandwidth = bandwidth
        self.boundary_weight = boundary_weight
        self.kernel = kernel
        self.partition = partition
        self.features = features
        self.decide = decide
        self.tolerance = tolerance
        self.n_jobs = n_jobs

    @classmethod
    def from_fitted(cls, model: Any, X: Any, y: Any, sample_weight: Any = None, **settings: Any) -> BoundaryClassifier:
        """Wrap a fitted tree, with smooth probabilities from these rows, best those that it was fitted on.

        Parameters
        ----------
        model : fitted estimator
            The model to wrap; it is not fitted again.
        X : array-like or frame of shape (n_samples, n_features)
            Rows to learn from, best those that the tree was fitted on.
        y : array-like of shape (n_samples,)
            Labels or numbers, one for each row.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; None weighs all alike.
        **settings
            Parameters of this class by name.

        Returns
        -------
        BoundaryClassifier
            Ready to predict.

        Raises
        ------
        TypeError
            If the model is not a tree that can be read.
        ValueError
            If a setting is out of its range, or the rows do not fit the tree.
        """
        fitted = model.estimator if isinstance(model, FrozenEstimator) else model
        return cls(FrozenEstimator(fitted), **settings).fit(X, y, sample_weight)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> BoundaryClassifier:
        """Fit the tree, unless it is frozen, and learn how classes lie around its boundary.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row: a number of rows, if all are whole numbers, else relative and rescaled to a mean of 1;
            None weighs all alike.
        **fit_params
            Passed to `fit` of the estimator; with metadata routing as it was requested.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is out of its range, or X or y can't be read (the message names the column or row).
        TypeError
            If the estimator is not a tree that can be read.
        """
        settings = self._settings()
        weight = boundary_weight(self.boundary_weight)
        measure = metric(self.metric)
        self._check_tree(self._template())
        fitted = self._fit_estimator(X, y, sample_weight, fit_params)
        found = self._found(fitted.model, fitted.prior)
        self._refuse_missing(found["schema_"].read(X, estimator=self), fitted.model, found["schema_"])
        labels = fitted.labels.classes[fitted.labels.codes]
        training = TrainingRows(densify(X), labels, fitted.weight).part(fitted.weight)
        tree = _tree_and_boundary(found)
        if isinstance(self._template(), FrozenEstimator):
            weight = FROZEN_WEIGHT if weight is None else weight
        elif weight is None or isinstance(settings.bandwidth, HeldOut):
            grow = self._regrow(tree, training.weight, fit_params)
            settings, weight = choose_by_held_out_rows(training, tree, grow, measure, settings, weight)
        scale, estimate = tree.estimate(training, measure, settings)
        estimate = estimate.with_bandwidths(1.0, weight)
        n_classes = len(found["classes_"])
        return self._set_found({**found, "scale_": scale, "estimate_": estimate} | _derived(estimate, n_classes))

    def _regrow(self, whole: TreeAndBoundary, weight: Floats, fit_params: dict[str, Any]) -> Grow:
        """Return a function that fits a clone of the estimator to other rows."""
        template = clone(self._template())
        if isinstance(template, ClassTree):  # cross-validate the amount of shrinkage once, not in every fold
            template.set_params(leaf_probability=whole.model.leaf_probability_)
        params = self._params_of_estimator(template, weight, fit_params)
        counted = params.pop("sample_weight", None) is not None

        def grow(rows: TrainingRows) -> TreeAndBoundary:
            weights = {"sample_weight": rows.weight} if counted else {}
            return _tree_and_boundary(self._found(clone(template).fit(rows.X, rows.labels, **weights, **params), None))

        return grow

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row, the first of equals; with ``decide="tree"`` the tree's own.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, of the type of `y` in `fit`.
        """
        return self._respond_alone(X, "predict")

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, (n, n_classes), from the row's distance to the area of each.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return self._respond_alone(X, "predict_proba")

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Entropy of the probabilities in bits. A single tree has no between-tree variance: all of it is aleatoric.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        Uncertainty
            `total`, `aleatoric` and `epistemic`, arrays of shape (n_samples,).
        """
        return self._respond_alone(X, "predict_uncertainty")

    def algebraic_distance(self, X: Any) -> Floats:
        """Distance of each row from the area of each class, (n, n_classes), negative inside it, in units of `scale_`.

        For a row in several leaves the weighted mean over those with a finite distance.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Distances.

        Examples
        --------
        >>> from hedgerow import BoundaryClassifier
        >>> model = BoundaryClassifier(metric=[1.0], bandwidth=0.1).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
        >>> model.algebraic_distance([[1.0], [4.0]])  # the boundary is at 2.5
        array([[-1.5,  1.5],
               [ 1.5, -1.5]])
        """
        rows = self._read(X)
        return self._nearest(rows).of_rows()

    def nearest_separator(self, X: Any) -> Separators:
        """Nearest separator between each row and another class of the tree: a column's number and a threshold.

        See :func:`hedgerow.boundary.nearest_separator`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        Separators
            `feature` and `threshold`, arrays of shape (n_samples,).

        Examples
        --------
        >>> from hedgerow import BoundaryClassifier
        >>> model = BoundaryClassifier(bandwidth=0.1).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
        >>> model.nearest_separator([[1.0]]).threshold
        array([2.5])
        """
        rows = self._read(X)
        return self.boundary_.crossed(self._nearest(rows))

    def explain(self, X: Any, *, training: tuple[Any, Any] | None = None) -> Explanations[BoundaryExplanation]:
        """Explain each row: its path down the tree, its distance from other classes, and the reasons for doubt.

        ``print(model.explain(X)[0])`` is a text for people; `reasons` of the whole has the shares of the reasons of all
        rows (docs/reasons.md).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        training : (X, y) or None, default=None
            Rows of `fit` again: the nearest of them with other answers are named.

        Returns
        -------
        Explanations
            A record for each row, like a list; a table in notebooks.
        """
        return self._explain_read(self._read(X), training=read_training(self, training))

    def _explain_read(
        self, rows: Floats, outer: SetSizes | None = None, training: TrainingCases | None = None
    ) -> Explanations[BoundaryExplanation]:
        model = copy(self)  # parameters may be set to others before the records are made
        nearest = model._nearest(rows)
        probabilities = model._probabilities(rows, nearest)
        tree: Floats
        certainty: ClassCertainty
        tree, certainty = model._ask(rows, model._tree_query(), model._leaf_certainty().query(None))
        answer, away = probabilities.max(axis=1), tree.max(axis=1)
        about = about_rows(model, rows)
        levels = Levels.of_classes(
            about=about,
            empty=certainty.empty,
            answer=answer,
            away=away,
            tree=away,
            exact=away,
            leaf=certainty.leaf,
            counted=certainty.counted,
        )
        doubt = levels.now
        if outer is not None:
            levels, doubt = outer.limit(levels, about, answer)
        reasons = divide(levels, doubt, "probability")
        tree_codes = model._tree_codes(tree)
        codes = tree_codes if model._decides_by_tree() else probabilities.argmax(axis=1)
        crossed = model.boundary_.crossed(nearest)
        separators = separator_texts(crossed, model.schema_)
        distances = nearest.of_rows()
        reached = _reached(nearest.fractions, model.forest_)

        def facts_of_boundary(i: int, reason: str) -> dict[str, Any]:
            column, threshold = int(crossed.feature[i]), float(crossed.threshold[i])
            past = abs(float(rows[i, column]) - threshold) if column >= 0 else np.nan
            return {
                "separator": separators[i],
                "distance": float(np.abs(distances[i]).min()),
                "away": past if np.isfinite(past) else None,
            }

        answers = model.classes_[codes]
        labels = answers.tolist()
        found = {"predict": model.classes_[tree_codes], "predict_proba": tree}
        of_tree = ClassRows(
            *(model, rows, found, certainty, levels, reasons, reached, training),
            model_of=lambda part: model,
            more_facts=facts_of_boundary,
        )

        def records(first: int, last: int) -> list[BoundaryExplanation]:
            return [
                BoundaryExplanation(
                    answer=labels[i],
                    classes=one.classes,
                    probabilities=tuple(probabilities[i].tolist()),
                    distances=tuple(distances[i].tolist()),
                    separator=separators[i],
                    tree=replace(one, why=()),
                    boundary_weight=model.estimate_.weight,
                    why=one.why,
                )
                for i, one in enumerate(of_tree.records(first, last), first)
            ]

        return Explanations(records, reasons, answers, None, model.classes_)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Number of the leaf that each row reaches, (n,); of a row in several, the heaviest.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        int32 ndarray of shape (n_samples,)
            Numbers of leaves, from 0.
        """
        rows = self._read(X)
        return route(self.forest_, rows, n_jobs=self.n_jobs)[:, 0]

    def leaf_counts(self, X: Any) -> Floats:
        """Class counts of the leaf that each row reaches, (n, 1, n_classes); of several, the weighted mean.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, 1, n_classes)
            Counts.
        """
        return self._respond_alone(X, "leaf_counts")

    @property
    def boundary_(self) -> DecisionBoundary:
        """Decision boundary of the tree, with the class of each leaf."""
        return self._tables.get("boundary", lambda: _boundary(self.estimator_))

    def _source(self, verb: str, **arguments: Any) -> str:
        if verb in ("predict", CODES):
            return "tree_proba" if self._decides_by_tree() else "predict_proba"
        return "predict_proba" if verb == "predict_uncertainty" else verb

    def _derive(self, verb: str, answer: Any) -> Any:
        if verb == "predict_uncertainty":
            return all_aleatoric(entropy_bits(answer), "entropy")
        codes = self._tree_codes(answer) if self._decides_by_tree() else answer.argmax(axis=1)
        return codes if verb == CODES else self.classes_[codes]

    def _query(self, verb: str, **arguments: Any) -> Query[Any] | None:
        if verb == "tree_proba":
            return self._tree_query()
        match verb:
            case "leaf_counts":
                return leaf_counts(self.forest_)
            case "votes":
                return tree_votes(self.forest_)
        return None

    @property
    def _leaf_probabilities(self) -> LeafProbabilities | None:
        return getattr(self.estimator_, "_leaf_probabilities", None)

    def _leaf_certainty(self) -> LeafCertainty:
        """Certainty of each leaf about each class: the tree's own probabilities."""
        if isinstance(self.estimator_, ClassTree):
            return self.estimator_._leaf_certainty()
        return LeafCertainty.of(self._tree_query().table, self.forest_.distinct_counts)

    def _answer(self, verb: str, rows: Floats, reached: Any, **arguments: Any) -> Any:
        if verb == "predict_proba":
            return self._probabilities(rows, self._nearest(rows))
        return super()._answer(verb, rows, reached, **arguments)

    def _nearest(self, rows: Floats) -> Nearest:
        return self.boundary_.measure(rows, self.scale_, n_jobs=self.n_jobs)

    def _probabilities(self, rows: Floats, nearest: Nearest) -> Floats:
        estimate: Estimate = self.estimate_
        smooth = estimate.probabilities(self.boundary_, rows, nearest, self.scale_, self._settings())
        if estimate.weight == 1:
            return smooth
        # The leaves of the rows are known from their distances: the tree need not be walked again.
        query = self._tree_query()
        shares = _reached(nearest.fractions, self.forest_) @ query.table.of_each_leaf
        return mix(query.finish(shares, 1), smooth, estimate.weight)

    def _tree_query(self) -> Query[Floats]:
        """Probabilities of the tree itself."""
        if isinstance(self.estimator_, ClassTree):
            return self.estimator_._proba_query()
        estimate = Frequency()
        table = self._tables.get(estimate, lambda: estimate.table_of(self.forest_.distinct_counts, self.class_prior_))
        return estimate.query(table, self.class_prior_)

    def _tree_codes(self, probabilities: Floats) -> NDArray[np.intp]:
        """Position in `classes_` of the tree's own answer, given its probabilities."""
        if isinstance(self.estimator_, ClassTree):
            return self.estimator_._decide(probabilities)
        return probabilities.argmax(axis=1)

    def _decides_by_tree(self) -> bool:
        return _decide(self.decide) == "tree"

    def _default(self) -> TreeClassifier:
        return TreeClassifier()

    def _settings(self) -> Settings:
        _decide(self.decide)
        boundary_weight(self.boundary_weight)
        return Settings(
            partition(self.partition),
            bandwidth(self.bandwidth),
            kernel(self.kernel),
            features(self.features),
            check_tolerance(self.tolerance),
            self.n_jobs,
        )

    @staticmethod
    def _check_tree(template: Any) -> None:
        from sklearn.tree import BaseDecisionTree  # slow to import

        inside = template.estimator if isinstance(template, FrozenEstimator) else template
        if not isinstance(inside, ClassTree | BaseDecisionTree):
            raise TypeError(
                f"estimator is {inside!r}, must be a tree whose leaves have one answer each: a TreeClassifier, an "
                "ObliqueTreeClassifier, or one of scikit-learn's (DecisionTreeClassifier, ExtraTreeClassifier)"
            )

    def _check_fitted(self) -> None:
        super()._check_fitted()
        self._settings()
        metric(self.metric)
        check_scale("scale_", self.scale_, self.n_features_in_)
        estimate = self.estimate_
        if not isinstance(estimate, Estimate):
            raise ValueError("estimate_ is something else")
        n_expected = self.n_classes_ * (1 + n_groups(estimate.partition, self.boundary_))
        if len(estimate.sample.sizes) != n_expected:
            raise ValueError("its kernel sample is that of another tree")
        if estimate.axes is not None and estimate.axes.centre.shape[1] != self.n_features_in_:
            raise ValueError("its axes are those of another tree")

    def _restored(self) -> None:
        super()._restored()
        for name, value in _derived(self.estimate_, self.n_classes_).items():
            setattr(self, name, value)


def _derived(estimate: Estimate, n_classes: int) -> dict[str, Any]:
    """Attributes that follow from the estimate."""
    return {"bandwidth_": estimate.bandwidths(n_classes), "boundary_weight_": estimate.weight}


def _decide(given: Any) -> str:
    return check_choice("decide", given, ("probability", "tree"), "'probability' or 'tree'")


def _reached(fractions: Fractions, forest: Forest) -> csr_array:
    """Spread of rows, (n, n_leaves), from the fractions that distances were measured from."""
    from scipy.sparse import csr_array

    shape = (len(fractions.start) - 1, forest.n_leaves)
    return csr_array((fractions.weights, fractions.leaves, fractions.start), shape=shape)


def _tree_and_boundary(found: dict[str, Any]) -> TreeAndBoundary:
    model = found["estimator_"]
    return TreeAndBoundary(model, found["classes_"], found["schema_"], _boundary(model))


def _boundary(model: Any) -> DecisionBoundary:
    """Decision boundary of a fitted tree; the class of a leaf is the tree's own prediction."""
    if not isinstance(model, ClassTree):
        return boundary_of(model)
    probabilities = model.leaf_probabilities()
    if model.cost_matrix is None:
        labels = probabilities.argmax(axis=1)
    else:
        labels = cheapest_classes(probabilities, model.cost_matrix, model.classes_)
    return boundary_of(model, labels.astype(np.int32))
