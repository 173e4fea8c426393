"""`dtpoly verify --bits` and `--same-as`, and what a schedule asks for by `same_bits`."""

import json
from pathlib import Path

import pytest

from tests.batch.bits_mutants import PRODUCT, SOFTMAX, SUM
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
    assert "softmax, one call: x = " in out
    assert "of the row is computed in two ways" in out


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
