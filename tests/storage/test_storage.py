"""Model files: everything comes back, bit for bit, or one clear line says why not, and the old file is intact."""

from __future__ import annotations

import errno
import json
import os
import pickle
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import hedgerow
from effort import examples
from hedgerow import (
    ForestClassifier,
    ForestRegressor,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    rules,
)
from hedgerow import growth as strategies
from hedgerow._core import checksum
from hedgerow.forest.build import build_forest, leaf, multiway, one_against_rest, subset, threshold
from hedgerow.probability import Frequency, Laplace, MEstimate
from hedgerow.storage import ModelFileError, load, model_file, read_fitted, read_notes, register, save
from hedgerow.storage.container import FORMAT_VERSION, MAGIC, pack, pieces, unpack
from hedgerow.walk.quantiles import LeafSamples
from model_file_mutations import memory_traced, opened, outcome, sealed
from model_files import digests, make_model_files

DATA = Path(__file__).parents[1] / "model_files"
X = np.random.default_rng(0).normal(size=(40, 3)).round(2)
NUMBER = X[:, 0] + X[:, 1]
LABELS = (NUMBER > 0).astype(int)


def tree(y: Any = LABELS, **parameters: Any) -> Any:
    return TreeClassifier(**parameters).fit(X, y)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.hedgerow"


def through(model: Any, path: Path) -> Any:
    save(model, path)
    return load(path)


