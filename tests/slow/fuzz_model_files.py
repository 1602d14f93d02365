"""Mutated model files: each is refused with one clear line, or is a model that predicts.

    python tests/slow/fuzz_model_files.py 100000 [first]

Also fails for more than a second or more than four times the memory of the file. The file in split stays where the
last line says; a mutation is made again by its number.
"""

import faulthandler
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from model_file_mutations import memory_traced, outcome

MORE_MEMORY = 1 << 28  # than the process has at the start: a request for more fails at once


def main(count: int, first: int = 0) -> int:
    faulthandler.enable()
    import sklearn.ensemble  # noqa: F401 - models import it when they are loaded: not within the limit

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MORE_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    seeds = [path.read_bytes() for path in sorted((Path(__file__).parents[1] / "model_files").glob("*.hedgerow"))]
    X = np.array([[0.1, 0.2, 1.0], [np.nan, -1.0, np.nan], [3.0, 3.0, 9.0]])
    path = Path(tempfile.mkdtemp()) / "mutated.hedgerow"
    outcomes: Counter[str] = Counter()
    start = time.perf_counter()
    with memory_traced():
        for number in range(first, first + count):
            try:
                outcomes[outcome(seeds, number, path, X)] += 1
            except Exception as error:
                outcomes["wrong"] += 1
                print(f"{number}: {type(error).__name__}: {error}")
                path.rename(path.with_name(f"wrong-{number}.hedgerow"))
    seconds = time.perf_counter() - start
    print(f"{count} mutations in {seconds:.0f} s: {dict(outcomes)}; files in {path.parent}")
    return int(outcomes["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:3])))
