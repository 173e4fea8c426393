"""Compiles random programs with ranges and places from tables, and runs them at random contents.

`python -m tests.codegen.at_data FIRST LAST FILE` does so for some seeds, and records the rates.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Placing, Program
from dtpoly.algorithm.show import show
from dtpoly.generate import outputs
from dtpoly.reference.run import run
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.counted import record
from tests.codegen.inputs import Inputs, Recipe
from tests.codegen.random_programs import is_legal, possible, text_or_none
from tests.codegen.running import imported, watched
from tests.oracle.cases import Case, data_case
from tests.oracle.placed_results import TABLE

PROOF_S = 20
MORE = (0, 1, 4)  # how much larger than in the case labels are
KINDS = ("alike", "ascending", "descending", "random", "outside")


def tried(seed: int, case_of: Callable[[int], Case] = data_case) -> tuple[str, ...]:
    """Compile, verify and run the program of a seed; return what came of it.

    Raises AssertionError if it is refuted, or computes something else than the reference.
    """
    case = case_of(seed)
    of = case.program
    if not is_legal(of):
        return ("not legal",)
    text = text_or_none(of)
    if text is None:
        return ("no code",)
    verdict = verify(of, text, seconds=PROOF_S).verdict
    told = f"case {seed}, {verdict}, {case.sizes}:\n{show(of)}"
    assert verdict is not LayerVerdict.REFUTED, told
    for more in MORE:
        sizes = possible(of, {label: size + more for label, size in case.sizes.items()})
        if sizes is None:
            continue
        given = inputs(of, sizes, f"{seed} {more}")
        wanted = run(of, copied(given), sizes=sizes)
        module: Any = imported(text)
        for func in outputs(of):
            found = watched(module, of, func, copied(given), sizes, wanted)
            for name, one in found.items():
                assert alike(one, wanted[name]), f"{name} at {sizes} is wrong in {told}"
    return ("run", str(verdict))


def copied(given: Inputs) -> Inputs:
    """Return inputs in memory of their own, which a result may replace."""
    return {
        name: value.clone() if isinstance(value, torch.Tensor) else value
        for name, value in given.items()
    }


def alike(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Return whether floats are alike, and whole numbers the same."""
    if not found.is_floating_point():
        return torch.equal(found, wanted.to(found.dtype))
    return torch.allclose(found.double(), wanted.double(), rtol=1e-9, atol=1e-9, equal_nan=True)


def inputs(of: Program, sizes: Mapping[str, int], seed: str) -> Inputs:
    """Return floats of 64 bits, and tables: alike, ascending, descending, or anything."""
    random = Random(seed)
    made = Recipe(random.randrange(10**6), DType.F64).inputs(of, sizes)
    largest = max(sizes.values(), default=0)
    is_promised = any(
        func.into is not None and func.into.placing is Placing.DISTINCT for func in of.funcs
    )
    for tensor in of.tensors:
        value = made[tensor.name]
        if tensor.dtype is None or not isinstance(value, torch.Tensor):
            continue
        if tensor.within is not None:
            continue  # it has been drawn from the range that it is promised to be in
        kind = "random" if tensor.name == TABLE and is_promised else random.choice(KINDS)
        whole = table(random, kind, value.numel(), largest)
        if tensor.name == TABLE and is_promised:
            whole = random.sample(range(-2, value.numel() + 3), value.numel())
        made[tensor.name] = torch.tensor(whole).reshape(value.shape).to(value.dtype)
    return made


def table(random: Random, kind: str, count: int, largest: int) -> list[int]:
    """Return the elements of a table."""
    found = [random.randint(-2, largest + 2) for _ in range(count)]
    match kind:
        case "alike":
            return [largest // 2] * count
        case "ascending":
            return sorted(found)
        case "descending":
            return sorted(found, reverse=True)
        case "outside":
            return [random.choice((-100, 100)) for _ in range(count)]
        case _:
            return found


def main() -> None:
    """Try the programs of a range of seeds, and record how many there are of each kind."""
    what = (
        "random programs with ranges and places from tables: what is emitted and proved, "
        "and is right beside the reference at random contents of the tables"
    )
    record("tests.codegen.at_data", "programs", what, tried)


if __name__ == "__main__":
    main()
