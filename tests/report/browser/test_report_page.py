"""The report in a browser: it loads alone, is read and used by keyboard, and shows what the rows and the tree hold."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from hedgerow import CautiousForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor
from hedgerow.report import Report, build
from report.browser.chrome import Browser
from report.test_page import MARKUP


def rows(n: int = 160) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": random.normal(size=n),
            "age": random.integers(20, 80, n).astype(float),
            f"kind {MARKUP}": random.choice(["a", "b", MARKUP], n),
        }
    )
    X.loc[random.random(n) < 0.1, "age"] = np.nan
    return X, X["size"].to_numpy() + (X["age"].fillna(50).to_numpy() - 50) / 30 + random.normal(size=n)


@pytest.fixture(scope="module")
def report() -> Report:
    X, value = rows()
    y = np.select([value < -0.6, value < 0.6], ["low", "middle"], f"high {MARKUP}")
    models = {"readable tree": TreeClassifier(), "forest": CautiousForestClassifier(20, s=1, random_state=0)}
    return build(models, X, y, cv=2, by=X.iloc[:, 2])


@pytest.fixture(scope="module")
def page(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    report.save(path)
    return path


def click(browser: Browser, selector: str, at: int = 0) -> None:
    """Click an element, in the middle of the window."""
    element = browser.driver.find_elements(By.CSS_SELECTOR, selector)[at]
    browser.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
    element.click()


def press_button(browser: Browser, text: str) -> None:
    browser.run(
        "[...document.querySelectorAll('button')].find((one) => one.textContent === arguments[0]).click()", text
    )


def texts(browser: Browser, selector: str) -> list[str]:
    return [one.text for one in browser.driver.find_elements(By.CSS_SELECTOR, selector)]


def assert_at_peace(browser: Browser) -> None:
    assert browser.complaints() == []
    assert browser.network_requests() == []


def focused(browser: Browser, attribute: str) -> str | None:
    return browser.driver.switch_to.active_element.get_attribute(attribute)


def test_it_loads_alone_within_a_second_in_light_and_dark_without_serious_faults(browser: Browser, page: Path) -> None:
    backgrounds = []
    for dark in (False, True):
        browser.open(page, dark=dark)
        assert browser.run("return document.querySelectorAll('main > section svg').length") > 12
        click(browser, ".open-row")
        click(browser, ".open-row", 1)
        assert browser.faults() == []
        backgrounds.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
        assert_at_peace(browser)
    assert backgrounds[0] != backgrounds[1]
    assert browser.run("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd") < 5000


def test_it_fits_a_telephone_and_a_wall(browser: Browser, page: Path) -> None:
    for width in (400, 3840):
        browser.open(page, width=width)
        click(browser, ".open-row")
        assert not browser.is_wider_than_window(), width
    assert_at_peace(browser)


def test_names_with_markup_are_text(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.run("return document.querySelectorAll('img').length") == 0
    assert any(MARKUP in text for text in texts(browser, "#summary .key li"))
    assert any(MARKUP in text for text in texts(browser, "#columns-list h4"))


def test_rows_in_doubt_are_filtered_sorted_and_opened(browser: Browser, page: Path, report: Report) -> None:
    browser.open(page)
    items = report.details["rows"]["items"]
    wrong = [item["label"] for item in items if "mistake" in item["tags"]]
    at = next(i for i, text in enumerate(texts(browser, "#rows-tools .chip")) if "wrong" in text)
    click(browser, "#rows-tools .chip", at)
    assert "wrong" in texts(browser, "#rows-tools [aria-pressed=true]")[0]
    assert (
        texts(browser, "#rows-list .open-row")
        == [one["label"] for one in sorted(items, key=lambda one: -one["doubt"]) if one["label"] in wrong][:20]
    )
    click(browser, "[data-sort=row]")
    shown = [int(text.removeprefix("row ")) for text in texts(browser, "#rows-list .open-row")]
    assert shown == sorted(shown)
    assert focused(browser, "data-sort") == "row"
    browser.press(Keys.TAB, Keys.TAB, Keys.TAB, Keys.TAB, Keys.TAB, Keys.ENTER)
    assert focused(browser, "aria-expanded") == "true"
    first = next(item for item in items if item["row"] == shown[0])
    detail = texts(browser, ".detail")[0]
    for part in ("Explanation", "Contributions", "Rows that share most leaves", *(r["name"] for r in first["reasons"])):
        assert part in detail, part
    assert len(browser.driver.find_elements(By.CSS_SELECTOR, ".detail .wide tbody tr")) == len(first["neighbors"]) + 1


def test_the_tree_expands_by_keyboard_and_shows_the_rule_and_rows_of_a_leaf(
    browser: Browser, page: Path, report: Report
) -> None:
    browser.open(page)
    nodes = report.details["tree"]["nodes"]
    count = "return document.querySelectorAll('#tree-view .node').length"
    press_button(browser, "Close all")
    assert browser.run(count) == 1
    browser.run("document.querySelector('#tree-view .node').focus()")
    browser.press(Keys.ARROW_RIGHT)
    assert browser.run(count) == 1 + len(nodes[0]["children"])
    assert focused(browser, "aria-expanded") == "true"
    at = 0
    while nodes[at].get("children"):
        browser.press(Keys.ARROW_RIGHT) if at else None
        browser.press(Keys.ARROW_RIGHT)
        at = nodes[at]["children"][0]
        assert focused(browser, "data-node") == str(at)
    browser.press(Keys.ENTER)
    assert f"Leaf: {nodes[at]['answer']}" == texts(browser, "#tree-detail h3")[0]
    assert nodes[at]["condition"] in texts(browser, "#tree-detail .rule li")[-1]
    in_leaf = report.details["leaves"][str(nodes[at]["leaf"])]
    assert len(browser.driver.find_elements(By.CSS_SELECTOR, "#tree-detail tbody tr")) == len(in_leaf)


_IS_MARKED = """
const here = document.activeElement, box = here.querySelector(':scope > .box');
return box ? parseFloat(getComputedStyle(box).strokeWidth) >= 3 : getComputedStyle(here).outlineStyle !== 'none';
"""


def test_everything_can_be_reached_by_tab_and_the_focus_is_seen(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert not browser.run("return [...document.querySelectorAll('main [tabindex]')].some((one) => one.tabIndex > 0)")
    browser.press(Keys.TAB)
    assert focused(browser, "class") == "skip"
    seen = set()
    for _ in range(60):
        browser.press(Keys.TAB)
        assert browser.run(_IS_MARKED), browser.run("return document.activeElement.outerHTML.slice(0, 200)")
        seen.add(browser.run("return document.activeElement.closest('section')?.id"))
    assert {"tree", "quality", "doubt"} <= seen


def test_what_if_starts_from_a_row_and_answers_as_the_model(browser: Browser, page: Path, report: Report) -> None:
    browser.open(page)
    click(browser, ".open-row")
    label = texts(browser, ".open-row")[0]
    browser.run("document.addEventListener('hedgerow:whatif-answer', ({detail}) => { window.answered = detail })")
    click(browser, ".detail .button")
    item = next(item for item in report.details["rows"]["items"] if item["label"] == label)
    assert browser.run("return document.activeElement.id") == "whatif-title"
    before = browser.run("return window.answered")
    assert before["values"][:2] == item["values"][:2]
    slider = browser.driver.find_element(By.CSS_SELECTOR, "#whatif input[type=range]")
    browser.run("arguments[0].focus()", slider)
    browser.press(Keys.END)
    after = browser.run("return window.answered")
    assert after["values"] != before["values"]
    assert abs(sum(after["answer"]["probabilities"]) - 1) < 1e-12
    assert "1 change" in texts(browser, ".whatif-changes")[0]
    press_button(browser, "Undo all changes")
    assert browser.run("return window.answered.values") == before["values"]


def test_counts_are_shown_beside_the_pointer(browser: Browser, page: Path) -> None:
    browser.open(page)
    node = browser.driver.find_element(By.CSS_SELECTOR, "#tree-view .node")
    browser.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", node)
    ActionChains(browser.driver).move_to_element(node).pause(0.3).move_by_offset(3, 3).perform()  # scrolling hides it
    assert "160 rows: " in texts(browser, ".tooltip")[0]
    browser.press(Keys.ESCAPE)
    assert texts(browser, ".tooltip") == [""]


def test_a_notebook_shows_the_page_in_a_frame(browser: Browser, report: Report, tmp_path: Path) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><title>cell</title>{report._repr_html_()}", encoding="utf-8")
    browser.open(path)
    browser.driver.switch_to.frame(0)
    assert texts(browser, "#summary-title") == [report.headline]  # the driver writes plain spaces
    assert browser.run("return document.querySelectorAll('#tree-view .node').length") > 2
    browser.driver.switch_to.default_content()
    assert_at_peace(browser)


def test_groups_change_with_the_column(browser: Browser, page: Path, report: Report) -> None:
    browser.open(page)
    for at, grouping in enumerate(report.figures["groups"]):
        browser.run(
            "const menu = document.querySelector('#groups-tools select');"
            "menu.value = arguments[0]; menu.dispatchEvent(new Event('change'))",
            str(at),
        )
        assert texts(browser, "#groups-view tbody th") == [group["group"] for group in grouping["groups"]]
    assert {grouping["column"] for grouping in report.figures["groups"]} == {"by", "size", "age", f"kind {MARKUP}"}


def test_a_page_about_numbers(browser: Browser, tmp_path: Path) -> None:
    X, y = rows()
    models = {"readable tree": TreeRegressor(max_leaf_nodes=8), "forest": ForestRegressor(20, random_state=0)}
    build(models, X, y, cv=2).save(tmp_path / "numbers.html")
    browser.open(tmp_path / "numbers.html")
    click(browser, ".open-row")
    assert len(browser.driver.find_elements(By.CSS_SELECTOR, "#scatter > svg .point")) == 160
    assert re.search(r"interval", texts(browser, ".detail")[0], re.IGNORECASE)
    assert browser.faults() == []
    assert_at_peace(browser)


def test_a_page_about_a_model_alone(browser: Browser, tmp_path: Path) -> None:
    X, y = rows()
    model = TreeRegressor(max_leaf_nodes=8).fit(X, y)
    build(model).save(tmp_path / "model.html")
    browser.open(tmp_path / "model.html")
    assert browser.run("return document.querySelectorAll('#tree-view .node').length") == 15
    browser.run("document.addEventListener('hedgerow:whatif-answer', ({detail}) => { window.answered = detail })")
    browser.run("document.querySelector('#whatif input[type=range]').focus()")
    for key in (Keys.HOME, Keys.END):
        browser.press(key)
        said = browser.run("return window.answered")
        size, age, kind = said["values"]
        row = pd.DataFrame([[size, age, model.schema_.columns[2].categories[kind]]], columns=X.columns)
        assert abs(said["answer"]["value"] - model.predict(row)[0]) < 1e-12
    assert browser.faults() == []
    assert_at_peace(browser)
