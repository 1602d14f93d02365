"""Pictures of trees: what they show, where it stands, and SVG. ``hedgerow.plots`` draws the same with matplotlib."""

from hedgerow.drawing.scene import ROLES, Curve, Rectangle, Scene, Shape, Text, Theme
from hedgerow.drawing.svg import scene_to_svg
from hedgerow.drawing.tree_scene import tree_scene
from hedgerow.drawing.view import Highlight, Subject, TreeView, ViewNode, view_tree

__all__ = [
    "ROLES",
    "Curve",
    "Highlight",
    "Rectangle",
    "Scene",
    "Shape",
    "Subject",
    "Text",
    "Theme",
    "TreeView",
    "ViewNode",
    "scene_to_svg",
    "tree_scene",
    "view_tree",
]
