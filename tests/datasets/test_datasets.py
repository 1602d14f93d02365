from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from effort import examples
from hedgerow import TreeClassifier, datasets
from hedgerow._core import plain_numbers
from hedgerow.datasets import DataFileError, Reading, open_rows, openml
from hedgerow.datasets.blocks import row_blocks, row_end
from hedgerow.storage.replace import replaced

several = settings(
    max_examples=examples(11, 40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

_texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=4) | st.sampled_from(
    ["?", "a,b", 'say "so"', "it's", "two\nlines", " ", "\\", "{x}", "%", "01"]
)
_numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5).map(float)


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[float | None, str | None]]:
    return draw(st.lists(st.tuples(_numbers, st.none() | _texts), min_size=1, max_size=12))


def batches(path: Path, reading: Reading | None = None, **wanted: Any) -> list[dict[str, Any]]:
    """All rows, None where missing."""
    rows = open_rows(str(path), reading)
    found = [row for part in rows.batches(wanted) for row in part.to_pylist()]
    return [{name: None if value != value else value for name, value in row.items()} for row in found]


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# -- text files


@several
@given(tables(), st.sampled_from([",", ";", "\t"]), st.booleans())
def test_what_pythons_csv_writes_is_read_back(
    tmp_path: Path, rows: list[tuple[float | None, str | None]], delimiter: str, zipped: bool
) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(["a number", "a, text"])
    writer.writerows([["" if number is None else number, word or ""] for number, word in rows])
    data = text.getvalue().encode()
    path = write(tmp_path / ("rows.csv.gz" if zipped else "rows.csv"), gzip.compress(data) if zipped else data)
    missing = Reading(missing=("",))
    expected = [{"a number": number, "a, text": (word or "").strip() or None} for number, word in rows]
    assert batches(path, missing, **{"a number": "number", "a, text": "text"}) == expected
    table = open_rows(str(path), Reading(("",), text=frozenset(["a, text"]))).table()
    assert table["a, text"].to_pylist() == [row["a, text"] for row in expected]
    assert [None if x is None else float(x) for x in table["a number"].to_pylist()] == [r["a number"] for r in expected]


@several
@given(
    st.lists(st.sampled_from([b"a", b'"', b"\n", b"," * 70, b'"\n"', b"\n" * 300, b'""' * 600]), max_size=40).map(
        b"".join
    )
)
def test_a_row_ends_at_the_last_line_end_outside_of_quotes(data: bytes) -> None:
    ends = [i + 1 for i, c in enumerate(data) if c == ord("\n") and data[:i].count(b'"') % 2 == 0]
    assert row_end(bytearray(data)) == (ends[-1] if ends else 0)


@several
@given(st.lists(st.sampled_from([b"a", b'"', b"\n", b",", b'"\n"']), max_size=60).map(b"".join), st.integers(1, 9))
def test_blocks_are_the_file_cut_between_rows(data: bytes, size: int) -> None:
    blocks = list(row_blocks(io.BytesIO(data), 1, size))
    joined = b"".join(block.data.tobytes() for block in blocks)
    assert joined == data or (data.startswith(joined) and not data[len(joined) :].strip())
    at = 0
    for block in blocks:
        assert data[:at].count(b'"') % 2 == 0
        assert block.first_line == 1 + data.count(b"\n", 0, at)
        at += len(block.data)
        assert block.n_lines >= block.data.tobytes().count(b"\n")


_fields = st.sampled_from(
    [
        *("1", "-2.5", "+3", ".5", "7.", "1e5", "1E-3", "-0", "", "NA", "?", " 1", "1 ", '"4"', "nan", "inf"),
        *("-inf", "-1", "1e400", "0x1p3", "1_0", "--1", "-", ".", "-.", "x", "5e-324", "0.1", "123456789012345678901"),
        "0.3000000000000001",
        *("999999999999999", "9999999999999999", "0.000001", "00000000000000012.5", "1.7976931348623157e308"),
        *("0.12345678", "-1.123456789", "1.1234567890123456", "0.00000000", "1.5:", "2.25/", "-0.0", "3.\xb5", "1.2.3"),
        *('"a,b"', '"a\nb"', '"a""b"', '"a"b', 'a"b'),
    ]
) | st.floats(allow_nan=False, allow_infinity=False).map(repr)  # fmt: skip
ODD = ('"a"b', 'a"b')


