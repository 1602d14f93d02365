"""Progress of long fits through scikit-learn's callbacks, for the releases that have them; silent otherwise.

``model.set_callbacks(sklearn.callback.ProgressBar())`` shows one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in without callbacks."""

    def with_callbacks(method: Any) -> Any:
        return method


__all__ = ["CallbackSupportMixin", "TreesProgress", "with_callbacks"]


class TreesProgress:
    """Reports each finished tree to the callbacks of an estimator."""

    def __init__(self, estimator: Any, n_trees: int, X: Any, y: Any) -> None:
        self._estimator = estimator
        self._data = {"X": X, "y": y}
        self._n_reported = 0
        self._context: Any = None
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=n_trees)
            self._context.call_on_fit_task_begin(estimator=estimator, **self._data)

    @property
    def report(self) -> Callable[[int], None] | None:
        """Callback of growth with the number of finished trees; None without callbacks."""
        return None if self._context is None else self._report

    def _report(self, n_done: int) -> None:
        for tree in range(self._n_reported, n_done):
            task = self._context.subcontext(task_name=f"tree {tree}")
            task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
            task.call_on_fit_task_end(estimator=self._estimator, **self._data)
        self._n_reported = max(self._n_reported, n_done)

    def finish(self, n_trees: int) -> None:
        if self._context is not None:
            self._report(n_trees)
            self._context.call_on_fit_task_end(estimator=self._estimator, **self._data)
