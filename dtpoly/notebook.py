"""Shows what was proved of a schedule in a notebook or at a prompt."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module

from dtpoly.checking import Checked
from dtpoly.diagnostics import Diagnostic, Severity, has_errors
from dtpoly.explanation import HEAD, heading, launches, rows, show_recomputed
from dtpoly.pictures import map_picture
from dtpoly.render.diagnostic_text import plain, render
from dtpoly.render.html import page
from dtpoly.render.outline import outline
from dtpoly.schedule.element_table import SizesError
from dtpoly.schedule.explained_directives import Explanation
from dtpoly.schedule.sample import sample_sizes, two_of_each
from dtpoly.schedule.state import State
from dtpoly.schedule.tree_text import show_tree
from dtpoly.verdict_table import head
from dtpoly.verdict_table import rows as layer_rows
from dtpoly.verify.proof.report import Report


class Picture(str):
    """A picture as SVG: a notebook shows it, and a prompt says how large it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Picture: {len(self):,} characters of SVG>"

    def _repr_html_(self) -> str:
        """Show a notebook the picture; one that is too wide is scrolled."""
        return f'<div style="overflow-x:auto">{self}</div>'


def as_html(name: str, text: str, proved: Checked, remarks: Sequence[Diagnostic]) -> str:
    """Show verdict, messages, tree, a picture at small sizes, and the text folded away."""
    verdict, is_good = proved.verdict, not has_errors(proved.diagnostics)
    found = [d for d in remarks if d.severity is not Severity.NOTE]
    return page(
        name,
        "legal for all sizes" if is_good else "refused",
        show_tree(verdict.scheduled.kernels) if verdict is not None else "",
        is_good=is_good,
        messages=plain(render(found)) if found else "",
        text=text,
        pictures=_pictures(verdict.scheduled) if verdict is not None and is_good else (),
    )


def _pictures(state: State) -> tuple[str, ...]:
    sizes = sample_sizes(state)
    with suppress(SizesError):
        return (map_picture(state, sizes),) if sizes else ()
    return ()


def as_map(state: State, sizes: Mapping[str, int]) -> Picture:
    """Draw which program computes which element; labels without a size get two blocks each.

    Raises SizesError, which is a ValueError.
    """
    given = {**two_of_each(state), **sizes}
    return Picture(map_picture(state, {label: given[label] for label in state.model.size_of}))


def as_text(found: Explanation, sizes: Mapping[str, int]) -> str:
    """Say what each directive does and which kernels come of them, as `dtpoly explain` does."""
    parts = [plain(outline((heading(one, sizes) for one in found.directives), None))]
    kernels = [row for kernel in found.kernels for row in rows(kernel, sizes)]
    # It comes with rich, which takes 100 ms.
    table: Callable[..., str] = import_module("dtpoly.render.text_table").table
    parts.append(table(HEAD, kernels, None, colour=False))
    told = (
        *launches(found.kernels, sizes),
        *(show_recomputed(one, found.panels, sizes) for one in found.recomputed),
        *map(str, found.ranges),
    )
    parts.append("".join(f"{line}\n" for line in told))
    return "\n".join(filter(None, parts))


def as_layers(found: Report, told: Sequence[Diagnostic]) -> str:
    """Show what is proved of the code, layer by layer, and why the rest is not."""
    table: Callable[..., str] = import_module("dtpoly.render.text_table").table
    shown = table(head(found), layer_rows(found), None, colour=False)
    return f"{shown}\n{plain(render(told))}" if told else shown
