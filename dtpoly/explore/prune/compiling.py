"""Compiles the kernels of a candidate and decides from their needs whether it is worth a run.

It imports triton.
"""

from dataclasses import asdict

from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.prune.emit import Emitted, Prepared, prepared
from dtpoly.explore.prune.prune import CompiledCall, KeyedSchedule, Needs, PruneOutcome, Reason
from dtpoly.explore.store.results import Fit, RefusedPoint
from dtpoly.runtime.load import load_module
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.targets.advice import is_launchable, too_large
from dtpoly.targets.compiled_kernels import compile_kernel
from dtpoly.targets.kernel_binary import Failed, KernelBinary, kib, occupancy
from dtpoly.targets.subject import Subject, subjects


def outcome(candidate: KeyedSchedule, call: CompiledCall) -> PruneOutcome:
    """Compile each kernel of a candidate, until one is not worth a run."""
    found = prepared(candidate.key, candidate.text)
    if isinstance(found, Emitted):
        assert isinstance(found.made, RefusedPoint)
        return PruneOutcome(candidate.key, Reason.REFUSED, found.made.reason)
    return _outcome(candidate, found, call)


def fit_of(name: str, text: str, call: CompiledCall, primitives: Primitives = DIRECTIVES) -> Fit:
    """Return the compiler's answer about a .dt text that is known to be legal."""
    found = prepared(name, text, is_legal=True, primitives=primitives)
    if isinstance(found, Emitted):
        assert isinstance(found.made, RefusedPoint)
        return Fit(found.made.kind, found.made.reason)
    said = _outcome(KeyedSchedule(name, text), found, call)
    return Fit(said.reason or "", said.detail, [asdict(kernel) for kernel in said.kernels])


def _outcome(candidate: KeyedSchedule, made: Prepared, call: CompiledCall) -> PruneOutcome:
    state, code = made.state, made.code
    try:
        every = subjects(state, code.stages, call.sizes, call.dtype)
    except DtpolyError as error:
        detail = "; ".join(one.title for one in error.diagnostics)
        return PruneOutcome(candidate.key, Reason.REFUSED, detail)
    for subject in every:
        for wrong in too_large(subject):
            return PruneOutcome(candidate.key, Reason.TILE, wrong.title)
    module = load_module(code.text, "kernels")
    found: list[Needs] = []
    for subject, launch in zip(every, code.stages.launches, strict=True):
        arguments = subject.arguments.values()
        try:
            binary = compile_kernel(
                module, subject.kernel, arguments, call.target, launch.num_warps, launch.num_stages
            )
        except Failed as failure:
            return PruneOutcome(candidate.key, Reason.UNCOMPILED, str(failure), tuple(found))
        found.append(_needs(subject, binary))
        reason = _dropped(binary, call)
        if reason is not None:
            return PruneOutcome(candidate.key, *reason, tuple(found))
    return PruneOutcome(candidate.key, None, "", tuple(found))


def _needs(subject: Subject, binary: KernelBinary) -> Needs:
    share = occupancy(binary).share if is_launchable(binary) else 0.0
    return Needs(
        subject.node.name,
        binary.num_warps,
        binary.registers,
        binary.spilled,
        binary.shared,
        share,
    )


def _dropped(binary: KernelBinary, call: CompiledCall) -> tuple[Reason, str] | None:
    """Return why a kernel is not worth a run, and how much it needs; None if it is worth one."""
    if not is_launchable(binary):
        most = kib(call.target.limits.block_shared)
        return Reason.SHARED, f"{binary.kernel} needs {kib(binary.shared)}; a block has {most}"
    if binary.spilled > call.spilled:
        return Reason.SPILLS, f"{binary.kernel} spills {binary.spilled} bytes of each lane"
    return None
