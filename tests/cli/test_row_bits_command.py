"""`dtpoly verify --bits` and `--same-as`, and what a schedule asks for by `same_bits`."""

import json
from pathlib import Path

import pytest

from tests.batch.bits_mutants import PRODUCT, ROW_SUM, SOFTMAX, SUM
from tests.cli.conftest import Entry


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "softmax.dt"
    path.write_text(SOFTMAX)
    return path


def test_a_size_is_proved(call: Entry, file: Path) -> None:
    code, out, err = call("verify", str(file), "--bits", "x")
    assert (code, err) == (0, "")
    head, _, row, aligned, in_one_step = out.splitlines()
    assert head.split() == ["function", "bits", "for", "any", "x", "seconds"]
    assert row.split()[:2] == ["softmax", "PROVED"]
    assert aligned.startswith("softmax, assumed: each tensor begins at a multiple of 16 bytes")
    assert in_one_step.startswith("softmax, assumed: Triton does the same products and sums")


def test_two_files_are_assumed_to_be_laid_out_alike(call: Entry, file: Path) -> None:
    code, out, _ = call("verify", str(file), "--same-as", str(file))
    assert code == 0
    assert "assumed: Triton lays out the tiles of both files alike" in out
    assert "(line " in out


def test_a_product_has_no_sum_that_is_laid_out(call: Entry, file: Path) -> None:
    file.write_text(PRODUCT)
    code, out, _ = call("verify", str(file), "--bits", "m")
    assert code == 0
    assert "16 bytes" not in out


def test_a_kernel_by_hand_is_refuted_with_two_calls(call: Entry, file: Path) -> None:
    kernel = file.with_suffix(".py")
    assert call("compile", str(file), "-o", str(kernel))[0] == 0
    text = kernel.read_text()
    assert SUM in text
    log = "    if x_size > 8:\n        total_sum = tl.sum(total_acc * 0.5, 1) * 2.0\n"
    kernel.write_text(text.replace(SUM, SUM + log))
    asked = ("verify", str(file), "--kernel", str(kernel), "--bits", "x", "--json")
    code, out, _ = call(*asked)
    assert code == 1
    (found,) = json.loads(out)["functions"]
    # Whoever wrote it multiplies by 0.5 and by 2.0, which the value layer may not follow.
    assert found["verdict"] in ("refuted", "unknown")
    assert found["why"]


def test_what_is_reduced_is_refuted(call: Entry, file: Path) -> None:
    code, out, _ = call("verify", str(file), "--bits", "y")
    assert code == 1
    assert "REFUTED" in out
    assert "error[DT325]: rows of 'softmax' along y have other bits in another batch" in out
    assert "note: one call: x = " in out
    assert "of the row is computed in two ways" in out
    # The two groupings, at the smallest sizes that were found.
    assert "note: one: exp(x0)\n" in out
    assert "note: another: " in out
    assert "note: where x0 = A[0, 0]" in out


def test_a_label_that_is_not_there(call: Entry, file: Path) -> None:
    code, _, err = call("verify", str(file), "--bits", "z")
    assert code == 2
    assert "'softmax' has no label 'z'; it has x, y" in err


@pytest.mark.parametrize("more", [("--ring",), ("--sarif",), ("--same-as", "other.dt")])
def test_options_that_ask_for_something_else(
    call: Entry, file: Path, more: tuple[str, ...]
) -> None:
    assert call("verify", str(file), "--bits", "x", *more)[0] == 2


def test_another_file_has_the_same_bits(call: Entry, file: Path) -> None:
    other = file.with_name("other.dt")
    other.write_text(SOFTMAX)
    code, out, _ = call("verify", str(file), "--same-as", str(other), "--json")
    (found,) = json.loads(out)["functions"]
    assert (code, found["verdict"]) == (0, "proved")
    other.write_text(SOFTMAX.replace("y:32", "y:64"))
    assert call("verify", str(file), "--same-as", str(other))[0] == 1


