"""Makes good proofs: files with their certificates, each made once in a process."""

import json
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.codegen.header import with_verdict
from dtpoly.source import Source
from dtpoly.verify.algebra.regions import Region
from dtpoly.verify.algebra.set_table import SetTable
from dtpoly.verify.algebra.sets import is_empty
from dtpoly.verify.proof.certificate import certificate, text_of
from dtpoly.verify.proof.obligations import Attempt, attempts, heading
from dtpoly.verify.proof.report import LayerVerdict
from tests.attack.mutants.subjects import Subject, by_hand, emitted
from tests.codegen.listings import FILES
from tests.verify.handwritten import FOLDER
from tests.verify.lying import points_everywhere

# These files have proofs that are small enough to be checked a hundred times.
NAMES = (
    *("softmax", "safe_softmax", "rms_norm", "layer_norm", "swiglu", "geglu", "row_sum"),
    *("column_sum", "big_sum", "tvd", "dyt", "kl_div", "cross_entropy", "wide_softmax"),
    *("listing_3_01_add", "listing_3_05_relu", "listing_3_10_relu_block_tensorize"),
    *("listing_3_14_swish_partly_fused", "listing_3_19_sum_tensorize", "listing_3_20_sum_block"),
    *("listing_3_17_sum", "listing_3_15_swish_tensorized", "matmul"),
)
BY_HAND = ("add", "axpy", "softmax", "row_sum", "outer")
SECONDS = 60.0


@dataclass(frozen=True, eq=False)
class Base:
    """A file, the algorithm of its kernels, and a good certificate."""

    subject: Subject
    dt: str
    kernel: str
    certificate: str

    @property
    def program(self) -> Program:
        """Return the text of the algorithm."""
        return self.subject.program

    def document(self) -> dict[str, Any]:
        """Return the certificate as data that may be changed."""
        found: dict[str, Any] = json.loads(self.certificate)
        return found


@cache
def base(number: int) -> Base:
    """Return one of the files."""
    names = [*NAMES, *BY_HAND]
    at = number % len(names)
    name = names[at]
    one = emitted(name) if at < len(NAMES) else by_hand(name)
    path = FILES[name] if at < len(NAMES) else None
    dt = path.read_text() if path is not None else _text_by_hand(name)
    kernel = with_verdict(one.text)
    program = load(Source(f"{name}.dt", dt))
    return Base(one, dt, kernel, certificate(program, dt, kernel, SECONDS))


def _text_by_hand(name: str) -> str:
    return (FOLDER / f"{name}.dt").read_text()


def lied_about(one: Base, kernel: str, share: float, random: Random) -> str | None:
    """A certificate of other kernels, by an engine that calls so many of the sets empty wrongly.

    None where that is not enough to make it say that all is proved.
    """
    sets, lies = SetTable(), dict[int, bool]()

    def liar(region: Region) -> bool:
        # It gives the same answer about the same set.
        is_lie = lies.setdefault(sets.add(region), random.random() < share)
        return is_lie or is_empty(region)

    with points_everywhere():
        found: list[Attempt] = attempts(one.program, kernel, SECONDS, lambda _: liar)
    layers = [layer for attempt in found for layer in attempt.function.layers]
    if not layers or any(layer.verdict is not LayerVerdict.PROVED for layer in layers):
        return None
    return text_of(found, one.dt, kernel, SECONDS)


def renamed(one: Base, dt: str, kernel: str) -> str:
    """Return the certificate, with the hashes of other texts."""
    return json.dumps(one.document() | heading(dt, kernel))
