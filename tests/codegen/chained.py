"""Compiles random chains for `online`, and compares them with the oracle that runs them.

`python -m tests.codegen.chained FIRST LAST FILE` tries the chains of some seeds and writes how many
there are of each kind.
"""

import re
from dataclasses import dataclass
from random import Random
from typing import Any

import torch

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.counted import record
from tests.codegen.running import imported
from tests.oracle.chains import Chain, chain
from tests.oracle.running import Cannot, Data, executed, judged
from tests.verify.online_mutants import mutants_of

PROOF_S = 20
MUTANTS = 2  # of each text that is proved


@dataclass(frozen=True, slots=True)
class TriedChain:
    """The result of trying a chain: `joined`, `refused`, or `refused, though it can be done`."""

    outcome: str
    verdict: LayerVerdict | None = None
    proved_mutants: int = 0  # all of which compute what the algorithm says

    @property
    def words(self) -> tuple[str, ...]:
        """Return what is counted of it."""
        verdict = () if self.verdict is None else (f"joined: {self.verdict}",)
        return (self.outcome, *verdict, *(("a mutant is proved",) * self.proved_mutants))


def tried(seed: int) -> TriedChain:
    """Compile, verify and run the chain of a seed; raise AssertionError if something is wrong."""
    one = chain(seed)
    runs = judged(one)
    of, text, refusals = compiled(one.text)
    told = f"chain {seed}; the oracle says {runs}; refused: {refusals}:\n{one.text}"
    if of is None:
        assert refusals == ["DT307"], told
        assert isinstance(runs, Cannot) or one.beyond, told
        can_run = "" if isinstance(runs, Cannot) else ", though it can be done"
        return TriedChain(f"refused{can_run}")
    assert not isinstance(runs, Cannot), f"it is accepted, {told}"
    verdict = verify(of, text, seconds=PROOF_S).verdict
    assert verdict is not LayerVerdict.REFUTED, f"it is refuted, {told}"
    for data in _calls(one, seed):
        wanted = wanted_of(of, data)
        for way in (None, runs):
            assert is_same(executed(one, data, way), wanted), told
        assert is_right(text, data, wanted), f"it is wrong, {told}"
    proved = 0
    if verdict is LayerVerdict.PROVED:
        proved = sum(_is_proved_and_right(of, one, seed, new) for new in _mutants(seed, text))
    return TriedChain("joined", verdict, proved)


def tried_in_parts(seed: int) -> str:
    """Compile, verify and run the chain of a seed in parts of two tiles; return what became of it.

    Raises AssertionError if something is wrong.
    """
    one = chain(seed)
    text = one.text
    if set(re.findall(r"online\((\w+), y\)", text)) != {"f"}:
        return "its last Func is not the result"
    text = re.sub(r"f\.block\((x:\d+)\)", rf"f.block(\1, y:p/{max(2 * one.tile, 2)})", text)
    text = re.sub(r"f\.tensorize\((.*?)\)", r"f.tensorize(\1, p:2)", text)
    of, made, refusals = compiled(text)
    if of is None:
        assert {*refusals} <= {"DT239", "DT307"}, (refusals, text)
        return "refused"
    verdict = verify(of, made, seconds=PROOF_S).verdict
    assert verdict is not LayerVerdict.REFUTED, text
    tile = one.tile
    for columns in sorted({0, 1, tile, 2 * tile, 2 * tile + 1, 4 * tile + 1, 5 * tile + 3}):
        data = one.data(columns % 5 + 2, columns, seed + columns)
        assert is_right(made, data, wanted_of(of, data)), f"it is wrong for {columns}:\n{text}"
    return str(verdict)


def compiled(text: str) -> tuple[Program | None, str, list[str]]:
    """Return the Program and its text, or the codes of what is refused."""
    try:
        of = load(Source("chain.dt", text))
        found = judge(of, DIRECTIVES)
        if not found.is_legal:
            return None, "", [str(violation) for violation in found.violations]
        return of, code_of(found.scheduled).text, []
    except DtpolyError as error:
        return None, "", [one.code for one in error.diagnostics]


def _calls(one: Chain, seed: int) -> list[Data]:
    """Return inputs with numbers of columns around a tile."""
    columns = sorted({0, 1, one.tile - 1, one.tile, one.tile + 1, 19})
    return [one.data(at % 5 + 2, size, seed + size) for at, size in enumerate(columns)]


def wanted_of(of: Program, data: Data) -> torch.Tensor:
    """Return the result that the reference computes."""
    return run(of, {**data})["f"]


def is_right(text: str, data: Data, wanted: torch.Tensor) -> bool:
    """Return whether the kernels of a text compute a result."""
    module: Any = imported(text)
    found: torch.Tensor | tuple[torch.Tensor, ...] = module.f(*data.values())
    return is_same(found[0] if isinstance(found, tuple) else found, wanted)


def is_same(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Compare results where they are defined: of no element at all a softmax is a nan."""
    known = ~wanted.isnan()
    return found.shape == wanted.shape and torch.allclose(
        found[known].double(), wanted[known], rtol=1e-9, atol=1e-9
    )


def _mutants(seed: int, text: str) -> list[str]:
    every = [new for _, new in mutants_of("f", text)]
    return Random(f"mutants {seed}").sample(every, min(MUTANTS, len(every)))


def _is_proved_and_right(of: Program, one: Chain, seed: int, text: str) -> bool:
    """Return whether a mutant is proved; raise AssertionError if it is wrong then."""
    if verify(of, text, seconds=PROOF_S).verdict is not LayerVerdict.PROVED:
        return False
    for data in _calls(one, seed):
        assert is_right(text, data, wanted_of(of, data)), f"a mutant is proved:\n{one.text}\n{text}"
    return True


def words(seed: int) -> tuple[str, ...]:
    """Try the chain of a seed; return what is counted of it."""
    return tried(seed).words


def main() -> None:
    """Try the chains of a range of seeds, and record how many there are of each kind."""
    what = (
        "random chains for online: whether they can run in one loop, by the compiler and by"
        " an oracle that runs them; the emitted texts beside the reference, and their proofs"
    )
    record("tests.codegen.chained", "chains", what, words)


if __name__ == "__main__":
    main()