@several
@given(
    st.lists(st.lists(_fields, min_size=2, max_size=3), min_size=1, max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from([("NA", "?"), ("nan", "inf"), ()]),
)
def test_plain_numbers_are_what_pyarrow_reads(
    lines: list[list[str]], end: str, ends: bool, missing: tuple[str, ...]
) -> None:
    data = (end.join(",".join(fields) for fields in lines) + end * ends).encode()
    out = np.full((1, len(lines) + 2), -7.0)
    n_rows = plain_numbers(
        np.frombuffer(data, dtype=np.uint8), ",", np.array([-1, 0], dtype=np.int32), ["", *missing], out
    )
    try:
        expected = pacsv.read_csv(
            pa.BufferReader(data),
            read_options=pacsv.ReadOptions(column_names=["a", "b"]),
            parse_options=pacsv.ParseOptions(newlines_in_values=True),
            convert_options=pacsv.ConvertOptions(
                column_types={"b": pa.float64()}, include_columns=["b"], null_values=["", *missing]
            ),
        )["b"].to_pylist()
    except pa.ArrowInvalid:
        assert n_rows == -1
        return
    if n_rows >= 0:
        found = out[0, :n_rows].tolist()
        assert [repr(x) for x in found] == [repr(float("nan") if x is None else x) for x in expected]
    elif all(fields[1] in ("1", "-2.5", ".5", "1e5", "0.1", "", *missing) and fields[0] not in ODD for fields in lines):
        assert expected == []  # plain, and yet given up: only where there is no row


@pytest.mark.parametrize("marker", ["-1", "+1", ".5", "9 or more", "-", "inf"])
def test_any_word_can_stand_for_a_missing_number(tmp_path: Path, marker: str) -> None:
    path = write(tmp_path / "rows.csv", f"a,b\n1,2\n{marker},3\n4,{marker}\n")
    expected = [{"a": 1.0, "b": 2.0}, {"a": None, "b": 3.0}, {"a": 4.0, "b": None}]
    assert batches(path, Reading(missing=(marker,)), a="number", b="number") == expected


@pytest.mark.parametrize("how", ["number", "text"])
def test_a_block_of_empty_lines_has_no_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr("hedgerow.datasets.delimited.row_blocks", partial(row_blocks, size=2))
    path = write(tmp_path / "rows.csv", "a\n1\n\n\n\n\n\n2\n\n\n\n\n")
    assert [row["a"] for row in batches(path, a=how)] == ([1.0, 2.0] if how == "number" else ["1", "2"])


def test_a_file_of_many_blocks_keeps_its_order(tmp_path: Path) -> None:
    n = 700_000
    path = write(tmp_path / "long.csv", "x,c\n" + "".join(f"{i},k{i % 3}\n" for i in range(n)))
    parts = list(open_rows(str(path)).batches({"x": "number", "c": "text"}))
    assert len(parts) > 1
    together = pa.concat_tables(parts)
    np.testing.assert_array_equal(together["x"].to_numpy(), np.arange(float(n)))
    assert together["c"].slice(n - 2).cast(pa.string()).to_pylist() == [f"k{(n - 2) % 3}", f"k{(n - 1) % 3}"]
    path.write_text(path.read_text() + "1,2,3\n")
    with pytest.raises(DataFileError, match=rf"long.csv: line {n + 2} has 3 fields, the header has 2"):
        list(open_rows(str(path)).batches({"x": "number"}))


def test_leading_zeros_stay_where_one_asks(tmp_path: Path) -> None:
    path = write(tmp_path / "zip.csv", "zip,n\n01234,1\n,2\n")
    assert open_rows(str(path)).table()["zip"].to_pylist() == [1234, None]
    assert open_rows(str(path), Reading(text=frozenset(["zip"]))).table()["zip"].to_pylist() == ["01234", None]


def test_a_byte_order_mark_and_blank_lines_are_no_header(tmp_path: Path) -> None:
    path = write(tmp_path / "excel.csv", "\ufeff\r\n\r\na;b\r\n1;x\r\n2;y\r\n")
    assert open_rows(str(path)).names == ("a", "b")
    assert batches(path, a="number", b="text") == [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "y"}]
    assert open_rows(str(path)).table()["a"].to_pylist() == [1, 2]


def test_a_name_in_quotes_may_go_over_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "odd.csv", '"a\nb",c\n1,2\n3\n')
    rows = open_rows(str(path))
    assert rows.names == ("a\nb", "c")
    with pytest.raises(DataFileError, match="line 4 has 1 field, the header has 2"):
        rows.table()


