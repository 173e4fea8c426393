"""No mistake in a scan in parts is proved: what is proved still computes the same."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
import torch

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.scans_in_parts import program
from tests.verify.parted_scan_mutants import MISTAKEN, OF_PARTS, mutants
from tests.verify.texts import text_of

SECONDS = 20
LENGTHS = (1, 33, 64, 100, 131)


@cache
def results(name: str, text: str) -> list[torch.Tensor]:
    """Return the results of some calls, with elements of which none are alike."""
    function, found = imported(text).f, list[torch.Tensor]()
    for length in LENGTHS:
        generator = torch.Generator().manual_seed(length)
        given = [
            torch.rand([2, length][: 1 if tensor.name == "h" else 2], generator=generator) + 0.5
            for tensor in program(name).tensors
        ]
        found.append(function(*given))
    return found


def check_mutant(name: str, word: str, line: int, text: str) -> bool:
    """Return whether a mutant is proved; raise AssertionError if it is wrong then."""
    if verify(program(name), text, seconds=SECONDS).verdict is not LayerVerdict.PROVED:
        return False
    # It is another text for the same: where what is changed does not count.
    for one, other in zip(results(name, text), results(name, text_of(program(name))), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5, msg=f"{word} {line}")
    return True


def found() -> Iterator[tuple[str, str, int, str]]:
    """Yield all mistakes in the texts of some programs."""
    for name in MISTAKEN:
        for word, line, text in mutants(text_of(program(name))):
            yield name, word, line, text


def test_there_are_mistakes_of_each_kind() -> None:
    counted = Counter(word for _, word, *_ in found())
    assert counted.keys() == OF_PARTS.keys(), OF_PARTS.keys() - counted.keys()
    assert counted.total() >= 150


@pytest.mark.long
@pytest.mark.parametrize("name", MISTAKEN)
def test_a_mistake_is_not_proved(name: str) -> None:
    proved = [check_mutant(*one) for one in found() if one[0] == name]
    assert proved.count(False) > 0.6 * len(proved)


@pytest.mark.sampled
@pytest.mark.parametrize("word", OF_PARTS)
def test_the_first_of_each_kind_is_not_proved(word: str) -> None:
    check_mutant(*next(one for one in found() if one[1] == word))
