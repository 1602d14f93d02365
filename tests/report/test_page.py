"""The page as text: structure, escaping, and the policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgerow import CautiousForestClassifier, ForestClassifier, TreeClassifier
from hedgerow.report import Report, build

MARKUP = '<img src=x onerror=alert(1)> & "quotes" </script><!--'


class Document(HTMLParser):
    """Tags with their attributes, and the contents of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.contents: dict[str, list[str]] = {"script": [], "style": []}
        self._within: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._within = tag if tag in self.contents else None
        if self._within:
            self.contents[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._within = None

    def handle_data(self, data: str) -> None:
        if self._within:
            self.contents[self._within][-1] += data

    def data(self, name: str) -> dict:
        scripts = [attributes for tag, attributes in self.tags if tag == "script"]
        pairs = zip(self.contents["script"], scripts, strict=True)
        found = [text for text, attributes in pairs if attributes.get("id") == name]
        return json.loads(found[0])


def hostile_rows(n: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """Column, categories and classes with markup in them."""
    random = np.random.default_rng(0)
    number = random.normal(size=n)
    kind = random.choice([MARKUP, "plain"], n)
    y = np.where(number + 0.5 * random.normal(size=n) > 0, f"{MARKUP}yes", "no")
    return pd.DataFrame({f"{MARKUP}column": number, "kind": kind}), y


@pytest.fixture(scope="module")
def report() -> Report:
    X, y = hostile_rows()
    models = {"tree": TreeClassifier(max_leaf_nodes=5), MARKUP: CautiousForestClassifier(20, s=1, random_state=0)}
    return build(models, X, y, cv=2, by=X["kind"])


@pytest.fixture(scope="module")
def document(report: Report) -> Document:
    return Document(report.to_html())


def test_names_with_markup_are_shown_literally(report: Report, document: Document) -> None:
    assert "<img" not in report.to_html()
    assert [tag for tag, _ in document.tags if tag == "img"] == []
    assert document.data("report-data")["figures"]["columns"][0]["name"] == f"{MARKUP}column"
    assert MARKUP + "yes" in document.data("report-data")["figures"]["classes"]


def test_the_policy_allows_the_scripts_and_styles_of_the_page_alone(document: Document) -> None:
    policy = next(a["content"] for tag, a in document.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    scripts = [a for tag, a in document.tags if tag == "script"]
    code = [text for text, a in zip(document.contents["script"], scripts, strict=True) if "type" not in a]
    for directive, contents in (("script-src", code), ("style-src", document.contents["style"])):
        hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in contents]
        assert f"{directive} 'sha256-{hashes[0]}';" in policy
        assert len(hashes) == 1


def test_no_attribute_needs_what_the_policy_forbids(document: Document) -> None:
    for tag, attributes in document.tags:
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        assert not {"src", "action"} & set(attributes), tag
        assert (attributes.get("href") or "#").startswith(("#", "data:")), tag


def test_every_heading_and_target_of_a_label_is_there_once(document: Document) -> None:
    ids = [a["id"] for _, a in document.tags if "id" in a]
    assert len(ids) == len(set(ids))
    for tag, attributes in document.tags:
        if attributes.get("aria-labelledby"):
            assert attributes["aria-labelledby"] in ids, tag
    assert [tag for tag, _ in document.tags].count("h1") == 1


def test_the_page_has_the_figures_that_json_has(report: Report, document: Document) -> None:
    assert document.data("report-data")["figures"] == json.loads(report.to_json())


def test_a_page_is_replaced_only_when_the_new_one_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")
    X, y = hostile_rows(40)
    made = build(ForestClassifier(5, random_state=0).fit(X, y), X, y)
    monkeypatch.setattr(Report, "to_html", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        made.save(path)
    assert path.read_text() == "old"
    monkeypatch.undo()
    made.save(path)
    assert re.match("<!doctype html>", path.read_text(encoding="utf-8"))
    assert list(tmp_path.iterdir()) == [path]
