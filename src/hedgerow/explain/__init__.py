"""Why a model answers as it does for a row, in numbers and in words, and the reasons for doubt."""

from hedgerow.explain.explanation import explain_classes, explain_numbers
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import ReasonForDoubt, Reasons
from hedgerow.explain.records import ClassExplanation, NumberExplanation

__all__ = [
    "ClassExplanation",
    "Explanations",
    "NumberExplanation",
    "ReasonForDoubt",
    "Reasons",
    "explain_classes",
    "explain_numbers",
]