# -- what comes back


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 7]),
        np.array([-1, 1], dtype=np.int8),
        np.array([False, True]),
        np.array(["no", "yes"]),
        np.array(["größer", "kleiner \ud800"]),
        np.array(["2024-01-01", "2024-01-02"], dtype="M8[D]"),
        np.array([5, 6], dtype="m8[ns]"),
        np.array(["no", "yes"], dtype=object),
        np.array([0.0, 1.0]),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_keep_their_type(labels: Any, path: Path) -> None:
    model = tree(labels[LABELS])
    twin = through(model, path)
    assert twin.classes_.dtype == model.classes_.dtype
    assert twin.classes_.tolist() == model.classes_.tolist()
    assert (twin.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize(
    "parameters",
    [
        {"missing": strategies.Fractional(0.25)},
        *({"missing": kind()} for kind in (strategies.Category, strategies.Learned, strategies.Random)),
        *({"leaf_probability": estimate} for estimate in (Frequency(), Laplace(), MEstimate(3))),
        {"class_weight": {0: 1.5, 1: 2}},
        {"categorical_features": [True, False, False]},
        {"categorical_features": (2,)},
        {"categorical_features": np.array([2])},
        {"min_impurity_decrease": np.float64(0.01), "max_depth": np.int16(4), "random_state": 2**32 - 1},
        {"max_features": 0.5, "criterion": np.str_("gini")},
    ],
    ids=str,
)
def test_parameters_come_back(parameters: Any, path: Path) -> None:
    twin = through(tree(**parameters), path)
    for name, value in parameters.items():
        found = getattr(twin, name)
        assert type(found) is type(value)
        assert np.array_equal(found, value) if isinstance(value, np.ndarray) else found == value


@pytest.mark.parametrize("rule", [rules.get(name) for name in rules.names(beyond=True)], ids=repr)
def test_rules_come_back(rule: Any, path: Path) -> None:
    model = ForestClassifier(3, rule=rule, random_state=0).fit(X, LABELS)
    twin = through(model, path)
    assert twin.rule == rule
    assert np.array_equal(twin.predict_proba(X), model.predict_proba(X))


@dataclass(frozen=True)
class OwnRule(rules.Pool):
    amount: float = 1.0


def test_a_rule_of_ones_own_comes_back_once_it_is_registered(path: Path) -> None:
    model = ForestClassifier(3, rule=OwnRule(float("inf"))).fit(X, LABELS)
    with pytest.raises(ModelFileError, match=r"OwnRule, which a file can't hold: .* hedgerow.storage.register"):
        save(model, path)
    register(OwnRule)
    assert through(model, path).rule == OwnRule(float("inf"))


@dataclass(frozen=True)
class RenamedRule(rules.Pool):
    amount: float = 1.0


def test_a_class_is_read_under_its_former_names(path: Path) -> None:
    register(RenamedRule, name="own.OldRule")
    save(ForestClassifier(3, rule=RenamedRule(2.0)).fit(X, LABELS), path)
    register(RenamedRule, name="own.NewRule", former_names=["own.OldRule"])
    twin = load(path)
    assert twin.rule == RenamedRule(2.0)
    save(twin, path)
    assert b"own.NewRule" in path.read_bytes()
    with pytest.raises(ValueError, match=r"'hedgerow.Forest' stands for .* already"):
        register(RenamedRule, name="own.NewRule", former_names=["hedgerow.Forest"])


def test_what_is_no_dataclass_is_not_registered() -> None:
    with pytest.raises(TypeError, match="decorate the class with @dataclass"):
        register(int)
    with pytest.raises(ValueError, match=r"stands for .* already"):
        register(OwnRule, name="hedgerow.Forest")


def test_models_may_hold_models(path: Path) -> None:
    inner, fitted = TreeClassifier(max_depth=3), tree()
    model = tree(categorical_features=None)
    model.set_params(class_weight=inner)
    model.inner_ = fitted
    twin = through(model, path)
    assert twin.class_weight.max_depth == 3
    assert twin.inner_.forest_ == fitted.forest_


def test_a_loaded_model_can_learn_more(path: Path) -> None:
    model = RandomTreesClassifier(3, random_state=0).fit(X, LABELS)
    save(model, path)
    for twin in (load(path), load(path, mmap=True)):
        twin.partial_fit(X, LABELS)
        assert np.array_equal(twin.class_count_, 2 * model.class_count_)


def test_a_mapped_model_reads_the_file_itself_and_outlives_its_name(path: Path) -> None:
    model = ForestRegressor(5, random_state=0).fit(X, NUMBER)
    save(model, path)
    twin = load(path, mmap=True, verify=False)
    assert not twin.forest_.weight.flags.owndata
    assert not twin.forest_.weight.flags.writeable
    assert twin.forest_.feature.ctypes.data - twin.forest_.threshold.ctypes.data == 8  # as in the file: not copied
    save(tree(), path)
    assert np.array_equal(twin.predict_quantiles(X), model.predict_quantiles(X))


def test_arrays_are_aligned(path: Path) -> None:
    save(tree(), path)
    for mmap in (False, True):
        forest = load(path, mmap=mmap).forest_
        assert all(
            getattr(forest, name).ctypes.data % 64 == 0 for name in ("weight", "kind", "leaf_counts", "threshold")
        )


# -- what is refused


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tree(random_state=np.random.RandomState(0)), "random_state.* is a RandomState object.*: pass an int"),
        (
            lambda: ForestClassifier(30, oob_score=lambda y, p: 1.0, max_samples=0.3, random_state=0).fit(X, LABELS),
            "oob_score.* is the function <lambda>, and a file holds no code",
        ),
        (lambda: tree().set_params(random_state=np.random.default_rng(0)), "is a Generator object"),
        (lambda: tree().set_params(class_weight={1: {1}}), r"builtins.set, which a file can't hold"),
        (lambda: tree().set_params(class_weight=1 + 2j), r"builtins.complex"),
        (lambda: tree().set_params(max_depth=2**70), "takes more than 64 bits"),
        (lambda: tree().set_params(class_weight=np.array([1j])), "dtype complex128"),
        (lambda: tree().set_params(class_weight=np.array([None])), r"array of Python objects \(NoneType\)"),
        (lambda: tree().set_params(missing=strategies.Learned), "is the class Learned.*: pass an instance"),
        (lambda: tree().set_params(leaf_probability="no"), "leaf_probability is 'no', must be one of"),
        (lambda: LogisticRegression(), "can't save a sklearn.*LogisticRegression: save takes a fitted model"),
        (lambda: [1, 2], "can't save a builtins.list"),
        (lambda: MEstimate(), "can't save a hedgerow.folds.leaf_probability.MEstimate"),
    ],
)
def test_what_a_file_cant_hold_is_refused(make: Any, message: str, path: Path) -> None:
    path.write_text("old")
    with pytest.raises(ValueError, match=message) as caught:
        save(make(), path)
    assert "\n" not in str(caught.value)
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == [path.name]


def test_a_model_that_was_not_fitted_is_refused(path: Path) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        save(TreeClassifier(), path)
    assert not path.exists()


