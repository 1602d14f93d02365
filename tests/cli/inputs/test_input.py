"""The command on files as people have them: roles of columns, notes on them, and what a model file keeps of them."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hedgerow import TreeClassifier, load
from hedgerow.cli import main
from hedgerow.cli.inputs.dates import date_parts
from hedgerow.cli.inputs.identifiers import identifies_rows
from hedgerow.cli.inputs.roles import Training, Wishes, assign
from hedgerow.cli.scores.folds import usable_folds
from hedgerow.scoring.folds import splits
from hedgerow.storage import read_notes

pytest.importorskip("click")
pytest.importorskip("rich")

N = 60
CLASSES = ["yes" if i % 3 else "no" for i in range(N)]


def write(path: Path, header: str, *columns: list[Any], delimiter: str = ",") -> Path:
    with path.open("w", newline="") as file:
        file.write(header + "\n")
        csv.writer(file, delimiter=delimiter).writerows(zip(*columns, strict=True))
    return path


def numbers() -> list[float]:
    """A different number in each row, that tells the classes apart."""
    return [i / 8 + (100 if c == "yes" else 0) for i, c in enumerate(CLASSES)]


def done(capsys: pytest.CaptureFixture[str], *arguments: Any, code: int = 0) -> tuple[str, str]:
    assert main([str(argument) for argument in arguments]) == code
    captured = capsys.readouterr()
    return " ".join(captured.out.split()) if arguments[0] != "predict" else captured.out, captured.err


def predictions(capsys: pytest.CaptureFixture[str], model: Path, data: Path) -> list[str]:
    out, _ = done(capsys, "predict", model, data)
    return [row["prediction"] for row in csv.DictReader(io.StringIO(out))]


# -- identifiers


def test_an_index_is_left_out_named_and_can_be_kept(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, model = write(tmp_path / "t.csv", ",x,y", list(range(N)), numbers(), CLASSES), tmp_path / "m"
    out, err = done(capsys, "fit", path, "-t", "y", "--folds", "0", "-o", model)
    assert "column 1 ignored an identifier: row numbers" in out
    assert "column 'column 1' is left out as an identifier (row numbers); keep it with --numeric 'column 1'" in err
    assert load(model).schema_.names == ("x",)
    assert done(capsys, "predict", model, path, "-o", tmp_path / "o.csv")[1] == ""
    done(capsys, "fit", path, "-t", "y", "--folds", "0", "--numeric", "column 1", "-o", model)
    assert load(model).schema_.names == ("column 1", "x")
    assert predictions(capsys, model, path) == CLASSES
    _, err = done(capsys, "fit", path, "-t", "y", "--folds", "0", "--ignore", "column 1", "-o", model)
    assert err == ""
    assert read_notes(model)["ignored"] == ["column 1"]


@pytest.mark.parametrize(
    ("values", "name", "first", "identifies"),
    [
        (range(30), "column 1", True, True),
        (range(1, 31), "Unnamed: 0", True, True),
        (range(3), "column 1", True, True),
        (range(1, 31), "case", True, True),
        (range(1, 31), "age", False, False),
        (range(2, 32), "case", True, False),
        (range(1000, 1300, 10), "customer_id", False, True),
        (range(1000, 1300, 10), "customerId", False, True),
        (range(1000, 1300, 10), "income", False, False),
        ([1, 1, *range(2, 30)], "id", False, False),
        ([f"P{i:03}" for i in range(30)], "patient", False, True),
        ([f"person {i}" for i in range(30)], "name", False, False),
        ([f"person {i}" for i in range(30)], "id", False, True),
        ([0.5 * i for i in range(30)], "id", False, False),
        ([None, *range(30)], "id", False, False),
        ([f"{i}-{i}" for i in range(5)], "score", True, False),
    ],
)  # fmt: skip
def test_which_columns_identify_rows(values: Any, name: str, first: bool, identifies: bool) -> None:
    assert bool(identifies_rows(pa.chunked_array([list(values)]), name, first=first)) == identifies


def test_the_only_input_is_no_identifier(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "id,y", list(range(N)), CLASSES)
    out, _ = done(capsys, "fit", path, "-t", "y", "--folds", "0")
    assert "id numeric from 0 to 59" in out


# -- numbers


def test_what_fit_found_out_holds_for_later_rows(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    written = [f"{x:.3f}".replace(".", ",") for x in numbers()]
    money = [f"{1000 + i:,}".replace(",", ".") + ",50 €" for i in range(N)]
    path = write(tmp_path / "t.csv", "x;money;y", written, money, CLASSES, delimiter=";")
    model = tmp_path / "m"
    out, err = done(capsys, "fit", path, "-t", "y", "--folds", "0", "-o", model)
    assert "x numeric from 0 to 107.375" in out
    assert "money numeric from 1000.5 to 1059.5" in out
    assert "column 'money': '1.000,50 €' is read as 1000.5" in err
    assert "are read with a decimal comma; if that is wrong: --decimal ." in err
    notes = read_notes(model)
    assert (notes["decimal"], notes["units"]) == (",", {"money": "€"})
    assert predictions(capsys, model, path) == CLASSES
    row, _ = done(capsys, "explain", model, path, "--row", "2")
    assert "x is 100.12" in row


def test_what_stands_in_the_way_of_numbers_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    x = ["n.d.", *map(str, numbers()[1:])]
    path = write(tmp_path / "t.csv", "x,y", x, CLASSES)
    fit = ("fit", path, "-t", "y", "--folds", "0")
    out, err = done(capsys, *fit)
    words = "1 of 60 values is not a number: 'n.d.'; if that means missing: --missing n.d."
    assert f"column 'x' is taken for categories: {words}" in err
    assert "identifier" not in out
    assert words in done(capsys, *fit, "--numeric", "x", code=1)[1]
    out, err = done(capsys, *fit, "--missing", "n.d.")
    assert "x numeric 1 missing; from" in out
    assert "categories" not in err


def test_a_column_said_to_be_numeric_has_the_decimal_sign_of_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    x = ["n.d.", *(f"{x:.3f}".replace(".", ",") for x in numbers()[1:])]
    path = write(tmp_path / "t.csv", "x;y", x, CLASSES, delimiter=";")
    _, err = done(capsys, "fit", path, "-t", "y", "--numeric", "x", code=1)
    assert (
        "column 'x' (--numeric): 1 of 60 values is not a number: 'n.d.'; if that means missing: --missing n.d." in err
    )


def test_huge_integers_are_refused_in_fit_and_predict(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    huge = [2**53 + 1 + i % 7 for i in range(N)]
    path, model = write(tmp_path / "t.csv", "code,x,y", huge, numbers(), CLASSES), tmp_path / "m"
    fit = ("fit", path, "-t", "y", "--folds", "0", "-o", model)
    assert "column 'code' holds the integer 9007199254740993, beyond 2**53" in done(capsys, *fit, code=1)[1]
    assert "target 'code' holds the integer" in done(capsys, "fit", path, "-t", "code", code=1)[1]
    done(capsys, *fit, "--nominal", "code")
    assert load(model).schema_.columns[0].categories == tuple(map(str, range(2**53 + 1, 2**53 + 8)))
    done(capsys, *fit, "--ignore", "code")
    wrong = write(tmp_path / "wrong.csv", "x", [1, 2**60 + 1])
    assert f"column 'x' holds the integer {2**60 + 1}, beyond 2**53" in done(capsys, "predict", model, wrong, code=1)[1]


# -- categories and dates


def test_categories_that_fit_has_not_seen_are_named_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    colours = ["red" if c == "yes" else "blue" for c in CLASSES]
    model = tmp_path / "m"
    done(capsys, "fit", write(tmp_path / "t.csv", "c,y", colours, CLASSES), "-t", "y", "--folds", "0", "-o", model)
    later = write(tmp_path / "new.csv", "c", ["Red", "red", "Red", "green", " blue "])
    _, err = done(capsys, "predict", model, later)
    assert err == (
        "note: column 'c' has 2 categories that were not in fit, treated as missing: 'Red' (2 rows; fit saw 'red'), "
        "'green' (1 row)\n"
    )
    assert "'Red' (1 row; fit saw 'red')" in done(capsys, "explain", model, later, "--row", "1")[1]
    assert done(capsys, "explain", model, later, "--row", "2")[1] == ""


@pytest.mark.parametrize(("how", "parts"), [("days", ["days"]), ("parts", ["year", "month", "day", "weekday", "hour"])])
def test_dates_become_numbers_on_request(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, how: str, parts: list[str]
) -> None:
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        [3 * i if c == "yes" else 3 * i + 6000 for i, c in enumerate(CLASSES)], "h"
    )
    path, model = write(tmp_path / "t.csv", "when,y", [str(w) for w in when], CLASSES), tmp_path / "m"
    fit = ("fit", path, "-t", "y", "--folds", "0", "-o", model)
    assert "--dates days or --dates parts" in done(capsys, *fit, code=1)[1]
    out, _ = done(capsys, *fit, "--dates", how)
    assert f"when date split into {', '.join(parts)}" in out
    assert load(model).schema_.names == tuple(f"when.{part}" for part in parts)
    assert predictions(capsys, model, path) == CLASSES
    pd.DataFrame({"when": when}).to_parquet(tmp_path / "t.parquet")
    assert predictions(capsys, model, tmp_path / "t.parquet") == CLASSES
    wrong = write(tmp_path / "wrong.csv", "when", ["2024-01-01", "tomorrow"])
    assert "column 'when' holds 'tomorrow', which is not a date" in done(capsys, "predict", model, wrong, code=1)[1]


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y/%m/%d"])
def test_dates_in_other_forms(capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str) -> None:
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        [i if c == "yes" else i + 200 for i, c in enumerate(CLASSES)], "D"
    )
    path = write(tmp_path / "t.csv", "when,y", ["", *when.strftime(form)[1:]], CLASSES)
    model = tmp_path / "m"
    out, _ = done(capsys, "fit", path, "-t", "y", "--folds", "0", "--dates", "days", "-o", model)
    assert "when date 1 missing; split into days" in out
    assert predictions(capsys, model, path)[1:] == CLASSES[1:]


# -- headers, weights and groups


def test_a_file_without_a_header_is_remembered(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "0.5,no", numbers(), CLASSES)
    model = tmp_path / "m"
    done(capsys, "fit", path, "--no-header", "-t", "column 2", "--folds", "0", "-o", model)
    assert predictions(capsys, model, path) == ["no", *CLASSES]
    named = write(tmp_path / "named.csv", "column 1", numbers())
    out, _ = done(capsys, "predict", model, named, "--header")
    assert len(out.splitlines()) == N + 1


def test_weights_and_groups_go_to_fit_and_to_the_folds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, weight, group = rng.normal(size=N).round(2), 1 + np.arange(N) % 4, [f"g{i % 6}" for i in range(N)]
    path = write(tmp_path / "t.csv", "x,w,g,y", x.tolist(), weight.tolist(), group, CLASSES)
    model = tmp_path / "m"
    out, _ = done(
        capsys, "fit", path, "-t", "y", "--weight", "w", "--groups", "g", "--set", "pruning=None", "-o", model
    )
    assert "w weight" in out
    assert "g groups" in out
    expected = TreeClassifier(pruning=None).fit(pa.table({"x": x}), CLASSES, sample_weight=weight)
    np.testing.assert_array_equal(load(model).forest_.leaf_counts, expected.forest_.leaf_counts)
    assert read_notes(model)["ignored"] == ["w", "g"]
    assert done(capsys, "predict", model, path, "-o", tmp_path / "o.csv")[1] == ""
    assert "one tree" in done(capsys, "compare", path, "-t", "y", "--weight", "w", "--groups", "g", "--trees", "2")[0]


@pytest.mark.parametrize("text", ["2024-02-29", "2024-02-29 00:00:00.000000000", "2024-02-29T00:00:00Z", "29.02.2024"])
def test_dates_may_be_written_to_the_nanosecond(text: str) -> None:
    assert date_parts(pa.chunked_array([[text]]), "when", "days")["days"].to_pylist() == [19782.0]


def test_a_column_with_the_other_decimal_sign_is_pointed_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    commas = [f"{i},5" for i in range(N)]
    path = write(tmp_path / "t.csv", "point,comma,y", [f"{i}.25" for i in range(N)], commas, CLASSES)
    assert main(["fit", str(path), "-t", "y", "--folds", "0"]) == 0
    assert "column 'comma' is taken for categories" in (noted := capsys.readouterr().err)
    assert "if the decimal sign is ',': --decimal ," in noted


@pytest.mark.parametrize("classification", [True, False])
def test_a_group_stays_in_one_fold(classification: bool) -> None:
    group = np.arange(N) % 4
    table = pa.table({"x": group, "g": group, "y": CLASSES if classification else numbers()})
    training: Training = assign(table, "y", Wishes(groups="g"), "t")
    folds = list(splits(training, usable_folds(training, 10)))
    assert len(folds) == 4
    for fold in folds:
        assert not set(fold.X["x"].to_pylist()) & set(fold.X_new["x"].to_pylist())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--weight", "gaps"], "column 'gaps' (--weight) has 1 missing values"),
        (["--weight", "minus"], "column 'minus' (--weight) holds -1: weights must be finite"),
        (["--weight", "no"], "has no column 'no' (--weight)"),
        (["--groups", "gaps"], "column 'gaps' (--groups) has 1 missing values"),
        (["--groups", "one"], "column 'one' (--groups) has one group only"),
        (["--weight", "one", "-m", "naive-bayes-tree"], "model naive-bayes-tree takes no sample weights"),
    ],
)
def test_wrong_weights_and_groups(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], words: str
) -> None:
    gaps, minus, one = ["", *["1"] * (N - 1)], [-1, *[1] * (N - 1)], [1] * N
    path = write(tmp_path / "t.csv", "x,gaps,minus,one,y", numbers(), gaps, minus, one, CLASSES)
    _, err = done(capsys, "fit", path, "-t", "y", *arguments, code=1)
    assert words in err


def test_numbers_that_come_as_categories_are_read() -> None:
    tree = TreeClassifier(pruning=None).fit(pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}), [0, 0, 1, 1])
    frame = pd.DataFrame({"x": pd.Categorical([4, None, 1], categories=[1, 4])})
    assert tree.predict(frame)[[0, 2]].tolist() == [1, 0]
    arrow = pa.table({"x": pa.array([4.0, 1.0]).dictionary_encode()})
    assert tree.predict(arrow).tolist() == [1, 0]
    with pytest.raises(ValueError, match="holds the category 'a', which is not a number; pass numbers"):
        tree.predict(pd.DataFrame({"x": pd.Categorical(["a", "b"])}))
