"""From .dt files to results: prepare, run where there is no GPU, stop, go on."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmarks.__main__ import main
from benchmarks.gpu import processes, session
from benchmarks.gpu.candidates import Candidate, arguments, candidates
from benchmarks.gpu.compile_candidates import Ahead, compile_ahead
from benchmarks.gpu.inputs import Inputs, inputs, tensors, unfilled
from benchmarks.gpu.manifest import Prepared, hash_of
from benchmarks.gpu.manifest import read as read_manifest
from benchmarks.gpu.manifest import write as write_manifest
from benchmarks.gpu.results import Results, Timed, began_file, read, write
from benchmarks.gpu.rows import tiny_rows
from benchmarks.gpu.steps import Step
from dtpoly.timing.failures import LostDevice, told

SWIGLU = """\
Func swiglu; In A, B; Var x, y;
swiglu[x, y] = A[x, y] * sigmoid(A[x, y]) * B[x, y];
swiglu.block(x:16, y:64); swiglu.tensorize(x:0, y:0); swiglu.compile();
"""
MATMUL = """\
Func half_matmul; In A, B; Var m, n; RVar k;
half_matmul[m, n] = rdot(A[m, k], B[k, n], k);
half_matmul.block(m:16, n:16); half_matmul.tensorize(m:0, n:0, k:16);
half_matmul.map(m:mi/2, n, mi); half_matmul.compile();
"""


ADAM = """\
Func param into P, moment into M, second into V;
In P, G, M, V; SIn rate, beta1, beta2, eps, c, d; Var x;
moment[x] = beta1 * M[x] + (1 - beta1) * G[x];
second[x] = beta2 * V[x] + (1 - beta2) * pow(G[x], 2);
param[x] = P[x] - rate * (moment[x] / c) / (sqrt(second[x] / d) + eps);
param.block(x:256); param.tensorize(x:0);
moment.fuse_at(param, x); second.fuse_at(param, x); param.compile(moment, second);
"""
QUANTIZE = """\
Func quantized: i8, scale, largest; In A; Var x; RVar y;
largest[x] = rmax(abs(A[x, y]), y);
scale[x] = where(largest[x] > 0, div_rn(largest[x], 127), 1);
quantized[x, y] = cast(
    clamp(floor(div_rn(A[x, y], reshape(scale[x], x, 1)) + 0.5), -127, 127), i8);