def test_an_attribute_of_ones_own_is_refused_and_callbacks_are_left_out(path: Path) -> None:
    model = tree()
    model._metadata_request = model._skl_callbacks = [print]
    assert not hasattr(through(model, path), "_skl_callbacks")
    model.note = "mine"
    with pytest.raises(ModelFileError, match="its attribute note is neither a parameter nor found by fit"):
        save(model, path)


# -- files that can't be read


def edited(change: Any) -> bytes:
    """A good file with another header, whose checksums are right."""
    header, data = opened((DATA / "v1_tree_classifier.hedgerow").read_bytes())
    plain = json.loads(header)
    change(plain)
    return sealed(json.dumps(plain).encode(), bytes(data))


def test_bad_files_are_refused_in_one_line(path: Path) -> None:
    good = (DATA / "v1_tree_classifier.hedgerow").read_bytes()
    future = good[:8] + (FORMAT_VERSION + 1).to_bytes(4, "little") + good[12:]
    both_versions = (
        rf"format version {FORMAT_VERSION + 1}, and this hedgerow \({hedgerow.__version__}\) reads versions "
    )
    damaged = bytearray(good)
    damaged[-64] ^= 1
    padding = bytearray(good)
    padding[-1] ^= 1
    for block, message in [
        (b"", "not a hedgerow model file"),
        (b"PK\x03\x04" * 100, "not a hedgerow model file"),
        (pickle.dumps(tree()), "not a hedgerow model file"),
        (MAGIC, "truncated: it has 8 bytes"),
        (good[:-1], "truncated: the stated length is 2944 bytes, the actual length 2943"),
        (good + b"x", "followed by other data"),
        (future, both_versions),
        (damaged, r"array \d+ is damaged \(wrong checksum\)"),
        (padding, r"array \d+ is damaged \(wrong checksum\)"),
        (good[:20] + b"\1" + good[21:], "first bytes are damaged"),
        (good[:100] + b"\1" + good[101:], "header is damaged"),
        (sealed(b'{"a":1,"a":2}', b""), "duplicate key"),
        (sealed(b"[NaN]", b""), "the number 'NaN'"),
        (sealed(b"[1e999]", b""), "out of bounds"),
        (sealed(b"9" * 5000, b""), "out of bounds"),
        (sealed(b'{"arrays":[],"content":' + b"[" * 4500 + b"]" * 4500 + b"}", b""), "nested too deeply"),
        (sealed(b"[" + b"[]," * 100_000 + b"[]]", b""), "mostly brackets"),
        (sealed(b'"\xff"', b""), "not JSON"),
        (sealed(b"[]", b""), "no arrays and content"),
        (sealed(b'{"arrays":[],"content":{"$":"dict","items":[]}}', b""), "it holds no model"),
        (edited(lambda h: h["content"].update({"$": "os.system"})), "'os.system', which is not registered"),
        (edited(lambda h: h["content"].update({"$": "hedgerow.CleverForest"})), "install the hedgerow that wrote it"),
        (edited(lambda h: h["content"]["fitted"]["items"].clear()), "was not fitted"),
        (edited(lambda h: h["content"]["fitted"]["items"].append(["__class__", 1])), "no attribute '__class__'"),
        (edited(lambda h: h["content"]["fitted"]["items"].append(["predict", 1])), "no attribute 'predict'"),
        (edited(lambda h: h["content"]["fitted"]["items"].pop()), "invalid hedgerow.TreeClassifier: .*_impurity"),
        (edited(lambda h: h["content"]["parameters"]["items"].append(["newer", 1])), "no parameter 'newer'"),
        (edited(lambda h: h["arrays"][0].__setitem__(0, "|O8")), r"type '\|O8', not allowed in model files"),
        (edited(lambda h: h["arrays"][0].__setitem__(1, [2**62, 2**62])), "impossible in"),
        (edited(lambda h: h["arrays"][0].__setitem__(1, [2000])), "ends at byte"),
    ]:
        path.write_bytes(block)
        for mmap in (False, True):
            with pytest.raises(ModelFileError, match=message) as caught:
                load(path, mmap=mmap)
            assert str(path) in str(caught.value)
            assert "\n" not in str(caught.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        load(tmp_path / "nothing")
    with pytest.raises(ModelFileError, match="this is a folder"):
        load(tmp_path)
    with pytest.raises(ModelFileError, match="is a folder: give the name of a file"):
        save(tree(), tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        load(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        save(tree(), tmp_path / "pipe")


@pytest.mark.parametrize("moment", ["stat", "fstat"])
@pytest.mark.parametrize("mmap", [False, True])
def test_a_model_saved_over_while_it_is_loaded(
    path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, mmap: bool
) -> None:
    larger = path.with_name("larger")
    save(tree(), path, notes={"text": "short"})
    save(tree(), larger, notes={"text": "long" * 1000})
    look, waiting = getattr(os, moment), [larger]

    def look_then_replace(*arguments: Any, **options: Any) -> os.stat_result:
        found: os.stat_result = look(*arguments, **options)
        if waiting and (moment == "fstat" or arguments[0] == path):
            os.replace(waiting.pop(), path)
        return found

    monkeypatch.setattr(model_file.os, moment, look_then_replace)
    assert load(path, mmap=mmap).classes_.tolist() == [0, 1]


def test_without_checksums_the_structure_is_still_checked(path: Path) -> None:
    content, arrays = unpack(np.frombuffer((DATA / "v1_tree_classifier.hedgerow").read_bytes(), dtype=np.uint8))
    broken = [np.full_like(array, 99) if array.dtype == np.int32 else array for array in arrays]
    pack(content, broken).tofile(path)
    with pytest.raises(ModelFileError, match=r"invalid hedgerow\.Forest: not a valid Forest"):
        load(path, mmap=True, verify=False)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (one_against_rest(0, 1, leaf([1, 0]), leaf([0, 1])), "must be a threshold: its column has no categories"),
        (threshold(1, 0.5, leaf([1, 0]), leaf([0, 1])), "must be a split by category: its column is nominal"),
        (one_against_rest(1, 3, leaf([1, 0]), leaf([0, 1])), "is 3.0, must be about the 3 categories of its column"),
        (multiway(1, {0: leaf([1, 0]), 3: leaf([0, 1])}), "must be about the 3 categories"),
        (subset(1, [0, 3], 4, leaf([1, 0]), leaf([0, 1])), "must be about the 3 categories"),
    ],
)
def test_a_forest_that_does_not_fit_its_columns_is_refused(split: Any, message: str, path: Path) -> None:
    model = TreeClassifier(categorical_features=[1]).fit(np.c_[X[:, 0], np.arange(40) % 3], LABELS)
    for fits in (one_against_rest(1, 2, leaf([1, 0]), leaf([0, 1])), subset(1, [0, 2], 3, leaf([1, 0]), leaf([0, 1]))):
        model.forest_ = build_forest([fits], 2)
        assert through(model, path).explain([[0.0, 1.0]])
    model.forest_ = build_forest([split], 2)
    with pytest.raises(ValueError, match=message):
        save(model, path)


# -- notes


def test_notes_are_kept_beside_the_model(path: Path) -> None:
    notes = {"target": "y", "scores": {"accuracy": [0.9, None]}, "é": [1, True]}
    save(tree(), path, notes=notes)
    assert read_notes(path) == notes
    assert load(path).forest_ == tree().forest_
    save(tree(), path)
    assert read_notes(path) == {}
    assert read_notes(DATA / "v1_tree_classifier.hedgerow") == {}  # written before there were any


def test_notes_that_json_cant_hold_are_refused(path: Path) -> None:
    save(tree(), path)
    old = path.read_bytes()
    for wrong in ({"x": float("nan")}, {"x": {1, 2}}, {(1, 2): 3}):
        with pytest.raises(ModelFileError, match="notes can't be written as JSON"):
            save(tree(1 - LABELS), path, notes=wrong)  # type: ignore[arg-type]
    assert path.read_bytes() == old


def test_damaged_notes_are_refused(path: Path) -> None:
    save(tree(), path, notes={"target": "y"})
    path.write_bytes(path.read_bytes().replace(b"target", b"tarxet"))
    with pytest.raises(ModelFileError, match="the header is damaged"):
        read_notes(path)
    np.concatenate(list(pieces({"$": "none"}, [], ["no", "object"]))).tofile(path)  # type: ignore[arg-type]
    with pytest.raises(ModelFileError, match="the notes are not a JSON object"):
        read_notes(path)


# -- parts of a model


@pytest.mark.parametrize("file", sorted(DATA.glob("*.hedgerow")), ids=lambda file: file.stem)
def test_what_fit_found_can_be_read_without_the_model(file: Path) -> None:
    model = load(file)
    kind, found = read_fitted(file, ("schema_", "forest_", "strange_"))
    assert kind == f"hedgerow.{type(model).__name__}"
    assert found.keys() == ({"schema_", "forest_"} & vars(model).keys()) - model._made_again
    assert all(value == getattr(model, name) for name, value in found.items())


def test_parts_are_read_without_scikit_learn_and_of_models_only(path: Path) -> None:
    code = (
        "import sys; from hedgerow.storage import read_fitted; from hedgerow.walk import route; import numpy as np;"
        "_, found = read_fitted(sys.argv[1], ['forest_']); route(found['forest_'], np.zeros((2, 3)), n_jobs=1);"
        "assert not {'sklearn', 'scipy', 'joblib', 'pandas'} & set(sys.modules)"
    )
    save(tree(), path)
    subprocess.run([sys.executable, "-c", code, path], check=True)
    for content in ({"$": "none"}, [1], {"$": "hedgerow.TreeClassifier", "fitted": []}):
        pack(content, []).tofile(path)
        with pytest.raises(ModelFileError, match=r"model\.hedgerow: it holds no model"):
            read_fitted(path, ["forest_"])


def test_classes_of_the_file_are_imported_on_demand_and_without_scikit_learn(path: Path) -> None:
    code = (
        "import sys; from hedgerow.storage import read_fitted; below = {'hedgerow.forest', 'hedgerow.data'};"
        "assert not below & set(sys.modules);"
        "_, found = read_fitted(sys.argv[1], ['schema_', 'forest_']); assert below < set(sys.modules);"
        "assert not {'sklearn', 'scipy', 'hedgerow.estimators'} & set(sys.modules);"
        "print(*(type(found[name]).__name__ for name in ('schema_', 'forest_')))"
    )
    save(tree(), path)
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["Schema", "Forest"]


def test_the_error_has_its_public_name() -> None:
    assert f"{ModelFileError.__module__}.{ModelFileError.__qualname__}" == "hedgerow.storage.ModelFileError"
    assert type(pickle.loads(pickle.dumps(ModelFileError("damaged")))) is ModelFileError


# -- saving


def test_permissions_are_those_of_a_new_file(path: Path) -> None:
    beside = path.with_name("ordinary")
    beside.touch()
    save(tree(), path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(beside.stat().st_mode)


def test_permissions_are_kept(path: Path) -> None:
    save(tree(), path)
    path.chmod(0o600)
    save(tree(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_a_link(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    save(tree(), link)
    assert link.is_symlink()
    assert load(path).classes_.tolist() == [0, 1]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"can't save the model: No such file .*nowhere"):
        save(tree(), tmp_path / "nowhere" / "model")


def test_a_folder_that_cant_be_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    save(tree(), path)
    old = path.read_bytes()
    monkeypatch.setattr(model_file.os, "open", refuse)
    with pytest.raises(PermissionError, match=r"can't save the model: Permission denied: .*model.hedgerow"):
        save(tree(1 - LABELS), path)
    assert path.read_bytes() == old


DISK_FULL = """
import resource, signal, sys
from hedgerow import ForestClassifier, save
import numpy as np
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
model = ForestClassifier(5).fit(np.random.rand(200, 3), np.arange(200) % 2)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    save(model, sys.argv[1])
except OSError as error:
    print(error)
"""


def test_a_full_disk_leaves_the_old_file(path: Path) -> None:
    path.write_text("old")
    run = subprocess.run([sys.executable, "-c", DISK_FULL, path], capture_output=True, text=True, check=True)
    assert "can't save the model: File too large" in run.stdout
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_crash_leaves_the_old_file(step: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*arguments: Any) -> None:
        raise KeyboardInterrupt

    path.write_text("old")
    monkeypatch.setattr(model_file.os, step, crash)
    with pytest.raises(KeyboardInterrupt):
        save(tree(), path)
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == [path.name]


# -- the format


def test_the_checksum_is_xxh64() -> None:
    # From the specification's reference implementation.
    for text, expected in [
        (b"", 0xEF46DB3751D8E999),
        (b"a", 0xD24EC4F1A98C6E5B),
        (b"abc", 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
    ]:
        assert checksum(np.frombuffer(text, dtype=np.uint8)) == expected


STORED = sorted(DATA.glob("*.hedgerow"))


def test_there_are_files_of_every_version_and_estimator() -> None:
    estimators = {getattr(hedgerow, name) for name in hedgerow.__all__ if name.endswith(("Classifier", "Regressor"))}
    for version in range(1, FORMAT_VERSION + 1):
        found = {type(load(path)) for path in STORED if path.name.startswith(f"v{version}_")}
        assert found == estimators


def test_the_arrays_of_a_model_inside_another_are_stored_once(path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    inside = ForestClassifier(10, random_state=0).fit(X, y)
    outside = RuleClassifier.from_fitted(inside, rule="vote")  # there as a parameter, and as what was found
    save(inside, path)
    alone = path.stat().st_size
    save(outside, path)
    assert path.stat().st_size < alone + 4000
    assert load(path).predict_proba(X).tobytes() == outside.predict_proba(X).tobytes()


def test_a_foreign_estimator_inside_is_refused(path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    model = RuleClassifier(RandomForestClassifier(2)).fit(X, y)
    with pytest.raises(ModelFileError, match=r"estimator.* is a RandomForestClassifier of sklearn, .* joblib"):
        save(model, path)
    assert not path.exists()


@pytest.mark.parametrize("stored", STORED, ids=lambda path: path.stem)
def test_files_of_every_version_are_read_for_ever(stored: Path) -> None:
    expected = json.loads(stored.with_suffix(".json").read_text())
    found = make_model_files.answers(load(stored))
    numbers = [[[float.fromhex(x) for x in row] for row in rows] for rows in (expected, found)]
    # Logarithms, exponentials and products of BLAS differ in their last bits between machines; nothing else may.
    plain = stored.stem.removeprefix("v1_") in digests.PLAIN
    np.testing.assert_allclose(*numbers, rtol=0 if plain else 1e-12)


def test_the_header_says_who_wrote_it(path: Path) -> None:
    save(tree(), path)
    assert json.loads(opened(path.read_bytes())[0])["hedgerow"] == hedgerow.__version__


# -- leaf samples, and mutations


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": np.array([0, 3, 2])}, "start must increase from 0 to 3"),
        ({"start": np.array([0, 2**62, 3])}, "start must increase"),
        ({"start": np.array([0, 0, 3])}, "start must increase"),
        ({"ranks": np.array([0, 1, 2], dtype=np.int32)}, "a rank among the values"),
        ({"ranks": np.array([0, -1, 1], dtype=np.int32)}, "a rank among the values"),
        ({"ranks": np.array([0, 1, 1])}, "ranks must be a 1-D int32 array"),
        ({"shares": np.array([1.0, 0.5, 0.6])}, "add up to 1"),
        ({"shares": np.array([1.0, np.nan, 0.5])}, "add up to 1"),
        ({"shares": np.array([1.0, 1.5, -0.5])}, "must not be negative"),
        ({"values": np.array([1.0, 1.0])}, "finite and increase"),
        ({"values": np.array([1.0, np.inf])}, "finite and increase"),
        ({"values": np.array([])}, "values is empty"),
    ],
)
def test_leaf_samples_are_checked(changes: Any, message: str) -> None:
    good = {
        "start": np.array([0, 1, 3]),
        "ranks": np.array([0, 0, 1], dtype=np.int32),
        "shares": np.array([1.0, 0.5, 0.5]),
        "values": np.array([1.0, 2.0]),
    }
    LeafSamples(**good)
    with pytest.raises(ValueError, match=message):
        LeafSamples(**good | changes)


def test_mutations_are_refused_or_predict(tmp_path: Path) -> None:
    seeds = [path.read_bytes() for path in STORED]
    rows = np.array([[0.1, 0.2, 1.0], [np.nan, -1.0, np.nan], [3.0, 3.0, 9.0]])
    for path in STORED:
        load(path)  # imports what each class needs, which is no cost of a file
    with memory_traced():
        outcomes = [
            outcome(seeds, number, tmp_path / "mutated", rows) for number in range(10**6, 10**6 + examples(150, 500))
        ]
    assert set(outcomes) == {"refused", "loaded"}
