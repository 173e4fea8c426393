"""Choices, alternatives and constraints: read, printed, laid out, and refused in words."""

from pathlib import Path

import pytest

from dtpoly.algorithm.show import show
from dtpoly.algorithm.show_choices import show_item, show_openings
from dtpoly.checking import check
from dtpoly.diagnostics import Severity
from dtpoly.frontend.format import format_source
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import Resolved, resolve
from dtpoly.frontend.syntax import AlgorithmFile
from dtpoly.render.diagnostic_text import plain, render
from dtpoly.source import Source
from tests.explore.spaces import HEAD, text
from tests.frontend.test_fuzz import look
from tests.generation.choice import seeded
from tests.generation.mutations import mutated

NESTED = "{ f.map(x), f.num_warps({4}) | { f.map(y) | } };"
NO_CONDITION = "a constraint compares whole numbers of directives"
SCHEDULE_FILE = (Path(__file__).parents[2] / "examples" / "spaces" / "attention.dts").read_text()


def resolved(of: str) -> Resolved:
    parsed = parse(Source("space.dt", of))
    assert not parsed.found
    return resolve(parsed.file)


def errors(of: str) -> list[str]:
    """Titles of what is wrong."""
    found = check(Source("space.dt", of)).diagnostics
    assert plain(render(found))
    return [one.title for one in found if one.severity is Severity.ERROR]


def items(directives: str) -> list[str]:
    return [show_item(item) for item in resolved(HEAD + directives).openings.items]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("f.block(x:{1, 2});", "f.block(x:{1, 2});"),
        ("f.block(x:{16..128 *2});", "f.block(x:{16, 32, 64, 128});"),
        ("f.block(x:{16..100*3});", "f.block(x:{16, 48});"),
        ("f.block(x:{16..64 +16});", "f.block(x:{16, 32, 48, 64});"),
        ("f.block(x:{2..4, 8});", "f.block(x:{2, 3, 4, 8});"),
        ("f.block(x:{5..5});", "f.block(x:{5});"),
        ("f.num_warps({4, 8});", "f.num_warps({4, 8});"),
        ("g.fuse_at(f, {x, y});", "g.fuse_at(f, {x, y});"),
        ("f.tensorize(g.k:{4, 8});", "f.tensorize(g.k:{4, 8});"),
        ("f.map(y:yi/{4, 8}, x, yi);", "f.map(y:yi/{4, 8}, x, yi);"),
        ("{f.map(x)|};", "{ f.map(x) | };"),
        ("{ | };", "{ | };"),
        (NESTED, NESTED),
    ],
)
def test_what_is_written(written: str, meant: str) -> None:
    assert items(written) == [meant]


def test_directives_without_choices_are_the_programs() -> None:
    found = resolved(HEAD + "f.block(x:4);\n{ f.map(x) | };\nf.compile();\n")
    assert [d.name for d in found.program.directives] == ["block", "compile"]
    assert found.is_open
    assert not resolved(HEAD + "f.block(x:4);\nf.compile();\n").is_open


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(40))
def test_random_spaces_are_read_back(seed: int) -> None:
    of = text(seed)
    first = resolved(of)
    again = show(first.program).partition("\nf.")[0]
    shown = again + "\n" + show_openings(first.openings)
    assert resolved(shown).openings == first.openings
    laid_out = format_source(Source("space.dt", of))
    assert resolved(laid_out).openings == first.openings
    assert format_source(Source("space.dt", laid_out)) == laid_out


LAID_OUT = """\
algorithm "softmax.dt";
f.block(x:{1, 2, 4}, y:{256..4096 *2});
{ f.map(x, y) | f.map(y:yi/{4, 8}, x, yi), f.num_warps({4..8 +4}) | };
{ { f.map(x) | }, g.fuse_at(f, {x, y}) | };
where f.tensorize.y <= block.y * 2 and (num_warps < 8 or a.b.c > -3);
where (a.x + 3) % 2 == 0;
where -a < 4;
"""


def test_layout() -> None:
    squeezed = LAID_OUT.replace(", ", ",").replace(" | ", "|").replace("{ ", "{").replace(" }", "}")
    assert format_source(Source("space.dts", squeezed)) == LAID_OUT
    assert format_source(Source("space.dts", LAID_OUT)) == LAID_OUT


def test_long_alternatives_break_between_options() -> None:
    option = ", ".join(f"f.descriptor({name * 12})" for name in "ABC")
    of = f"{{ {option} | {option} | }};\n"
    assert format_source(Source("space.dts", of)) == f"{{ {option}\n| {option} | }};\n"


