"""Errors of measured values: their laws and sizes, misclassified categories, repeated and censored readings."""

from hedgerow.measured.errors.error_model import ErrorModel, Laplace, Normal, Student, Uniform
from hedgerow.measured.errors.error_sizes import ErrorSize, RelativeError
from hedgerow.measured.errors.misclassification import Misclassification
from hedgerow.measured.errors.readings import Readings, average_repeats, read_limits

__all__ = [
    "ErrorModel",
    "ErrorSize",
    "Laplace",
    "Misclassification",
    "Normal",
    "Readings",
    "RelativeError",
    "Student",
    "Uniform",
    "average_repeats",
    "read_limits",
]
