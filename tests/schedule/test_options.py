"""The primitives that set an option of a kernel, and `compile`."""

import pytest

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.directives.compile import Compile
from dtpoly.schedule.bound_primitives import bind
from tests.schedule.told import MAP, TWO, TWO_PRODUCTS, only, read, told


@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16, 32])
def test_num_warps(warps: int) -> None:
    assert told(f"{MAP} f.num_warps({warps});") == []


@pytest.mark.parametrize(
    ("argument", "code"),
    [("0", "DT182"), ("-1", "DT182"), ("64", "DT182"), ("3", "DT183"), ("x", "DT181")],
)
def test_num_warps_refused(argument: str, code: str) -> None:
    assert told(f"{MAP} f.num_warps({argument});") == [f"{code} {argument}"]


def test_the_nearest_numbers_of_warps_are_allowed_ones() -> None:
    assert only(f"{MAP} f.num_warps(31);").hint == "the nearest are 16 and 32"


def test_num_stages() -> None:
    assert told(f"{MAP} f.num_stages(3);") == []
    assert told(f"{MAP} f.num_stages(0);") == ["DT182 0"]
    assert told(f"{MAP} f.num_stages();") == ["DT181 f.num_stages()"]


def test_precision() -> None:
    assert told(f"{TWO_PRODUCTS} _2mm.precision(tf32x3); mm.precision(ieee);") == []
    assert told(f"{TWO_PRODUCTS} _2mm.precision(fp32);") == ["DT181 fp32"]
    assert told(f"{MAP} f.precision(tf32);") == ["DT197 f.precision(tf32)"]


def test_precision_of_a_product_that_is_fused() -> None:
    text = TWO_PRODUCTS.replace("rdot(mm[m, l], C[l, n], l)", "rsum(mm[m, l] * C[l, n], l)")
    text = text.replace("mm[m, l] * C[l, n]", "reshape(mm[m, l], m, l, 1) * C[l, n]")
    assert told(f"{text} _2mm.precision(tf32);") == ["DT197 _2mm.precision(tf32)"]
    assert told(f"{text} mm.fuse_at(_2mm, m); _2mm.precision(tf32);") == []


def test_descriptor() -> None:
    assert told(f"{TWO} f.descriptor(B); g.descriptor(A);") == []
    assert told(f"{TWO} f.descriptor(g);") == []
    assert told(f"{TWO} f.descriptor(A, B);") == ["DT197 A"]
    assert told(f"{TWO} g.descriptor(f);") == ["DT197 f"]
    assert told(f"{TWO} f.descriptor(f);") == []
    assert told(f"{TWO} g.fuse_at(f, x); f.descriptor(A);") == []
    assert told(f"{TWO} g.fuse_at(f, x); f.descriptor(g);") == ["DT197 g"]
    assert told(f"{TWO} g.inline(); f.descriptor(A);") == []
    assert told(f"{TWO} f.descriptor(C);") == ["DT184 C"]


def test_store() -> None:
    assert told(f"{TWO} f.descriptor(f); f.store(x:16);") == []
    assert told(f"{TWO} f.descriptor(B, f); f.store(x:2); f.persistent();") == []
    assert told(f"{TWO} f.descriptor(f); f.store(x:16); f.store(x:8);") == ["DT187 x:8"]
    assert told(f"{TWO} f.descriptor(f); f.store(x:1);") == ["DT182 x:1"]
    assert told(f"{TWO} f.descriptor(f); f.store(x:24);") == ["DT183 x:24"]
    assert told(f"{TWO} f.descriptor(f); f.store(x);") == ["DT181 x"]
    assert told(f"{TWO} f.descriptor(f); f.store(z:16);") == ["DT185 z"]
    assert told(f"{TWO} g.descriptor(g); f.store(x:16);") == ["DT197 f.store(x:16)"]


def test_store_without_a_descriptor_of_the_result() -> None:
    found = only(f"{TWO} f.store(x:16);")
    assert (found.code, found.hint) == ("DT197", "add f.descriptor(f);  or  remove it")
    found = only(f"{TWO} f.descriptor(B); f.store(x:16);")
    assert found.hint == "name f in its descriptor, too  or  remove it"
    assert [note.span and note.span.text for note in found.notes] == ["f.descriptor(B)"]
    # Where that is wrong itself, nothing more is said.
    assert told(f"{TWO} f.descriptor(); f.store(x:16);") == ["DT181 f.descriptor()"]
    assert told(f"{TWO} f.descriptor(C, f); f.store(x:16);") == ["DT184 C"]


