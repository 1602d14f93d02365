"""Experiments from data to pages, and the errors of what they are asked."""

import csv
import shutil
from importlib.metadata import version

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from sklearn.metrics import roc_auc_score

from counting_study import Counting
from hedgerow import RandomTreesClassifier, rules
from hedgerow.cli.program import program
from hedgerow.datasets import DataFileError
from hedgerow.experiments import names, reproduce
from hedgerow.experiments.boundary import Boundary
from hedgerow.experiments.cautious import Cautious
from hedgerow.experiments.combining import Combining, _half
from hedgerow.experiments.findings import Report, Table, write
from hedgerow.experiments.lecture import _votes
from hedgerow.experiments.sources import Problem, Source
from hedgerow.experiments.store import Store, Unit
from hedgerow.experiments.study import Results


class Told:
    """Keeps what was told."""

    def __init__(self):
        self.units, self.datasets, self.absent, self.started = [], [], {}, []

    def start(self, study, n_units, n_stored):
        self.started.append((study, n_units, n_stored))

    def unit(self, finished):
        self.units.append(finished.unit)

    def dataset(self, name, seconds):
        self.datasets.append(name)

    def left_out(self, dataset, why):
        self.absent[dataset] = why


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Two small files of the boundary study, what a quick run of them wrote, and what it told."""
    folder = tmp_path_factory.mktemp("finished")
    told = Told()
    (outcome,) = reproduce(
        "boundary", quick=True, data=_write_data(folder / "data"), out=folder / "out", n_jobs=1, progress=told
    )
    return folder, outcome, told


@pytest.fixture
def small_folder(tmp_path):
    """A folder with two small files of the boundary study."""
    return _write_data(tmp_path / "data")


@pytest.fixture
def out(finished, tmp_path):
    """A copy of the folder that the quick run has written."""
    return shutil.copytree(finished[0] / "out", tmp_path / "out")


def _write_data(folder):
    rng = np.random.default_rng(0)
    folder.mkdir()
    for name in ("iris", "sonar"):
        X = rng.normal(size=(60, 3))
        target = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, "versicolor", "other")
        table = {f"x{j}": X[:, j] for j in range(3)} | {"target": target}
        pq.write_table(pa.table(table), folder / f"{name}.parquet")
    return folder


def test_the_same_command_goes_on_and_writes_tables_and_figures(finished):
    folder, outcome, told = finished
    assert told.started == [("boundary", 10, 0)]
    assert sorted(told.datasets) == ["iris", "sonar"]
    assert "no wine.parquet in" in told.absent["wine"]
    text = outcome.page.read_text(encoding="utf-8")
    assert "| iris |" in text
    assert "`hedgerow reproduce boundary --quick --data DIR`" in text
    assert ": 10 of the 200 runs of the full study on 2 datasets, " in text
    for part in outcome.report.parts:
        suffix = "csv" if isinstance(part, Table) else "png"
        assert (folder / "out" / "boundary" / f"{part.name}.{suffix}").stat().st_size > 0
    again = Told()
    (same,) = reproduce("boundary", quick=True, data=folder / "data", out=folder / "out", n_jobs=1, progress=again)
    assert again.started == [("boundary", 10, 10)]
    assert again.units == []
    assert same.page.read_text(encoding="utf-8") == text


def test_an_unfinished_run_has_a_page_that_says_so(small_folder, out, tmp_path):
    with pytest.raises(ValueError, match="has no results of 'boundary' yet: run it without --stored"):
        reproduce("boundary", stored=True, data=small_folder, out=tmp_path / "none", n_jobs=1)
    asked = {"data": small_folder, "out": out, "n_jobs": 1}
    with Store(out / "results.sqlite", version("hedgerow")) as store:
        boundary = Boundary()
        unit = Unit(f"boundary-{boundary.revision}", "sonar", "006")
        store.add(unit, boundary.run(Source(str(small_folder)), "sonar", "006"), 1.0)
    (outcome,) = reproduce("boundary", stored=True, **asked)
    text = outcome.page.read_text(encoding="utf-8")
    assert ": 11 of the 200 runs of the full study on 2 datasets (iris: 5 of 6), " in text


def test_a_wrong_checksum_leaves_out_its_dataset_and_goes_on(small_folder, tmp_path):
    (small_folder / "manifest.csv").write_text("name,sha256\nsonar,0123456789abcdef\n")
    told = Told()
    reproduce("boundary", quick=True, data=small_folder, out=tmp_path / "out", n_jobs=1, progress=told)
    assert told.datasets == ["iris"]
    assert "manifest.csv says 0123456789ab…: fetch the file anew" in told.absent["sonar"]


def test_data_that_changed_is_not_mixed_with_stored_results(small_folder, out):
    asked = {"quick": True, "data": small_folder, "out": out, "n_jobs": 1, "only": ["iris"]}
    reproduce("boundary", **asked)
    (small_folder / "iris.parquet").write_bytes((small_folder / "sonar.parquet").read_bytes())
    with pytest.raises(ValueError, match="results for another file of 'iris': choose another --out"):
        reproduce("boundary", **asked)


def test_a_page_whose_store_is_gone_is_kept(small_folder, out):
    asked = {"quick": True, "data": small_folder, "out": out, "n_jobs": 1, "only": ["iris"]}
    (outcome,) = reproduce("boundary", **asked)
    text = outcome.page.read_text(encoding="utf-8")
    (out / "results.sqlite").unlink()
    for stored in (False, True):
        with pytest.raises(ValueError, match=r"boundary\.md is there, but not .*results\.sqlite.* another --out"):
            reproduce("boundary", stored=stored, **asked)
    assert outcome.page.read_text(encoding="utf-8") == text
    assert not (out / "results.sqlite").exists()


def test_unknown_names_are_answered_with_the_known_ones(tmp_path):
    with pytest.raises(ValueError, match=r"no experiment 'combine': did you mean 'combining'\? known are combining, "):
        reproduce("combine", out=tmp_path)
    with pytest.raises(ValueError, match=r"--only names 'irsi', which is not among the datasets here: .*iris"):
        reproduce("boundary", out=tmp_path, only=["irsi"])
    with pytest.raises(DataFileError, match=r"--data is '.*nowhere', which is not a folder"):
        reproduce("boundary", out=tmp_path, data=tmp_path / "nowhere")
    with pytest.raises(ValueError, match="n_jobs is 0"):
        reproduce("boundary", out=tmp_path, n_jobs=0)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"no dataset of 'cautious' can be used from .*: its datasets are biodeg, "):
        reproduce("cautious", out=tmp_path / "out", data=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"--out is '.*file', which is a file: name a folder"):
        reproduce("boundary", out=tmp_path / "file")


def test_scores_of_rules_are_those_of_the_rule_on_the_counts_of_leaves():
    source = Source()
    found = Combining().run(source, "iris", "2b")
    data = source.load("iris")
    y = Problem("iris").target(data.y)
    train, test = _half(y, "2b")
    assert len(train) + len(test) == len(y)
    assert set(train).isdisjoint(test)
    model = RandomTreesClassifier(rule="tempered", min_samples_leaf=4, missing="category", random_state=1585541673)
    model.fit(data.X.take(train), y[train])
    counts = model.leaf_counts(data.X.take(test))
    for n_trees, ending in ((100, ""), (5, "/5 trees")):
        for name in rules.names():
            score = rules.get(name).decision(counts[:, :n_trees], model.class_prior_)
            assert found[f"{name}/4{ending}", "auc"] == pytest.approx(roc_auc_score(y[test], score), abs=1e-12)
            assert found[f"{name}/4{ending}", "accuracy"] == ((score > 0) == y[test]).mean()


def test_a_part_gives_the_same_scores_whenever_it_runs():
    study, source = Boundary(), Source()
    assert study.run(source, "iris", "003") == study.run(source, "iris", "003")


def test_claims_of_the_first_paper_are_decided_by_the_scores():
    """Scores made so that evidence is best and Laplace's correction worst."""
    order = ["evidence", "confidence", "probability", "plausibility", "vote", "pool", "dempster", "cautious", "laplace"]
    rng = np.random.default_rng(0)
    rows = []
    for number in range(8):
        rows.append((f"set {number}", "1a", "data", "positive share", 0.5 if number % 2 else 0.2))
        for size in (1, 2, 3, 4, 8, 32):
            for place, name in enumerate([*order, "tree", "forest", "evidence-published", "tempered"]):
                for prefix in ("", "forest "):
                    for ending in ("", "/5 trees", "/10 trees", "/25 trees"):
                        for measure in ("auc", "accuracy"):
                            value = 0.9 - 0.01 * place + rng.uniform(0, 0.001)
                            rows.append((f"set {number}", "1a", f"{prefix}{name}/{size}{ending}", measure, value))
    report = Combining().report(Results(rows))
    verdicts = {claim.text.split(" ")[0]: claim.verdict for claim in report.claims}
    assert verdicts["Laplace's"] == "holds"
    assert verdicts["Evidence"] == "holds"
    assert verdicts["Dempster's"] == "holds"
    assert verdicts["Voting"] == "does not hold"  # its place does not depend on the size of leaves
    wins = next(part for part in report.parts if part.name == "wins")
    assert wins.rows[0][:4] == ["1", "probability", "", "8"]  # ahead of Laplace on all eight; too few for a star


