"""What pictures share: matplotlib, or a clear error where it is absent, and colours that everybody can tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    *("BLACK", "BLUE", "GREEN", "GREY", "LIGHT_GREY", "ORANGE", "PURPLE", "SKY_BLUE", "VERMILION"),
    *("axes_or_new", "line_style", "pyplot", "write_note"),
]

# Okabe and Ito, Color Universal Design (2008): safe for every kind of colour blindness.
BLACK, BLUE, GREEN, ORANGE = "#000000", "#0072B2", "#009E73", "#E69F00"
PURPLE, SKY_BLUE, VERMILION = "#CC79A7", "#56B4E9", "#D55E00"
GREY, LIGHT_GREY = "#666666", "#C4C4C4"


def pyplot(caller: str) -> Any:
    """The module matplotlib.pyplot. Displays ask for it before they compute, so that a lack of it shows at once."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as absent:
        raise ImportError(f"{caller} draws with matplotlib: pip install 'hedgerow[plot]'") from absent
    return plt


def axes_or_new(ax: Axes | None, caller: str, **figure: Any) -> Any:
    """The given axes, or those of a new figure."""
    plt = pyplot(caller)
    return plt.subplots(**figure)[1] if ax is None else ax


def write_note(ax: Any, note: str | None) -> Any:
    """Write a sentence into the middle of the axes, such as why nothing is to be seen there; None writes nothing."""
    if note is None:
        return None
    box = {"facecolor": "white", "edgecolor": GREY, "alpha": 0.9, "boxstyle": "round,pad=0.5"}
    middle = {"ha": "center", "va": "center", "transform": ax.transAxes}
    return ax.text(0.5, 0.5, note, color=BLACK, fontsize="small", wrap=True, bbox=box, zorder=6, **middle)


def line_style(built_in: dict[str, Any], given: dict[str, Any] | None) -> dict[str, Any]:
    """The style that is built in, except for what is given; matplotlib's short names, such as lw, are understood."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return {**built_in, **normalize_kwargs(given or {}, Line2D)}