def test_the_name_of_a_file() -> None:
    (found,) = parse(Source("space.dts", 'algorithm # here\n "../my softmax.dt";')).file.statements
    assert isinstance(found, AlgorithmFile)
    assert found.path.text == "../my softmax.dt"


def test_algorithm_and_where_may_be_names() -> None:
    of = "Func where, algorithm; In A; Var x;\nwhere[x] = A[x];\nalgorithm[x] = where[x];\n"
    assert errors(of + "where.block(x:4);\nalgorithm.compile();\n") == []


@pytest.mark.parametrize(
    ("statement", "title"),
    [
        ("f.block(x:{});", "'}' stands where a name or a number is expected"),
        ("f.block(x:{1,});", "'}' stands where a name or a number is expected"),
        ("f.block(x:{1 2});", "'2' stands where ',' or '}' is expected"),
        ("f.block(x:{1..});", "'}' stands where a number is expected"),
        ("f.block(x:{1..4 /2});", "'/' stands where ',' or '}' is expected"),
        ("f.block(x:{x..4});", "'..' stands where ',' or '}' is expected"),
        ("{ f.map(x) f.map(y) };", "'f' stands where ',', '|' or '}' is expected"),
        ("{ f.map(x), };", "'}' stands where a directive is expected"),
        ("{ f.map(x y) };", "'y' stands where ',' or ')' is expected"),
        ("{ x };", "'x' stands where a directive is expected"),
        ("where;", "the statement ends where a value is expected"),
        ("where block.x <;", "the statement ends where a value is expected"),
        ("where f.block.x 4;", "'4' stands where an operator is expected"),
        ("algorithm softmax;", "'softmax' stands where the name of a file, in quotes, is expected"),
        ('algorithm "a" 4;', "'4' stands where ';' is expected"),
        ("f.block(x:{1, 2.5});", "the numbers of a directive are whole"),
        ("f.block(x:{1..99999999999999999999});", "this whole number is too large"),
        ("f.block(x:{4..2});", "this range is empty"),
        ("f.block(x:{0..8 *2});", "this range never ends"),
        ("f.block(x:{1..8 *1});", "this range never ends"),
        ("f.block(x:{1..8 +0});", "this range never ends"),
        ("f.block(x:{1, 1});", "'1' stands twice in this choice"),
        ("f.block(x:{1..1000000000000});", "this choice has more than 1,000 options"),
        ("f.block({x, y}:4);", "a choice cannot stand before ':'"),
        ("h.block(x:{1, 2});", "unknown name 'h'"),
        ("A.block(x:{1, 2});", "'A' is a tensor input and has no schedule"),
        ("f.block(x:{1, 2}); where block.y < 4;", "'block.y' is no number of a directive"),
        ("f.block(x:{1, 2}); where not block.x < 4;", NO_CONDITION),
        ("f.block(x:{1, 2}); where block.x < 1.5;", NO_CONDITION),
        ("f.block(x:{1, 2}); where min(block.x, 3) < 4;", NO_CONDITION),
        ("f.block(x:{1, 2}); where (block.x < 2) + 1 < 4;", NO_CONDITION),
        ("f.block(x:{1, 2});", "'space.dt' is a space of schedules"),
        ("where 1 < 2;", "'space.dt' is a space of schedules"),
    ],
)
def test_what_is_wrong(statement: str, title: str) -> None:
    assert errors(HEAD + statement + "\nf.compile();\n") == [title]


def test_a_semicolon_in_alternatives() -> None:
    found = parse(Source("space.dt", "{ f.map(x); | f.map(y); };")).found
    assert found[0].hint == "separate the directives of an alternative by ','"


def test_a_missing_semicolon_before_alternatives() -> None:
    of = HEAD + "f.block(x:4)\n{ f.map(x) | }\nwhere block.x < 4\nwhere block.x < 4;"
    found = parse(Source("space.dt", of)).found
    assert [one.code for one in found] == ["DT109"] * 3


def test_a_wrong_directive_does_not_make_constraints_wrong() -> None:
    assert errors(HEAD + "f.block(x:{4..2});\nwhere block.x < 4;\n") == ["this range is empty"]


@pytest.mark.parametrize("seed", range(60))
def test_mutations_have_an_answer(seed: int) -> None:
    choose = seeded(seed)
    of = text(seed) if seed % 2 else SCHEDULE_FILE
    look(mutated(choose, of).encode("utf-8", "surrogatepass"))


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(5))
def test_many_mutations_have_an_answer(chunk: int) -> None:
    for seed in range(chunk * 1000, (chunk + 1) * 1000):
        of = text(seed) if seed % 2 else SCHEDULE_FILE
        look(mutated(seeded(seed), of).encode("utf-8", "surrogatepass"))
