"""Why a model answers as it does for a row, in numbers and in words."""

from hedgerow.explain.explanation import ClassExplanation, NumberExplanation, explain_classes, explain_numbers

__all__ = ["ClassExplanation", "NumberExplanation", "explain_classes", "explain_numbers"]
