"""A line of a kernel's text, and what it is there for, which the map of the code asks."""

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum

from dtpoly.frozen import dataclass


class Head(Enum):
    """The purpose of a line that is about no statement, tensor, input or label."""

    GRID = "how a program finds its block"
    WAITS = "it begins before the launch before it ends"
    PANELS = "it is launched for each panel"
    LOADS = "some of its warps load for the others"
    TURNS = "its programs take blocks in turn"
    BESIDE = "it shares its launch with another kernel"
    NEXT = "what follows it"


@dataclass(frozen=True, slots=True)
class OfTensor:
    """A parameter of a tensor, by the tensor's name."""

    name: str


@dataclass(frozen=True, slots=True)
class OfInput:
    """A scalar input, by the name of its variable."""

    variable: str


@dataclass(frozen=True, slots=True)
class OfDirective:
    """A comment that repeats a directive."""

    text: str


@dataclass(frozen=True, slots=True)
class OfBlocks:
    """The blocks of a label, or its groups of blocks."""

    label: str
    in_groups: bool = False


About = Head | OfTensor | OfInput | OfDirective | OfBlocks


@dataclass(frozen=True, slots=True)
class KernelLine:
    """A line of a kernel, the statement or axis that it comes from, and else what it is about."""

    text: str
    origin: str = ""
    about: About | None = None


def indented(lines: Iterable[KernelLine]) -> list[KernelLine]:
    """Return the lines, one level deeper."""
    return [replace(line, text=f"    {line.text}") for line in lines]


def about(what: About | None, texts: Iterable[str]) -> list[KernelLine]:
    """Return lines that are all there for one thing."""
    return [KernelLine(text, about=what) for text in texts]