def test_store_is_about_labels_of_the_result() -> None:
    described = f"{TWO_PRODUCTS} _2mm.descriptor(_2mm);"
    assert told(f"{described} _2mm.store(m:16, n:16);") == []
    found = only(f"{described} _2mm.store(l:16);")
    assert (found.code, found.hint) == ("DT185", "write m or n")
    found = only(f"{described} _2mm.split(n:ni/16); _2mm.store(ni:16);")
    assert (found.code, found.title) == ("DT185", "'ni' is not a label of the result of '_2mm'")


def test_store_where_warps_load_for_others() -> None:
    found = only(f"{TWO} f.descriptor(f); f.warp_specialize(); f.store(x:16);")
    assert found.code == "DT187"
    assert found.title == "'f.store(x:16)' contradicts 'f.warp_specialize()'"


def test_align() -> None:
    assert told(f"{TWO} f.align(B); g.align(A);") == []
    assert told(f"{TWO} f.align(A, B);") == ["DT197 A"]
    assert told(f"{TWO} f.align(C);") == ["DT184 C"]


def test_stream() -> None:
    assert told(f"{TWO} f.stream(B); g.stream(A);") == []
    assert told(f"{TWO} f.stream(B, g);") == []
    assert told(f"{TWO} f.stream(A, B);") == ["DT197 A"]
    assert told(f"{TWO} f.stream(f);") == ["DT197 f"]
    assert told(f"{TWO} g.stream(f);") == ["DT197 f"]
    assert told(f"{TWO} g.fuse_at(f, x); f.stream(A);") == []
    assert told(f"{TWO} g.fuse_at(f, x); f.stream(g);") == ["DT197 g"]
    assert told(f"{TWO} g.inline(); f.stream(A);") == []
    assert told(f"{TWO} f.stream(C);") == ["DT184 C"]
    assert told(f"{TWO} f.stream();") == ["DT181 f.stream()"]
    assert told(f"{TWO} f.stream(B); f.stream(B, g);") == ["DT188 B"]
    assert only(f"{TWO} f.stream(A);").title == "the kernel of 'f' does not read 'A'"


def test_alternate() -> None:
    assert told(f"{MAP} f.alternate(y);") == []
    assert told(f"{MAP} f.alternate(z);") == ["DT185 z"]


def test_switches() -> None:
    assert told(f"{MAP} f.persistent(); f.warp_specialize();") == []
    assert told(f"{MAP} f.persistent(2);") == []
    assert told(f"{MAP} f.early();") == []
    assert told(f"{MAP} f.early(x);") == ["DT181 x"]
    assert told(f"{MAP} f.pitch();") == []
    assert told(f"{MAP} f.swap();") == []
    assert told(f"{MAP} f.swap(x);") == ["DT181 x"]
    assert told(f"{MAP} f.swap(); f.warp_specialize();") == ["DT187 f.swap()"]
    assert told(f"{MAP} f.persistent(x);") == ["DT181 x"]
    assert told(f"{MAP} f.persistent(1, 2);") == ["DT181 2"]
    assert (
        only(f"{MAP} f.persistent(1, 2);").title == "'persistent' takes at most 1 argument, not 2"
    )


def test_compile_is_one_primitive_under_two_names() -> None:
    directives = read("Func f; In A; Var x; f[x] = A[x]; f.compile_to_kernel();").directives
    (primitive,) = bind(directives, DIRECTIVES).primitives
    assert primitive == Compile("f")
    assert told(f"{MAP} f.compile_to_kernel();") == ["DT188 f.compile_to_kernel()"]


def test_nothing_compiled() -> None:
    text = TWO.replace("f.compile();", "g.block(x:16);")
    found = only(text)
    assert (found.code, found.hint) == ("DT177", "add f.compile();")
    assert told(text + found.edits[0].replacement) == []
    assert told(TWO.replace("compile", "compil")) == ["DT180 compil"]


def test_directives_without_effect() -> None:
    unneeded = "Func h; h[x, y] = exp(g[x, y]);"
    text = f"{TWO} {unneeded} h.block(x:16); h.num_warps(8);"
    assert told(text) == ["DT178 h.block(x:16)"]
    assert told(f"{text} h.tensorize(z:4);") == ["DT178 h.block(x:16)", "DT185 z"]
    assert told(f"{TWO} {unneeded}") == []
