"""Says what is wrong with the steps that a kernel does once, before its blocks and after them."""

from collections.abc import Iterator, Set

from dtpoly.ir.kernel import ForLoop, TiledLoop, TileKernel
from dtpoly.ir.launch_steps import LetNextBegin, MakeDescriptor, TellFours, WaitForLaunch
from dtpoly.ir.parts import nested


def wrong_launch_steps(kernel: TileKernel, known: Set[str]) -> Iterator[tuple[str, str]]:
    """Yield each kind of step that breaks a rule, and the rule; `known` are names of numbers."""
    for what in _waits(kernel):
        yield WaitForLaunch.__name__, what
    for at, one in enumerate(kernel.head):
        if isinstance(one, LetNextBegin) and kernel.head[:at] != (WaitForLaunch(),):
            yield LetNextBegin.__name__, "the next launch begins before this one has waited itself"
    for step in kernel.head:
        match step:
            case MakeDescriptor():
                for what in _descriptor(kernel, step, known):
                    yield MakeDescriptor.__name__, what
            case TellFours(rows=rows):
                for what in _fours(kernel, rows):
                    yield TellFours.__name__, what
            case _:
                pass
    loops = (one for one in nested(kernel.body) if isinstance(one, ForLoop | TiledLoop))
    if not kernel.own and any(one.is_specialized for one in loops):
        yield TiledLoop.__name__, "some warps load for it, and the kernel makes no descriptors"


def _waits(kernel: TileKernel) -> Iterator[str]:
    """A kernel waits once, before all that it does, or in the end where it has not waited before.

    What is launched behind a kernel then follows all that was launched before it.
    """
    head, foot = kernel.head, kernel.foot
    waits = [at for at, one in enumerate(head) if isinstance(one, WaitForLaunch)]
    if waits not in ([], [0]):
        yield "it is not the first thing that the kernel does"
    if any(one != WaitForLaunch() for one in foot):
        yield "in the end a kernel waits in each panel, and does nothing else"
    is_late = head[:1] == (WaitForLaunch(in_first_panel=True),)
    if is_late and len(foot) != 1:
        yield "it waits in the first panel alone: so it must wait in the end, too"
    if foot and not is_late:
        yield "it waits in the end, and has waited before or is never early"


def _descriptor(kernel: TileKernel, one: MakeDescriptor, known: Set[str]) -> Iterator[str]:
    """A descriptor that a kernel makes is the one that the caller may pass."""
    pointer = next((tensor for tensor in kernel.tensors if tensor.variable == one.tensor), None)
    if pointer is None:
        yield f"'{one.tensor}' is no tensor of the kernel"
        return
    for size in one.sizes:
        if size not in known:
            yield f"'{size}' is no size of the kernel"
    given = next((other for other in kernel.described if other.name == one.name), None)
    if given is None:
        yield f"'{one.name}' is no descriptor of the kernel"
    elif (given.tensor, given.block) != (pointer.name, one.block):
        yield f"'{one.name}' is another one than the caller's"
    elif given.axes != tuple(range(len(one.sizes))) or pointer.rank != len(one.sizes):
        yield f"'{one.name}' has other axes than its tensor"


def _fours(kernel: TileKernel, rows: tuple[str, ...]) -> Iterator[str]:
    """Check that the kernel assumes multiples of four only where the launch tests for them."""
    given = {row.variable for row in kernel.fours}
    for name in rows:
        if name not in given:
            yield f"no launch says that '{name}' is a multiple of four"