WRONG_FILES = [
    ("empty.csv", b"", "is empty"),
    ("blank.csv", b"\n\n", "is empty"),
    ("header.csv", b"a,b\n", "has a header and no rows"),
    ("header2.csv", b"a,b", "has a header and no rows"),
    ("twice.csv", b"a,a\n1,2\n", "has the column 'a' more than once"),
    ("many.csv", b"a,b\n1,2\n3,4,5\n", "line 3 has 3 fields, the header has 2"),
    ("few.csv", b"a,b\n1,2\n\n3\n", "line 4 has 1 field, the header has 2"),
    ("binary.csv", b"a,b\n\0\0\0", "is not text"),
    ("latin.csv", "a,b\n1,é\n".encode("latin-1"), "is not UTF-8; if it is Western European: --encoding latin1"),
    ("latin_header.csv", "é,b\n1,2\n".encode("latin-1"), "its header is not UTF-8"),
    ("really.csv", b"PAR1....", "is not CSV but PARQUET: rename it"),
    ("weka.csv", b"% hello\n@RELATION x\n@attribute a numeric\n@data\n1\n", "is not CSV but ARFF"),
    ("rows.parquet", b"a,b\n1,2\n", "is not a Parquet file"),
    ("cut.parquet", b"PAR1abc", "is not a Parquet file, or is damaged"),
    ("rows.arff", b"a,b\n1,2\n", "is neither a declaration nor @data"),
    ("empty.arff", b"@relation x\n@data\n", "is not an ARFF file"),
    ("none.arff", b"@relation x\n@attribute a numeric\n@data\n", "has declarations and no rows"),
    ("cut.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 99_999)[:-40], "is truncated"),
]


@pytest.mark.parametrize(("name", "data", "words"), WRONG_FILES, ids=[name for name, _, _ in WRONG_FILES])
def test_a_wrong_file_is_one_line_that_names_it(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    path = write(tmp_path / name, data)
    for use in (lambda rows: rows.table(), lambda rows: list(rows.batches(dict.fromkeys(rows.names, "text")))):
        with pytest.raises(DataFileError) as caught:
            use(open_rows(str(path)))
        assert words in str(caught.value)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_what_is_no_number_is_named_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", 'a,b\n1,"x\ny"\nabout 3,z\n')
    with pytest.raises(DataFileError, match=r"column 'a', line 4: 'about 3' is not a number; .* --missing"):
        batches(path, a="number")
    assert batches(path, Reading(missing=("about 3",)), a="number") == [{"a": 1.0}, {"a": None}]


def test_folders_and_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="is a folder"):
        open_rows(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        open_rows(str(tmp_path / "none.csv"))


@pytest.mark.parametrize("ending", ["csv", "parquet", "arff"])
def test_standard_input_is_read_as_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    path = tmp_path / f"rows.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table({"a": [1, 2]}), path)
    else:
        write(path, "a\n1\n2\n" if ending == "csv" else "@relation r\n@attribute a real\n@data\n1\n2\n")

    class Standard:
        buffer = io.BytesIO(path.read_bytes())

    monkeypatch.setattr(sys, "stdin", Standard())
    (part,) = open_rows("-").batches({"a": "number"})
    assert part["a"].to_pylist() == [1.0, 2.0]


# -- ARFF


WEATHER = """% from the lecture
@RELATION 'the weather'

@attribute outlook {sunny, 'partly cloudy', "it's rain"}
@attribute 'temperature in F' NUMERIC
@attribute note string
@data
sunny, 85, 'fine, really'
'partly cloudy',?, "a \\"quoted\\" word"
% between
?,70.5,?
{1 60, 2 'sparse'}
{0 "it's rain"}
"""


def test_arff_declarations_quotes_missing_and_sparse_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "weather.arff", WEATHER)
    table = open_rows(str(path)).table()
    assert pa.types.is_dictionary(table.schema.field("outlook").type)
    assert table["outlook"].to_pylist() == ["sunny", "partly cloudy", None, "sunny", "it's rain"]
    assert table["temperature in F"].to_pylist() == [85.0, None, 70.5, 60.0, 0.0]
    assert table["note"].to_pylist() == ["fine, really", 'a "quoted" word', None, "sparse", "0"]
    assert batches(path, **{"temperature in F": "number"}) == [
        {"temperature in F": x} for x in (85.0, None, 70.5, 60.0, 0.0)
    ]


@several
@given(tables())
def test_what_is_written_as_arff_is_read_back(tmp_path: Path, rows: list[tuple[float | None, str | None]]) -> None:
    def quoted(word: str) -> str:
        escaped = word.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        return f"'{escaped}'"

    words = sorted({word for _, word in rows if word is not None})
    declared = ",".join(map(quoted, words)) if words else "none"
    lines = ["@relation r", "@attribute n numeric", f"@attribute 'a w' {{{declared}}}", "@attribute s string", "@data"]
    lines += [
        f"{'?' if n is None else repr(n)}, {'?' if w is None else quoted(w)},{'?' if w is None else quoted(w)}"
        for n, w in rows
    ]
    path = write(tmp_path / "r.arff", "\n".join(lines))
    found = open_rows(str(path), Reading(missing=())).table().to_pylist()
    assert found == [{"n": n, "a w": w, "s": w} for n, w in rows]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1", "line 5: 1 fields, but 2 columns are declared"),
        ("1,green", "line 5: column 'c' has 'green', which is not among its declared values"),
        ("one,red", "line 5: column 'n' is declared numeric but holds 'one'"),
        ("1,'red", "line 5: an unclosed quote near"),
        ("{5 red}", "line 5: a sparse row has '5 red'"),
        ("{0 1}, {2}x", "line 5: a sparse row has no closing brace"),
    ],
)
def test_a_wrong_row_of_arff_names_its_line(tmp_path: Path, line: str, words: str) -> None:
    path = write(tmp_path / "r.arff", f"@relation r\n@attribute n numeric\n@attribute c {{red}}\n@data\n{line}\n")
    with pytest.raises(DataFileError, match=words):
        open_rows(str(path)).table()


