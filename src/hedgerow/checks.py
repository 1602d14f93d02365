"""The contract of this family of estimators, on top of scikit-learn's own checks.

Each check is a sentence that holds for every estimator here, and for yours if it joins the family:

>>> from hedgerow import TreeClassifier
>>> from hedgerow.checks import contract_checks
>>> for name, check in contract_checks(TreeClassifier()):
...     check()
"""

from __future__ import annotations

import copy
import importlib
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import islice
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from hedgerow.estimators.contract import offers
from hedgerow.storage import load, save

__all__ = [
    "check_a_failed_fit_keeps_the_earlier_one",
    "check_a_fitted_model_survives_its_file",
    "check_a_fitted_model_survives_pickle_and_copy",
    "check_a_row_is_answered_alike_alone_and_among_others",
    "check_every_parameter_changes_something",
    "check_frames_of_all_libraries_give_the_same_bits",
    "check_layouts_give_the_same_bits",
    "check_names_are_honoured",
    "check_the_forest_is_valid",
    "check_the_same_seed_gives_the_same_bits_for_any_n_jobs",
    "contract_checks",
    "outputs",
]

VERBS = (
    *("predict", "predict_proba", "decision_function", "predict_set", "predict_bounds", "predict_uncertainty"),
    *("predict_most_likely", "predict_quantiles", "predict_interval", "apply", "leaf_counts", "membership", "cost_of"),
    *("algebraic_distance", "nearest_separator"),
)
# Settings of where and how loudly work is done, not of what comes out.
WITHOUT_EFFECT = frozenset({"n_jobs", "verbose", "random_state", "oob_score", "loo_score"})


def contract_checks(estimator: Any) -> Iterator[tuple[str, Callable[[], None]]]:
    """Name and call of every check that needs no more than the estimator itself.

    Parameters
    ----------
    estimator : estimator
        An unfitted estimator of this family.

    Yields
    ------
    tuple of str and callable
        Name of a check, and a function without arguments that runs it.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.checks import contract_checks
    >>> names = [name for name, check in contract_checks(TreeClassifier())]
    >>> names[0]
    'check_the_forest_is_valid'

    As tests of an estimator of your own::

        @pytest.mark.parametrize("check", [check for _, check in contract_checks(MyTrees())])
        def test_contract(check):
            check()
    """
    for check in (
        check_the_forest_is_valid,
        check_the_same_seed_gives_the_same_bits_for_any_n_jobs,
        check_layouts_give_the_same_bits,
        check_a_row_is_answered_alike_alone_and_among_others,
        check_frames_of_all_libraries_give_the_same_bits,
        check_names_are_honoured,
        check_a_failed_fit_keeps_the_earlier_one,
        check_a_fitted_model_survives_pickle_and_copy,
        check_a_fitted_model_survives_its_file,
    ):
        yield check.__name__, partial(check, estimator)


def outputs(model: Any, X: Any) -> dict[str, bytes]:
    """The bits of everything that a fitted model says about X, by verb.

    Parameters
    ----------
    model : fitted estimator
        The model.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows of the problem.

    Returns
    -------
    dict of str to bytes
        Bytes of the answer of each verb that the model has.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.checks import outputs
    >>> tree = TreeClassifier().fit([[1], [2]], [0, 1])
    >>> outputs(tree, [[1.0], [2.0]]) == outputs(tree.set_params(random_state=1), [[1.0], [2.0]])
    True
    """
    return {verb: b"".join(_bits(getattr(model, verb)(X))) for verb in VERBS if offers(model, verb)}


def _bits(answer: Any) -> Iterator[bytes]:
    if is_dataclass(answer) or isinstance(answer, tuple):
        for part in _parts(answer):
            yield from _bits(part)
    else:
        array = np.asarray(answer)
        yield f"{array.dtype.kind}{array.shape}".encode()
        yield repr(array.tolist()).encode() if array.dtype.kind in "OUS" else np.ascontiguousarray(array).tobytes()


def _parts(answer: Any) -> list[Any]:
    """The arrays of an answer that consists of several."""
    if is_dataclass(answer):
        return [getattr(answer, field.name) for field in fields(answer)]
    return list(answer) if isinstance(answer, tuple) else [answer]


