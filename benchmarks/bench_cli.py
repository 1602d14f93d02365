"""`hedgerow predict` on a large CSV against pandas, which only reads it in chunks: seconds, processor time, memory.

    python benchmarks/bench_cli.py [--gigabyte]

Each run is a process of its own, the two in turn; the least time of each counts. The file is generated in a temporary
folder.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

ROUNDS = 3
COLUMNS = 18
PANDAS = "import sys, pandas\nfor chunk in pandas.read_csv(sys.argv[1], chunksize=100_000): len(chunk)"


def rows(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {f"x{j}": rng.normal(size=n).round(6) for j in range(COLUMNS)}
    signal = columns["x0"] + columns["x1"] * columns["x2"] + rng.normal(size=n)
    return pa.table(columns | {"y": np.where(signal > 0, "yes", "no")})


def write_large(path: Path, n_bytes: int) -> None:
    """The same 100,000 rows again and again."""
    table = rows(100_000, seed=1)
    block = pa.BufferOutputStream()
    pacsv.write_csv(table, block, pacsv.WriteOptions(include_header=False))
    content = block.getvalue().to_pybytes()
    with path.open("wb") as file:
        file.write((",".join(table.column_names) + "\n").encode())
        for _ in range(-(-n_bytes // len(content))):
            file.write(content)


def run(name: str, command: list[str]) -> float:
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    seconds = time.perf_counter() - start
    assert status == 0
    processor = usage.ru_utime + usage.ru_stime
    print(f"{name:<24}{seconds:6.1f} s{processor:8.1f} s of processor{usage.ru_maxrss / 1024:8.0f} MB")
    return seconds


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--gigabyte", action="store_true", help="a file of 1 GB instead of 200 MB")
size = 10**9 if parser.parse_args().gigabyte else 2 * 10**8
with tempfile.TemporaryDirectory() as folder:
    train, large, model, answers = (Path(folder, name) for name in ("old.csv", "new.csv", "m.hedgerow", "answers.csv"))
    pacsv.write_csv(rows(20_000, seed=0), train)
    write_large(large, size)
    cli = ["-m", "hedgerow.cli"]
    fit = [*cli, "fit", str(train), "-t", "y", "--set", "max_depth=8", "--folds", "0", "-o", str(model)]
    subprocess.run([sys.executable, *fit], check=True, stdout=subprocess.DEVNULL)
    print(f"{large.stat().st_size / 1e6:.0f} MB, {COLUMNS} numbers and a label in each row")
    predict = [*cli, "predict", str(model), str(large), "-o", str(answers)]
    rounds = [
        (run("pandas, chunks", ["-c", PANDAS, str(large)]), run("hedgerow predict, tree", predict))
        for _ in range(ROUNDS)
    ]
    theirs, ours = map(min, zip(*rounds, strict=True))
    print(f"{theirs / ours:.2f} times as fast as pandas reads it: {ours:.1f} s against {theirs:.1f} s")
