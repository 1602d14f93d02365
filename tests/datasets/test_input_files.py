"""Files as people have them: numbers as they write them, other encodings and formats, damaged and foreign files."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.datasets import DataFileError, Reading, open_rows
from hedgerow.datasets.blocks import row_blocks
from hedgerow.datasets.number_columns import recognise_numbers
from hedgerow.datasets.numerals import likely_decimal, read_numerals


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def column(*values: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, pa.string())])


def numbers_of(path: Path, name: str, reading: Reading | None = None) -> list[float | None]:
    found = [x for part in open_rows(str(path), reading).batches({name: "number"}) for x in part[name].to_pylist()]
    return [None if x != x else x for x in found]


# -- numbers


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("1,234", ".", 1234.0),
        ("1,234,567.25", ".", 1234567.25),
        ("1.234,5", ",", 1234.5),
        ("1.234", ",", 1234.0),
        ("12,5", ",", 12.5),
        (" 7 ", ".", 7.0),
        ("1 234,5", ",", 1234.5),
        ("1'234.5", ".", 1234.5),
        ("95%", ".", 95.0),
        ("95 %", ".", 95.0),
        ("$90.50", ".", 90.5),
        ("-$90.50", ".", -90.5),
        ("$-90.50", ".", -90.5),
        ("90,50 €", ",", 90.5),
        ("−3", ".", -3.0),
        ("1e-3", ".", 0.001),
        (".5", ".", 0.5),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, decimal: str, value: float) -> None:
    found = read_numerals(column(text), decimal)
    assert found.values.tolist() == [value]
    assert found.n_strange == 0


@pytest.mark.parametrize("text", ["12,5", "1,23,456", "1.2.3", "$5%", "x", "5 apples", "0x10", "1_000", "$", "%"])
def test_what_is_no_number_is_not_made_one(text: str) -> None:
    assert read_numerals(column(text), ".").strange == (text,)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_is_read_with_both_decimal_signs(number: float) -> None:
    assert read_numerals(column(repr(number)), ".").values.tolist() == [number]
    assert read_numerals(column(repr(number).replace(".", ",")), ",").values.tolist() == [number]


def test_a_column_has_one_unit() -> None:
    assert read_numerals(column("95%", "96%", "0.97"), ".").strange == ("0.97",)
    assert read_numerals(column("0.95", "0.96", "97%"), ".").strange == ("97%",)
    assert read_numerals(column("$5", "6", "€7", "$8"), ".").strange == ("€7",)


def test_the_decimal_sign_is_the_one_that_columns_show() -> None:
    assert likely_decimal([column("1,5", "2,25")], (), ".") == ","
    assert likely_decimal([column("1,234.5", "7")], (), ",") == "."
    for unless_known in (".", ","):
        assert likely_decimal([column("1,234", "7")], (), unless_known) == unless_known
    assert likely_decimal([column("1,234", "7"), column("1,5")], (), ".") == ","
    assert likely_decimal([column("red, blue", "x")], (), ",") == "."


def test_complaints_name_what_stands_in_the_way_and_the_remedy() -> None:
    texts = [*map(str, range(119)), "n.d."]
    assert read_numerals(column(*texts), ".").complaint() == (
        "1 of 120 values is not a number: 'n.d.'; if that means missing: --missing n.d."
    )
    assert read_numerals(column(*texts, "not known"), ".").complaint().endswith("--missing 'n.d.,not known'")
    assert read_numerals(column(*map(str, range(9)), "1,5"), ".").complaint().endswith("--decimal ,")


def test_text_that_is_all_numbers_becomes_numbers(tmp_path: Path) -> None:
    lines = [f"{i},{i}%,{w},{i}\n" for i, w in enumerate(["#N/A", "None", "-", ".", "5", "6", "7", "8"])]
    path = write(tmp_path / "t.csv", "a,share,gaps,word\n" + "".join(lines) + "9,9%,1,nine\n")
    rows = open_rows(str(path))
    found = recognise_numbers(rows.table(), rows.reading)
    assert found.table["share"].to_pylist() == [*map(float, range(8)), 9.0]
    assert found.table["gaps"].to_pylist() == [None] * 4 + [5.0, 6.0, 7.0, 8.0, 1.0]
    assert found.table["word"].to_pylist()[-1] == "nine"
    assert found.reading.units == {"share": "%"}
    assert [name for name, _ in found.remarks] == ["share", "word"]
    assert numbers_of(path, "gaps") == [None] * 4 + [5.0, 6.0, 7.0, 8.0, 1.0]
    assert numbers_of(path, "share", found.reading) == [*map(float, range(8)), 9.0]
    with pytest.raises(DataFileError, match=r"column 'share' holds values with the unit '%', and had none in fit"):
        numbers_of(path, "share")


def test_a_decimal_comma_is_found_and_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a;b;c\n1,5;1.234,5;1.000\n2,5;99;2.000\n")
    rows = open_rows(str(path))
    table = rows.table()
    assert rows.reading.decimal == ","
    assert table["a"].to_pylist() == [1.5, 2.5]
    found = recognise_numbers(table, rows.reading)
    assert found.table["b"].to_pylist() == [1234.5, 99.0]
    assert found.table["c"].to_pylist() == [1000.0, 2000.0]
    for name, expected in (("a", [1.5, 2.5]), ("b", [1234.5, 99.0]), ("c", [1000.0, 2000.0])):
        assert numbers_of(path, name, found.reading) == expected
    with pytest.raises(DataFileError, match=r"column 'a', line 2: '1,5' is not a number; .*--decimal ,"):
        numbers_of(path, "a")


def test_decimal_points_elsewhere_keep_the_decimal_point(tmp_path: Path) -> None:
    rows = open_rows(str(write(tmp_path / "t.csv", "a;b\n1,5;0.5\n2,5;0.7\n")))
    assert rows.table()["b"].to_pylist() == [0.5, 0.7]
    assert rows.reading.decimal is None


def test_spaces_around_names_and_values_do_not_count(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a , b\n 1 , red\n NA ,red \n2,  NA\n")
    rows = open_rows(str(path))
    assert rows.names == ("a", "b")
    assert rows.table()["b"].to_pylist() == ["red", "red", None]
    parts = pa.concat_tables(open_rows(str(path)).batches({"a": "number", "b": "text"}))
    assert [None if x != x else x for x in parts["a"].to_pylist()] == [1.0, None, 2.0]
    assert parts["b"].to_pylist() == ["red", "red", None]


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**63 - 1, 10**20])
@pytest.mark.parametrize("kind", ["csv", "arff", "jsonl", "parquet"])
def test_integers_that_float64_cannot_hold_are_refused(tmp_path: Path, value: int, kind: str) -> None:
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        write(path, f"id,x\n1,1\n{value},2\n")
    elif kind == "arff":
        write(path, f"@relation t\n@attribute id numeric\n@data\n1\n{value}\n")
    elif kind == "jsonl":
        write(path, f'{{"id": 1}}\n{{"id": {value}}}\n')
    else:
        pq.write_table(
            pa.table({"id": pa.array([1, value], pa.int64() if value < 2**63 else pa.decimal128(38, 0))}), path
        )
    with pytest.raises(DataFileError, match=f"column 'id' holds the integer {value}, beyond 2"):
        numbers_of(path, "id")
    table = open_rows(str(path)).table()
    assert int(table["id"].to_pylist()[1]) == value  # exact, so that it can be refused by its value


def test_large_numbers_that_are_no_integers_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a\n6.022e23\n1e300\n")
    assert numbers_of(path, "a") == [6.022e23, 1e300]
    assert open_rows(str(path)).table()["a"].to_pylist() == [6.022e23, 1e300]


# -- headers and encodings


def test_a_column_without_a_name_is_called_by_its_position(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", ",x,\n0,1.5,a\n")
    assert open_rows(str(path)).names == ("column 1", "x", "column 3")


def test_a_file_without_a_header(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "\n1.5,a\n2.5,b\nx,c\n")
    reading = Reading(header=False, missing=("x",))
    assert open_rows(str(path), reading).table().to_pydict() == {
        "column 1": [1.5, 2.5, None],
        "column 2": ["a", "b", "c"],
    }
    with pytest.raises(DataFileError, match=r"column 'column 1', line 4: 'x'"):
        numbers_of(path, "column 1", Reading(header=False))
    assert open_rows(str(write(path, "7")), Reading(header=False)).table().to_pydict() == {"column 1": [7]}


@pytest.mark.parametrize(("encoding", "given"), [("latin1", "latin1"), ("cp1252", "cp1252"), ("utf-16", None)])
def test_other_encodings(tmp_path: Path, encoding: str, given: str | None) -> None:
    path = write(tmp_path / "t.csv", "größe,ort\n1,Köln\n2,x\n".encode(encoding))
    reading = Reading(encoding=given)
    assert open_rows(str(path), reading).table().to_pydict() == {"größe": [1, 2], "ort": ["Köln", "x"]}
    assert numbers_of(path, "größe", reading) == [1.0, 2.0]
    with pytest.raises(DataFileError, match="'klingon' is not the name of an encoding"):
        open_rows(str(path), Reading(encoding="klingon"))


def test_text_that_is_not_in_the_encoding_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"is not ascii \(--encoding\)"):
        open_rows(str(write(tmp_path / "t.csv", "a\né\n")), Reading(encoding="ascii")).table()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=write, args=(path, "a;b\n1,5;x\n2,5;y\n"))
    writer.start()
    assert open_rows(str(path)).table()["a"].to_pylist() == [1.5, 2.5]
    writer.join()


# -- other formats


def test_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (
        ["", "whole", "mixed", "when", "flag"],
        [1, 1, "01", datetime.datetime(2024, 1, 2), True],
        [],
        [2, None, 3.0],
    ):
        book.active.append(row)
    path = tmp_path / "t.xlsx"
    book.save(path)
    assert open_rows(str(path)).table().to_pydict() == {
        "column 1": [1, 2],
        "whole": [1, None],
        "mixed": ["01", "3"],
        "when": [datetime.datetime(2024, 1, 2), None],
        "flag": [True, None],
    }
    assert numbers_of(path, "whole") == [1.0, None]
    assert open_rows(str(path), Reading(header=False)).names[0] == "column 1"
    path.rename(tmp_path / "t.csv")
    with pytest.raises(DataFileError, match="is not CSV but XLSX"):
        open_rows(str(tmp_path / "t.csv"))
    content = (tmp_path / "t.csv").read_bytes()
    with pytest.raises(DataFileError, match=r"is not an Excel file \(.xlsx\), or is damaged"):
        open_rows(str(write(path, content[:-100])))


def test_json_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", '{"a": 1, "b": "x"}\n\n{"b": " y ", "a": 2.5}\n{"a": null}\n')
    assert open_rows(str(path)).table().to_pydict() == {"a": [1.0, 2.5, None], "b": ["x", "y", None]}
    assert numbers_of(path, "a") == [1.0, 2.5, None]
    for line, words in (
        ("{'a': 1}", "line 2 is not JSON"),
        ("[1]", "line 2 is not an object"),
        ('{"a": [1]}', "line 2: 'a' holds a list or an object"),
    ):
        with pytest.raises(DataFileError, match=words):
            open_rows(str(write(path, '{"a": 1}\n' + line + "\n"))).table()


def _parquet(path: Path, damage: Any) -> bytes:
    pq.write_table(pa.table({"a": [1.5, 2.5] * 500, "b": ["x", "y"] * 500}), path)
    return damage(path.read_bytes())


def test_files_of_other_programs_and_damaged_ones_are_named(tmp_path: Path) -> None:
    feather.write_feather(pa.table({"a": [1]}), tmp_path / "t.feather")
    packed = bytearray(gzip.compress(b"a,b\n" + b"1,2\n" * 50_000))
    packed[60] ^= 255
    files: dict[str, tuple[bytes, str]] = {
        "array.json": (json.dumps([{"a": 1}], indent=1).encode(), "is JSON, and not one object in each line"),
        "object.json": (json.dumps({"a": [1]}, indent=1).encode(), "is JSON, and not one object in each line"),
        "model.pkl": (pickle.dumps({"a": 1}), "is a Python pickle"),
        "pickle.csv": (pickle.dumps({"a": 1}), "is a Python pickle"),
        "t.feather": ((tmp_path / "t.feather").read_bytes(), "is a Feather or Arrow file"),
        "t.zip": (b"PK\3\4 and so on", "is a zip archive"),
        "t.xlsx": (b"a,b\n1,2\n", "is not an Excel file"),
        "old.xls": (b"\xd0\xcf\x11\xe0 and so on", "is an old Excel file"),
        "bad.csv.gz": (bytes(packed), "is a damaged gzip file"),
        "cut.parquet": (_parquet(tmp_path / "p", lambda data: data[:-30]), "or is damaged"),
        "bad.parquet": (
            _parquet(tmp_path / "p", lambda data: data[:10] + b"\xff" * 60 + data[70:]),
            "is a damaged Parquet",
        ),
    }
    for name, (content, words) in files.items():
        path = write(tmp_path / name, content)
        for use in (lambda rows: rows.table(), lambda rows: list(rows.batches(dict.fromkeys(rows.names, "text")))):
            with pytest.raises(DataFileError) as caught:
                use(open_rows(str(path)))
            assert str(caught.value).startswith(f"{path} {words}") or words in str(caught.value), name
            assert "\n" not in str(caught.value)


# -- time


class _Counted:
    """Bytes without any row end, and how many are scanned for one."""

    def __init__(self, n_bytes: int) -> None:
        self.n_left = n_bytes

    def readinto(self, room: memoryview) -> int:
        n = min(len(room), self.n_left)
        room[:n] = b"x" * n
        self.n_left -= n
        return n


def test_a_row_longer_than_many_blocks_is_scanned_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    n_scanned = 0

    def row_end(text: bytearray) -> int:
        nonlocal n_scanned
        n_scanned += len(text)
        return 0

    monkeypatch.setattr("hedgerow.datasets.blocks.row_end", row_end)
    n_bytes = 1 << 16
    [block] = row_blocks(_Counted(n_bytes), 1, size=16)
    assert len(block.data) == n_bytes
    assert n_scanned < 4 * n_bytes


LARGE_FILES = {
    "quote.csv": ('a,"b\n' + "1,2\n" * 1_000_000, "its header has an unclosed quote"),
    "spaces.arff": (
        "@relation t\n@attribute a {x}\n@attribute b string\n@data\n'x'" + " " * 1_000_000 + "y\n",
        "an unclosed quote near",
    ),
    "inside.arff": ("@relation t\n@attribute a {x}\n@attribute b string\n@data\n'x',y" + " " * 1_000_000 + "z\n", None),
    "sparse.arff": ("@relation t\n@attribute a numeric\n@data\n{" + "0 1," * 500_000 + "0 1}\n", None),
}


@pytest.mark.parametrize("name", LARGE_FILES)
def test_long_lines_take_time_in_proportion(tmp_path: Path, name: str) -> None:
    """Quadratic time would be hours: the limit is only there so that the test ends."""
    content, words = LARGE_FILES[name]
    path = write(tmp_path / name, content)
    code = "import sys\nfrom hedgerow.datasets import open_rows\nprint(open_rows(sys.argv[1]).table().num_rows)"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=300, check=False)
    assert (words in done.stderr) if words else (done.stdout == "1\n"), done.stderr[-500:]