def _numbers(n_rows: int = 120) -> NDArray[np.float64]:
    """Numbers with ties, a constant column and some that are missing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    X[:, 1] = X[:, 1].round(1)
    X[:, 2] = 1.0
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


def _target(estimator: Any, X: NDArray[np.float64]) -> NDArray[Any]:
    """Something to learn: three classes, or a number."""
    signal = np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 3])
    if not is_classifier(estimator):
        return signal + np.random.default_rng(1).normal(size=len(X)) / 10
    return np.array(["high", "low", "middle"])[np.digitize(signal, [-0.5, 0.5])]


def _seeded(estimator: Any, /, **changes: Any) -> Any:
    copied = clone(estimator)
    if "random_state" in copied.get_params():
        changes = {"random_state": 0, **changes}
    return copied.set_params(**changes)


def _assert_same(expected: Mapping[str, bytes], found: Mapping[str, bytes], what: str) -> None:
    different = [verb for verb in expected if expected[verb] != found.get(verb)]
    assert not different, f"{what}: {', '.join(different)} differ"


def check_the_forest_is_valid(estimator: Any) -> None:
    """A grown forest keeps every invariant of a Forest, and walking it is safe.

    Parameters
    ----------
    estimator : estimator
        An unfitted estimator of this family.

    Raises
    ------
    AssertionError
        If the forest breaks an invariant.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.checks import check_the_forest_is_valid
    >>> check_the_forest_is_valid(TreeClassifier())
    """
    X = _numbers()
    model = _seeded(estimator).fit(X, _target(estimator, X))
    model.forest_.check()


def check_the_same_seed_gives_the_same_bits_for_any_n_jobs(estimator: Any) -> None:
    """Fitting twice, and with one, two and three threads, gives the same bits.

    Parameters
    ----------
    estimator : estimator
        An unfitted estimator of this family.

    Raises
    ------
    AssertionError
        If an answer differs.

    Examples
    --------
    >>> from hedgerow import ForestClassifier
    >>> from hedgerow.checks import check_the_same_seed_gives_the_same_bits_for_any_n_jobs
    >>> check_the_same_seed_gives_the_same_bits_for_any_n_jobs(ForestClassifier(3, random_state=0))
    """
    X = _numbers()
    y = _target(estimator, X)
    expected = outputs(_seeded(estimator).fit(X, y), X)
    _assert_same(expected, outputs(_seeded(estimator).fit(X, y), X), "fitted again")
    if "n_jobs" in estimator.get_params():
        for n_jobs in (1, 2, 3):
            _assert_same(expected, outputs(_seeded(estimator, n_jobs=n_jobs).fit(X, y), X), f"n_jobs={n_jobs}")


def check_layouts_give_the_same_bits(estimator: Any) -> None:
    """Row-major, column-major, strided and read-only arrays, and lists, are the same data.

    Parameters
    ----------
    estimator : estimator
        An unfitted estimator of this family.

    Raises
    ------
    AssertionError
        If an answer differs.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.checks import check_layouts_give_the_same_bits
    >>> check_layouts_give_the_same_bits(TreeClassifier())
    """
    X = _numbers()
    y = _target(estimator, X)
    expected = outputs(_seeded(estimator).fit(X, y), X)
    strided = np.repeat(X, 2, axis=0)[::2]
    frozen = X.copy()
    frozen.flags.writeable = False
    for name, same in (
        ("column-major", np.asfortranarray(X)),
        ("strided", strided),
        ("read-only", frozen),
        ("list", X.tolist()),
    ):
        _assert_same(expected, outputs(_seeded(estimator).fit(same, y), same), name)


def check_a_row_is_answered_alike_alone_and_among_others(estimator: Any) -> None:
    """No bit of a row's answer depends on how many rows are asked about with it, or on which.

    Parameters
    ----------
    estimator : estimator
        An unfitted estimator of this family.

    Raises
    ------
    AssertionError
        If an answer differs.

    Examples
    --------
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.checks import check_a_row_is_answered_alike_alone_and_among_others
    >>> check_a_row_is_answered_alike_alone_and_among_others(TreeRegressor())
    """
    X = _numbers()
    model = _seeded(estimator).fit(X, _target(estimator, X))
    expected = _answers_by_row(model, X)
    for part in (slice(0, 50), slice(50, 67), *(slice(row, row + 1) for row in range(0, len(X), 17))):
        found = _answers_by_row(model, X[part])
        different = [verb for verb, bits in expected.items() if bits[part] != found[verb]]
        assert not different, f"rows {part.start} to {part.stop - 1}: {', '.join(different)} differ"


def _answers_by_row(model: Any, X: NDArray[np.float64]) -> dict[str, list[bytes]]:
    """The bits of what a model says about each row, by verb."""
    answers = {verb: getattr(model, verb)(X) for verb in (*VERBS, "explain") if offers(model, verb)}
    return {verb: [b"".join(_row_bits(answer, row)) for row in range(len(X))] for verb, answer in answers.items()}


def _row_bits(answer: Any, row: int) -> Iterator[bytes]:
    for part in _parts(answer):
        yield from _bits(part if isinstance(part, str) else np.asarray(part)[row : row + 1])


def _frames(columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Hold the columns in a frame of each library that is installed."""
    frames = {}
    for library, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        try:
            module = importlib.import_module(library)
        except ImportError:
            continue
        frames[library] = getattr(module, make)(columns)
    return frames


