"""A tree drawn with matplotlib: the same layout as the SVG of :meth:`~hedgerow.TreeClassifier.to_svg`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, cast

from sklearn.utils.validation import check_is_fitted

from hedgerow._params import check_choice
from hedgerow.drawing import ROLES, Curve, Rectangle, Scene, Text, Theme, tree_scene
from hedgerow.estimators.contract import view_of
from hedgerow.plots.display import AxesOrNone, Display, Keywords
from hedgerow.plots.labels import literal_label
from hedgerow.plots.requirements import INSIDE, check_estimator

__all__ = ["TreeDisplay"]

_PIXELS_PER_INCH = 96.0
_POINTS_PER_INCH = 72.0
_LEGIBLE = 0.45  # points of a pixel: letters are 11 pixels high, and so at least 5 points
_MOST_LEVELS = 12
_LARGEST = 640.0  # inches; matplotlib draws at most 2**16 pixels on each side


@dataclass(kw_only=True, eq=False, repr=False)
class TreeDisplay(Display):
    """A tree: splits, classes or targets of its nodes as bars, and branches as wide as their share of the rows.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    scene : Scene
        Rectangles, texts and curves in pixels, y downwards.

    Attributes
    ----------
    texts_ : list of matplotlib Text
    boxes_ : list of matplotlib FancyBboxPatch and Rectangle
    branches_ : list of matplotlib PathPatch

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.plots import TreeDisplay
    >>> iris = load_iris(as_frame=True)
    >>> tree = TreeClassifier(max_depth=2).fit(iris.data, iris.target_names[iris.target])
    >>> display = TreeDisplay.from_estimator(tree, row=iris.data[:1])
    >>> [text.get_text() for text in display.texts_][3:6]
    ['petal length (cm)', '= 1.4', '150 rows']
    """

    scene: Scene

    def plot(
        self, ax: AxesOrNone = None, *, theme: str = "auto", text_kw: Keywords = None, branch_kw: Keywords = None
    ) -> Self:
        """Draw the tree; a new figure has the size of the picture, given axes are filled, text included.

        `text_kw` and `branch_kw` are for matplotlib's `text` and `PathPatch`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        theme : {"auto", "light", "dark"}, default="auto"
            Colours for a light or a dark background; "auto" is that of the axes, so that of matplotlib's style.
        text_kw : dict or None, default=None
            Keywords for texts.
        branch_kw : dict or None, default=None
            Keywords for branches.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        check_choice("theme", theme, ("auto", "light", "dark"))
        width, height = self.scene.width, self.scene.height
        size = [min(side / _PIXELS_PER_INCH, _LARGEST) for side in (width, height)]
        axes = self._axes(ax, figsize=size)
        colors = _theme_of(axes) if theme == "auto" else cast(Theme, theme)
        if ax is None:
            axes.set_position((0, 0, 1, 1))
            axes.figure.set_facecolor(_color("background", colors))
        axes.set_facecolor(_color("background", colors))
        axes.set(xlim=(0, width), ylim=(height, 0), xticks=[], yticks=[], aspect="equal", anchor="N")
        axes.spines[:].set_visible(False)
        pixel = _points(axes, self.scene)
        self.texts_: list[Any] = []
        self.boxes_: list[Any] = []
        self.branches_: list[Any] = []
        for order, shape in enumerate(self.scene.shapes):
            match shape:
                case Text():
                    self._draw_text(shape, colors, pixel, order, text_kw)
                case Rectangle():
                    self._draw_box(shape, colors, pixel, order)
                case Curve():
                    self._draw_branch(shape, colors, pixel, order, branch_kw)
        return self

    def _draw_text(self, shape: Text, theme: Theme, pixel: float, order: int, given: Keywords) -> None:
        axes: Any = self.ax_
        style = {
            "fontsize": shape.size * pixel,
            "color": _color(shape.color, theme),
            "ha": {"start": "left", "middle": "center", "end": "right"}[shape.anchor],
            "va": "baseline",
            "weight": "bold" if shape.bold else "normal",
            "zorder": 2 + order * 1e-5,
            **(given or {}),
        }
        self.texts_.append(axes.text(shape.x, shape.y, literal_label(shape.text), **style))

    def _draw_box(self, shape: Rectangle, theme: Theme, pixel: float, order: int) -> None:
        from matplotlib.patches import FancyBboxPatch

        axes: Any = self.ax_
        patch = FancyBboxPatch(
            (shape.x, shape.y),
            shape.width,
            shape.height,
            boxstyle=f"round,pad=0,rounding_size={shape.radius}" if shape.radius else "square,pad=0",
            facecolor=_color(shape.fill, theme),
            edgecolor=_color(shape.line, theme),
            linewidth=shape.line_width * pixel if shape.line else 0,
            linestyle=(0, (4, 3)) if shape.dashed else "-",
            mutation_aspect=1,
            zorder=2 + order * 1e-5,
        )
        self.boxes_.append(axes.add_patch(patch))

    def _draw_branch(self, shape: Curve, theme: Theme, pixel: float, order: int, given: Keywords) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        axes: Any = self.ax_
        points = [(shape.x0, shape.y0), *shape.controls, (shape.x1, shape.y1)]
        path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
        style = {
            "edgecolor": _color(shape.color, theme),
            "linewidth": shape.width * pixel,
            "capstyle": "butt",
            "zorder": 2 + order * 1e-5,
            **(given or {}),
        }
        self.branches_.append(axes.add_patch(PathPatch(path, facecolor="none", **style)))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        tree: int = 0,
        max_depth: int | str | None = "auto",
        row: Any = None,
        orientation: str = "auto",
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Lay out a tree of a fitted model, and draw it.

        Parameters
        ----------
        estimator : fitted tree or forest of hedgerow
            The model.
        tree : int, default=0
            Which tree of a forest.
        max_depth : int, None or "auto", default="auto"
            Draw splits above this depth; None: all. "auto" draws up to 60 leaves, or what replaces them in larger
            trees; on given axes as many levels as can be read.
        row : table of one row or None, default=None
            Show its path down the tree, and its values.
        orientation : {"auto", "down", "right"}, default="auto"
            Where the tree grows to; "auto" is to the right for more than 10 leaves.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        Display
            The Display, drawn.
        """
        cls._pyplot("from_estimator")
        hint = f"pass a tree or a forest of hedgerow, such as TreeClassifier(){INSIDE}"
        check_estimator(estimator, ["to_svg"], hint=hint)
        check_is_fitted(estimator)
        depths = (max_depth,) if max_depth != "auto" or ax is None else ("auto", *range(_MOST_LEVELS, 0, -1))
        for depth in depths:
            scene = tree_scene(view_of(estimator, tree, depth, row), orientation)
            if ax is None or _points(ax, scene) >= _LEGIBLE:
                break
        return cls(scene=scene).plot(ax, **kwargs)


def _points(axes: Any, scene: Scene) -> float:
    """Points of a pixel of a picture that fills axes."""
    box = axes.get_window_extent()
    pixel: float = min(box.width / scene.width, box.height / scene.height)
    return pixel * _POINTS_PER_INCH / axes.figure.dpi


def _theme_of(axes: Any) -> Theme:
    """Theme for the background of axes: dark if its luminance is below one half."""
    from matplotlib.colors import to_rgba

    color = to_rgba(axes.get_facecolor())
    if color[3] == 0:
        color = to_rgba(axes.figure.get_facecolor())
    return "dark" if 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2] < 0.5 else "light"


def _color(name: str, theme: Theme) -> str:
    """Colour of a shape for matplotlib; "none" for no colour."""
    return ROLES[name][theme] if name in ROLES else name or "none"
