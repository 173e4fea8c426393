"""Puts barriers into a kernel's body where lanes read what other lanes wrote.

Triton promises no order between a store and a later access to the same memory. So a barrier stands
before every load of memory that was written since the last barrier, and before every store to
memory that was written or read since then. What is pending at the end of a loop's body also meets
the beginning of that body, in the next round.
"""

from collections.abc import Collection
from dataclasses import replace

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


BARRIER = Step(Barrier(), "")


def with_barriers(body: tuple[Step, ...], shared: Collection[str]) -> tuple[Step, ...]:
    """The body with barriers around accesses to tensors that are shared between lanes."""
    return _block(body, frozenset(shared), Pending())[0]


def _block(
    body: tuple[Step, ...], shared: frozenset[str], pending: Pending
) -> tuple[tuple[Step, ...], Pending]:
    done: list[Step] = []
    for step in body:
        match step.instruction:
            case Load(tensor=tensor) if tensor in shared:
                if tensor in pending.written:
                    done.append(BARRIER)
                    pending = Pending()
                pending = replace(pending, read=pending.read | {tensor})
                done.append(step)
            case Store(tensor=tensor) if tensor in shared:
                if tensor in pending.written or tensor in pending.read:
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


def passes_values(body: tuple[Step, ...], shared: frozenset[str]) -> bool:
    """Whether values pass through memory in a loop. Then its loads must not run ahead."""
    return bool(accessed(body, Store) & accessed(body, Load) & shared)