def _mixed_columns() -> tuple[NDArray[np.float64], dict[str, list[Any]]]:
    """Numbers, and columns of a frame made of them: text, truth values and missing entries too."""
    X = _numbers()
    colour = np.array(["red", "green", "blue", "grey"])[np.digitize(np.nan_to_num(X[:, 3]), [-1, 0, 1])]
    return X, {
        "size": [None if np.isnan(x) else float(x) for x in X[:, 0]],
        "round": [None if np.isnan(x) else float(x) for x in X[:, 1]],
        "colour": [None if row % 17 == 0 else str(name) for row, name in enumerate(colour)],
        "flag": [bool(x > 0) for x in np.nan_to_num(X[:, 4])],
    }


def check_frames_of_all_libraries_give_the_same_bits(estimator: Any) -> None:
    """Answers are the same for frames of pandas, polars and pyarrow.

    Parameters
    ----------
    estimator : estimator
        An unfitted estimator of this family.

    Raises
    ------
    AssertionError
        If an answer differs; libraries that are not installed are left out.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.checks import check_frames_of_all_libraries_give_the_same_bits
    >>> check_frames_of_all_libraries_give_the_same_bits(TreeClassifier())
    """
    X, columns = _mixed_columns()
    y = _target(estimator, X)
    answers = {library: outputs(_seeded(estimator).fit(frame, y), frame) for library, frame in _frames(columns).items()}
    for library, found in answers.items():
        _assert_same(next(iter(answers.values())), found, library)


def check_names_are_honoured(estimator: Any) -> None:
    """Names of columns are kept, and other names than in `fit` are refused with what is missing and extra.

    Parameters
    ----------
    estimator : estimator
        An unfitted estimator of this family.

    Raises
    ------
    AssertionError
        If names are lost, or `predict` takes a frame whose columns have other names.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.checks import check_names_are_honoured
    >>> check_names_are_honoured(TreeClassifier())
    """
    X, columns = _mixed_columns()
    y = _target(estimator, X)
    renamed = {("extra" if name == "size" else name): column for name, column in columns.items()}
    for library, frame in _frames(columns).items():
        model = _seeded(estimator).fit(frame, y)
        assert list(model.feature_names_in_) == list(columns), f"{library}: {model.feature_names_in_}"
        try:
            model.predict(_frames(renamed)[library])
        except ValueError as error:
            assert "extra" in str(error), f"{library}: the message does not name the extra column: {error}"
            assert "size" in str(error), f"{library}: the message does not name the missing column: {error}"
        else:
            raise AssertionError(f"{library}: predict took a frame with other column names")


def check_a_failed_fit_keeps_the_earlier_one(estimator: Any) -> None:
    """Whatever was wrong with the second fit, the first one still answers as before.

    Parameters
    ----------
    estimator : estimator
        An unfitted estimator of this family.

    Raises
    ------
    AssertionError
        If `fit` takes what it must refuse, or the earlier model answers otherwise afterwards.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.checks import check_a_failed_fit_keeps_the_earlier_one
    >>> check_a_failed_fit_keeps_the_earlier_one(TreeClassifier())
    """
    X = _numbers()
    y = _target(estimator, X)
    model = _seeded(estimator).fit(X, y)
    expected = outputs(model, X)
    infinite = X.copy()
    infinite[3, 0] = np.inf
    unlabelled = y.astype(object)
    unlabelled[3] = None
    wrong: dict[str, tuple[Any, ...]] = {
        "infinite X": (infinite, y),
        "missing y": (X, unlabelled),
        "short y": (X, y[:-1]),
        "empty X": (X[:0], y[:0]),
        "negative weights": (X, y, -np.ones(len(X))),
    }
    for name, arguments in wrong.items():
        try:
            model.fit(*arguments)
        except (ValueError, TypeError):
            _assert_same(expected, outputs(model, X), f"after a fit that failed for {name}")
        else:
            raise AssertionError(f"fit took {name}")


