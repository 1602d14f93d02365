"""Base of the Displays: axes, line styles, legends and notes, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from hedgerow._arrays import Floats
from hedgerow.plots.palette import BLACK, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BESIDE", "AxesOrNone", "Display", "Floats", "Keywords", "line_style"]

AxesOrNone: TypeAlias = "Axes | None"  # a string: matplotlib is not imported before something is drawn
Keywords: TypeAlias = dict[str, Any] | None

# Legend to the right of the axes; the constrained layout of a new figure makes room for it.
BESIDE: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}


class Display:
    """Numbers of a picture, and `plot`, which draws them as often as wanted.

    Every `plot` takes these parameters, as far as they make sense for it, and returns the Display:

    - `ax`: matplotlib Axes to draw on; None creates a figure.
    - `legend`, `colorbar`: whether to draw them.
    - `…_kw`: keywords for matplotlib that override the default style of an artist.

    A subclass is a keyword-only dataclass of its numbers. Its `from_…` class methods call :meth:`_pyplot`, compute the
    numbers and return ``cls(…).plot(ax, **kwargs)``; its `plot` calls :meth:`_axes` and draws.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
        Set by `plot`, as are the artists that each Display lists.
    """

    ax_: Axes
    figure_: Figure

    @classmethod
    def _pyplot(cls, method: str) -> Any:
        """Import matplotlib.pyplot; called before anything is computed, so that its absence shows at once."""
        try:
            from matplotlib import pyplot as plt
        except ImportError as absent:
            raise ImportError(f"{cls.__name__}.{method} needs matplotlib: pip install 'hedgerow[plot]'") from absent
        return plt

    def _axes(self, ax: AxesOrNone, **figure: Any) -> Any:
        """Set `ax_` and `figure_` to the given axes or to those of a new figure, and return the axes."""
        plt = self._pyplot("plot")
        axes: Any = plt.subplots(**figure)[1] if ax is None else ax
        self.ax_, self.figure_ = axes, axes.figure
        return axes

    def _line(self, x: Any, y: Any, given: Keywords = None, /, **style: Any) -> Any:
        """Draw one line in the default style, or as `given` by the user."""
        axes: Any = self.ax_
        (line,) = axes.plot(x, y, **line_style(given, **style))
        return line

    def _open_frame(self) -> None:
        """Leave of the frame only the lower side, for names of columns on the left."""
        axes: Any = self.ax_
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)

    def _write_note(self, note: str | None) -> None:
        """Write a note into the middle of the axes, such as why a surface is flat; None writes nothing."""
        if note is not None:
            box = {"facecolor": "white", "edgecolor": GREY, "alpha": 0.9, "boxstyle": "round,pad=0.5"}
            middle = {"ha": "center", "va": "center", "transform": self.ax_.transAxes}
            axes: Any = self.ax_
            axes.text(0.5, 0.5, note, color=BLACK, fontsize="small", wrap=True, bbox=box, zorder=6, **middle)


def line_style(given: Keywords, /, **style: Any) -> dict[str, Any]:
    """Override a default style by the user's keywords, which may have short names such as lw."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return {**style, **normalize_kwargs(given or {}, Line2D)}