quantized.block(x:1); quantized.tensorize(x:0, y:0);
largest.fuse_at(quantized, x); scale.fuse_at(quantized, x); quantized.compile(scale);
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`swiglu`, two products, and variants, one of which cannot be compiled."""
    made = tmp_path_factory.mktemp("prepared")
    examples, variants = made / "examples", made / "variants"
    examples.mkdir()
    variants.mkdir()
    (examples / "swiglu.dt").write_text(SWIGLU)
    (examples / "half_matmul.dt").write_text(MATMUL)
    (variants / "swiglu__narrow.dt").write_text(SWIGLU.replace("y:64", "y:32"))
    (variants / "swiglu__broken.dt").write_text(SWIGLU.replace("sigmoid", "sigmund"))
    (variants / "another__one.dt").write_text(SWIGLU)
    given = ["prepare", str(made / "out"), "--examples", str(examples), "--variants", str(variants)]
    assert main([*given, "--kernels", "swiglu", "--kernels", "half_matmul"]) == 1
    return made / "out"


def run(folder: Path, output: Path, *more: str) -> int:
    given = ["run", str(folder), "-o", str(output), "--here", "--device", "cpu", "--tiny"]
    return main([*given, "--peers", "torch", "--each", "0.001", "--no-host", *more])


def test_prepare(folder: Path) -> None:
    made = read_manifest(folder)
    texts = {one.name: one for one in made.texts}
    assert texts["swiglu"].is_proved
    assert texts["swiglu"].parameters == ("A", "B")
    assert texts["swiglu"].text_hash == hash_of((folder / "swiglu.py").read_text())
    assert "swiglu.block(x:16, y:64);" in texts["swiglu"].schedule
    assert texts["swiglu__narrow"].is_variant
    assert "sigmund" in texts["swiglu__broken"].failure
    assert not texts["swiglu__broken"].is_proved
    # A table asks for it, and it is another schedule of a file that is there.
    ungrouped = texts["half_matmul_ungrouped"]
    assert ungrouped.is_proved
    assert "half_matmul.map(m, n);" in ungrouped.schedule
    assert not any("mi" in directive for directive in ungrouped.schedule)
    assert "another__one" not in texts
    # Rows that were asked for have it beside half_matmul.
    middle, ragged = ((name, f"{name}_late") for name in ("middle_matmul", "ragged_matmul"))
    assert made.missing == (*middle, "matmul", *ragged)


def test_prepare_again_where_texts_are_others(tmp_path: Path) -> None:
    """A changed compiler writes its files over those of the compiler before."""
    examples, out = tmp_path / "examples", tmp_path / "out"
    examples.mkdir()
    given = ["prepare", str(out), "--examples", str(examples), "--kernels", "swiglu"]
    for narrower in ("y:64", "y:32"):
        (examples / "swiglu.dt").write_text(SWIGLU.replace("y:64", narrower))
        assert main(given) == 0
    (text,) = read_manifest(out).texts
    assert text.text_hash == hash_of((out / "swiglu.py").read_text())


@pytest.mark.long
def test_run_and_go_on(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "r.json"
    # A variant cannot be compiled, so that something of ours failed.
    assert run(folder, output, "--kernels", "swiglu") == 1
    (row,) = read(output).rows
    times = {one.name: one for one in row.times}
    assert times.keys() == {"swiglu", "swiglu__narrow", "swiglu__broken", "torch"}
    assert all(one.median > 0 for name, one in times.items() if name != "swiglu__broken")
    assert "sigmund" in times["swiglu__broken"].failure
    assert read(output).command.endswith("--no-host --kernels swiglu")
    assert not began_file(output).exists()
    told = capsys.readouterr().out
    assert "swiglu 16x64 f32: " in told
    assert "best schedule" in told
    # What is there is not measured again, and nothing of it is lost.
    assert run(folder, output, "--kernels", "half_matmul") == 1
    assert "half_matmul" in capsys.readouterr().out
    assert [one.kernel for one in read(output).rows] == ["swiglu", "matmul"]
    assert read(output).rows[0] == row
    assert run(folder, output, "--kernels", "swiglu", "--again") == 1
    assert read(output).rows[-1].kernel == "swiglu"


@pytest.mark.long
def test_all_are_compiled_ahead(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By processes of their own, those that cannot be included; the peers are no texts of ours."""
    assert run(folder, tmp_path / "r.json", "--ahead", "2", "--kernels", "swiglu") == 1
    assert "ended early" not in capsys.readouterr().out
    manifest = read_manifest(folder)
    row = next(row for row in tiny_rows() if row.kernel == "swiglu")
    jobs = [(row, one) for one in candidates(row, folder, manifest, {})]
    assert len(jobs) == 3
    said: list[Step] = []
    # One of them has no text.
    assert compile_ahead(jobs, Ahead(2, "cpu", 300.0), said.append) == 2
    assert [one.done for one in said] == [0, 1, 2]
    assert compile_ahead(jobs, Ahead(1, "cpu", 0.0), said.append) == 0
    assert said[-1].what.endswith("ended early")


def test_what_is_not_filled_is_alike() -> None:
    for row in tiny_rows():
        real, like = (tensors(made(row, "cpu")) for made in (inputs, unfilled))
        assert real.keys() == like.keys()
        for name, tensor in real.items():
            other = like[name]
            assert (tensor.shape, tensor.stride()) == (other.shape, other.stride()), (row, name)
            assert tensor.dtype == other.dtype, (row, name)