def check_a_fitted_model_survives_pickle_and_copy(estimator: Any) -> None:
    """A pickle and a deep copy answer with the same bits.

    Parameters
    ----------
    estimator : estimator
        An unfitted estimator of this family.

    Raises
    ------
    AssertionError
        If an answer differs.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.checks import check_a_fitted_model_survives_pickle_and_copy
    >>> check_a_fitted_model_survives_pickle_and_copy(TreeClassifier())
    """
    X = _numbers()
    model = _seeded(estimator).fit(X, _target(estimator, X))
    expected = outputs(model, X)
    _assert_same(expected, outputs(pickle.loads(pickle.dumps(model)), X), "pickled")
    _assert_same(expected, outputs(copy.deepcopy(model), X), "copied")


def check_a_fitted_model_survives_its_file(estimator: Any) -> None:
    """From a file, mapped or not, a pickle, joblib and a copy: the same answers, attributes and parameters.

    Parameters
    ----------
    estimator : estimator
        An unfitted estimator of this family.

    Raises
    ------
    AssertionError
        If an answer, an attribute or a parameter differs.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.checks import check_a_fitted_model_survives_its_file
    >>> check_a_fitted_model_survives_its_file(TreeClassifier())
    """
    X, columns = _mixed_columns()
    for data in (X, *islice(_frames(columns).values(), 1)):  # frames of all libraries make the same model
        model = _seeded(estimator).fit(data, _target(estimator, X))
        expected = outputs(model, data) | _state(model)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            path, dumped = os.path.join(folder, "model.hedgerow"), os.path.join(folder, "model.joblib")
            save(model, path)
            joblib.dump(model, dumped)
            for way, twin in (
                ("loaded", load(path)),
                ("mapped", load(path, mmap=True)),
                ("loaded by joblib", joblib.load(dumped)),
                ("pickled", pickle.loads(pickle.dumps(model))),
                ("copied", copy.deepcopy(model)),
            ):
                _assert_same(expected, outputs(twin, data) | _state(twin), way)
                assert _state(twin).keys() == _state(model).keys(), f"{way}: it has other attributes"


def _state(model: Any) -> dict[str, bytes]:
    """The bits of all parameters, and of all that `fit` found."""
    found = {name: getattr(model, name) for name in dir(model) if name.endswith("_") and name[0] != "_"}
    return {
        name: type(value).__name__.encode() + b"".join(_bits(value))
        for name, value in {**model.get_params(), **found}.items()
    }


def check_every_parameter_changes_something(estimator: Any, changes: Mapping[str, Any], X: Any, y: Any) -> None:
    """No parameter is decoration: `changes` has a value for each, and each changes an answer or the model's text.

    `X` and `y` must be such that every parameter can matter (missing values, categories, several classes).

    Parameters
    ----------
    estimator : estimator
        An unfitted estimator of this family.
    changes : mapping
        Another value for every parameter.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows of the problem.
    y : array-like of shape (n_samples,)
        Class labels, or targets, of the rows.

    Raises
    ------
    AssertionError
        If `changes` lacks a parameter, or a change has no effect; the message names it.

    Examples
    --------
    >>> from hedgerow import RuleClassifier, TreeClassifier
    >>> from hedgerow.checks import check_every_parameter_changes_something
    >>> changes = {"estimator": TreeClassifier(max_depth=1), "rule": "laplace"}
    >>> X, y = [[float(i)] for i in range(12)], [0, 0, 0, 1] * 3
    >>> check_every_parameter_changes_something(RuleClassifier(TreeClassifier(pruning=None)), changes, X, y)
    """
    parameters = set(estimator.get_params(deep=False)) - WITHOUT_EFFECT
    assert set(changes) == parameters, f"changes must name each parameter: {sorted(parameters ^ set(changes))}"
    before = outputs(_seeded(estimator).fit(X, y), X)
    for name, value in changes.items():
        after = outputs(_seeded(estimator, **{name: value}).fit(X, y), X)
        assert after != before, f"{name}={value!r} changes nothing"
