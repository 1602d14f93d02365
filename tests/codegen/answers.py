"""What generated code answers, however it has to be run."""

from __future__ import annotations

import ctypes
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

Answers = tuple[NDArray[np.float64], list[Any]]
"""Probabilities, or numbers as (n, 1), and labels; no labels of numbers."""


def of_model(model: Any, X: Any) -> Answers:
    if hasattr(model, "classes_"):
        return model.predict_proba(X), model.predict(X).tolist()
    return model.predict(X)[:, np.newaxis], []


def of_python(model: Any, X: pd.DataFrame) -> Answers:
    module: dict[str, Any] = {}
    exec(compile(model.to_python(), "<generated>", "exec"), module)
    rows = [{name: None if pd.isna(value) else value for name, value in row.items()} for row in X.to_dict("records")]
    if hasattr(model, "classes_"):
        return np.array([module["predict_proba"](row) for row in rows]), [module["predict"](row) for row in rows]
    return np.array([[module["predict"](list(row.values()))] for row in rows]), []


def of_c(model: Any, X: pd.DataFrame, folder: Path) -> Answers:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    source, library = folder / "model.c", folder / f"model{len(list(folder.iterdir()))}.so"
    source.write_text(model.to_c("m"))
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library), "-lm"], check=True)
    code = ctypes.CDLL(str(library))
    code.m_code.restype = ctypes.c_double
    rows = np.ascontiguousarray(np.array(X.apply(lambda column: _codes(model, code, column))), dtype=np.float64)
    pointers = [row.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for row in rows]
    if not hasattr(model, "classes_"):
        code.m_predict.restype = ctypes.c_double
        return np.array([[code.m_predict(pointer)] for pointer in pointers]), []
    shares = np.empty((len(rows), len(model.classes_)))
    for pointer, out in zip(pointers, shares, strict=True):
        code.m_predict_proba(pointer, out.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
    return shares, [model.classes_.tolist()[code.m_predict(pointer)] for pointer in pointers]


def _codes(model: Any, code: Any, column: pd.Series) -> pd.Series:
    j = model.schema_.names.index(column.name)
    kind = model.schema_.columns[j].kind
    if kind == "numeric":
        return column.astype(float)
    texts = [None if pd.isna(value) else code.m_code(j, str(value).encode()) for value in column]
    return pd.Series(texts, index=column.index, dtype=float)


def of_sql(model: Any, X: pd.DataFrame, dialect: str) -> Answers:
    connection: Any
    plain = X.copy()
    for name in plain.columns:
        if not pd.api.types.is_numeric_dtype(plain[name]):  # categories and text of any kind
            texts = plain[name].astype(object)
            plain[name] = texts.where(texts.notna(), None)
    if dialect == "duckdb":
        connection = pytest.importorskip("duckdb").connect()
        connection.register("frame", plain)
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    else:
        connection = sqlite3.connect(":memory:")
        plain.to_sql("t", connection, index=False)

    def answers(**how: Any) -> list[Any]:
        found: list[Any] = connection.execute(
            f"SELECT {model.to_sql(dialect, **how)} FROM t ORDER BY t.rowid"
        ).fetchall()
        return found

    if not hasattr(model, "classes_"):
        return np.array(answers(), dtype=np.float64), []
    labels = [label for (label,) in answers(table="t")]
    return np.array(answers(output="proba"), dtype=np.float64), labels


def of_language(language: str, model: Any, X: pd.DataFrame, folder: Path) -> Answers:
    if language == "python":
        return of_python(model, X)
    return of_c(model, X, folder) if language == "c" else of_sql(model, X, language)


LANGUAGES = ("python", "c", "sqlite", "duckdb")


def assert_equal_bits(got: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    assert got.shape == expected.shape
    different = got.view(np.int64) != np.ascontiguousarray(expected).view(np.int64)
    assert not different.any(), (got[different][:5], expected[different][:5])
