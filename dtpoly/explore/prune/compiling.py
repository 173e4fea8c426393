"""Compiles the kernels of a candidate and decides from their needs whether it is worth a run.

It imports triton.
"""

from dataclasses import asdict

from dtpoly.diagnostics import DtpolyError
from dtpoly.explore.prune.emit import Emitted, Prepared, prepared
from dtpoly.explore.prune.prune import Call, Candidate, Needs, Outcome, Reason
from dtpoly.explore.store.results import Fit, Refused
from dtpoly.runtime.load import load_module
from dtpoly.targets.advice import is_launchable, too_large
from dtpoly.targets.binary import Binary, Failed, kib, occupancy
from dtpoly.targets.compiled import compile_kernel
from dtpoly.targets.subject import Subject, subjects


def outcome(candidate: Candidate, call: Call) -> Outcome:
    """Compile each kernel of a candidate, until one is not worth a run."""
    found = prepared(candidate.key, candidate.text)
    if isinstance(found, Emitted):
        assert isinstance(found.made, Refused)
        return Outcome(candidate.key, Reason.REFUSED, found.made.reason)
    return _outcome(candidate, found, call)


def fit_of(name: str, text: str, call: Call) -> Fit:
    """Return the compiler's answer about a .dt text that is known to be legal."""
    found = prepared(name, text, is_legal=True)
    if isinstance(found, Emitted):
        assert isinstance(found.made, Refused)
        return Fit(found.made.kind, found.made.reason)
    said = _outcome(Candidate(name, text), found, call)
    return Fit(said.reason or "", said.detail, [asdict(kernel) for kernel in said.kernels])


def _outcome(candidate: Candidate, made: Prepared, call: Call) -> Outcome:
    state, code = made.state, made.code
    try:
        every = subjects(state, code.stages, call.sizes, call.dtype)
    except DtpolyError as error:
        detail = "; ".join(one.title for one in error.diagnostics)
        return Outcome(candidate.key, Reason.REFUSED, detail)
    for subject in every:
        for wrong in too_large(subject):
            return Outcome(candidate.key, Reason.TILE, wrong.title)
    module = load_module(code.text, "kernels")
    found: list[Needs] = []
    for subject, launch in zip(every, code.stages.launches, strict=True):
        arguments = subject.arguments.values()
        try:
            binary = compile_kernel(
                module, subject.kernel, arguments, call.target, launch.num_warps, launch.num_stages
            )
        except Failed as failure:
            return Outcome(candidate.key, Reason.UNCOMPILED, str(failure), tuple(found))
        found.append(_needs(subject, binary))
        reason = _dropped(binary, call)
        if reason is not None:
            return Outcome(candidate.key, *reason, tuple(found))
    return Outcome(candidate.key, None, "", tuple(found))


def _needs(subject: Subject, binary: Binary) -> Needs:
    share = occupancy(binary).share if is_launchable(binary) else 0.0
    return Needs(
        subject.node.name,
        binary.num_warps,
        binary.registers,
        binary.spilled,
        binary.shared,
        share,
    )


def _dropped(binary: Binary, call: Call) -> tuple[Reason, str] | None:
    """Return why a kernel is not worth a run, and how much it needs; None if it is worth one."""
    if not is_launchable(binary):
        most = kib(call.target.limits.block_shared)
        return Reason.SHARED, f"{binary.kernel} needs {kib(binary.shared)}; a block has {most}"
    if binary.spilled > call.spilled:
        return Reason.SPILLS, f"{binary.kernel} spills {binary.spilled} bytes of each lane"
    return None
