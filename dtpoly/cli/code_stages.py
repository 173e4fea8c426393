"""Shows the stages of code generation, as text or as data for JSON."""

from collections.abc import Iterable, Iterator

from dtpoly.checking import Checked
from dtpoly.codegen.loops_text import loops_data as loops_items
from dtpoly.codegen.loops_text import show_loops as loop_lines
from dtpoly.codegen.module import Generated
from dtpoly.codegen.storage_text import show_storage as storage_lines
from dtpoly.codegen.storage_text import storage_data as storage_items
from dtpoly.codegen.together import together_lines
from dtpoly.codegen.triton_text import kernel_lines
from dtpoly.diagnostics import DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.generate import stages_of
from dtpoly.ir.kernel import TileKernel
from dtpoly.ir.kernel_text import show_kernel
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel
from dtpoly.schedule.tree_text import head, unusual


@dataclass(frozen=True, slots=True)
class Stages:
    """The scheduled state and all stages from it to the text of the kernels."""

    state: State
    made: Generated


def stages(checked: Checked) -> Stages | None:
    """Return the stages of a legal schedule; None without a Func. Raises DtpolyError for others."""
    if checked.program is None:
        raise DtpolyError(checked.diagnostics)
    if checked.verdict is None:
        return None
    state = checked.verdict.scheduled
    return Stages(state, stages_of(state))


def show_loops(checked: Checked) -> str:
    """Print the loops of each kernel."""
    found = stages(checked)
    if found is None:
        return ""
    parts: list[str] = []
    for kernel, nodes in zip(found.state.kernels, found.made.loops, strict=True):
        parts.append(head(kernel))
        parts.extend(f"  {line}" for line in loop_lines(nodes))
    return _lines(parts)


def loops_data(checked: Checked) -> list[dict[str, object]]:
    """Return the loops of each kernel as data for JSON."""
    found = stages(checked)
    if found is None:
        return []
    pairs = zip(found.made.launches, found.made.loops, strict=True)
    return [{"kernel": launch.name, "body": loops_items(nodes)} for launch, nodes in pairs]


def show_storage(checked: Checked) -> str:
    """Print where each array is stored."""
    found = stages(checked)
    return "" if found is None else _lines(storage_lines(found.state.model, found.made.storage))


def storage_data(checked: Checked) -> list[dict[str, object]]:
    """Return where each array is stored, as data for JSON."""
    found = stages(checked)
    return [] if found is None else storage_items(found.state.model, found.made.storage)


def show_kernels(checked: Checked) -> str:
    """Print each kernel in the kernel IR."""
    return "\n".join(_lines(lines) for _, lines in _kernels(checked))


def kernels_data(checked: Checked) -> list[dict[str, object]]:
    """Return the lines of each kernel as data for JSON."""
    return [{"kernel": name, "lines": list(lines)} for name, lines in _kernels(checked)]


def _kernels(checked: Checked) -> Iterator[tuple[str, Iterator[str]]]:
    found = stages(checked)
    if found is None:
        return
    for node, kernel in zip(found.state.kernels, found.made.kernels, strict=True):
        yield kernel.name, _shown(node, kernel)


def _shown(node: Kernel, kernel: TileKernel) -> Iterator[str]:
    """Yield the lines of a kernel; the second one says how it is launched, if that is unusual."""
    lines = show_kernel(kernel)
    yield next(lines)
    if said := ", ".join(unusual(node)):
        yield f"  {said}"
    yield from lines


def show_triton(checked: Checked) -> str:
    """Print each kernel as Triton code, then the kernels that one launch makes of two of them."""
    found = stages(checked)
    if found is None:
        return ""
    kernels = [_lines(line.text for line in kernel_lines(one)) for one in found.made.kernels]
    pairs = [_lines(together_lines(one)) for one in found.made.pairs.values()]
    return "\n\n".join([*kernels, *pairs])


def _lines(words: Iterable[str]) -> str:
    return "".join(f"{word}\n" for word in words)
