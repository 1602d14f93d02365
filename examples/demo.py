"""What `make demo` runs: a tree to read, a forest that admits doubt and says why, and a contest of all ways to answer.

The data are breast-cancer, 569 patients, which ship with scikit-learn. Every third patient is kept from the models.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from rich.console import Group
from rich.panel import Panel
from rich.text import Text

from hedgerow import ForestClassifier, datasets
from hedgerow.cli import main
from hedgerow.cli.console import out

# A few of the thirty columns, so that the tables fit a screen.
COLUMNS = ["mean texture", "mean smoothness", "mean concavity", "worst area", "worst texture", "worst concave points"]
BAR = 22


def command(line: str) -> None:
    """Show a command, and run it as the shell would."""
    out.print()
    out.print(Text.assemble(("$ ", "bold green"), (f"hedgerow {line}", "bold")), soft_wrap=True)
    out.print()
    if main(line.split()):
        sys.exit(1)


def heading(text: str) -> None:
    out.print()
    out.rule(Text(text, style="bold"), align="left", style="dim")


def write_patients() -> pa.Table:
    """old.csv to learn from, new.csv to be asked about; returns the new ones."""
    table = datasets.load("breast-cancer").table.select([*COLUMNS, "diagnosis"])
    is_new = np.arange(table.num_rows) % 3 == 2
    pacsv.write_csv(table.filter(pa.array(~is_new)), "old.csv")
    new = table.filter(pa.array(is_new))
    pacsv.write_csv(new.drop_columns("diagnosis"), "new.csv")
    return new


def tally(name: str, right: np.ndarray, n_all: int, colour: str) -> Text:
    """How many rows, a bar as long as their share, and how many of them are right."""
    share = f"{right.mean():.1%}" if len(right) else "–"
    bar = "█" * max(1, round(BAR * len(right) / n_all))
    return Text.assemble(f"{name:<28}{len(right):>4}  ", (f"{bar:<{BAR}}", colour), f"  {share:>6} right")


def last_screen(new: pa.Table, seconds: float) -> None:
    """What caution brought for the patients that nobody had shown to the models."""
    answers, truth = pacsv.read_csv("answers.csv"), np.array(new["diagnosis"].to_pylist())
    right = np.array(answers["prediction"].to_pylist()) == truth
    sure = np.array(["|" not in one for one in answers["set"].to_pylist()])
    old = pacsv.read_csv("old.csv")
    forest = ForestClassifier(random_state=0).fit(old.select(COLUMNS), np.array(old["diagnosis"].to_pylist()))
    usual = forest.predict(new.select(COLUMNS)) == truth
    body = Group(
        Text(f"{len(truth)} patients that the models had never seen\n", style="bold"),
        tally("a usual forest, of all", usual, len(truth), "yellow"),
        tally("the cautious one, where sure", right[sure], len(truth), "green"),
        tally("and the best guess elsewhere", right[~sure], len(truth), "red"),
        Text("\nIt knows which answers not to trust, and says why. So can yours:\n"),
        Text("  hedgerow fit your.csv --target COLUMN --model cautious -o your.hedgerow", style="bold"),
        Text("  hedgerow predict your.hedgerow new.csv -o answers.csv", style="bold"),
        Text("  hedgerow explain your.hedgerow new.csv --row 1", style="bold"),
    )
    out.print()
    out.print(Panel(body, title="hedgerow", subtitle=f"{seconds:.1f} seconds", expand=False, padding=(1, 2)))


def demo() -> None:
    start = time.perf_counter()
    new = write_patients()
    heading("1  A tree that one can read")
    command("fit old.csv --target diagnosis --model tree --set max_leaf_nodes=5 -o tree.hedgerow")
    command("show tree.hedgerow")
    command("explain tree.hedgerow new.csv --row 1")
    heading("2  A forest that says when it can't tell, and why")
    command("fit old.csv --target diagnosis --model cautious --set s=2 -o cautious.hedgerow")
    command("predict cautious.hedgerow new.csv -o answers.csv")
    sets = pacsv.read_csv("answers.csv")["set"].to_pylist()
    undecided = next(row for row, one in enumerate(sets, start=1) if "|" in one)
    command(f"explain cautious.hedgerow new.csv --row {undecided}")
    heading("3  What would be best for these data?")
    command("compare old.csv --target diagnosis --folds 3 --trees 50")
    last_screen(new, time.perf_counter() - start)


with tempfile.TemporaryDirectory() as folder:
    before = Path.cwd()
    os.chdir(folder)
    try:
        demo()
    finally:
        os.chdir(before)
