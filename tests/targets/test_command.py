"""`dtpoly compile --target` and `--emit`: what goes wrong is told, and ends with the right code."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.server import Server

COPY = "Func f; In A; Var x; f[x] = A[x] + 1; f.block(x:128); f.tensorize(x:0); f.compile();"
STAGES = """\
Func mm; In A, B; Var m, n; RVar k;
mm[m, n] = rdot(A[m, k], B[k, n], k);
mm.block(m:16, n:16);
mm.tensorize(m:0, n:0, k:512);
mm.num_stages(9);
mm.compile();
"""


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "copy.dt"
    path.write_text(COPY)
    return path


@pytest.mark.long
def test_too_many_stages(served: Server, tmp_path: Path) -> None:
    path = tmp_path / "mm.dt"
    path.write_text(STAGES)
    asked = ("compile", "--emit", "ttir", "--dtype", "f16", "--json", "--target", "cuda:90")
    code, out, _ = served(*asked, str(path))
    document = json.loads(out)
    assert (code, document["kernels"][0]["num_stages"]) == (0, 9)
    (found,) = (one for one in document["diagnostics"] if one["code"] == "DT302")
    assert found["title"] == "'mm' cannot be launched on cuda:90"
    assert found["hint"].startswith("take mm.num_stages(7), with which it needs 192 KiB")
    assert found["place"]["start"]["line"] == 5


def test_the_file_to_compile_is_kept(served: Server, copy: Path) -> None:
    for stage in ((), ("--emit", "ttir")):
        code, _, err = served("compile", *stage, "copy.dt", "-o", "./copy.dt")
        assert (code, "'./copy.dt' is the file to compile" in err) == (2, True)
    code, _, err = served("compile", "--emit", "ttir", "copy.dt", "-o", "")
    assert (code, "an empty name names no file" in err) == (2, True)
    assert copy.read_text() == COPY


@pytest.mark.sampled
@pytest.mark.parametrize("place", ["no/such/folder/x", "/dev/full", "."])
@pytest.mark.parametrize("stage", ["ttir", "cubin"])
def test_what_cannot_be_written(served: Server, copy: Path, place: str, stage: str) -> None:
    code, out, err = served("compile", "--emit", stage, "copy.dt", "-o", place)
    assert (code, out) == (1, "")
    assert f"error: cannot write '{place}': " in err
    assert os.listdir() == ["copy.dt"]


def test_what_triton_prints_is_no_result(served: Server, tmp_path: Path) -> None:
    path = tmp_path / "eight.dt"
    path.write_text("Func f; In A: f8e4m3; Var x; f[x] = A[x]; f.tensorize(x:64);")
    asked = ("compile", "--emit", "ptx", "--target", "cuda:80", "--json")
    code, out, err = served(*asked, str(path))
    assert (code, out) == (1, "")
    assert "error[DT306]: Triton cannot compile 'f' for cuda:80" in err
