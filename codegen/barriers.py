"""Puts barriers into a kernel's body where lanes read what other lanes wrote, or replace it.

Triton promises no order between a store and a later access to the same memory. So a barrier stands
before every load of memory that was written since the last barrier, and before every store to
memory that was written or read since then. What is pending at the end of a loop's body also meets
the beginning of that body, in the next round.

A result in place and its input are two tensors of a kernel that have one memory. A schedule is
legal only if all loads of an element come before the store that replaces it, so a barrier stands
between these, and none between a store and loads of other elements.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Barrier, ForLoop, If, Load, Step, Store, TiledLoop
from dtpoly.ir.parts import accessed
from dtpoly.ir.tiled import parts_of, with_parts


@dataclass(frozen=True, slots=True)
class Pending:
    """The tensors that were written, and those that were read, since the last barrier."""

    written: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()

    def or_(self, other: "Pending") -> "Pending":
        """Join what may be pending where two ways through the body meet."""
        return Pending(self.written | other.written, self.read | other.read)


NO_INPUTS: Mapping[str, str] = MappingProxyType({})
BARRIER = Step(Barrier(), "")


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """Tensors through which values pass in a kernel, and the inputs that others of it replace."""

    tensors: frozenset[str]
    replaced: Mapping[str, str]  # from a tensor that is stored to its input

    def is_met(self, tensor: str, pending: Pending) -> bool:
        """Return whether a store meets an access since the last barrier."""
        return tensor in pending.written or bool({tensor, self.replaced.get(tensor)} & pending.read)


def with_barriers(
    body: tuple[Step, ...], shared: Collection[str], replaced: Mapping[str, str] = NO_INPUTS
) -> tuple[Step, ...]:
    """Return the body with barriers around accesses to tensors that are shared between lanes.

    `replaced` has the input whose memory a result has, by the variables of both.
    """
    return _block(body, SharedMemory(frozenset(shared), replaced), Pending())[0]


def _block(
    body: tuple[Step, ...], shared: SharedMemory, pending: Pending
) -> tuple[tuple[Step, ...], Pending]:
    inputs = frozenset(shared.replaced.values())
    done: list[Step] = []
    for step in body:
        match step.instruction:
            case Load(tensor=tensor) if tensor in shared.tensors or tensor in inputs:
                if tensor in pending.written:
                    done.append(BARRIER)
                    pending = Pending()
                pending = replace(pending, read=pending.read | {tensor})
                done.append(step)
            case Store(tensor=tensor) if tensor in shared.tensors or tensor in shared.replaced:
                if shared.is_met(tensor, pending):
                    done.append(BARRIER)
                    pending = Pending()
                pending = replace(pending, written=pending.written | {tensor})
                done.append(step)
            case TiledLoop():
                parts, pending = _block(parts_of(step), shared, pending)
                done.append(with_parts(step, *parts))
            case ForLoop() as loop:
                # Once round, what is pending at the end meets the beginning.
                _, after = _block(loop.body, shared, pending)
                inner, after = _block(loop.body, shared, pending.or_(after))
                pipelined = loop.is_pipelined and not passes_values(loop.body, shared)
                done.append(
                    replace(step, instruction=replace(loop, body=inner, is_pipelined=pipelined))
                )
                pending = pending.or_(after)
            case If() as choice:
                inner, after = _block(choice.body, shared, pending)
                done.append(replace(step, instruction=replace(choice, body=inner)))
                pending = pending.or_(after)
            case _:
                done.append(step)
    return tuple(done), pending


def passes_values(body: tuple[Step, ...], shared: SharedMemory) -> bool:
    """Return whether values pass through memory in a loop. Then its loads must not run ahead.

    Those of an input that the loop replaces are kept where they are, too: what loads them ahead
    tells nobody when it has done so.
    """
    stored, loaded = accessed(body, Store), accessed(body, Load)
    replaced = {shared.replaced[one] for one in stored if one in shared.replaced}
    return bool(stored & loaded & shared.tensors) or bool(replaced & loaded)
