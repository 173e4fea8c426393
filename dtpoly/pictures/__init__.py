"""Draws a Program and its schedule with the help of `render`."""

from dtpoly.pictures.dependences import dependence_picture
from dtpoly.pictures.map import map_picture, map_sections
from dtpoly.pictures.tree import tree_picture

__all__ = ["dependence_picture", "map_picture", "map_sections", "tree_picture"]
