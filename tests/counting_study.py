"""A study of numbers that are known, run by tests in other processes: python counting_study.py FOLDER N_JOBS."""

import sys
import time
import zlib
from pathlib import Path

from hedgerow.experiments.findings import Claim, Report, Table
from hedgerow.experiments.runner import run_units, units_of
from hedgerow.experiments.sources import Source
from hedgerow.experiments.store import Store
from hedgerow.experiments.study import Study

DATASETS = ("one", "two", "three")
VERSION = "1.0"


class Counting(Study):
    """Values that follow from the names of dataset and part."""

    name = "counting"
    title = "Counting"

    def datasets(self, source, quick):
        return list(DATASETS)

    def absent(self, source):
        return []

    def parts(self, dataset, quick):
        return [f"{number:02}" for number in range(3 if quick else 12)]

    def run(self, source, dataset, part):
        time.sleep(0.02)
        return {(f"setting {k}", "value"): float(zlib.crc32(f"{dataset} {part} {k}".encode())) for k in range(3)}

    def report(self, results):
        rows = [[one, float(results.of_parts(one, "setting 0", "value").mean())] for one in results.datasets]
        claims = [Claim("Numbers | count.", "1", "holds", "always")]
        return Report(self.title, "An introduction.", [Table("means", "Means", ["dataset", "mean"], rows)], claims)


def run(folder: Path, n_jobs: int) -> None:
    study = Counting()
    with Store(folder / "results.sqlite", VERSION) as store:
        units = units_of(study, DATASETS, quick=False)
        run_units(study, units, Source(), store, n_jobs, lambda finished: None)


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]))
