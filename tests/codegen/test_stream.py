"""Loads of what leaves the cache first, in Triton's interpreter and for GPUs."""

import ast
import re
from collections import Counter
from functools import cache

import pytest
import torch

from dtpoly.algorithm.label_sizes import input_shapes
from dtpoly.checking import load
from dtpoly.code_map import code_map
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.ir.kernel_text import show_kernel
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.useless_directives import vain
from tests.cli.process import told_by
from tests.codegen.running import imported
from tests.codegen.streaming import COPIED, DESCRIBED, HINT, PRODUCT, PROGRAMS, ROW, WALKED

# As most kernels have it: tiles that are full, and others.
TILED = """
Func f, total; In A, B; Var x; RVar y;
total[x] = rsum(A[x, y] * B[y], y); f[x] = total[x] + A[x, 0];
total.fuse_at(f, x); f.block(x:2); f.tensorize(x:0, y:8); f.compile();
"""
SAID = re.compile(r"\w+\.stream\(.*?\);")


@cache
def generated(text: str) -> Code:
    return code_of(judge(load(Source("f.dt", text)), DIRECTIVES).scheduled)


def loads(text: str) -> Counter[tuple[str, str]]:
    """Count loads by what their addresses begin with, and by what they say to the cache."""
    found: Counter[tuple[str, str]] = Counter()
    for node in ast.walk(ast.parse(generated(text).text)):
        match node:
            case ast.Call(ast.Attribute(ast.Name("tl"), "load"), [address, *_], keywords):
                given = {one.arg: ast.unparse(one.value) for one in keywords}
                tensor = re.split("_| ", ast.unparse(address))[0]
                found[tensor, given.get("eviction_policy", "")] += 1
            case _:
                pass
    return found


def test_each_load_of_what_is_named_says_so() -> None:
    plain = loads(TILED)
    assert {hint for _, hint in plain} == {""}
    for names in ("A", "B", "A, B"):
        said = loads(f"{TILED} f.stream({names});")
        expected = {(one, f"'{HINT}'" if one in names else ""): n for (one, _), n in plain.items()}
        assert said == expected
    assert plain["A", ""] >= 3  # with masks, without any, and one number


def test_it_is_said_of_one_kernel() -> None:
    said = "'evict_first'"
    assert set(loads(COPIED)) == {("A", said), ("B", said), ("g", ""), ("B", "")}
    other = COPIED.replace("g.stream(A, B)", "f.stream(g)")
    assert set(loads(other)) == {("A", ""), ("B", ""), ("g", said)}


def test_partial_results_and_what_makes_one_of_them() -> None:
    text = "Func f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y); f.block(y:16); f.stream(A);"
    assert loads(text) == {("A", "'evict_first'"): 1, ("f", ""): 1}


def test_a_definition_that_is_put_where_it_is_read() -> None:
    text = "Func g, f; In A; Var x; g[x] = A[x] + 1; f[x] = g[x] * 2; g.inline(); f.stream(A);"
    assert loads(text) == {("A", "'evict_first'"): 1}


def test_lines_that_begin_aligned_and_loops_that_go_backwards() -> None:
    assert {hint for _, hint in loads(WALKED)} == {"'evict_first'"}


def test_descriptors_cannot_say_so() -> None:
    text = generated(DESCRIBED).text
    assert set(loads(DESCRIBED)) == {("A", "'evict_first'"), ("B", "'evict_first'")}
    assert "A_blocks.load(" in text
    assert not [line for line in text.splitlines() if "_blocks.load(" in line and HINT in line]


def test_it_is_shown() -> None:
    (kernel,) = generated(ROW).stages.kernels
    (line,) = (line for line in show_kernel(kernel) if line.strip().startswith("load "))
    assert "which leaves the cache first" in line


def test_its_directive_stands_over_the_kernel() -> None:
    state = judge(load(Source("f.dt", ROW)), DIRECTIVES).scheduled
    lines = code_map(state, code_of(state))
    (said,) = (one for one in lines if one.text.strip() == "# f.stream(A);")
    assert said.origin.directive is not None
    assert said.origin.directive.name == "stream"
    (loaded,) = (one for one in lines if HINT in one.text)
    assert loaded.origin.source is not None


def test_what_is_never_loaded() -> None:
    text = "Func f; In A, B; Var x; f[x] = pad(A, 0)[-1] + B[x];"
    state = judge(load(Source("f.dt", f"{text} f.stream(A, B);")), DIRECTIVES).scheduled
    (told,) = vain(state, code_of(state).stages, DIRECTIVES)
    assert (told.code, told.title) == ("DT198", "'stream' changes nothing here")
    assert told.span is not None
    assert told.span.text == "A"


@pytest.mark.sampled
@pytest.mark.parametrize("text", [COPIED, ROW, WALKED, PRODUCT, DESCRIBED, f"{TILED} f.stream(A);"])
@pytest.mark.parametrize("size", [1, 16, 77])
def test_it_changes_no_result(text: str, size: int) -> None:
    program = load(Source("f.dt", text))
    step, right = (imported(generated(one).text).f for one in (text, SAID.sub("", text)))
    dtypes = [torch.float16 if one.dtype else torch.float32 for one in program.tensors]
    shapes = input_shapes(program, {label.name: size for label in program.labels}).values()
    given = [torch.randn(shape).to(one) for shape, one in zip(shapes, dtypes, strict=True)]
    assert step(*given).equal(right(*given))


@pytest.mark.long
def test_for_gpus() -> None:
    found = told_by("tests.codegen.streaming")
    assert len(found) == 3 * (len(PROGRAMS) + 1)
    for one in found:
        is_said = one["kernel"] not in ("f_kernel of copied", "f_kernel of through descriptors")
        assert one["is_asked"] == is_said, one
        # It depends on the version of Triton whether loads that run ahead say so, too.
        if one["kernel"] != "f_kernel of product":
            assert one["is_done"] == (is_said and "cuda" in one["target"]), one
