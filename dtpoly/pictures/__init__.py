"""Draws a Program and its schedule with the help of `render`."""

from dtpoly.pictures.dependence_picture import dependence_picture
from dtpoly.pictures.program_map import map_picture, map_sections
from dtpoly.pictures.tree_picture import tree_picture

__all__ = ["dependence_picture", "map_picture", "map_sections", "tree_picture"]
