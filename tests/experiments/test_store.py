"""Results survive the end of the process, and a file that can't be used says so."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import counting_study
from counting_study import DATASETS, VERSION, Counting
from effort import examples
from hedgerow.experiments.runner import units_of
from hedgerow.experiments.store import Store, StoreError, Unit

STUDY = "counting-1"


def start(folder: Path, n_jobs: int = 1) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(Path(counting_study.__file__).parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, counting_study.__file__, str(folder), str(n_jobs)]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": path})


def stored(folder: Path) -> list[tuple[object, ...]]:
    with Store(folder / "results.sqlite", VERSION) as store:
        return list(store.scores(STUDY))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    folder = tmp_path_factory.mktemp("undisturbed")
    counting_study.run(folder, 1)
    rows = stored(folder)
    assert len(rows) == len(DATASETS) * 12 * 3
    return rows


def n_stored(folder: Path) -> int:
    with Store(folder / "results.sqlite", VERSION) as store:
        return len(store.finished(STUDY))


def test_a_run_killed_again_and_again_ends_with_the_results_of_an_undisturbed_one(tmp_path, undisturbed):
    draw = random.Random(0)
    kept = [0]
    n_kills = examples(3, 10)
    for _ in range(n_kills):
        process = start(tmp_path)
        wanted = kept[-1] + draw.randint(1, 3)
        while process.poll() is None and (not (tmp_path / "results.sqlite").exists() or n_stored(tmp_path) < wanted):
            time.sleep(0.005)
        time.sleep(draw.uniform(0, 0.03))
        process.send_signal(signal.SIGKILL)
        process.wait()
        kept.append(n_stored(tmp_path))
    assert kept == sorted(kept)  # nothing that was stored is lost
    assert kept[-1] >= n_kills
    assert start(tmp_path).wait() == 0
    assert stored(tmp_path) == undisturbed


def test_two_processes_share_the_work_of_one_store(tmp_path, undisturbed):
    processes = [start(tmp_path, n_jobs) for n_jobs in (1, 2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert stored(tmp_path) == undisturbed


def test_a_unit_is_claimed_once_and_is_free_again_when_its_owner_ends(tmp_path):
    units = units_of(Counting(), DATASETS, quick=True)
    first, second = (Store(tmp_path / "results.sqlite", VERSION) for _ in range(2))
    taken = [first.claim(units), second.claim(units)]
    assert taken == units[:2]
    first.close()
    assert second.claim(units) == units[0]
    second.close()


def test_values_that_are_undefined_come_back_as_nan(tmp_path):
    unit = Unit(STUDY, "one", "1")
    with Store(tmp_path / "results.sqlite", VERSION) as store:
        store.add(unit, {("a", "auc"): float("nan"), ("b", "auc"): 0.1 + 0.2}, 1.5)
        rows = list(store.scores(STUDY))
        assert store.seconds(STUDY) == 1.5
    assert rows[0][:4] == ("one", "1", "a", "auc")
    assert rows[0][4] != rows[0][4]
    assert rows[1][4] == 0.1 + 0.2


def test_a_store_of_another_version_is_refused_and_kept(tmp_path):
    path = tmp_path / "results.sqlite"
    Store(path, "0.9").close()
    with pytest.raises(StoreError, match=r"results of hedgerow 0\.9 .* this is 1\.0 .*choose another --out"):
        Store(path, VERSION)
    Store(path, "0.9").close()


@pytest.mark.parametrize("content", [b"dataset,value\n" * 100, b"SQLite format 3\x00" + b"\x00" * 3000])
def test_a_file_that_is_no_store_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "results.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"is damaged .*move it away to start anew; nothing was changed"):
        Store(path, VERSION)
    assert path.read_bytes() == content


def test_a_truncated_store_is_refused(tmp_path):
    counting_study.run(tmp_path, 1)
    path = tmp_path / "results.sqlite"
    path.write_bytes(path.read_bytes()[:-5000])
    with pytest.raises(StoreError, match="is damaged"):
        Store(path, VERSION)


def test_another_database_is_refused(tmp_path):
    path = tmp_path / "results.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE mine (x)")
    with pytest.raises(StoreError, match="is not a store of results: choose another --out"):
        Store(path, VERSION)


def test_results_of_other_data_are_not_mixed_in(tmp_path):
    with Store(tmp_path / "results.sqlite", VERSION) as store:
        store.check_data("iris", "abc")
        store.check_data("iris", "abc")
        with pytest.raises(StoreError, match="results for another file of 'iris': choose another --out"):
            store.check_data("iris", "def")
