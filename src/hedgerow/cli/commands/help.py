"""``hedgerow help``: topics, the help of commands, and manual pages made of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import click

from hedgerow.cli.errors import UsageError, nearest
from hedgerow.cli.model_table import MODELS

__all__ = ["TOPICS", "help_command"]

TOPICS: Mapping[str, tuple[str, str]] = {
    "start": (
        "five commands to begin with",
        """\
hedgerow fit iris -o iris.hedgerow           fit a tree, and see how good it is
hedgerow show iris.hedgerow                  read it
hedgerow predict iris.hedgerow new.csv       answer new rows
hedgerow explain iris.hedgerow new.csv       why this answer?
hedgerow report iris -o iris.html            a page about it all

iris is a dataset that ships with scikit-learn; hedgerow datasets lists others.
Your own file takes its place, with --target and the name of the column to
predict.""",
    ),
    "data": (
        "files, kinds of columns, missing values",
        """\
DATA is a CSV, TSV, Excel, JSON lines, Parquet or ARFF file, also compressed by
gzip, - for standard input, or the name of a dataset. fit prints the kind that
it found for each column.

--target COLUMN         what to predict
--nominal zip,colour    categories, though they look like numbers
--numeric age           numbers, though some values are not
--ordinal 'g=low<mid'   categories with an order
--ignore id,name        leave out
--weight w              sample weights
--groups patient        rows of one group stay together in cross-validation
--dates days            dates become numbers
--missing '?,-1'        markers of missing values; default: ?, NA, N/A, NaN,
                        NULL and an empty field
--decimal , --delimiter ';' --encoding latin1 --no-header""",
    ),
    "models": (
        "values of --model, and settings",
        "{models}\n\n"
        "--set NAME=VALUE sets a parameter of the estimator, such as --set max_depth=3\n"
        "or --set s=u80; an unknown name prints the list of those that there are.\n"
        "--coverage 0.9 wraps any model for sets or intervals that hold the truth in 90\n"
        "of 100 rows.",
    ),
    "sets": (
        "answers with several classes, and intervals",
        """\
fit --model cautious     several classes where the evidence is thin; how
                         cautious: --set s=2, or --set s=u80 to choose it
fit --model conformal    sets that hold the true class in 90 of 100 rows;
                         --coverage 0.95 promises more
fit --coverage 0.9       the same around any model; intervals for numbers

predict writes the set or the interval of each row; explain says why there are
two classes; score says how often sets hold the truth (set accuracy), how often
they are single (determinacy), and their utility (u65, u80).""",
    ),
    "measured": (
        "inputs that were measured with error",
        """\
fit --model measured --measured 'temp=0.3,rain=5%,flow=flow_err,temp~rain=0.8'

A size is a standard deviation for all rows, a percentage of the value, or the
name of a column that has one for each row. temp~rain is the correlation of the
errors of two columns, a number from -1 to 1 or a column that has one for each
row. measured-forest and measured-boosting are forests and boosted trees for
such inputs. New rows need the same columns of errors.""",
    ),
    "scores": (
        "what fit, score and compare print",
        """\
accuracy               share of rows whose predicted class is the true one
AUC                    how well probabilities rank rows: 0.5 is guessing, 1 best
log-loss, Brier score  how good the probabilities are; lower is better
calibration error      gap between probabilities and frequencies; lower is
                       better
u65, u80               utility of sets: 0.65 or 0.8 for two classes of which one
                       is true
set accuracy           how often the true class is in the set
determinacy            how often the set is a single class
R²                     for numbers: 1 − squared error / that of the mean

Beside each is the score of guessing: always the most frequent class, or the
mean. ± is a standard error.""",
    ),
    "output": (
        "where answers go, and exit codes",
        """\
-o FILE writes a model (.hedgerow), a table (.csv, .tsv, .parquet), a picture
(.svg, .png, .pdf) or code (.sql, .py, .c); a file is replaced only when the new
one is complete. Answers go to standard output, notes and progress to standard
error. --quiet prints only answers and errors, --json figures for programs.

Exit codes: 0 done; 1 the job failed, the last line says why; 2 wrong usage.
--debug shows where an error came from. NO_COLOR turns colours off.""",
    ),
}


@click.command(
    name="help",
    short_help="Tell about a topic or a command.",
    epilog="""\b
Examples:
  hedgerow help
  hedgerow help models
  hedgerow help fit
  hedgerow help --man ~/.local/share/man/man1
""",
)
@click.argument("topic", required=False)
@click.option("--man", "folder", metavar="FOLDER", help="Write manual pages for man to this folder.")
@click.pass_context
def help_command(context: click.Context, topic: str | None, folder: str | None) -> None:
    """Tell about TOPIC, or list what there is."""
    root = context.find_root()
    assert isinstance(root.command, click.Group)
    commands = root.command.commands
    if folder is not None:
        _write_pages(Path(folder), root, commands)
    elif topic is None:
        click.echo("Topics (hedgerow help TOPIC):")
        for name, (summary, _) in TOPICS.items():
            click.echo(f"  {name:<11} {summary}")
        click.echo("Commands (hedgerow help COMMAND):")
        for name, command in commands.items():
            click.echo(f"  {name:<11} {command.get_short_help_str(90)}")
    elif topic in TOPICS:
        click.echo(_text(topic))
    elif topic in commands:
        click.echo(_context(root, topic, commands[topic]).get_help())
    else:
        known = [*TOPICS, *commands]
        raise UsageError(f"there is no topic {topic!r}; {nearest(topic, known, len(known))}")


def _text(topic: str) -> str:
    models = "\n".join(f"{name:<18} {entry.what}" for name, entry in MODELS.items())
    return TOPICS[topic][1].replace("{models}", models)


def _context(root: click.Context, name: str, command: click.Command) -> click.Context:
    return click.Context(command, info_name=name, parent=root, **command.context_settings)


def _write_pages(folder: Path, root: click.Context, commands: Mapping[str, click.Command]) -> None:
    """Write a page for the program, with its topics, and one for each command."""
    folder.mkdir(parents=True, exist_ok=True)
    topics = "\n\n".join(f"{name.upper()}: {summary}\n\n{_text(name)}" for name, (summary, _) in TOPICS.items())
    pages = {"hedgerow": ("decision trees and forests that say how sure they are", f"{root.get_help()}\n\n{topics}")}
    for name, command in commands.items():
        pages[f"hedgerow-{name}"] = (
            command.get_short_help_str(90).rstrip(".").lower(),
            _context(root, name, command).get_help(),
        )
    for page, (summary, text) in pages.items():
        (folder / f"{page}.1").write_text(_roff(page, summary, text), encoding="utf-8")
    click.echo(f"Wrote {len(pages)} manual pages to {folder}.")


def _roff(page: str, summary: str, text: str) -> str:
    """A manual page that shows a text as it is."""
    shown = re.sub(r"^([.'])", r"\\&\1", text.replace("\\", r"\e"), flags=re.MULTILINE).replace("-", r"\-")
    return f".TH {page.upper()} 1\n.SH NAME\n{page} \\- {summary}\n.SH DESCRIPTION\n.nf\n{shown}\n.fi\n"