def test_a_majority_of_independent_voters_is_wrong_as_the_binomial_law_says():
    from scipy.stats import binom

    found = _votes(np.random.default_rng(0))
    for k in (3, 21):
        expected = binom.cdf(k // 2, k, 0.7)
        # Four standard errors of a share of 200,000 draws.
        assert abs(found[f"{k} voters", "majority wrong"] - expected) < 4 * np.sqrt(expected * (1 - expected) / 200_000)


def test_a_page_escapes_what_would_break_its_tables(tmp_path):
    report = Counting().report(Results([("one", "00", "setting 0", "value", 1 / 3)]))
    page = write(report, "counting", tmp_path, "By hand.")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Counting\n\nVerdicts on 1 claims: holds 1, does not hold 0, not decidable 0.")
    assert "| **holds** | Numbers \\| count. | 1 | always |\n" in text
    assert "\n\n## What was run\n\nAn introduction." in text
    with (tmp_path / "counting" / "means.csv").open(newline="") as file:
        assert float(next(iter(csv.DictReader(file)))["mean"]) == 1 / 3


def test_a_page_lists_where_results_differ_from_print(tmp_path):
    page = write(Report("Title", "Text.", [], [], ["One.", "Another."]), "differing", tmp_path, "How.")
    assert page.read_text(encoding="utf-8").endswith("How.\n\n## Where this differs, and why\n\n- One.\n- Another.\n")


def test_every_class_is_tried_as_the_positive_one(small_folder, out):
    (outcome,) = reproduce("boundary", quick=True, data=small_folder, out=out, n_jobs=1, only=["iris"])
    table = next(part for part in outcome.report.parts if part.name == "positive")
    assert [row[1] for row in table.rows] == ["printed", "other", "versicolor (taken)"]
    source = Source(str(small_folder))
    scores = [Boundary().run(source, "iris", f"{number:03}") for number in range(1, 6)]
    of_taken = [one["bootstrap/positive versicolor", "nbtree"] for one in scores]
    direct = [one["bootstrap/global normal 0.1", "auc"] - one["bootstrap/nbtree", "auc"] for one in scores]
    assert of_taken == direct
    assert table.rows[2][5].endswith(f" / {np.mean(direct):+.2f}")
    assert not any("positive" in setting for setting, _ in Boundary().run(source, "iris", "017"))


def test_printed_stars_stand_at_the_best_figure_of_their_row():
    def u65(part, variant):
        return 70.0 + part % 2 + (1 + part % 3 if variant == "mass3" else 0)

    rows = [
        ("diabetes", f"{part:02}", f"{reading}/{s}/{variant}", "u65", u65(part, variant))
        for part in range(1, 7)
        for reading in ("half included", "half excluded")
        for s in (1, 3, 5)
        for variant in ("mass1", "mass2", "mass3", "baseline")
    ]
    rows += [
        ("diabetes", f"{part:02}", name, measure, 70.0)
        for part in range(1, 7)
        for name in ("chosen s", "chosen s, learned weights")
        for measure in ("u65", "determinacy")
    ]
    report = Cautious().report(Results(rows))
    tables = {part.name: part.rows[0] for part in report.parts if part.name.startswith("table")}
    assert tables["table1_half_included"][2::2] == ["77.37", "76.71", "77.30", "78.11**"]
    assert tables["table3_half_excluded"][2::2] == ["77.82", "77.62", "78.59***", "76.86"]
    assert tables["table1_half_included"][5] == "72.50**"  # ours: mass3 is ahead of the baseline by 1 to 3 points


def test_a_report_without_claims_has_no_such_section(tmp_path):
    page = write(Report("Title", "Text.", [], []), "empty", tmp_path, "How.")
    assert page.read_text(encoding="utf-8") == "# Title\n\nText.\n\nHow.\n"


def test_the_command_prints_claims_and_where_the_page_is(small_folder, out, tmp_path):
    arguments = ["reproduce", "boundary", "--quick", "--data", str(small_folder), "--out", str(tmp_path / "own")]
    result = CliRunner().invoke(program, [*arguments, "--jobs", "1", "--only", "iris"])
    assert result.exit_code == 0, result.output
    assert "6 claims: not decidable 6" in result.stdout  # one dataset is too few
    assert "boundary.md: tables and figures" in result.stdout
    assert "iris: done" in result.stderr
    arguments[-1] = str(out)
    quiet = CliRunner().invoke(program, [*arguments, "--jobs", "1", "--only", "iris", "--quiet"])
    assert quiet.stderr == ""


@pytest.mark.thorough
@pytest.mark.parametrize("name", names())
def test_every_experiment_runs_on_what_ships_with_scikit_learn(name, tmp_path):
    (outcome,) = reproduce(name, quick=True, out=tmp_path)
    assert outcome.report.claims
    assert all(claim.verdict in ("holds", "does not hold", "not decidable") for claim in outcome.report.claims)


def test_generated_data_is_friedmans():
    """Against scikit-learn's own functions, on the same columns."""
    from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

    from hedgerow.experiments.generated import GENERATED

    for name, theirs in (
        ("friedman-1", make_friedman1),
        ("friedman-2", make_friedman2),
        ("friedman-3", make_friedman3),
    ):
        X, truth = GENERATED[name](np.random.default_rng(0), 500)
        columns, expected = theirs(n_samples=20_000, random_state=0)
        assert X.shape[1] == columns.shape[1]
        # The standard error of a mean over 500 rows is below a twentieth of the standard deviation.
        assert abs(truth.mean() - expected.mean()) < 0.25 * expected.std()
        assert truth.std() == pytest.approx(expected.std(), rel=0.15)
