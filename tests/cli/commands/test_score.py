"""The command that scores a model on rows with known targets, and the scores that fit and compare print."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, log_loss

from hedgerow import CautiousForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor, credal, load, rules, save
from hedgerow.cli import main
from hedgerow.cli.console import out
from hedgerow.cli.inputs.roles import Role, Training
from hedgerow.cli.scores.folds import cross_validate
from hedgerow.cli.scores.labelled import ask_rows
from hedgerow.scoring.folds import splits
from hedgerow.storage import read_notes

pytest.importorskip("click")
pytest.importorskip("rich")

# A model that says "no" for x up to 2.5, with probabilities 3/4 and 1/4, and "yes" else, with 1/5 and 4/5.
X = [0.0, 0.0, 0.0, 0.0, 5.0, 5.0, 5.0, 5.0, 5.0]
Y = ["no", "no", "no", "yes", "yes", "yes", "yes", "yes", "no"]
NEW = "x,y,w,g\n1,no,1,a\n2,yes,2,a\n3,yes,1,b\n4,yes,1,b\n5,no,3,c\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rows and a model of two leaves, in which commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(out, "width", 100)
    tree = TreeClassifier(pruning=None, leaf_probability="frequency").fit(pa.table({"x": X}), Y)
    np.testing.assert_array_equal(tree.predict_proba(pa.table({"x": [1.0, 5.0]})), [[0.75, 0.25], [0.2, 0.8]])
    save(tree, "m.hedgerow", notes={"target": "y"})
    Path("new.csv").write_text(NEW)
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *arguments: Any, code: int = 0) -> tuple[str, str]:
    assert main([str(argument) for argument in arguments]) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


def scored(capsys: pytest.CaptureFixture[str], *arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shown(capsys, "score", *arguments, "--json")[0])
    return found


def values(found: dict[str, Any]) -> dict[str, Any]:
    return {name: score["value"] for name, score in found["scores"].items()}


def failed(capsys: pytest.CaptureFixture[str], *arguments: Any, code: int = 1) -> str:
    words, errors = shown(capsys, *arguments, code=code)
    assert words == ""
    *notes, error = errors.splitlines()
    assert all(note.startswith("note: the model does not know") for note in notes)
    return error.removeprefix("hedgerow: ")


# -- scores


def test_scores_are_those_counted_by_hand(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    found = scored(capsys, "m.hedgerow", "new.csv")
    assert {name: found[name] for name in ("model", "data", "target", "rows", "task")} == {
        "model": "m.hedgerow",
        "data": "new.csv",
        "target": "y",
        "rows": 5,
        "task": "classification",
    }
    # Predicted no no yes yes yes; p(yes) is 1/4 1/4 4/5 4/5 4/5.
    told = np.array([3 / 4, 1 / 4, 4 / 5, 4 / 5, 1 / 5])
    prior = np.array([4, 5, 5, 5, 4]) / 9
    assert values(found) == {
        "accuracy": pytest.approx(3 / 5),
        "balanced_accuracy": pytest.approx((1 / 2 + 2 / 3) / 2),
        "sensitivity": pytest.approx(2 / 3),
        "specificity": 0.5,
        "auc": pytest.approx((0.5 + 0 + 1 + 0.5 + 1 + 0.5) / 6),
        "log_loss": pytest.approx(-np.log(told).mean()),
        "brier": pytest.approx(((1 - told) ** 2).mean()),
        # Of two rows with confidence 3/4 one is right, of three with 4/5 two.
        "calibration_error": pytest.approx((abs(1 - 1.5) + abs(2 - 2.4)) / 5),
    }
    assert {name: score["baseline"] for name, score in found["scores"].items()} == {
        "accuracy": pytest.approx(3 / 5),  # yes, the most frequent class of training
        "balanced_accuracy": 0.5,
        "sensitivity": 1.0,
        "specificity": 0.0,
        "auc": 0.5,
        "log_loss": pytest.approx(-np.log(prior).mean()),
        "brier": pytest.approx(((1 - prior) ** 2).mean()),
        "calibration_error": pytest.approx(3 / 5 - 5 / 9),
    }
    right = np.array([1, 0, 1, 1, 0])
    assert found["scores"]["accuracy"]["standard_error"] == pytest.approx(right.std(ddof=1) / np.sqrt(5))
    assert found["scores"]["calibration_error"]["standard_error"] is None
    assert found["baseline"] == found["positive_class"] == "yes"
    assert found["classes"] == ["no", "yes"]
    assert found["confusion_matrix"] == [[1, 1], [1, 2]]
    assert found["warnings"] == found["worse_than_baseline"] == []


def test_weights_and_groups_count(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    found = scored(capsys, "m.hedgerow", "new.csv", "--weight", "w", "--groups", "g")
    assert values(found)["accuracy"] == pytest.approx(3 / 8)
    assert found["scores"]["accuracy"]["baseline"] == pytest.approx(4 / 8)
    # Groups a, b and c are off their mean by 1 − 9/8, 2 − 6/8 and 0 − 9/8.
    errors = np.array([1 - 9 / 8, 2 - 6 / 8, -9 / 8])
    assert found["scores"]["accuracy"]["standard_error"] == pytest.approx(np.sqrt(3 / 2 * (errors**2).sum()) / 8)
    assert found["confusion_matrix"] == [[1, 3], [2, 2]]
    Path("half.csv").write_text(NEW.replace(",1,", ",0.5,"))
    assert scored(capsys, "m.hedgerow", "half.csv", "--weight", "w")["confusion_matrix"] == [[0.5, 3.0], [2.0, 1.0]]


def test_the_table_names_the_classes_of_its_rates(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    words, notes = shown(capsys, "score", "m.hedgerow", "new.csv")
    assert notes == "note: the model does not know 'w', 'g', and does not use it\n"
    lines = [" ".join(line.split()) for line in words.splitlines()]
    assert lines[:6] == [
        "TreeClassifier on 5 rows of new.csv (± standard error):",
        "model baseline",
        "accuracy 0.600 ± 0.245 0.600",
        "balanced accuracy 0.583 ± 0.249 0.500",
        "sensitivity (yes) 0.667 ± 0.333 1.000",
        "specificity (no) 0.500 ± 0.500 0.000",
    ]
    assert lines[-5:-1] == [
        "true \\ predicted no yes",
        "no 1 1",
        "yes 1 2",
        "The positive class is yes: sensitivity is the share of its rows that are found, specificity that of",
    ]
    turned = shown(capsys, "score", "m.hedgerow", "new.csv", "--positive", "no")[0]
    assert "sensitivity (no)   0.500" in turned
    assert "The positive class is no" in turned
    assert scored(capsys, "m.hedgerow", "new.csv", "--positive", "no")["positive_class"] == "no"


def test_sets_are_scored_where_the_model_has_them(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=200), "z": rng.normal(size=200)})
    labels = np.array(["a", "b", "c"])[np.digitize(table["x"].to_numpy() + rng.normal(size=200) / 2, [-0.5, 0.5])]
    model = CautiousForestClassifier(n_estimators=10, aggregate="average", s=4, random_state=0)
    save(model.fit(table, labels), "sets.hedgerow")
    pq.write_table(table.append_column("label", pa.array(labels)), "rows.parquet")
    found = values(scored(capsys, "sets.hedgerow", "rows.parquet", "--target", "label"))
    sets = model.predict_set(table)
    correct, sizes = sets[np.arange(200), np.searchsorted(model.classes_, labels)], sets.sum(axis=1)
    assert 0 < (sizes > 1).sum() < 200
    assert found["u65"] == pytest.approx((correct * (1.6 / sizes - 0.6 / sizes**2)).mean())
    assert found["u80"] == pytest.approx((correct * (2.2 / sizes - 1.2 / sizes**2)).mean())
    assert found["set_accuracy"] == pytest.approx(correct.mean())
    assert found["determinacy"] == pytest.approx((sizes == 1).mean())
    assert found["single_accuracy"] == pytest.approx(correct[sizes == 1].mean())
    assert "sensitivity" not in found
    assert "AUC (one-vs-rest, macro)" in shown(capsys, "score", "sets.hedgerow", "rows.parquet", "-t", "label")[0]


def test_numbers_are_scored_with_their_intervals(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    y = (1000 * x + 300 * rng.normal(size=120)).round(1)
    model = ForestRegressor(10, random_state=0).fit(pa.table({"x": x[:60]}), y[:60])
    save(model, "n.hedgerow", notes={"target": "y"})
    pq.write_table(pa.table({"x": x[60:], "y": y[60:]}), "n.parquet")
    found = scored(capsys, "n.hedgerow", "n.parquet", "--coverage", "0.5")
    new = pa.table({"x": x[60:]})
    difference = y[60:] - model.predict(new)
    low, high = model.predict_interval(new, 0.5).T
    assert values(found) == {
        "r2": pytest.approx(1 - (difference**2).sum() / ((y[60:] - y[60:].mean()) ** 2).sum()),
        "rmse": pytest.approx(np.sqrt((difference**2).mean())),
        "mae": pytest.approx(np.abs(difference).mean()),
        "coverage": pytest.approx(((low <= y[60:]) & (y[60:] <= high)).mean()),
        "width": pytest.approx((high - low).mean()),
    }
    # The mean of bootstrap samples: within three of its standard errors, sd/√(rows · trees), of that of training.
    assert found["baseline"] == pytest.approx(y[:60].mean(), abs=3 * y[:60].std() / np.sqrt(60 * 10))
    guess = y[60:] - found["baseline"]
    assert found["scores"]["rmse"]["baseline"] == pytest.approx(np.sqrt((guess**2).mean()))
    assert found["scores"]["width"]["baseline"] is None
    assert "classes" not in found
    words = shown(capsys, "score", "n.hedgerow", "n.parquet", "--coverage", "0.5")[0]
    assert "coverage of 50 % intervals" in words
    assert "Baseline: always the mean of the training targets." in words
    assert "predicted" not in words


def test_a_single_tree_is_compared_with_the_mean_of_its_training_rows(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    save(TreeRegressor().fit(pa.table({"x": X}), np.arange(9.0)), "t.hedgerow")
    Path("t.csv").write_text("x,y\n1,2\n2,8\n")
    assert scored(capsys, "t.hedgerow", "t.csv", "-t", "y")["baseline"] == pytest.approx(4.0)


# -- labels of every kind


@pytest.mark.parametrize(
    ("classes", "written"),
    [
        ([0, 1], ["0", "1", "1.0"]),
        ([False, True], ["false", "true", "true"]),
        ([3.0, 4.0], ["3", "4.0", "4.00"]),
        (["01", "1"], ["01", "1", "1"]),
    ],
)
def test_labels_are_found_as_a_file_has_them(
    capsys: pytest.CaptureFixture[str], folder: Path, classes: list[Any], written: list[str]
) -> None:
    save(TreeClassifier(pruning=None).fit(pa.table({"x": [1.0, 2.0]}), np.array(classes)), "k.hedgerow")
    Path("k.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in zip([1, 2, 3], written, strict=True)))
    found = scored(capsys, "k.hedgerow", "k.csv", "--target", "y")
    assert found["classes"] == classes
    assert values(found)["accuracy"] == 1.0


def test_truth_values_of_a_table_are_labels(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    table = pa.table({"x": np.arange(20.0), "y": np.arange(20) > 9})
    pq.write_table(table, "b.parquet")
    shown(capsys, "fit", "b.parquet", "-t", "y", "--folds", "0", "-o", "b.hedgerow")
    assert values(scored(capsys, "b.hedgerow", "b.parquet"))["accuracy"] == 1.0


def test_classes_that_the_model_does_not_know_are_named_and_wrong(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    Path("more.csv").write_text(NEW + "1,maybe,1,a\n6,maybe,1,a\n6,never,1,a\n")
    found = scored(capsys, "m.hedgerow", "more.csv")
    assert found["classes"] == ["no", "yes", "maybe", "never"]
    assert found["confusion_matrix"] == [[1, 1, 0, 0], [1, 2, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0]]
    assert values(found)["accuracy"] == pytest.approx(3 / 8)
    warning = (
        "target 'y' has classes that the model does not know: 'maybe' (2 rows), 'never' (1 row); "
        "its predictions for these rows are wrong"
    )
    assert found["warnings"] == [warning]
    assert f"warning: {warning}\n" in shown(capsys, "score", "m.hedgerow", "more.csv")[1]


def test_rows_of_one_class_have_no_auc(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    Path("one.csv").write_text("x,y\n" + "".join(f"{x},yes\n" for x in range(20)))
    found = scored(capsys, "m.hedgerow", "one.csv")
    assert found["scores"]["auc"] == {"value": None, "standard_error": None, "baseline": None}
    assert found["scores"]["specificity"]["value"] is None
    assert found["warnings"] == []  # the guess is right for all rows, which says nothing
    words, notes = shown(capsys, "score", "m.hedgerow", "one.csv")
    assert "note: AUC is not defined, since all rows are of one class\n" in notes
    assert " ".join(next(line for line in words.splitlines() if "AUC" in line).split()) == "AUC – –"


def test_the_same_number_in_all_rows_has_no_r2(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    save(TreeRegressor().fit(pa.table({"x": X}), np.arange(9.0)), "t.hedgerow")
    Path("t.csv").write_text("x,y\n1,2\n2,2\n")
    assert values(scored(capsys, "t.hedgerow", "t.csv", "-t", "y"))["r2"] is None
    assert "R² is not defined" in shown(capsys, "score", "t.hedgerow", "t.csv", "-t", "y")[1]


def test_rows_without_a_target_are_dropped_with_a_note(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    Path("gaps.csv").write_text(NEW + "1,,1,a\n2,NA,1,a\n")
    words, notes = shown(capsys, "score", "m.hedgerow", "gaps.csv")
    assert "note: 2 rows without a value for 'y' were dropped\n" in notes
    assert "on 5 rows of gaps.csv" in words


def test_rows_come_some_at_a_time(folder: Path) -> None:
    model = load("m.hedgerow")
    table = pa.table({"x": X, "y": [*Y[:3], None, *Y[4:]], "w": np.ones(9)})
    parts = [table.slice(0, 2), table.slice(2, 2), table.slice(3, 1), table.slice(4)]
    seen: list[int] = []
    asked = ask_rows(model, parts, "y", ["w"], 0.9, seen.append)
    assert seen == [2, 2, 1, 5]
    assert asked.n_without_target == 2
    assert asked.columns["y"].to_pylist() == [*Y[:3], *Y[4:]]
    kept = pa.table({"x": [*X[:3], *X[4:]]})
    np.testing.assert_array_equal(asked.found["predict_proba"], model.predict_proba(kept))


# -- what can be wrong


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.csv"], "none.csv: No such file or directory"),
        (["junk.csv"], "junk.csv has no column 'x', which the model needs; unknown to it: 'hello'"),
        (
            ["other.csv"],
            "other.csv has no column 'y' (the model's target; --target names another column); did you mean",
        ),
        (["new.csv", "-t", "z"], "new.csv has no column 'z' (--target); there are 'x', 'y', 'w', 'g'"),
        (["new.csv", "-t", "x"], "column 'x' (--target) is an input of the model: name another"),
        (["new.csv", "-t", "g"], "target 'g' has none of the classes of the model ('no', 'yes'), but 'a', 'b', 'c'"),
        (["empty.csv"], "target 'y' has no values: nothing to score"),
        (["new.csv", "--weight", "g"], "column 'g', line 2: 'a' is not a number"),
        (["new.csv", "--weight", "n"], "new.csv has no column 'n' (--weight)"),
        (["minus.csv", "--weight", "w"], "column 'w' (--weight) holds -1: weights must be finite"),
        (["one.csv", "--groups", "g"], "column 'g' (--groups) has one group only"),
    ],
)
def test_what_is_wrong_is_one_line(
    capsys: pytest.CaptureFixture[str], folder: Path, arguments: list[str], words: str
) -> None:
    Path("junk.csv").write_text("hello\n1\n")
    Path("other.csv").write_text(NEW.replace("x,y,w,g", "x,Y,w,g"))
    Path("empty.csv").write_text("x,y\n1,\n2,NA\n")
    Path("minus.csv").write_text("x,y,w\n1,no,1\n2,yes,-1\n")
    Path("one.csv").write_text("x,y,g\n1,no,a\n2,yes,a\n")
    assert words in failed(capsys, "score", "m.hedgerow", *arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["m.hedgerow", "new.csv", "--positive", "maybe"], "--positive is 'maybe', must be one of the classes 'no', "),
        (["m.hedgerow", "more.csv", "--positive", "no"], "--positive is for two classes, and there are 'no', 'yes', "),
        (["t.hedgerow", "t.csv", "-t", "y", "--positive", "1"], "--positive is for models of two classes"),
        (["t.hedgerow", "t.csv"], "say which column of t.csv has the true values, with --target"),
        (["m.hedgerow", "new.csv", "--weight", "w", "--groups", "w"], "must be different columns"),
        (["m.hedgerow", "new.csv", "--coverage", "2"], "--coverage"),
    ],
)  # fmt: skip
def test_wrong_usage(capsys: pytest.CaptureFixture[str], folder: Path, arguments: list[str], words: str) -> None:
    Path("more.csv").write_text(NEW + "1,maybe,1,a\n")
    Path("t.csv").write_text("x,y\n1,2\n2,8\n")
    save(TreeRegressor().fit(pa.table({"x": X}), np.arange(9.0)), "t.hedgerow")
    errors = shown(capsys, "score", *arguments, code=2)[1]
    assert words in errors
    assert "Try: hedgerow score --help" in errors


def test_numbers_are_not_classes(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    save(TreeRegressor().fit(pa.table({"x": X}), np.arange(9.0)), "t.hedgerow")
    assert "column 'y', line 3: 'yes' is not a number" in failed(capsys, "score", "t.hedgerow", "new.csv", "-t", "y")


def test_rows_with_wrong_errors_are_numbered_from_1(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    Path("good.csv").write_text("x,x_err,y\n" + "".join(f"{i}.5,0.1,{i}\n" for i in range(20)))
    fit = ("fit", "good.csv", "-t", "y", "--numeric", "y", "-m", "measured", "--measured", "x=x_err", "--folds", "0")
    shown(capsys, *fit, "-o", "e.hedgerow")
    Path("bad.csv").write_text("x,x_err,y\n1.5,0.1,\n1.5,0.1,2\n1.5,-1,2\n")
    assert "is -1.0 in row 3, must be a standard deviation" in failed(capsys, "score", "e.hedgerow", "bad.csv")


# -- what a reader of scores should know


def test_scores_on_training_rows_and_forgotten_weights_are_noted(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    shown(capsys, "fit", "new.csv", "-t", "y", "--weight", "w", "--ignore", "g", "--folds", "0", "-o", "w.hedgerow")
    notes = shown(capsys, "score", "w.hedgerow", "new.csv")[1]
    assert "note: the model was fitted to new.csv: scores on rows that it has seen are too good\n" in notes
    assert "note: the model was fitted with weights; scores count them, too, with --weight w\n" in notes
    assert "--weight" not in shown(capsys, "score", "w.hedgerow", "new.csv", "--weight", "w")[1]
    assert shown(capsys, "score", "w.hedgerow", "new.csv", "--quiet")[1] == ""


@pytest.fixture
def coins(folder: Path) -> str:
    """Labels that have nothing to do with the columns; three of four are tails."""
    rng = np.random.default_rng(1)
    rows = [f"{a:.3f},{b:.3f},{'tails' if u < 0.75 else 'heads'}\n" for a, b, u in rng.random((300, 3))]
    Path("coins.csv").write_text("a,b,side\n" + "".join(rows))
    return "coins.csv"


def test_a_model_that_is_worse_than_guessing_gets_a_warning(capsys: pytest.CaptureFixture[str], coins: str) -> None:
    words, errors = shown(capsys, "fit", coins, "-t", "side", "--set", "pruning=None", "-o", "c.hedgerow")
    assert "warning: worse than guessing: accuracy 0.5" in errors
    assert "Try fit with --set " in errors
    assert "note: a tree of " in errors
    assert "--set max_leaf_nodes=20 grows one that is" in errors
    assert "Baseline: always tails, the most frequent training class" in words
    notes = read_notes("c.hedgerow")
    assert 0.70 < notes["baseline"]["accuracy"] < 0.80
    assert notes["scores"]["log_loss"][0] > notes["baseline"]["log_loss"]
    facts, remarks = shown(capsys, "show", "c.hedgerow")
    assert f"(baseline {notes['baseline']['accuracy']:.3f})" in facts
    assert "lines: --depth 3 shows its top" in remarks
    assert "--depth" not in shown(capsys, "show", "c.hedgerow", "--depth", "3")[1]
    compared = shown(capsys, "compare", coins, "-t", "side", "--folds", "3", "--trees", "5")[0]
    assert "!: worse than 'most frequent class', which ignores the columns" in compared
    assert next(line for line in compared.splitlines() if "one tree, as CART" in line).count("!") >= 2
    assert shown(capsys, "fit", coins, "-t", "side", "--quiet", "-o", "c.hedgerow") == ("", "")


def test_a_tree_of_one_leaf_is_no_better_than_guessing(capsys: pytest.CaptureFixture[str], coins: str) -> None:
    errors = shown(capsys, "fit", coins, "-t", "side", "--set", "min_samples_leaf=150")[1]
    assert "warning: no better than guessing, as far as 300 rows can tell: accuracy 0.713, baseline 0.713" in errors


# -- cross-validation


def training(weight: Any = None, groups: Any = None) -> Training:
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    y = np.where(x + rng.normal(size=60) > 0, "yes", "no")
    roles = (Role("x", "numeric", ""), Role("y", "target", ""))
    return Training(pa.table({"x": x}), y, "y", True, roles, 0, weight=weight, groups=groups)


def test_weights_count_in_cross_validated_scores() -> None:
    weight = np.arange(60) % 3.0
    rows = training(weight)
    found = cross_validate(lambda: TreeClassifier(max_depth=2, leaf_probability="laplace"), rows, 4, lambda: None)
    accuracies, losses = [], []
    for split in splits(rows, 4):
        model = TreeClassifier(max_depth=2, leaf_probability="laplace").fit(split.X, split.y, split.weight)
        told = model.predict_proba(split.X_new)
        accuracies.append(accuracy_score(split.y_new, model.predict(split.X_new), sample_weight=split.weight_new))
        losses.append(log_loss(split.y_new, told, labels=["no", "yes"], sample_weight=split.weight_new))
    lines = {line.metric.name: line.model for line in found.lines}
    assert lines["accuracy"].value == pytest.approx(np.mean(accuracies))
    assert lines["accuracy"].error == pytest.approx(np.std(accuracies, ddof=1) / 2)
    assert lines["log_loss"].value == pytest.approx(np.mean(losses))
    assert found.n_rows == 40
    assert found.confusion is not None
    assert found.confusion.sum() == weight.sum()


def test_folds_without_weight_are_left_out() -> None:
    weight = np.zeros(60)
    rows = training(weight)
    (first, *_) = splits(training(), 4)
    position = {value: i for i, value in enumerate(rows.X["x"].to_pylist())}
    weight[:] = 1.0
    weight[[position[value] for value in first.X_new["x"].to_pylist()]] = 0.0
    assert len(list(splits(rows, 4))) == 3


# -- compare


def test_compare_has_all_scores_as_json(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    words, _ = shown(capsys, "compare", "iris", "--folds", "2", "--trees", "3", "--json")
    found = json.loads(words)
    assert (found["data"], found["target"], found["folds"]) == ("iris", "species", 2)
    first, *others = found["models"]
    assert (first["group"], first["name"]) == ("baselines", "most frequent class")
    assert len(others) == 4 + 2 * len(rules.names()) + len(credal.names())
    for model in found["models"]:
        assert {"accuracy", "balanced_accuracy", "auc", "log_loss", "brier", "calibration_error", "u65"} <= set(
            model["scores"]
        )
        assert np.sum(model["confusion_matrix"]) == model["rows"] == 150
        for score in model["scores"].values():
            assert score["baseline"] is not None
    assert values(first)["accuracy"] == values(first)["u65"] == pytest.approx(1 / 3)
    assert values(first)["log_loss"] == pytest.approx(np.log(3))
    assert values(first)["auc"] == 0.5
    numbers = json.loads(shown(capsys, "compare", "diabetes", "--folds", "2", "--trees", "3", "--json")[0])
    assert {"r2", "rmse", "mae"} <= set(numbers["models"][0]["scores"])


@pytest.mark.parametrize("width", [50, 80, 160])
def test_tables_fit_screens(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(out, "width", width)
    rng = np.random.default_rng(0)
    names = [f"a class with a long name {i}" for i in range(14)]
    table = pa.table({"x": rng.normal(size=280), "y": names * 20})
    pq.write_table(table, "many.parquet")
    words = shown(capsys, "fit", "many.parquet", "-t", "y", "--folds", "2", "-o", "many.hedgerow")[0]
    words += shown(capsys, "score", "many.hedgerow", "many.parquet")[0]
    assert "…" not in words
    assert all(len(line) <= width for line in words.splitlines() if not line.startswith(("Wrote", "TreeC")))
    assert "Most confused of 14 classes" in words
    assert "predicted as" in words


def test_standard_input_is_scored(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(NEW.encode())))
    assert shown(capsys, "score", "m.hedgerow", "-")[0].startswith("TreeClassifier on 5 rows of standard input (±")


def test_hostile_labels_steer_no_terminal(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    labels = ["\x1b[2Ja", "\u202e{b}"]
    save(TreeClassifier(pruning=None).fit(pa.table({"x": [1.0, 2.0]}), labels), "h.hedgerow")
    pq.write_table(pa.table({"x": [1.0, 2.0, 2.0], "y": [*labels, "\x07c"]}), "h.parquet")
    words, errors = shown(capsys, "score", "h.hedgerow", "h.parquet", "-t", "y")
    raw = shown(capsys, "score", "h.hedgerow", "h.parquet", "-t", "y", "--json")[0]
    assert not set(words + errors + raw) & {"\x1b", "\x07", "\u202e"}
    assert json.loads(raw)["classes"] == [*labels, "\x07c"]
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": labels}), "h.parquet")
    assert "sensitivity (\\u202e{b})" in shown(capsys, "score", "h.hedgerow", "h.parquet", "-t", "y")[0]


def test_a_model_of_one_class_is_scored_without_warnings_of_others(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    save(TreeClassifier().fit(pa.table({"x": [1.0, 2.0]}), ["a", "a"]), "a.hedgerow")
    Path("a.csv").write_text("x,y\n1,a\n2,a\n")
    words, errors = shown(capsys, "score", "a.hedgerow", "a.csv", "-t", "y")
    assert errors == "note: AUC is not defined, since all rows are of one class\n"
    assert "accuracy                  1.000" in words


def test_scores_without_an_error_are_kept_too(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    shown(capsys, "fit", "iris", "--folds", "2", "-o", "i.hedgerow")
    notes = read_notes("i.hedgerow")
    assert notes["scores"]["calibration_error"][1] is None
    assert set(notes["scores"]) == set(notes["baseline"])
    old = {"target": "y", "folds": 5, "scores": {"accuracy": [0.9, 0.01], "undecided": [0.1, 0.0]}}
    save(load("m.hedgerow"), "old.hedgerow", notes=old)
    assert "on unseen rows (5-fold): accuracy 0.900 ± 0.010\n" in shown(capsys, "show", "old.hedgerow")[0]


def test_coverage_is_reported_by_class_and_by_group(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    label = np.where(x + rng.normal(size=300) > 0, "yes", "no")
    rows = [f"{value},{answer},{'ab'[i % 2]}" for i, (value, answer) in enumerate(zip(x, label, strict=True))]
    Path("old.csv").write_text("\n".join(["x,y,g", *rows[:200]]))
    Path("later.csv").write_text("\n".join(["x,y,g", *rows[200:]]))
    fit = ("fit", "old.csv", "-t", "y", "--ignore", "g", "--folds", "0", "--set", "n_estimators=20")
    shown(capsys, *fit, "-m", "forest", "--coverage", "0.8", "-o", "c.hedgerow")
    model = load("c.hedgerow")
    assert type(model).__name__ == "ConformalClassifier"
    assert model.coverage == 0.8
    found = scored(capsys, "c.hedgerow", "later.csv", "--groups", "g")
    sets = model.predict_set(pa.table({"x": x[200:]}))
    hits = sets[np.arange(100), (label[200:] == "yes").astype(int)]
    by_part = {(one["of"], one["name"]): one for one in found["coverage"]}
    assert found["promised_coverage"] == 0.8
    assert by_part["all", None]["covered"] == hits.sum()
    assert by_part["class", "no"]["covered"] == hits[label[200:] == "no"].sum()
    assert by_part["group", "b"]["covered"] == hits[1::2].sum()
    expected = binomtest(int(hits.sum()), 100).proportion_ci(0.95, "exact")
    np.testing.assert_allclose(by_part["all", None]["interval"], [expected.low, expected.high])
    text, _ = shown(capsys, "score", "c.hedgerow", "later.csv", "--groups", "g", "--coverage", "0.6")
    assert "60 % is promised" in text
    assert "g = a" in text
    larger = shown(capsys, "predict", "c.hedgerow", "later.csv", "--coverage", "0.97", "--quiet")[0]
    assert larger.count("|") == model.predict_set(pa.table({"x": x[200:]}), coverage=0.97).all(axis=1).sum()


def test_coverage_is_reported_by_the_groups_of_the_model_and_by_inputs(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    rng = np.random.default_rng(0)
    x, clinic = rng.normal(size=300), np.arange(300) % 3
    y = np.where(x + rng.normal(size=300) > 0, "yes", "no")
    rows = [
        f"{a},{'' if i == 299 else c},{'east' if i % 2 else 'west'},{b},{int(i != 298)}"
        for i, (a, c, b) in enumerate(zip(x, clinic, y, strict=True))
    ]
    Path("old.csv").write_text("\n".join(["x,clinic,side,y,w", *rows[:200]]))
    Path("later.csv").write_text("\n".join(["x,clinic,side,y,w", *rows[200:]]))
    fit = ("fit", "old.csv", "-t", "y", "--ignore", "w", "--folds", "0", "--set", "n_estimators=20")
    shown(capsys, *fit, "-m", "forest", "--coverage", "0.8", "--set", "groups=clinic", "-o", "c.hedgerow")
    by_clinic = [
        one for one in scored(capsys, "c.hedgerow", "later.csv", "--weight", "w")["coverage"] if "column" in one
    ]
    model = load("c.hedgerow")
    new = pa.table({"x": x[200:], "clinic": clinic[200:], "side": np.where(np.arange(200, 300) % 2, "east", "west")})
    hits = model.predict_set(new)[np.arange(100), (y[200:] == "yes").astype(int)]
    assert [(one["column"], one["name"]) for one in by_clinic] == [("clinic", 0), ("clinic", 1), ("clinic", 2)]
    inside = np.arange(100) < 98  # then a row of weight 0, and one without a clinic
    assert [one["covered"] for one in by_clinic] == [hits[(clinic[200:] == c) & inside].sum() for c in range(3)]
    text, _ = shown(capsys, "score", "c.hedgerow", "later.csv", "--groups", "side")
    assert "side = east" in text


def test_intervals_of_a_wrapped_model_have_its_coverage(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    x = np.arange(100.0)
    Path("n.csv").write_text("\n".join(["x,y", *(f"{v},{v + v % 7}" for v in x)]))
    fit = ("fit", "n.csv", "-t", "y", "--folds", "2", "--set", "sides=each", "--set", "max_leaf_nodes=4")
    shown(capsys, *fit, "-m", "tree", "--coverage", "0.7", "-o", "n.hedgerow")
    model = load("n.hedgerow")
    assert (model.sides, model.estimator_.max_leaf_nodes, model.method_) == ("each", 4, "cv")
    assert scored(capsys, "n.hedgerow", "n.csv")["promised_coverage"] == 0.7
