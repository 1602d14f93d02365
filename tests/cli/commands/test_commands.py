"""The command as people run it. A process takes a second to start: what can be said of one run is said together."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import hedgerow
from hedgerow import CautiousForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor, load, save
from hedgerow.cli import command, console, main
from hedgerow.cli.inputs.prefetch import prefetch
from hedgerow.cli.model_table import MODELS, make_model, measured_setting
from hedgerow.datasets import load as load_dataset
from hedgerow.measured import RelativeError
from hedgerow.storage import read_notes

pytest.importorskip("click")
pytest.importorskip("rich")


def run(*arguments: Any, stdin: str = "", code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hedgerow.cli", *map(str, arguments)]
    environ = {**os.environ, "COLUMNS": "200", **environment}
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run the command in this process, where nothing has to be imported first; returns what it prints."""
    monkeypatch.setattr(console.out, "width", 200)

    def run_here(*arguments: Any) -> str:
        assert main([str(argument) for argument in arguments]) == 0
        return capsys.readouterr().out

    return run_here


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of patients with a column of every kind, as CSV, Parquet and ARFF, and a model of it."""
    folder = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(0)
    rows = []
    for i in range(120):
        severity = rng.integers(0, 3)
        temperature = "NA" if i % 10 == 0 else f"{36.5 + severity + rng.normal() / 3:.1f}"
        symptom = ["rash", "cough", "chest pain"][(severity + (i % 7 == 0)) % 3]
        ward = "yes" if severity + (i % 11 == 0) >= 2 else "no"
        rows.append([i, f"0{i % 4}", symptom, temperature, ["low", "mid", "high"][severity], ward])
    names = ["id", "zip", "symptom", "temperature", "grade", "ward"]
    with (folder / "patients.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    numbers = [None if t == "NA" else float(t) for t in columns["temperature"]]
    pq.write_table(pa.table({**columns, "temperature": numbers}), folder / "patients.parquet")
    declared = [
        "@relation patients", "@attribute id numeric", "@attribute zip {00,01,02,03}",
        "@attribute symptom {rash,cough,'chest pain'}", "@attribute temperature real",
        "@attribute grade {low,mid,high}", "@attribute ward {no,yes}", "@data",
    ]  # fmt: skip
    lines = [",".join(f"'{x}'" if " " in str(x) else "?" if x == "NA" else str(x) for x in row) for row in rows]
    (folder / "patients.arff").write_text("\n".join([*declared, *lines]))
    return folder


WISHES = ("--target", "ward", "--ignore", "id", "--nominal", "zip", "--ordinal", "grade=low<mid<high")


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    path = folder / "patients.hedgerow"
    done = run("fit", folder / "patients.csv", *WISHES, "--model", "cautious", "--set", "n_estimators=20", "-o", path)
    words = done.stdout
    for line in (
        "id           ignored",
        "zip          nominal    4 categories: 00, 01, 02, 03",
        "temperature  numeric    12 missing; from",
        "grade        ordinal    low < mid < high",
        "ward         target     2 classes: no ",
        "CautiousForestClassifier: 20 trees, ",
        "(5-fold cross-validation, ± standard error)",
    ):
        assert line in words
    for score in ("accuracy", "balanced accuracy", "sensitivity (yes)", "AUC", "log-loss", "u65", "determinacy"):
        assert f"\n  {score}" in words
    assert "\x1b" not in words
    assert done.stderr == ""
    return path


def test_the_model_file_knows_what_it_was_fitted_to(model: Path) -> None:
    fitted = load(model)
    assert isinstance(fitted, CautiousForestClassifier)
    assert (fitted.n_estimators, fitted.random_state) == (20, 0)
    kinds = {column.name: (str(column.kind), column.categories) for column in fitted.schema_.columns}
    assert kinds["zip"] == ("nominal", ("00", "01", "02", "03"))
    assert kinds["grade"] == ("ordinal", ("low", "mid", "high"))
    notes = read_notes(model)
    assert notes["target"] == "ward"
    assert notes["ignored"] == ["id"]
    assert notes["data"]["rows"] == 120
    assert 0.5 < notes["scores"]["accuracy"][0] <= 1


def test_predictions_are_those_of_python_from_every_format(here: Callable[..., str], folder: Path, model: Path) -> None:
    fitted = load(model)
    csv_answers = here("predict", model, folder / "patients.csv", "--keep", "id")
    answers = list(csv.DictReader(io.StringIO(csv_answers)))
    table = pq.read_table(folder / "patients.parquet").select(fitted.schema_.names)
    assert [row["id"] for row in answers] == [str(i) for i in range(120)]
    assert [row["prediction"] for row in answers] == fitted.predict(table).tolist()
    shares = np.array([[float(row["p(no)"]), float(row["p(yes)"])] for row in answers])
    np.testing.assert_allclose(shares, fitted.predict_proba(table), atol=1e-6)
    bounds = np.array(
        [[[float(row[f"{end}({c})"]) for end in ("lower", "upper")] for c in ("no", "yes")] for row in answers]
    )
    np.testing.assert_allclose(bounds, fitted.predict_bounds(table), atol=1e-6)
    sets = [tuple(row["set"].split("|")) for row in answers]
    assert sets == [tuple(fitted.classes_[has].tolist()) for has in fitted.predict_set(table)]
    uncertainty = fitted.predict_uncertainty(table)
    np.testing.assert_allclose([float(row["epistemic"]) for row in answers], uncertainty.epistemic, atol=1e-6)
    for other in ("patients.parquet", "patients.arff"):
        out = folder / "answers.csv"
        assert main(["predict", str(model), str(folder / other), "--keep", "id", "-o", str(out)]) == 0
        assert out.read_text() == csv_answers


def test_standard_input_and_output(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path, model: Path
) -> None:
    text = (folder / "patients.csv").read_text()
    piped = run("predict", model, "-", stdin=text)
    assert piped.stderr == ""
    assert len(piped.stdout.splitlines()) == 121
    extra = "\n".join(line + (",more" if i == 0 else ",1") for i, line in enumerate(text.splitlines()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(extra.encode())))
    assert main(["predict", str(model), "-"]) == 0
    noted = capsys.readouterr()
    assert noted.out == piped.stdout
    assert noted.err == "note: the model does not know 'more', and does not use it\n"


def test_explain_and_show(here: Callable[..., str], folder: Path, model: Path) -> None:
    explained = here("explain", model, folder / "patients.csv", "--row", 1, "--row", 120)
    fitted = load(model)
    table = pq.read_table(folder / "patients.parquet").select(fitted.schema_.names)
    first, last = fitted.explain(table.slice(0, 1))[0], fitted.explain(table.slice(119))[0]
    assert explained == f"Row 1\nward = {first}\n\nRow 120\nward = {last}\n\n"
    shown = here("show", model)
    assert "predicts ward from 4 columns; grown from 120 rows of " in shown
    assert "on unseen rows (5-fold): accuracy 0." in shown
    assert "█" in shown
    tree = run("show", model, "--tree", 1, "--depth", 1, FORCE_COLOR="1", NO_COLOR="").stdout
    assert "\x1b[" in tree
    plain = run("show", model, "--tree", 1, "--depth", 1, FORCE_COLOR="1", NO_COLOR="1").stdout
    assert "\x1b[3" not in plain
    assert fitted.forest_.to_text(1, feature_names=fitted.schema_.names, class_names=fitted.classes_, max_depth=1,
        categories=[column.categories for column in fitted.schema_.columns]) in plain  # fmt: skip


def test_compare_has_a_row_for_every_way(here: Callable[..., str], folder: Path) -> None:
    words = here("compare", folder / "patients.arff", "-t", "ward", "--folds", 2, "--trees", 5)
    for way in ("most frequent class", "one tree, as CART", "evidence", "dempster", "belief", "disjunction"):
        assert f"\n  {way} " in words
    assert words.count("±") > 100
    numbers = here("compare", "diabetes", "--folds", 2, "--trees", 5)
    for way in ("mean", "one tree", "forest"):
        assert f"\n  {way} " in numbers


def test_numbers_are_predicted_with_intervals(here: Callable[..., str], folder: Path) -> None:
    path = folder / "numbers.hedgerow"
    words = here("fit", "diabetes", "-m", "forest", "--set", "n_estimators=10", "--folds", 2, "-o", path)
    assert "coverage of 90 % intervals" in words
    assert isinstance(load(path), ForestRegressor)
    out = folder / "numbers.parquet"
    assert main(["predict", str(path), "diabetes", "-o", str(out), "--coverage", "0.5"]) == 0
    answers, diabetes = pq.read_table(out), load_dataset("diabetes")
    expected = load(path).predict_interval(diabetes.X, 0.5)
    np.testing.assert_array_equal(np.stack([answers["lower"], answers["upper"]], axis=1), expected)
    assert "Interval of 90%" in here("explain", path, "diabetes")
    ((one,),) = load(path).counterfactual(diabetes.X[:1], (None, 120))
    assert f"Nearest change to {one}." in here("explain", path, "diabetes", "--change", "--reach", ":120")


def test_explain_shows_the_nearest_change(
    here: Callable[..., str], capsys: pytest.CaptureFixture[str], folder: Path, model: Path
) -> None:
    data = folder / "patients.csv"
    fitted = load(model)
    table = pq.read_table(folder / "patients.parquet").select(fitted.schema_.names)
    (found,) = fitted.counterfactual(table.slice(0, 1))
    shown = here("explain", model, data, "--change", "--ask-next")
    (asked,) = fitted.next_question(table.slice(0, 1))
    assert str(asked) in shown
    assert all(f"Nearest change to {one}." in shown for one in found)
    assert "names 'nobody'" in failed(capsys, "explain", model, data, "--change", "--fixed", "nobody")


def test_explain_gives_reasons_and_json(here: Callable[..., str], folder: Path, model: Path) -> None:
    data = folder / "patients.csv"
    fitted = load(model)
    row = pq.read_table(folder / "patients.parquet").select(fitted.schema_.names).slice(2, 1)
    (one,) = fitted.explain(row)
    assert "\n".join(one.why_lines()) in here("explain", model, data, "--row", 3, "--why")
    asked = ("--change", "--ask-next", "--contributions", "--json")
    lines = here("explain", model, data, "--row", 3, "--row", 1, *asked).splitlines()
    told = [json.loads(line) for line in lines]
    assert [each["row"] for each in told] == [3, 1]
    assert told[0]["reason"] == one.reason
    assert told[0]["reasons"] == one.reasons
    assert [each["facts"].keys() for each in told[0]["why"]] == [each.facts.keys() for each in one.why]
    assert told[0]["changes"][0]["distance"] == fitted.counterfactual(row)[0][0].distance
    assert told[0]["next_question"]["doubt"] == fitted.next_question(row)[0].doubt
    assert told[0]["contributions"]["columns"] == fitted.contributions(row).of_row(0, one.answer).columns


def test_help_has_an_example_for_each_command_and_is_quick_to_load() -> None:
    overview = run("--help").stdout
    commands = ("fit", "predict", "explain", "score", "show", "compare", "datasets", "completion")
    assert all(f"\n  {command} " in overview for command in commands)
    code = (
        "import sys; from hedgerow.cli.program import program; from click.testing import CliRunner;"
        "runner = CliRunner();"
        f"texts = [runner.invoke(program, [name, '--help'], prog_name='hedgerow').output for name in {commands!r}];"
        "assert all('Example' in text and 'hedgerow ' in text for text in texts), texts;"
        "heavy = {'sklearn', 'numpy', 'pyarrow', 'rich'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    (script,) = entry_points(group="console_scripts", name="hedgerow")
    assert script.load() is command


def test_shells_complete_commands_options_and_models() -> None:
    assert "_HEDGEROW_COMPLETE" in run("completion", "bash").stdout
    completed = run(_HEDGEROW_COMPLETE="bash_complete", COMP_WORDS="hedgerow fit --model ca", COMP_CWORD="3").stdout
    assert completed.split() == ["plain,cautious"]


# -- one answer per leaf, and prefetching


def odd_rows(n: int) -> pa.Table:
    """Numbers and texts with gaps, and with categories that only some nodes know, or none."""
    rng = np.random.default_rng(n)
    x = rng.integers(0, 9, n) / 4
    x[rng.random(n) < 0.1] = np.nan
    letters = rng.choice([*"abcdefgh", None], n).tolist()
    return pa.table({"x": pa.array(x, from_pandas=True), "letter": letters, "colour": rng.choice(["red", "blue"], n)})


@pytest.mark.parametrize("labels", [["no", "yes"], ["in two\nlines", 'a "b", c'], None])
@pytest.mark.parametrize("missing", ["fractional", "learned"])
@pytest.mark.parametrize("keep", [(), ("--keep", "letter,x")])
def test_a_tree_answers_each_row_as_if_it_were_asked_for_it_alone(
    tmp_path: Path, labels: list[str] | None, missing: str, keep: tuple[str, ...]
) -> None:
    known = odd_rows(60).filter(pc.field("letter") != "h")
    letter = np.array([ord(letter or "z") for letter in known["letter"].to_pylist()])
    number = letter % 3 + (known["colour"].to_numpy() == "red")
    if labels is None:
        fitted: Any = TreeRegressor(missing=missing, pruning=None).fit(known, number + 0.1)
    else:
        fitted = TreeClassifier(missing=missing, pruning=None).fit(known, np.array(labels)[(number > 1).astype(int)])
    save(fitted, tmp_path / "m.hedgerow")
    asked = odd_rows(150)
    pacsv.write_csv(asked, tmp_path / "asked.csv")
    for name in ("answers.csv", "answers.tsv", "answers.parquet"):
        given = [str(tmp_path / part) for part in ("m.hedgerow", "asked.csv", name)]
        assert main(["predict", *given[:2], *keep, "-o", given[2]]) == 0
    together = pq.read_table(tmp_path / "answers.parquet")
    assert together.column_names[:2] == (["letter", "x"] if keep else together.column_names[:2])
    assert together["prediction"].to_pylist() == fitted.predict(asked).tolist()
    np.testing.assert_allclose(together["uncertainty"], fitted.predict_uncertainty(asked).total, atol=1e-6)
    for i, name in enumerate(sorted(labels or [])):
        np.testing.assert_allclose(together[f"p({name})"], fitted.predict_proba(asked)[:, i], atol=1e-6)
    for name, delimiter in (("answers.csv", ","), ("answers.tsv", "\t")):
        with (tmp_path / name).open(newline="") as file:
            header, *rows = csv.reader(file, delimiter=delimiter)
        assert header == together.column_names
        for j, (column, kind) in enumerate(zip(together.columns, together.schema.types, strict=True)):
            found = [row[j] for row in rows]
            if pa.types.is_floating(kind):
                assert [float(text) if text else None for text in found] == column.to_pylist()
            else:
                assert [text or None for text in found] == column.to_pylist()


def test_an_answer_takes_the_place_of_what_is_kept_under_its_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, data = tmp_path / "m.hedgerow", tmp_path / "t.csv"
    save(TreeClassifier.cart().fit(pa.table({"x": [1.0, 2.0]}), ["a", "b"]), path)
    data.write_text("prediction,x,id\nold,1,7\nold,2,8\n")
    assert main(["predict", str(path), str(data), "--keep", "prediction,id"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "prediction,id,p(a),p(b),uncertainty"
    assert [line.rpartition(",")[0] for line in lines[1:]] == ['"a","7",1,0', '"b","8",0,1']
    assert all(0.9 < float(line.rpartition(",")[2]) <= 1 for line in lines[1:])  # two rows tell next to nothing


def test_prefetching_keeps_order_and_bounds_and_passes_errors_on() -> None:
    made = used = most = 0

    def items(n: int) -> Iterator[int]:
        nonlocal made, most
        for i in range(n):
            made += 1
            most = max(most, made - used)
            yield i
        raise ValueError("the end")

    with pytest.raises(ValueError, match="the end"), prefetch(items(200), max_ready=3) as results:  # noqa: PT012
        for i in results:
            assert i == used
            used += 1
    assert (made, used) == (200, 200)
    assert 1 < most <= 5  # three in the queue, one that waits to be put there, and one in use
    with pytest.raises(ValueError, match="the end"), prefetch(items(0)):
        pass
    with prefetch(iter(range(50)), max_ready=1) as results:
        assert list(results) == list(range(50))
    with prefetch(iter([])) as results:
        assert list(results) == []


def test_a_prefetch_that_is_left_early_stops_its_thread() -> None:
    before = set(threading.enumerate())
    with prefetch(itertools.count(), max_ready=1) as results:
        assert next(results) == 0
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=60)
        assert not thread.is_alive()


# -- what can be wrong; in this process, because each is one line


def failed(capsys: pytest.CaptureFixture[str], *arguments: Any, code: int = 1) -> str:
    assert main([str(argument) for argument in arguments]) == code
    captured = capsys.readouterr()
    assert captured.err.startswith("hedgerow: ")
    assert captured.err.count("\n") == 1, captured.err
    assert "Traceback" not in captured.err
    return captured.err.removeprefix("hedgerow: ").strip()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "wart"], "has no column 'wart' (--target); did you mean 'ward'?"),
        (["-t", "ward", "--ignore", "name"], "has no column 'name' (--ignore); there are 'id', 'zip', 'symptom', "),
        (["-t", "temperature", "-m", "cautious"], "model cautious does not predict numbers; tree, forest"),
        (["-t", "ward", "--numeric", "symptom"], "column 'symptom' (--numeric): 120 of 120 values are not numbers: "),
        (["-t", "ward", "--ordinal", "grade=low<mid"], "column 'grade' has 'high', which --ordinal does not name"),
        (["-t", "ward", "-o", "/nowhere/model"], "there is no folder '/nowhere'"),
        (["-t", "ward", "-o", "."], ". is a folder"),
        (["-t", "ward", "--ignore", "id", "--set", "max_depth=deep"], "max_depth"),
    ],
)
def test_fit_says_what_is_wrong(
    capsys: pytest.CaptureFixture[str], folder: Path, arguments: list[str], words: str
) -> None:
    assert words in failed(capsys, "fit", folder / "patients.csv", *arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say which column of"),
        (["-t", "ward", "--model", "oak"], "this version has tree, c45, forest, oblique, oblique-forest, random-trees"),
        (["-t", "ward", "--set", "max_dept=3"], "which TreeClassifier does not have; did you mean 'max_depth'?"),
        (["-t", "ward", "--set", "max_depth"], "--set is 'max_depth', must be name=value"),
        (["-t", "ward", "--ordinal", "grade"], "--ordinal is 'grade', must name the levels"),
        (["-t", "ward", "--nominal", "id", "--ignore", "id"], "column 'id' is named by --nominal and by --ignore"),
        (["-t", "ward", "--format", "xls"], "--format is 'xls', must be one of csv, tsv, parquet, arff"),
        (["-t", "ward", "--delimiter", "ab"], "--delimiter is 'ab', must be one character"),
        (["-t", "ward", "--fold", "x"], "No such option"),
    ],
)  # fmt: skip
def test_wrong_usage_is_another_exit_code(
    capsys: pytest.CaptureFixture[str], folder: Path, arguments: list[str], words: str
) -> None:
    assert words in failed(capsys, "fit", folder / "patients.csv", *arguments, code=2)


def test_targets_without_anything_to_learn(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,day,n\n1,x,,2024-01-01,2.5\n2,x,,2024-01-02,2.5\n")
    assert "target 'b' has one class, 'x', in every row" in failed(capsys, "fit", path, "-t", "b")
    assert "target 'c' has no values" in failed(capsys, "fit", path, "-t", "c")
    assert "target 'n' is 2.5 in every row" in failed(capsys, "fit", path, "-t", "n", "--ignore", "day")
    assert "column 'day' holds dates or times" in failed(capsys, "fit", path, "-t", "a", "--nominal", "a")
    nothing = failed(capsys, "fit", path, "-t", "a", "--ignore", "b,c,day,n", "--nominal", "a")
    assert "has no column to learn from beside the target 'a'" in nothing


def test_predict_says_what_is_wrong(
    capsys: pytest.CaptureFixture[str], folder: Path, model: Path, tmp_path: Path
) -> None:
    data = folder / "patients.csv"
    out = tmp_path / "out.csv"
    out.write_text("old")
    other = tmp_path / "other.csv"
    other.write_text("id,zip,symptom,Temperature,grade\n1,00,rash,37,low\n")
    message = failed(capsys, "predict", model, other, "-o", out)
    assert message.endswith("has no column 'temperature', which the model needs; unknown to it: 'Temperature'")
    long = tmp_path / "long.csv"
    long.write_text(data.read_text() + "1,2,3,4,5,6,7\n")
    assert "line 122 has 7 fields, the header has 6" in failed(capsys, "predict", model, long, "-o", out)
    warm = tmp_path / "warm.csv"
    warm.write_text("zip,symptom,temperature,grade\n00,rash,warm,low\n")
    assert "column 'temperature', line 2: 'warm' is not a number" in failed(capsys, "predict", model, warm, "-o", out)
    assert "No such file" in failed(capsys, "predict", model, tmp_path / "none.csv", "-o", out)
    assert "has no column 'nme' (--keep)" in failed(capsys, "predict", model, data, "--keep", "nme", "-o", out)
    assert "there is no folder" in failed(capsys, "predict", model, data, "-o", tmp_path / "no" / "out.csv")
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.csv", "other.csv", "out.csv", "warm.csv"]
    assert "has 120 rows, --row is 121" in failed(capsys, "explain", model, data, "--row", "121")
    assert "has trees 0 to 19, --tree is 20" in failed(capsys, "show", model, "--tree", "20")


def test_model_files_that_are_none(
    capsys: pytest.CaptureFixture[str], folder: Path, model: Path, tmp_path: Path
) -> None:
    assert "not a hedgerow model file" in failed(capsys, "show", folder / "patients.csv")
    future = tmp_path / "future.hedgerow"
    content = bytearray(model.read_bytes())
    content[8] = 9
    future.write_bytes(content)
    assert "it is in format version 9, and this hedgerow" in failed(capsys, "predict", future, folder / "patients.csv")
    nameless = tmp_path / "nameless.hedgerow"
    save(TreeClassifier().fit([[1], [2]], [0, 1]), nameless)
    assert "its columns have no names" in failed(capsys, "predict", nameless, folder / "patients.csv")


def test_debug_shows_where_and_the_real_program_exits_with_its_codes(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert main(["fit", str(folder / "patients.csv"), "--target", "wart", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err
    wrong = run("fit", code=2)
    assert wrong.stderr == "hedgerow: Missing argument 'DATA'. Try: hedgerow fit --help\n"


def test_the_folds_that_are_reported_are_those_that_were_run(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    data, path = folder / "patients.csv", tmp_path / "m.hedgerow"
    largest = max(np.unique(pq.read_table(folder / "patients.parquet")["ward"], return_counts=True)[1])
    assert main(["fit", str(data), *WISHES, "--folds", "1000", "-o", str(path)]) == 0
    captured = capsys.readouterr()
    assert f"({largest}-fold cross-validation" in captured.out
    assert (
        f"note: --folds is 1000, but there are only {largest} rows in the largest class: {largest} folds"
        in captured.err
    )
    assert read_notes(path)["folds"] == largest
    few = tmp_path / "few.csv"
    few.write_text("x,y\n" + "".join(f"{i},{i / 2}\n" for i in range(6)))
    assert main(["compare", str(few), "-t", "y", "--folds", "9", "--trees", "2"]) == 0
    captured = capsys.readouterr()
    assert "6-fold cross-validation" in captured.out
    assert "there are only 6 rows: 6 folds were used" in captured.err
    for name in ("fit", "compare"):
        failed(capsys, name, data, *WISHES, "--folds", "1", code=2)


def test_classes_of_one_row_cant_be_cross_validated(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n2,b\n3,c\n")
    words = "target 'y' can't be cross-validated, since no class has two rows"
    assert failed(capsys, "fit", path, "-t", "y").startswith(words)
    assert failed(capsys, "compare", path, "-t", "y").startswith(words)
    assert main(["fit", str(path), "-t", "y", "--folds", "0"]) == 0


def test_rows_without_a_target_are_left_out_and_said_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("a\tname\ty\n" + "".join(f"{i}\tperson {i}\t{'' if i == 3 else i % 2}\n" for i in range(30)))
    assert main(["fit", str(path), "-t", "y", "--folds", "2"]) == 0
    captured = capsys.readouterr()
    assert "note: 1 row without a value for 'y' was dropped" in captured.err
    assert "note: the model was not saved: add -o model.hedgerow" in captured.err
    assert "an identifier? Then --ignore it" in captured.out
    assert "2 classes: 0 15, 1 14; --numeric y to predict a number" in captured.out


def test_a_model_made_in_python_reads_files_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = pa.table({"code": [1, 2, 3, 1], "x": [0.5, 1.5, 2.5, 3.5]})
    tree = TreeClassifier(categorical_features=["code"], pruning=None, leaf_probability="frequency")
    tree.fit(table, [True, False, True, True])
    save(tree, tmp_path / "m.hedgerow")
    (tmp_path / "t.csv").write_text("x,code\n0.5,1\n1.5,2\n,\n")
    assert main(["predict", str(tmp_path / "m.hedgerow"), str(tmp_path / "t.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "prediction,p(False),p(True),uncertainty"
    assert [line.rpartition(",")[0] for line in lines[1:3]] == ["true,0,1", "false,1,0"]
    assert main(["show", str(tmp_path / "m.hedgerow")]) == 0
    assert "predicts its target from 2 columns; grown in Python" in capsys.readouterr().out


def test_datasets_are_listed_and_can_be_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1, 2] * 10, "target": ["a", "b"] * 10}), tmp_path / "own.parquet")
    assert main(["datasets", "--data", str(tmp_path)]) == 0
    listed = capsys.readouterr().out
    assert "own" in listed
    assert "breast-cancer" in listed
    assert main(["fit", "own", "--data", str(tmp_path), "--folds", "2"]) == 0
    assert "TreeClassifier: 2 leaves, depth 1" in capsys.readouterr().out
    assert "there is no dataset 'owm'; did you mean 'own'?" in failed(capsys, "fit", "owm", "--data", tmp_path)


class ForgivingRegressor(TreeRegressor):
    """Stands for a model that takes errors of inputs."""

    def __init__(self, *, sigma: Any = 0.0, max_depth: int | None = None) -> None:
        super().__init__(max_depth=max_depth)
        self.sigma = sigma


def test_errors_of_inputs_become_a_setting(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("temp,flow,flow_err,y\n" + "".join(f"{i},{i % 7},0.{i % 3},{i / 2}\n" for i in range(60)))
    monkeypatch.setattr(hedgerow, "MeasuredTreeRegressor", ForgivingRegressor, raising=False)
    fit = ("fit", path, "-t", "y", "--model", "measured", "--folds", "0")
    assert "must know how far inputs may be off" in failed(capsys, *fit, code=2)
    wrong = failed(capsys, *fit, "--measured", "temp=0.3,flow=flow_er")
    assert wrong == "--measured names 'flow_er', which is not a column; did you mean 'flow_err'?"
    says = "must be column=0.3, column=5%, column=column or column~column=0.8"
    assert says in failed(capsys, *fit, "--measured", "temp", code=2)
    wrong = failed(capsys, *fit, "--measured", "temp=0.3,flow=1,temp~flov=0.8")
    assert wrong == "--measured names 'flov', which is not a column; did you mean 'flow'?"
    pair = measured_setting("temp=1,flow=2,temp~flow=-0.5", "measured", ["temp", "flow"])
    assert pair == {"sigma": {"temp": 1, "flow": 2, ("temp", "flow"): -0.5}}
    assert "--measured is for --model measured" in failed(capsys, *fit[:4], "--measured", "temp=1", code=2)
    setting = measured_setting("temp=0.3,flow=flow_err", "measured", ["temp", "flow", "flow_err"])
    assert make_model("measured", False, setting).sigma == {"temp": 0.3, "flow": "flow_err"}
    relative = measured_setting("temp=2.5%,flow=flow_err", "measured", ["temp", "flow", "flow_err"])
    assert relative["sigma"] == {"temp": RelativeError(0.025), "flow": "flow_err"}
    for wrong in ("temp=-1%", "temp=x%", "temp=%"):
        assert "must be a percentage that is not negative" in failed(capsys, *fit, "--measured", wrong, code=2)
    assert main([str(argument) for argument in (*fit, "--measured", "temp=0.3%,flow=flow_err")]) == 0


@pytest.mark.parametrize("name", [name for name, entry in MODELS.items() if not entry.needs_errors])
def test_models_that_draw_have_a_seed(name: str) -> None:
    model = make_model(name, True, {})
    assert model.get_params().get("random_state", 0) == 0
    if "random_state" in model.get_params():
        assert make_model(name, True, {"random_state": 7}).random_state == 7


def test_a_tree_of_naive_bayes_is_a_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = str(tmp_path / "m.hedgerow")
    assert main(["fit", "iris", "-m", "naive-bayes-tree", "--folds", "0", "-o", path]) == 0
    assert isinstance(load(path), hedgerow.NaiveBayesTreeClassifier)
    assert load(path).random_state == 0
    capsys.readouterr()
    assert main(["show", path]) == 0
    assert "naive Bayes of 1" in capsys.readouterr().out
    assert main(["predict", path, "iris"]) == 0
    answers = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["prediction"] for row in answers] == load(path).predict(load_dataset("iris").X).tolist()


def test_c45_is_a_model(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    out = folder / "c45.hedgerow"
    assert main(["fit", str(folder / "patients.csv"), *WISHES, "-m", "c45", "-o", str(out), "--folds", "2"]) == 0
    assert load(out).criterion == "c45"
    capsys.readouterr()
    assert main(["predict", str(out), str(folder / "patients.csv")]) == 0
    answers = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    table = pq.read_table(folder / "patients.parquet").select(load(out).schema_.names)
    expected = load(out).predict_uncertainty(table).total
    np.testing.assert_allclose([float(row["uncertainty"]) for row in answers], expected, atol=1e-6)


def test_explain_takes_the_coverage_of_a_model_that_promises_one(
    here: Callable[..., str], capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    promise, plain = folder / "promise.hedgerow", folder / "plain.hedgerow"
    here("fit", "iris", "--folds", "0", "--coverage", "0.8", "-o", promise)
    here("fit", "iris", "--folds", "0", "-o", plain)
    assert "Set at 0.8 coverage" in here("explain", promise, "iris")
    assert "Set at 0.99 coverage" in here("explain", promise, "iris", "--coverage", "0.99")
    words = failed(capsys, "explain", plain, "iris", "--coverage", "0.9", code=2)
    assert "--coverage is 0.9, but a TreeClassifier promises none: fit with --coverage 0.9" in words