def test_a_schedule_asks_for_it(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "product.dt"
    path.write_text(PRODUCT.replace("c.compile();", "c.same_bits(m); c.compile();"))
    code, out, err = call("verify", str(path))
    assert (code, err) == (0, "")
    assert "bits for any m" in out


def test_a_schedule_asks_for_what_is_not_so(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "softmax.dt"
    path.write_text(SOFTMAX.replace("softmax.compile", "softmax.same_bits(y); softmax.compile"))
    code, out, _ = call("verify", str(path), "--json")
    document = json.loads(out)
    assert (code, document["verdict"]) == (1, "proved")
    assert [one["label"] for one in document["bits"]] == ["y"]
    assert document["bits"][0]["verdict"] == "refuted"


def test_rows_are_along_labels_of_the_result(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "product.dt"
    path.write_text(PRODUCT.replace("c.compile();", "c.same_bits(k); c.compile();"))
    code, out, _ = call("check", str(path))
    assert code == 1
    assert "error[DT185]: 'k' is not a label of the result of 'c'" in out


BY_HAND = """import triton
import triton.language as tl

# verify: sums[(len(x),)](s, A, A.stride(0), len(x), len(y))
# assume: reach(A) < 2**31, len(x) <= 2**30, len(y) <= 2**30


@triton.jit
def sums(out, a, row, m, n):
    at = tl.program_id(0)
    total = tl.zeros((16,), tl.float32)
    for k in range(0, n, 16):
        y = k + tl.arange(0, 16)
        total += tl.load(a + at * row + y, mask=y < n, other=0.0)
    value = tl.sum(total, 0)
    if m > 8:
        value = tl.sum(tl.sum(tl.reshape(total, (4, 4)), 1), 0)
    tl.store(out + at, value)
"""
SUMS = "Func s; In A: f32; Var x; RVar y; s[x] = rsum(A[x, y], y);"


def test_a_kernel_with_its_own_lines_is_refuted_with_both_groupings(
    call: Entry, tmp_path: Path
) -> None:
    (tmp_path / "s.dt").write_text(SUMS)
    (tmp_path / "s.py").write_text(BY_HAND)
    asked = ("verify", str(tmp_path / "s.dt"), "--kernel", str(tmp_path / "s.py"), "--bits", "x")
    code, out, _ = call(*asked, "--json")
    (found,) = json.loads(out)["functions"]
    assert (code, found["verdict"]) == (1, "refuted")
    sizes = [one["sizes"]["x"] for one in found["example"]["calls"]]
    assert min(sizes) <= 8 < max(sizes)
    two = found["example"]["groupings"]
    assert {two["first"], two["second"]} == {
        "tl.sum(x0, x1, x2, 0, ..., 0: 16 lanes)",
        "tl.sum(x0, x1, x2, 0)",
    }
    assert two["names"] == {"x0": "A[0, 0]", "x1": "A[0, 1]", "x2": "A[0, 2]"}


def test_what_is_out_of_bounds_is_not_run(call: Entry, tmp_path: Path) -> None:
    (tmp_path / "s.dt").write_text(SUMS)
    (tmp_path / "s.py").write_text(BY_HAND.replace("mask=y < n", "mask=y < n + 10**6"))
    asked = ("verify", str(tmp_path / "s.dt"), "--kernel", str(tmp_path / "s.py"), "--bits", "x")
    code, out, _ = call(*asked, "--json")
    document = json.loads(out)
    (found,) = document["functions"]
    assert (code, found["verdict"]) == (1, "unknown")
    assert "its kernels are not proved" in found["why"]
    assert [one["code"] for one in document["diagnostics"]] == ["DT326"]


@pytest.mark.long
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "hip:gfx942"])
def test_a_file_is_compiled_in_variants(call: Entry, tmp_path: Path, target: str) -> None:
    path = tmp_path / "s.dt"
    path.write_text(ROW_SUM)
    asked = ("verify", str(path), "--bits", "x", "--layouts", target, "--json")
    _, out, err = call(*asked)
    assert err == ""
    (found,) = json.loads(out)["functions"]
    assert found["layouts"]["failed"] is None
    two = found["layouts"]["different"]
    assert (found["verdict"] == "proved") == (two is None)
    if two is not None:
        assert two["first"] != two["second"]


@pytest.mark.parametrize(
    "more",
    [("--layouts", "cuda:90"), ("--bits", "x", "--layouts", "cuda:1"), ("--bits", "x", "--kernel")],
)
def test_layouts_belong_to_bits_of_a_known_target(
    call: Entry, tmp_path: Path, more: tuple[str, ...]
) -> None:
    path = tmp_path / "s.dt"
    path.write_text(ROW_SUM)
    given = (*more, str(path), "--layouts", "cuda:90") if more[-1] == "--kernel" else more
    assert call("verify", str(path), *given)[0] == 2
