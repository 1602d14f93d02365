"""Processor time, page size and memory of a report on synthetic rows, step by step.

    python benchmarks/report_cost.py 20000 20
    python benchmarks/report_cost.py 200000 20

Prints a line for each step of `hedgerow.report.build`, with the models of ``hedgerow report``, and then the whole.
"""

from __future__ import annotations

import argparse
import resource
import time

from sklearn.datasets import make_classification, make_regression

from hedgerow.report import build
from hedgerow.report.build import Progress
from hedgerow.report.models import compared_models


class Steps:
    """Prints the processor time of every step when the next one begins."""

    def __init__(self) -> None:
        self.name, self.start = "", time.process_time()

    def begin(self, name: str, n: int = 1) -> None:
        now = time.process_time()
        if self.name:
            print(f"{self.name:28} {now - self.start:7.1f} s", flush=True)
        self.name, self.start = name, now


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("rows", type=int, nargs="?", default=20_000)
    arguments.add_argument("columns", type=int, nargs="?", default=20)
    arguments.add_argument("--regression", action="store_true")
    given = arguments.parse_args()
    n, d = given.rows, given.columns
    if given.regression:
        X, y = make_regression(n, d, n_informative=d // 2, noise=20.0, random_state=0)
    else:
        X, y = make_classification(n, d, n_informative=d // 2, flip_y=0.05, random_state=0)
    steps = Steps()
    start, clock = time.process_time(), time.perf_counter()
    models = compared_models(not given.regression, numeric=True)
    page = build(models, X, y, progress=Progress(steps.begin))
    steps.begin("page")
    size = len(page.to_html().encode())
    end = time.process_time()
    steps.begin("")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{n:,} × {d}: {end - start:.1f} s of processor time, {time.perf_counter() - clock:.1f} s by the clock,")
    print(f"{size / 1e6:.2f} MB, at most {memory:.2f} GB of memory")


if __name__ == "__main__":
    main()
