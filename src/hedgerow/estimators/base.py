"""Base of all estimators: reading X, growing trees and walking them."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from hedgerow.codegen.finish import Step
from hedgerow.data.table import Schema, Table
from hedgerow.data.targets import Labels
from hedgerow.data.training import Training
from hedgerow.estimators.fitting.bags import UnseenRows
from hedgerow.estimators.seeding import seed_of
from hedgerow.estimators.stored import check_fitted
from hedgerow.forest.forest import Forest
from hedgerow.growth import Growth
from hedgerow.walk import ForestWalk, HardWalk, Query, TableCache, Walk, ask

if TYPE_CHECKING:
    from hedgerow.gpu import CudaDevice, DeviceWalk

__all__ = ["TreeBased", "copied_here", "is_elsewhere"]

Floats = NDArray[np.float64]

_DLPACK_CPU = 1
_ELSEWHERE = ("_device", "_engine")  # not in pickles and files
_GROWTH = (
    *("nominal", "missing", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf"),
    *("min_impurity_decrease", "max_leaf_nodes", "max_features"),
)


class TreeBased(BaseEstimator):  # type: ignore[misc]
    """Abstract; final classes have the parameters of :class:`~hedgerow.growth.Growth` among theirs."""

    _made_again: ClassVar[frozenset[str]] = frozenset()  # attributes that are derived, and not stored in files

    _grows_on_gpu: ClassVar[bool] = False  # whether `fit` of a model that was moved grows the trees there
    _device: CudaDevice | None = None
    _engine: DeviceWalk | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _growth(self, criterion: Any, **others: Any) -> Growth:
        """Growth with the parameters of this estimator; `others` are those that it lacks, and replacements."""
        own = {name: getattr(self, name) for name in _GROWTH}
        return Growth(criterion=criterion, **(own | others))

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def _set_fitted(self, table: Table, forest: Forest, **attributes: Any) -> None:
        """Set all attributes at once, after everything that can fail: a failed fit leaves an earlier one intact."""
        self._set_names(table.schema)
        self.schema_ = table.schema
        self.forest_ = forest
        self._tables = TableCache()
        for name, value in attributes.items():
            setattr(self, name, value)

    def _forget(self, *names: str) -> None:
        """Delete attributes of an earlier fit that this one may not set."""
        for name in names:
            self.__dict__.pop(name, None)

    def _set_names(self, schema: Schema) -> None:
        """Set the names as scikit-learn's `validate_data` does, which would convert X again."""
        self.n_features_in_ = schema.n_features
        self._forget("feature_names_in_")
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)

    def _check_fitted(self) -> None:
        check_fitted(self)

    def to(self, device: str) -> Self:
        """Copy of this model whose rows are walked on another device; the trees are shared.

        A :class:`ForestClassifier` is fitted there too, with the trees of the CPU, bit for bit. Other models are fitted
        first, and then moved; what is no walk stays on the CPU. X may be an array of the GPU, and answers then stay
        there. Clones, pickles and files are those of the model itself, which is on the CPU.

        Parameters
        ----------
        device : str
            "cuda" for CuPy's current GPU, "cuda:1" for the one with a number, or "cpu".

        Returns
        -------
        estimator of the same class
            The copy.

        Raises
        ------
        ValueError
            If there is no such device, or the model's rows are in all leaves at once.
        NotFittedError
            If this model is fitted on the CPU, and is not fitted yet.
        NoGPUError
            If there is no such GPU.
        ImportError
            If CuPy is missing.

        Notes
        -----
        See docs/gpu.md for what has the same bits on both. Without CuPy or a GPU this is an error.

        Examples
        --------
        >>> from hedgerow import ForestClassifier
        >>> forest = ForestClassifier(5, random_state=0).fit([[1.0], [2.0]] * 10, [0, 1] * 10)
        >>> on_gpu = forest.to("cuda")  # doctest: +SKIP
        >>> grown_there = ForestClassifier().to("cuda").fit([[1.0], [2.0]] * 10, [0, 1] * 10)  # doctest: +SKIP
        >>> forest.to("cpu").predict([[2.0]])
        array([1])
        """
        to_be_fitted = self._grows_on_gpu and "forest_" not in vars(self)
        if not to_be_fitted:
            check_is_fitted(self, msg=f"%(name)s is fitted on the CPU: call fit, and then to({device!r})")
        moved = copy(self)
        moved._tables = TableCache()
        moved._device = moved._engine = None
        if device == "cpu":
            return moved
        if not to_be_fitted and not isinstance(moved._walk, HardWalk):
            raise ValueError(f"{type(self).__name__} can't be moved to {device}: its rows are in all leaves at once")
        from hedgerow.gpu import open_device

        moved._device = open_device(device)
        return moved

    @property
    def _device_walk(self) -> DeviceWalk | None:
        """Engine on another device; None on the CPU."""
        if self._device is None:
            return None
        if self._engine is None or self._engine.forest is not self.forest_:  # fitted again
            from hedgerow.gpu import DeviceWalk

            self._engine = DeviceWalk(self.forest_, self._device)
        return self._engine

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _ELSEWHERE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Check a pickled model as :func:`hedgerow.load` checks a file: the core relies on parts that match."""
        super().__setstate__(state)
        if "forest_" in vars(self):
            self._check_fitted()

    def _restored(self) -> None:
        self._check_fitted()
        self._tables = TableCache()

    def _unseen_rows(self, X: Any, y: Any, sample_weight: Any) -> UnseenRows:
        """Training rows, given again, that each tree has not seen; or that can be left out of it."""
        raise ValueError(
            f"{type(self).__name__} has no bags, and every row of fit was seen by every tree: use rows='all' with rows "
            "that it has not seen, or a forest"
        )

    @property
    def _n_jobs(self) -> int | None:
        """None for a single tree, which has no such parameter."""
        return getattr(self, "n_jobs", None)

    @property
    def _walk(self) -> Walk:
        """Engine that takes rows to the leaves of `forest_`."""
        return self._device_walk or ForestWalk(self.forest_, self._n_jobs)

    @property
    def _exact_walk(self) -> Walk | None:
        """Engine that takes values for exact where :attr:`_walk` has them measured with error; None elsewhere."""
        return None

    def _training_range(self) -> Floats | None:
        """Least and largest training value of each column, (n_features, 2); None where they are not known."""
        return getattr(self, "training_range_", None)

    def _ranges_of_splits(self) -> Floats | None:
        """Training range of the columns that the trees split on; NaN for others, as nothing depends on them."""
        ranges = self._training_range()
        return None if ranges is None else np.where(self.forest_.split_features[:, np.newaxis], ranges, np.nan)

    def get_tree_weights(self) -> Floats | None:
        """Weight of each tree in the answer, 1 on average, (n_trees,); None: all the same.

        Returns
        -------
        ndarray of shape (n_trees,) or None
            Weights.

        Examples
        --------
        >>> from hedgerow import ForestClassifier
        >>> X, y = [[float(i)] for i in range(20)], [0] * 10 + [1] * 10
        >>> ForestClassifier(2, tree_weights=[1, 3], random_state=0).fit(X, y).get_tree_weights()
        array([0.5, 1.5])
        """
        return None

    def _sums_and_steps(self) -> tuple[Query[Any], tuple[Step, ...]]:
        """Query whose table has numbers of leaves that are added up, and what is done with the sums, for code."""
        raise ValueError(
            f"{type(self).__name__} computes its answers from more than sums over leaves, and code can't be written "
            "for it: use save() and `hedgerow predict`"
        )

    def _ask(self, rows: Floats, *queries: Query[Any]) -> list[Any]:
        """Answers to several queries about the same rows in one walk."""
        walk = self._device_walk
        if isinstance(rows, np.ndarray):
            if walk is None:
                return ask(self._walk, rows, queries)
            from hedgerow.gpu.host_rows import ask_in_parts

            return ask_in_parts(walk, rows, queries)
        from hedgerow.gpu.answers import ask_on_device

        assert walk is not None  # or _read would have refused the rows
        return ask_on_device(walk, rows, queries)

    def _read(self, X: Any) -> Floats:
        if "forest_" not in vars(self):  # check_is_fitted takes half as long as the walk of one row
            check_is_fitted(self)
        if type(X) is not np.ndarray and is_elsewhere(X):
            return self._read_elsewhere(X)
        if self._device is None:
            return self.schema_.read(X, estimator=self)
        from hedgerow.gpu.host_rows import first_infinity_abreast

        return self.schema_.read(X, estimator=self, find_infinity=first_infinity_abreast)

    def _read_elsewhere(self, X: Any) -> Any:
        """Rows that are on another device already."""
        walk = self._device_walk
        if walk is None:
            raise ValueError(
                f"X is an array on a GPU, and this {type(self).__name__} is on the CPU: call model.to('cuda'), or pass "
                "X as a NumPy array"
            )
        from hedgerow.gpu.rows import read_rows

        return read_rows(walk.device, X, self.schema_, estimator=self)

    def _read_here(self, X: Any) -> Floats:
        """Rows in the memory of the host, for what is not computed on a GPU."""
        if is_elsewhere(X):
            raise TypeError(
                "this answer is computed on the CPU, and X is an array on a GPU: pass its copy in the memory of the "
                "host, X.get() for CuPy and X.cpu().numpy() for PyTorch"
            )
        return self._read(X)

    @staticmethod
    def _training(
        table: Table, weight: Floats, *, labels: Labels | None = None, targets: Floats | None = None
    ) -> Training:
        """Rows for growth, without those of weight 0."""
        used = weight > 0
        if used.all():
            codes, n_classes = (None, 0) if labels is None else (labels.codes, len(labels.classes))
            return Training(table.values, table.schema.n_categories, weight, codes, targets, n_classes)
        return Training(
            np.asfortranarray(table.values[used]),
            table.schema.n_categories,
            weight[used],
            None if labels is None else labels.codes[used],
            None if targets is None else targets[used],
            0 if labels is None else len(labels.classes),
        )


def is_elsewhere(X: Any) -> bool:
    """Whether X is an array that is not in the memory of the host."""
    if not hasattr(X, "__dlpack_device__"):
        return False
    return int(X.__dlpack_device__()[0]) != _DLPACK_CPU


def copied_here(array: Any) -> Any:
    """An array of a GPU copied to the memory of the host; anything else as it is."""
    if array is None or not is_elsewhere(array):
        return array
    # CuPy's arrays have `get`, PyTorch's `cpu`; others convert themselves.
    return array.get() if hasattr(array, "get") else np.asarray(array.cpu() if hasattr(array, "cpu") else array)
