"""A text that lies in a file of results is run only if it is of the form that dtpoly writes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dtpoly.explore.run.harmless import why_not_run
from dtpoly.explore.run.preparation import NO_TEXT, Out, Ready, Wants
from dtpoly.explore.store.result_store import ResultStore, open_store
from dtpoly.explore.store.results import EmittedText
from dtpoly.plan.runtime_text import FIRST
from tests.codegen.cases import random_case
from tests.explore.simulation import points_of, question_of
from tests.explore.test_preparation import SPACE, Here, made, news
from tests.verify.texts import FILES, program_of, text_of

POINT = points_of(SPACE)[0]
SHORT = SPACE.short(POINT)


def at_the_top(text: str) -> str:
    return text.replace("import hashlib\n", "import hashlib\nopen('made', 'w').close()\n", 1)


def as_another_import(text: str) -> str:
    return text.replace("import hashlib\n", "import hashlib\nimport os\n", 1)


def in_a_plan(text: str) -> str:
    return text.replace('"A.shape[0]"', "print('made')")


def in_a_formula(text: str) -> str:
    return text.replace('"A.shape[0]"', '"A.shape.__class__.__base__.__subclasses__()"')


def as_another_function(text: str) -> str:
    return f"{text}\n\ndef other(a=print('made')):\n    return a\n"


def as_a_decorator(text: str) -> str:
    return text.replace("@triton.jit", "@exec", 1)


def in_what_is_known(text: str) -> str:
    new = "def dt_check(*_):\n    open('made')\n\n\ndef dt_other("
    return text.replace("def dt_check(", new, 1)


def above_what_is_known(text: str) -> str:
    return text.replace(FIRST, f"open('made')\n{FIRST}", 1)


def as_no_python(text: str) -> str:
    return f"{text}\0("


def as_deep_as_can_be(text: str) -> str:
    return f"{text}\nx = {'(' * 150}1{')' * 150}\n{'-' * 50_000}1\n"


HOSTILE = (
    *(at_the_top, as_another_import, in_a_plan, in_a_formula, as_another_function),
    *(as_a_decorator, in_what_is_known, above_what_is_known, as_no_python, as_deep_as_can_be),
)


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    """A file of results in which there is the text of a point."""
    found = open_store(tmp_path / "run.sqlite")
    (out,) = news(made(found, Here(), Wants()), [POINT])
    assert isinstance(out, Ready)
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("has_isl", [True, False])
@pytest.mark.parametrize("change", HOSTILE)
def test_what_dtpoly_does_not_write_is_not_run(
    store: ResultStore, change: Callable[[str], str], has_isl: bool
) -> None:
    program = question_of(SPACE).asked.program_hash
    good = store.emitted(program, SHORT)
    assert isinstance(good, EmittedText)
    text = change(good.text)
    assert text != good.text
    store.emit(program, {SHORT: EmittedText(text, good.call)})
    here = Here()
    preparation = made(store, here, Wants())
    preparation.has_isl = has_isl
    (found,) = news(preparation, [POINT])
    if has_isl:
        # It is emitted again, and that text is kept in its place.
        assert found == Ready(SHORT, good)
        assert store.emitted(program, SHORT) == good
    else:
        assert isinstance(found, Out)
        assert (found.refused.kind, found.is_kept) == (NO_TEXT, False)
        assert not here.jobs


def test_what_it_writes_itself_is_run_without_being_emitted_again(store: ResultStore) -> None:
    here = Here()
    (found,) = news(made(store, here, Wants()), [POINT])
    assert isinstance(found, Ready)
    assert not here.jobs


@pytest.mark.parametrize("path", FILES[:6], ids=lambda path: path.stem)
def test_each_text_that_it_writes_may_be_run(path: Path) -> None:
    assert why_not_run(text_of(program_of(path))) == ""


@pytest.mark.parametrize("seed", range(3))
def test_so_may_those_of_random_schedules(seed: int) -> None:
    assert why_not_run(text_of(random_case(seed).program)) == ""
