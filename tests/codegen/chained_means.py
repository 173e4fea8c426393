"""Compiles random chains with a mean for `online`, and compares them with an oracle that runs them.

`python -m tests.codegen.chained_means FIRST LAST FILE` tries the chains of some seeds and writes
how many there are of each kind.
"""

from random import Random

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.chained import PROOF_S, TriedChain, compiled, is_right, is_same, wanted_of
from tests.codegen.counted import record
from tests.oracle.mean_chains import MeanChain, executed, judged, mean_chain
from tests.oracle.running import Cannot, Data
from tests.verify.mean_mutants import mutants_of_means

MUTANTS = 1  # of each text that is proved


def tried(seed: int) -> TriedChain:
    """Compile, verify and run the chain of a seed; raise AssertionError if something is wrong."""
    one = mean_chain(seed)
    runs = judged(one)
    of, text, refusals = compiled(one.text)
    told = f"mean chain {seed}; the oracle says {runs}; refused: {refusals}:\n{one.text}"
    if of is None:
        assert refusals == ["DT307"], told
        assert isinstance(runs, Cannot) or one.is_beyond, told
        can_run = "" if isinstance(runs, Cannot) else ", though it can be done"
        return TriedChain(f"refused{can_run}")
    assert not isinstance(runs, Cannot), f"it is accepted, {told}"
    verdict = verify(of, text, seconds=PROOF_S).verdict
    assert verdict is not LayerVerdict.REFUTED, f"it is refuted, {told}"
    for data in _calls(one, seed):
        wanted = wanted_of(of, data)
        for in_one_loop in (False, True):
            assert is_same(executed(one, data, in_one_loop=in_one_loop), wanted), told
        assert is_right(text, data, wanted), f"it is wrong, {told}"
    if verdict is not LayerVerdict.PROVED:
        return TriedChain("joined", verdict)
    return TriedChain("joined", verdict, _proved_mutants(of, one, seed, text))


def _calls(one: MeanChain, seed: int) -> list[Data]:
    """Return inputs with numbers of columns around a tile."""
    columns = sorted({0, 1, one.tile, one.tile + 1, 19})
    return [one.data(at % 5 + 2, size, seed + size) for at, size in enumerate(columns)]


def _proved_mutants(of: Program, one: MeanChain, seed: int, text: str) -> int:
    """Count the mistakes that are proved; raise AssertionError if one of them is wrong then."""
    every = [new for _, new in mutants_of_means("f", text)]
    found = 0
    for new in Random(f"mutants {seed}").sample(every, min(MUTANTS, len(every))):
        if verify(of, new, seconds=PROOF_S).verdict is LayerVerdict.PROVED:
            for data in _calls(one, seed):
                wanted = wanted_of(of, data)
                assert is_right(new, data, wanted), f"a mutant is proved:\n{one.text}\n{new}"
            found += 1
    return found


def words(seed: int) -> tuple[str, ...]:
    """Try the chain of a seed; return what is counted of it."""
    return tried(seed).words


def main() -> None:
    """Try the chains of a range of seeds, and record how many there are of each kind."""
    what = (
        "random chains with a mean for online: whether they can run in one loop, by the compiler"
        " and by an oracle that runs them; the emitted texts beside the reference, and their proofs"
    )
    record("tests.codegen.chained_means", "chains", what, words)


if __name__ == "__main__":
    main()
