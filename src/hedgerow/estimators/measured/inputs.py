"""Inputs measured with error: reading their errors, and learning the laws of columns."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from hedgerow._params import check_number, is_number
from hedgerow.data.columns import Kind
from hedgerow.data.table import Table, read_table
from hedgerow.data.targets import first_masked
from hedgerow.estimators.base import TreeBased
from hedgerow.estimators.verbs.training_cases import TrainingCases
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import SetSizes
from hedgerow.forest.kinds import NodeKind
from hedgerow.measured.errors.error_sizes import ErrorSizes, read_cells, read_sigma, typical_sizes
from hedgerow.measured.laws.column_laws import CategoryLaw, NumberLaw
from hedgerow.measured.laws.joint_law import JointLaw, JointRows
from hedgerow.measured.laws.priors import learn_laws, prior, read_error_models
from hedgerow.measured.least_squares import Problem

__all__ = ["MeasuredInputs", "Measurements", "precision_of", "read_target_errors"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measurements:
    """Table given to `fit`, and the sizes of its errors."""

    table: Table
    sizes: ErrorSizes
    cells: Floats
    source: str


class MeasuredInputs(TreeBased):
    """Abstract; final classes have the parameters `sigma`, `error_model`, `prior` and `categorical_features`."""

    @property
    def sigma_(self) -> Floats:
        """Standard deviations of the errors, (n_features,), for rows without `X_err`."""
        check_is_fitted(self)
        sizes: ErrorSizes = self.error_sizes_
        return sizes.sigma

    # -- reading

    def _read(self, X: Any) -> Floats:
        if "forest_" in vars(self) and self.schema_.named and not self.error_sizes_.is_feature.all():
            self._check_holders(nw.from_native(X, pass_through=True, eager_only=True))
        rows: Floats = super()._read(X)
        return rows

    def _check_holders(self, X: Any) -> None:
        """Refuse a frame that lacks a column of errors."""
        if not isinstance(X, nw.DataFrame):
            return
        names = self.schema_.names
        for name, j in zip(names, self.error_sizes_.held_by, strict=True):
            if j >= 0 and names[j] not in X.columns:
                raise ValueError(
                    f"X has no column {names[j]!r}, which holds the errors of {name!r}: add it, zeros for exact values"
                )
        for first, second, _, j in self.error_sizes_.correlations:
            if j >= 0 and names[j] not in X.columns:
                raise ValueError(
                    f"X has no column {names[j]!r}, which holds the correlation of the errors of {names[first]!r} and "
                    f"{names[second]!r}: add it, zeros for none"
                )

    def _cells(self, rows: Floats, X_err: Any) -> Floats:
        """Errors of rows: standard deviations of all cells, (n, n_features), and correlations if there are any."""
        if X_err is not None:
            cells = read_cells(X_err, rows, self.schema_)
            JointLaw(self.laws_, self.error_sizes_.pairs).check(cells, self.schema_.names)
            return cells
        if self.error_source_ == "X_err":
            warnings.warn(
                "fit was given X_err, and this call is not: errors are taken to be as large as they were there in the "
                "root mean square (sigma_). Pass X_err, zeros for exact rows",
                stacklevel=4,
            )
        sizes: ErrorSizes = self.error_sizes_
        return sizes.of_rows(rows, self.schema_.names)

    def _explain_read(
        self, rows: Floats, outer: SetSizes | None = None, training: TrainingCases | None = None
    ) -> Explanations[Any]:
        """Explain converted rows; `outer` are the sets of a model that wraps this one, and say where there is doubt."""
        return self._explain_rows(rows, self._cells(rows, None), training=training, outer=outer)

    @abstractmethod
    def _explain_rows(
        self, rows: Floats, cells: Floats, *, training: TrainingCases | None = None, outer: SetSizes | None = None
    ) -> Explanations[Any]:
        """Explain rows with errors of these sizes; `outer` are the sets of a model that wraps this one."""

    # -- fitting

    def _measurements(self, X: Any, X_err: Any) -> Measurements:
        table = read_table(X, categorical_features=self.categorical_features, estimator=self)
        sizes = read_sigma(self.sigma, table.schema)
        if X_err is None:
            return Measurements(table, sizes, sizes.of_rows(table.values, table.schema.names), "sigma")
        cells = read_cells(X_err, table.values, table.schema)
        return Measurements(table, typical_sizes(sizes, cells, table.values), cells, "X_err")

    def _problem(self, given: Measurements, weight: Floats, precision: Floats, targets: Floats) -> Problem:
        """Least-squares problem of the rows with a positive weight."""
        used = weight > 0
        table, cells = given.table, given.cells[used]
        values = np.asfortranarray(table.values[used])
        models = read_error_models(self.error_model, table.schema)
        laws = learn_laws(values, table.schema, cells, weight[used], models, prior(self.prior))
        joint = JointLaw(laws, given.sizes.pairs)
        joint.check(cells, table.schema.names)
        measured = None
        if joint.is_correlated(cells):
            measured = JointRows(joint, np.ascontiguousarray(values), cells)
            values = np.asfortranarray((marginal := measured.marginal())[0])
            cells = marginal[1]
        features = np.flatnonzero(given.sizes.is_feature)
        cells = np.asfortranarray(cells)
        return Problem(values, cells, laws, features, weight[used], precision[used], targets[used], measured)

    # -- files

    def _check_measured(self) -> None:
        """Check errors and laws of a model from a file, and that its splits go with them."""
        if self.error_source_ not in ("sigma", "X_err") or not isinstance(self.error_sizes_, ErrorSizes):
            raise ValueError("error_source_ or error_sizes_ is invalid")
        if len(self.error_sizes_.sigma) != self.schema_.n_features:
            raise ValueError("error_sizes_ has a wrong number of columns")
        if not isinstance(self.laws_, tuple) or len(self.laws_) != self.schema_.n_features:
            raise ValueError("laws_ must have a law for each column")
        for column, law in zip(self.schema_.columns, self.laws_, strict=True):
            nominal = column.kind == Kind.NOMINAL
            if not isinstance(law, CategoryLaw if nominal else NumberLaw):
                raise ValueError(f"the law of column {column.name!r} does not match its kind")
            if isinstance(law, CategoryLaw) and len(law.shares) != len(column.categories):
                raise ValueError(f"the law of column {column.name!r} has a wrong number of categories")
        pairs = self.error_sizes_.pairs
        JointLaw(self.laws_, pairs).check(np.ones((1, self.schema_.n_features + len(pairs))), self.schema_.names)
        used = self.forest_.feature[self.forest_.kind != NodeKind.LEAF]
        if not self.error_sizes_.is_feature[used].all():
            raise ValueError("a split uses a column that holds the errors of another")
        nominal_columns = self.schema_.n_categories > 0
        kind = self.forest_.kind
        if not np.isin(kind, (NodeKind.LEAF, NodeKind.THRESHOLD, NodeKind.SUBSET, NodeKind.ONE_AGAINST_REST)).all():
            raise ValueError("a split has no soft regions")
        if (nominal_columns[used] != (kind[kind != NodeKind.LEAF] != NodeKind.THRESHOLD)).any():
            raise ValueError("split type does not match the column's kind")


def read_target_errors(y_err: Any, n_rows: int) -> Floats:
    """Standard deviations of the errors of targets, (n,), none negative; a number is that of all."""
    if is_number(y_err):
        return np.full(n_rows, check_number("y_err", y_err, closed="left"))
    if (row := first_masked(y_err)) is not None:
        raise ValueError(f"y_err is masked in row {row}: give every target an error")
    try:
        given = np.asarray(y_err, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"y_err is {y_err!r}, must hold the standard deviation of each target") from None
    errors: Floats = check_array(given, dtype=np.float64, ensure_2d=False, ensure_min_samples=0, input_name="y_err")
    if errors.shape != (n_rows,):
        raise ValueError(f"y_err has shape {errors.shape}, must be ({n_rows},): one error for each target")
    if not (errors >= 0).all():
        row = int(np.argmin(errors >= 0))
        raise ValueError(f"y_err of row {row} is {errors[row]}, must be a standard deviation, which is not negative")
    return errors


def precision_of(y_err: Any, n_rows: int) -> Floats:
    """1/y_err², scaled to a mean of 1."""
    if y_err is None:
        return np.ones(n_rows)
    errors = read_target_errors(y_err, n_rows)
    if not (errors > 0).all():
        row = int(np.argmin(errors > 0))
        raise ValueError(
            f"y_err of row {row} is {errors[row]}, must be above 0: an exact target would outweigh all others; give it "
            "the smallest error that you believe in"
        )
    precision = (errors.min() / errors) ** 2
    scaled: Floats = precision / precision.mean()
    return scaled
