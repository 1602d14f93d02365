"""``--set name=value``: literals, text, and strategies with arguments, without evaluating anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hedgerow import TreeClassifier, load, measured, pruning
from hedgerow.boundary import Relative
from hedgerow.cli import main
from hedgerow.cli.errors import UsageError
from hedgerow.cli.settings import parse_settings
from hedgerow.growth import ChiSquare
from hedgerow.probability import Laplace, MEstimate
from hedgerow.rules import Median, Probability, Vote

pytest.importorskip("click")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("max_depth=3", 3),
        ("rule=vote", "vote"),
        ("class_weight={'a': 2}", {"a": 2}),
        ("missing=a(b", "a(b"),
        ("pruning=Pessimistic(confidence=0.1)", pruning.Pessimistic(0.1)),
        ("pruning=Pessimistic(0.1, raising=False)", pruning.Pessimistic(0.1, raising=False)),
        ("pruning=CostComplexity(alpha=1e-3)", pruning.CostComplexity(alpha=1e-3)),
        ("estimator__pruning=CostComplexity()", pruning.CostComplexity()),
        ("pruning=hedgerow.pruning.CostComplexity()", pruning.CostComplexity()),
        ("pruning=measured.CostComplexity()", pruning.CostComplexity()),
        ("stopping = ChiSquare( level = 0.01 )", ChiSquare(0.01)),
        ("leaf_probability=MEstimate(m=3)", MEstimate(3)),
        ("leaf_probability=Laplace()", Laplace()),
        ("rule=Vote()", Vote()),
        ("rule=Median(score=Probability(correction=1))", Median(Probability(1))),
        ("bandwidth=Relative(0.2)", Relative(0.2)),
    ],
)
def test_values(given: str, expected: Any) -> None:
    (found,) = parse_settings([given], "tree").values()
    assert type(found) is type(expected)
    assert found == expected


def test_a_model_with_strategies_of_its_own_gets_those() -> None:
    found = parse_settings(["pruning=CostComplexity()", "error_model=Laplace()"], "measured")
    assert found == {"pruning": measured.CostComplexity(), "error_model": measured.Laplace()}
    assert type(parse_settings(["estimator=TreeClassifier(max_depth=2)"], "boundary")["estimator"]) is TreeClassifier


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("pruning=Pesimistic()", "--set pruning: there is no 'Pesimistic'; did you mean 'Pessimistic'?"),
        ("pruning=print('x')", "there is no 'print'"),
        ("pruning=__import__('os').system('true')", "there is no"),
        ("pruning=os.system('true')", "there is no 'os.system'"),
        ("pruning=Forest()", "there is no 'Forest'"),
        ("pruning=credal.Pessimistic()", "there is no 'credal.Pessimistic'"),
        ("pruning=Pessimistic(confidence=0.1 + x)", r"'0.1 \+ x' is not a literal"),
        ("pruning=Pessimistic(confidence=open('f'))", "there is no 'open'"),
        ("pruning=Pessimistic(*[0.1])", r"takes no \*arguments"),
        ("pruning=Pessimistic(**{'confidence': 1})", r"takes no \*\*arguments"),
        ("pruning=Pessimistic(trust=0.1)", r"\(trust=0.1\) is refused: .*unexpected keyword argument 'trust'"),
        ("other=Vote()", "'Vote' may be credal.Vote or rules.Vote: write one of these"),
    ],
)  # fmt: skip
def test_what_is_no_strategy_is_refused(given: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_settings([given], "tree")


def test_a_strategy_reaches_the_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = str(tmp_path / "m.hedgerow")
    fit = ["fit", "iris", "--folds", "0", "-o", path, "--set"]
    assert main([*fit, "pruning=Pessimistic(confidence=0.1)"]) == 0
    assert load(path).pruning == pruning.Pessimistic(0.1)
    capsys.readouterr()
    assert main([*fit, "pruning=Pessimistic(confidence=2)"]) != 0
    assert capsys.readouterr().err.count("\n") == 1