def test_the_host(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "r.json"
    run(folder, output, "--kernels", "matmul", "--host")
    known = read(output).host
    # Ours is the text that counts, which is missing here.
    assert {one.name for one in known} == {"cuBLAS", "cuBLAS, padded copies"}
    run(folder, output, "--kernels", "swiglu", "--host")
    assert {one.name for one in read(output).host if one.kernel == "swiglu"} == {"swiglu", "torch"}
    assert all(one.median > 0 for one in read(output).host)


def changed(folder: Path, old: str, new: str) -> None:
    """Change all texts of a folder."""
    manifest = read_manifest(folder)
    texts: list[Prepared] = []
    for one in manifest.texts:
        text = (folder / one.file).read_text()
        assert old in text
        text = text.replace(old, new)
        (folder / one.file).write_text(text)
        texts.append(replace(one, text_hash=hash_of(text)))
    write_manifest(folder, replace(manifest, texts=tuple(texts)))


def test_results_in_place(tmp_path: Path) -> None:
    """Each candidate has its own tensors, and each check begins with the first values."""
    examples, out = tmp_path / "examples", tmp_path / "out"
    examples.mkdir()
    (examples / "adam_in_place.dt").write_text(ADAM)
    given = ["prepare", str(out), "--examples", str(examples), "--only", "adam*"]
    assert main(given) == 0
    assert run(out, tmp_path / "r.json", "--only", "adam*") == 0
    (row,) = read(tmp_path / "r.json").rows
    times = {one.name: one for one in row.times}
    assert times.keys() == {"adam_in_place", "torch", "fused Adam"}
    assert all(one.median > 0 for one in row.times)
    # Results that are right in one of three tensors only.
    changed(out, "(1.0 - beta2)", "(1.5 - beta2)")
    assert run(out, tmp_path / "wrong.json", "--only", "adam*") == 1
    (row,) = read(tmp_path / "wrong.json").rows
    (ours,) = (one for one in row.times if one.is_ours)
    assert ours.failure.startswith("wrong: it is off by")


def test_several_results_of_which_one_has_whole_numbers(tmp_path: Path) -> None:
    examples, out = tmp_path / "examples", tmp_path / "out"
    examples.mkdir()
    (examples / "quantize_rows.dt").write_text(QUANTIZE)
    main(["prepare", str(out), "--examples", str(examples), "--only", "quantize*"])
    assert run(out, tmp_path / "r.json", "--only", "quantize*") == 0
    # What is left out keeps a number that no result has.
    changed(out, "mask=y_mask,\n    )\n\n", "mask=y_mask & (y != 5),\n    )\n\n")
    assert run(out, tmp_path / "wrong.json", "--only", "quantize*") == 1
    (row,) = read(tmp_path / "wrong.json").rows
    (ours,) = (one for one in row.times if one.is_ours)
    assert ours.failure.startswith("wrong: it is off by")


def test_a_wrong_result_has_no_time(folder: Path, tmp_path: Path) -> None:
    texts = read_manifest(folder)
    (one,) = (text for text in texts.texts if text.name == "swiglu")
    text = (folder / one.file).read_text()
    wrong = text.replace("tl.sigmoid(", "1.01 * tl.sigmoid(")
    assert wrong != text
    (tmp_path / one.file).write_text(wrong)
    changed = replace(one, text_hash=hash_of(wrong))
    write_manifest(tmp_path, replace(texts, texts=(changed,), missing=()))
    assert run(tmp_path, tmp_path / "r.json") == 1
    (row,) = read(tmp_path / "r.json").rows
    ours, torchs = sorted(row.times, key=lambda timed: timed.kind)
    assert ours.failure.startswith("wrong: it is off by")
    assert not ours.median
    assert torchs.median
    # One text under the name of another is not run at all.
    write_manifest(tmp_path, replace(texts, texts=(one,)))
    with pytest.raises(ValueError, match="is not the text that was prepared"):
        run(tmp_path, tmp_path / "r.json")


def test_a_result_that_changes_from_run_to_run_has_no_time(folder: Path, tmp_path: Path) -> None:
    texts = read_manifest(folder)
    (one,) = (text for text in texts.texts if text.name == "swiglu")
    text = (folder / one.file).read_text()
    # As if it added to what is there, but for the first times.
    made = "dt_function(swiglu_plan, swiglu_kernel)\n"
    more = """
calls = []

def swiglu(*given, out=None):
    calls.append(made(*given, out=out))
    return calls[-1].mul_(max(len(calls) - 1, 1) ** 0.5)
"""
    changed = text.replace(f"swiglu = {made}", f"made = {made}{more}")
    assert changed != text
    (tmp_path / one.file).write_text(changed)
    write_manifest(
        tmp_path, replace(texts, texts=(replace(one, text_hash=hash_of(changed)),), missing=())
    )
    run(tmp_path, tmp_path / "r.json")
    (row,) = read(tmp_path / "r.json").rows
    (ours,) = (timed for timed in row.times if timed.name == "swiglu")
    assert ours.failure.startswith("wrong: at the end it is off by")


def test_results_of_another_machine_are_kept(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "r.json", Results(machine={"device": "another"}))
    assert run(folder, tmp_path / "r.json") == 1
    assert "was measured elsewhere" in capsys.readouterr().err
    assert read(tmp_path / "r.json").machine == {"device": "another"}


def test_no_time_is_left(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder, tmp_path / "r.json", "--seconds", "0", "--kernels", "swiglu")
    assert "the same command goes on" in capsys.readouterr().out
    assert read(tmp_path / "r.json").rows == ()


def test_arguments_go_by_name() -> None:
    given: Inputs = {"X": torch.zeros(1), "W": torch.ones(1), "eps": 0.5}
    assert arguments(("X", "W", "eps"), given)[2] == 0.5
    assert arguments(("W", "X"), given) == [given["W"], given["X"]]
    assert arguments(("A", "B", "C"), given)[0] is given["X"]
    with pytest.raises(TypeError, match="it takes A"):
        arguments(("A",), given)


def lose(row: str) -> Callable[..., object]:
    """Make a `measured` for a device that its first candidate breaks."""

    def measured(*given: object) -> object:
        begins, candidates = given[5], given[1]
        assert callable(begins)
        assert isinstance(candidates, list)
        if candidates and isinstance(candidates[0], Candidate):
            begins(candidates[0])
        raise LostDevice(f"an illegal memory access in {row}")

    return measured


@pytest.mark.long
def test_who_loses_the_device_is_not_run_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "r.json"
    with monkeypatch.context() as patch:
        patch.setattr(session, "measured", lose("swiglu"))
        assert run(folder, output, "--kernels", "swiglu") == processes.LOST
    (broken,) = read(output).broken
    assert (broken.row, broken.candidate) == ("swiglu 16x64 f32", "swiglu")
    assert run(folder, output, "--kernels", "swiglu") == 1
    (row,) = read(output).rows
    failed: dict[str, Timed] = {one.name: one for one in row.times if one.failure}
    assert "illegal memory access" in failed["swiglu"].failure
    assert "torch" not in failed


def test_a_crash_is_written_down_and_a_new_process_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "r.json"
    codes = [-11, processes.LOST, 0]
    given: list[list[str]] = []

    def child(arguments: list[str]) -> int:
        given.append(arguments)
        if len(given) == 1:
            write(output, Results())
            began = {"row": "r", "candidate": "c", "text_hash": ""}
            began_file(output).write_text(json.dumps(began))
        elif len(given) == 2:
            known = read(output)
            write(output, replace(known, broken=(*known.broken, known.broken[0])))
        return codes[len(given) - 1]

    monkeypatch.setattr(processes, "_child", child)
    assert processes.in_processes(["run", "x"], output, 100.0) == 0
    assert len(given) == 3
    assert given[0][:3] == ["run", "x", "--here"]
    assert read(output).broken[0].why == "it ended the process (signal 11)"
    # If no candidate can be blamed, it would go on for ever.
    codes[:] = [-11]
    given[:] = [[], []]
    monkeypatch.setattr(processes, "_child", always_crash)
    assert processes.in_processes(["run"], tmp_path / "none.json", 100.0) == processes.STOPPED


def always_crash(_: list[str]) -> int:
    return -11


def test_what_is_told_of_failures() -> None:
    assert told(torch.OutOfMemoryError("CUDA out of memory. Tried")) == "out of memory"
    assert told(ValueError("a\n b")) == "ValueError: a b"
    with pytest.raises(LostDevice):
        told(RuntimeError("CUDA error: an illegal memory access was encountered"))
