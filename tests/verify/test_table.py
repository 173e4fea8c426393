"""The table of proofs in docs/proofs.md is what the verifier and the ring say today."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from dtpoly.ring.ring_values import NoRing
from dtpoly.verify.proof.report import LAYERS, LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.listings import APART, ATTENTIONS, FILES, KERNELS, NAMES, code, program
from tests.conftest import Published
from tests.ring.test_execute import ragged, run

# The worst first.
ORDER = (LayerVerdict.REFUTED, LayerVerdict.UNKNOWN, LayerVerdict.PROVED)


def name_of(path: Path) -> str:
    """`examples/softmax` is an example, `listing_3_03_softmax` a listing of the thesis."""
    at = path.parts.index("examples") if "examples" in path.parts else -1
    return str(Path(*path.parts[at:]).with_suffix(""))


def proved(name: str) -> list[LayerVerdict]:
    """Return what is known of each layer: of all functions of a file the worst."""
    found = verify(program(name), code(name).text, seconds=120).layers
    return [
        min((one.verdict for one in found if one.name == layer), key=ORDER.index)
        for layer in LAYERS
    ]


def in_ring(name: str) -> str:
    """Return what a run in the ring at ragged sizes says, or why there is none."""
    try:
        differing = run(name, code(name).text, ragged(name)).differing
    except NoRing as reason:
        return f"{LayerVerdict.UNKNOWN}: {reason}"
    return LayerVerdict.REFUTED if any(differing.values()) else LayerVerdict.TESTED


def table(names: Sequence[str]) -> str:
    """Return a line for each file; all of it is proved."""
    head = ("of", *LAYERS, "ring")
    lines = [f"| {' | '.join(head)} |\n", f"|{' --- |' * len(head)}\n"]
    for name in names:
        layers, ring = proved(name), in_ring(name)
        assert set(layers) == {LayerVerdict.PROVED}, name
        assert ring != LayerVerdict.REFUTED, name
        file = {**FILES, **APART}[name]
        lines.append(f"| {' | '.join((name_of(file), *layers, ring))} |\n")
    return "".join(lines)


@pytest.mark.long
def test_the_table_of_proofs(published: Published) -> None:
    published("proofs.md", "layers", table(NAMES))


@pytest.mark.long
def test_the_table_of_kernels(published: Published) -> None:
    published("proofs.md", "kernels", table(KERNELS))


@pytest.mark.long
def test_the_table_of_attentions(published: Published) -> None:
    published("proofs.md", "attentions", table(tuple(ATTENTIONS)))