@pytest.mark.parametrize(
    ("declaration", "words"),
    [
        ("@attribute", "does not declare"),
        ("@attribute a relational", "has type 'relational'"),
        ("@attribute a {b", "no closing"),
    ],
)
def test_a_wrong_declaration_names_its_line(tmp_path: Path, declaration: str, words: str) -> None:
    path = write(tmp_path / "r.arff", f"@relation r\n{declaration}\n@data\n1\n")
    with pytest.raises(DataFileError, match=f"line 2: .*{words}"):
        open_rows(str(path))


# -- Parquet


def test_parquet_columns_as_numbers_and_text(tmp_path: Path) -> None:
    table = pa.table(
        {
            "whole": pa.array([1, None, 3]),
            "real": [1.0, None, 3.0],
            "half": [0.5, 1.0, None],
            "flag": [True, False, None],
            "word": ["a", "?", None],
            "kind": pa.array(["u", "v", None]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    as_text = batches(tmp_path / "t.parquet", **dict.fromkeys(table.column_names, "text"))
    assert as_text[0] == {"whole": "1", "real": "1", "half": "0.5", "flag": "true", "word": "a", "kind": "u"}
    assert as_text[1]["word"] is None
    numbers = batches(tmp_path / "t.parquet", whole="number", half="number", flag="number")
    assert numbers[0] == {"whole": 1.0, "half": 0.5, "flag": 1.0}
    with pytest.raises(DataFileError, match=r"column 'kind': 2 of 2 values are not numbers: 'u', 'v'"):
        batches(tmp_path / "t.parquet", kind="number")


# -- by name


def test_what_ships_with_scikit_learn_can_be_loaded(tmp_path: Path) -> None:
    for entry in datasets.entries(data_home=tmp_path):
        dataset = datasets.load(entry.name, data_home=tmp_path)
        assert (dataset.X.num_rows, dataset.X.num_columns) == (entry.n_rows, entry.n_features)
        assert dataset.table.column_names[-1] == dataset.target
        assert dataset.task == ("regression" if entry.name == "diabetes" else "classification")
    assert TreeClassifier().fit(dataset.X, dataset.y).get_n_leaves() > 1


def test_files_of_a_folder_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"class": ["a", None, "b"], "x": [1, 2, 3]}), tmp_path / "iris.parquet")
    for find in (partial(datasets.load, data=tmp_path), datasets.load):
        iris = find("iris", data_home=tmp_path / "none")
        assert iris.target == "class"
        assert iris.y.tolist() == ["a", "b"]
        assert iris.X.to_pydict() == {"x": [1, 3]}
        monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path))
    assert datasets.entries(data=tmp_path, data_home=tmp_path / "none")[0].source == str(tmp_path)
    with pytest.raises(DataFileError, match="there is no dataset 'irs'; did you mean 'iris'"):
        datasets.load("irs", data_home=tmp_path / "none")
    with pytest.raises(DataFileError, match="which is not a folder"):
        datasets.load("iris", data=tmp_path / "nowhere")


# -- OpenML


class OpenML(BaseHTTPRequestHandler):
    """The addresses of OpenML that are asked for, with one dataset in two versions."""

    data = WEATHER.encode()
    md5 = hashlib.md5(WEATHER.encode()).hexdigest()
    asked: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.append(self.path)
        about = {"id": "7", "name": "weather", "version": "1", "url": "/files/weather.arff"}
        about |= {"default_target_attribute": "outlook", "md5_checksum": self.md5}
        if self.path.startswith("/api/v1/json/data/list/data_name/weather/"):
            found = [{"did": 8, "version": 2}, {"did": 7, "version": 1}]
            self._answer(json.dumps({"data": {"dataset": found}}).encode())
        elif self.path == "/api/v1/json/data/7":
            self._answer(json.dumps({"data_set_description": about}).encode())
        elif self.path == "/files/weather.arff":
            self._answer(self.data)
        elif self.path == "/api/v1/json/data/9":
            self._answer(b"<html>")
        else:
            self.send_error(412)

    def _answer(self, content: bytes) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def server() -> Iterator[str]:
    OpenML.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), OpenML) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}"
        finally:
            http.shutdown()
            thread.join()


def test_what_was_fetched_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as address:
        fetched = datasets.fetch_openml("weather", data_home=tmp_path, server=address)
        assert len(OpenML.asked) == 3
        monkeypatch.setenv("HEDGEROW_OPENML", address)
        monkeypatch.setenv("HEDGEROW_CACHE", str(tmp_path))
        again = [datasets.fetch_openml("weather"), datasets.fetch_openml(7), datasets.load("weather")]
        assert len(OpenML.asked) == 3
    assert fetched.target == "outlook"
    assert fetched.y.tolist() == ["sunny", "partly cloudy", "sunny", "it's rain"]
    for same in again:
        assert same.X.to_pydict() == fetched.X.to_pydict()
        assert same.y.tolist() == fetched.y.tolist()
    assert next(entry for entry in datasets.entries() if entry.name == "weather").source == "OpenML 7"
    assert datasets.fetch_openml(7).name == "weather"  # and the server is gone


def test_damage_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as address:
        with monkeypatch.context() as context:
            context.setattr(OpenML, "data", WEATHER.replace("85", "58").encode())
            with pytest.raises(DataFileError, match=r"weather.arff is damaged: its MD5 is \w+, but OpenML says"):
                datasets.fetch_openml(7, data_home=tmp_path, server=address)
        assert list(tmp_path.iterdir()) == []
        datasets.fetch_openml(7, data_home=tmp_path, server=address)
        with pytest.raises(DataFileError, match="OpenML has no such dataset"):
            datasets.fetch_openml("nothing", data_home=tmp_path, server=address)
        with pytest.raises(DataFileError, match="did not answer with JSON"):
            datasets.fetch_openml(9, data_home=tmp_path, server=address)
    kept = tmp_path / "weather.parquet"
    kept.write_bytes(kept.read_bytes().replace(b"sunny", b"rainy"))
    with pytest.raises(DataFileError, match=r"weather.parquet is missing or damaged: its checksum is wrong"):
        datasets.load("weather", data_home=tmp_path)
    (tmp_path / "weather.json").write_text("{}")
    with pytest.raises(DataFileError, match=r"weather.json is damaged: delete it"):
        datasets.entries(data_home=tmp_path)


def test_answers_that_are_errors_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO(b"not here")

    def refuse(request: Any, timeout: float) -> Any:
        raise HTTPError(request.full_url, 404, "Not Found", Message(), content)

    monkeypatch.setattr(openml, "urlopen", refuse)
    with pytest.raises(DataFileError, match="OpenML has no such dataset"):
        datasets.fetch_openml(1, data_home=tmp_path)
    assert content.closed


def test_servers_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"can't reach http://127\.0\.0\.1:9/"):
        datasets.fetch_openml(1, data_home=tmp_path, server="http://127.0.0.1:9")
    with pytest.raises(DataFileError, match="must start with http"):
        datasets.fetch_openml(1, data_home=tmp_path, server="file:///etc/")


# -- outputs


def test_a_file_is_replaced_only_when_the_new_one_is_complete(tmp_path: Path) -> None:
    path = write(tmp_path / "out.csv", "old")
    with pytest.raises(TypeError), replaced(path) as file:
        file.write("no bytes")  # type: ignore[arg-type]
    assert path.read_text() == "old"
    with replaced(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError, match="nowhere"), replaced(tmp_path / "nowhere" / "out"):
        pass
