"""`dtpoly compile --emit`: every stage of Triton's compiler, on a machine without a GPU."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import dtpoly, environment
from tests.cli.server import Server

EXP = """\
Func f; In A; Var x, y;
f[x, y] = exp(A[x, y]);
f.block(x:4, y:256); f.tensorize(x:0, y:0); f.compile();
"""
SUM = """\
Func total; In A; Var x; RVar k;
total[x] = rsum(A[x, k], k);
total.block(k:256); total.tensorize(k:0); total.compile();
"""


@pytest.fixture
def exp(tmp_path: Path) -> Path:
    path = tmp_path / "exp.dt"
    path.write_text(EXP)
    return path


@pytest.fixture
def total(tmp_path: Path) -> Path:
    """Write a file that has two kernels: one for partial sums, and one for the sum of those."""
    path = tmp_path / "total.dt"
    path.write_text(SUM)
    return path


@pytest.mark.long
@pytest.mark.parametrize(
    ("stage", "mark", "inside"),
    [
        ("ttir", "//", "tt.func public @f_kernel"),
        ("ttgir", "//", "#ttg"),
        ("llir", ";", "define ptx_kernel void @f_kernel"),
        ("ptx", "//", ".visible .entry f_kernel"),
        ("sass", "//", "EXIT"),
        ("amdgcn", ";", "s_endpgm"),
    ],
)
def test_text(served: Server, exp: Path, stage: str, mark: str, inside: str) -> None:
    code, out, err = served("compile", "--emit", stage, str(exp))
    assert code == 0
    first, second, *_ = out.splitlines()
    target = "hip:gfx942" if stage == "amdgcn" else "cuda:90"
    assert first.startswith(f"{mark} f_kernel for {target}: ")
    assert second == f"{mark} compiled for x=1024, y=1024 and inputs of f32"
    assert inside in out
    assert err == f"{first.removeprefix(mark).strip()}\n"


def test_the_resource_line(served: Server, exp: Path) -> None:
    _, _, err = served("compile", "--emit", "ptx", "--target", "cuda:80", str(exp))
    name, needs = err.rstrip().split(": ", 1)
    assert name == "f_kernel for cuda:80"[: len(name)]
    words = needs.removeprefix("80: ").split(", ")
    assert [word.split()[-1] for word in words[:4]] == ["registers", "spills", "memory", "warps"]
    assert words[4].startswith("occupancy about ")


def test_sizes_and_dtypes(served: Server, exp: Path) -> None:
    """Aligned sizes are loaded in wide pieces, others are not; dtypes show in the signature."""
    wide = served("compile", "--emit", "ttir", "--size", "x=64,y=256", str(exp))[1]
    narrow = served("compile", "--emit", "ttir", "--size", "x=64,y=255", str(exp))[1]
    assert "compiled for x=64, y=256" in wide
    assert wide.count("tt.divisibility") > narrow.count("tt.divisibility")
    assert "!tt.ptr<bf16>" in served("compile", "--emit", "ttir", "--dtype", "bf16", str(exp))[1]
    assert "!tt.ptr<f32>" in wide


def test_a_declared_dtype_stays(served: Server) -> None:
    text = EXP.replace("In A;", "In A: f16;").encode()
    assert (
        "!tt.ptr<f16>" in served("compile", "--emit", "ttir", "--dtype", "f64", "-", stdin=text)[1]
    )


def test_binaries_go_to_files(served: Server, exp: Path, total: Path, tmp_path: Path) -> None:
    cubin, hsaco = tmp_path / "exp.cubin", tmp_path / "exp.hsaco"
    assert served("compile", "--emit", "cubin", "-o", str(cubin), str(exp))[0] == 0
    assert served("compile", "--emit", "hsaco", "-o", str(hsaco), str(exp))[0] == 0
    assert cubin.read_bytes()[:4] == hsaco.read_bytes()[:4] == b"\x7fELF"
    code, out, err = served("compile", "--emit", "cubin", str(exp))
    assert (code, out) == (2, "")
    assert "cubin is binary: name a file with -o" in err
    many = tmp_path / "many.cubin"
    assert served("compile", "--emit", "cubin", "-o", str(many), str(total))[0] == 0
    named = sorted(path.name for path in tmp_path.glob("many*"))
    assert named == ["many.total_k_partial_kernel.cubin", "many.total_kernel.cubin"]


@pytest.mark.long
def test_a_binary_to_standard_output(exp: Path) -> None:
    done = dtpoly("compile", "--emit", "cubin", "-o", "-", str(exp))
    assert done.returncode == 0
    assert done.stdout[:4] == b"\x7fELF"


def test_several_kernels(served: Server, total: Path) -> None:
    code, out, err = served("compile", "--emit", "ptx", str(total))
    assert code == 0
    assert out.count(".visible .entry") == 2
    assert len(err.splitlines()) == 2


def test_json(served: Server, total: Path) -> None:
    code, out, err = served("compile", "--emit", "ptx", "--json", "--size", "x=8,k=512", str(total))
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert (document["version"], document["target"], document["stage"]) == (1, "cuda:90", "ptx")
    assert document["sizes"] == {"x": 8, "k": 512}
    assert [kernel["name"] for kernel in document["kernels"]] == [
        "total_k_partial_kernel",
        "total_kernel",
    ]
    for kernel in document["kernels"]:
        assert kernel["registers"] > 0
        assert (kernel["spilled_bytes"], kernel["num_warps"]) == (0, 4)
        assert 0 < kernel["occupancy"] <= 1
        assert ".visible .entry" in kernel["text"]


def test_target_alone_tells_and_writes(
    served: Server, exp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = served("compile", "--target", "hip:gfx90a", str(exp))
    assert (code, out) == (0, "")
    wrote, needs = err.splitlines()
    assert wrote == "wrote exp.py: f, 1 kernel"
    assert needs.startswith("f_kernel for hip:gfx90a: ")
    assert (tmp_path / "exp.py").exists()


def test_warnings_point_at_the_directive(served: Server) -> None:
    text = EXP.replace("y:256", "y:1").replace("x:4", "x:128").encode()
    code, _, err = served("compile", "--emit", "ttir", "-", stdin=text)
    assert code == 0
    assert "warning[DT304]: 'A' is not loaded in one piece\n" in err
    assert "3 | f.block(x:128, y:1); f.tensorize(x:0, y:0); f.compile();\n" in err
    assert f"  | {' ' * 33}^^^ neighbours along x are 1,024 elements apart" in err


def test_what_triton_refuses(served: Server, exp: Path) -> None:
    arguments = ("--emit", "ptx", "--target", "cuda:80", "--dtype", "f8e4m3")
    code, out, err = served("compile", *arguments, str(exp))
    assert (code, out) == (1, "")
    assert "error[DT306]: Triton cannot compile 'f' for cuda:80" in err


def test_a_tile_that_is_too_large(served: Server) -> None:
    text = EXP.replace("f.block(x:4, y:256);", "f.block(x:4096);").encode()
    code, out, err = served("compile", "--emit", "ttir", "--size", "y=4096", "-", stdin=text)
    assert (code, out) == (1, "")
    assert "error[DT301]: a tile of 'f' has 16,777,216 elements" in err


def test_dtypes_that_do_not_meet(served: Server) -> None:
    text = EXP.replace("exp(A[x, y])", "A[x, y] + B[x, y]").replace("In A;", "In A; In B: f32;")
    code, out, err = served(
        "compile", "--emit", "ttir", "--dtype", "f8e5m2", "-", stdin=text.encode()
    )
    assert (code, out) == (1, "")
    assert "error[DT16" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--emit", "amdgcn", "--target", "cuda:90"), "cuda:90 has no stage amdgcn; it has ttir"),
        (("--emit", "ptx", "--target", "hip:gfx942"), "hip:gfx942 has no stage ptx; it has ttir"),
        (("--emit", "ptx", "--size", "z=4"), "the program has no label 'z'"),
        (("--emit", "ptx", "--size", "y"), "is not of the form label=number"),
        (("--emit", "ptx", "--dtype", "i32"), "'i32' is not one of"),
    ],
)
def test_usage(served: Server, exp: Path, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = served("compile", *arguments, str(exp))
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())


@pytest.mark.long
def test_it_compiles_also_where_kernels_are_interpreted(exp: Path) -> None:
    done = dtpoly("compile", "--emit", "ttir", str(exp), env={"TRITON_INTERPRET": "1"})
    assert done.returncode == 0
    assert b"tt.func public @f_kernel" in done.stdout


def test_without_triton(exp: Path) -> None:
    code = (
        "import sys; sys.modules['triton'] = None\n"
        "from dtpoly.cli.main import entry; sys.exit(entry(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "compile", "--emit", "ttir", str(exp)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment(),
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error[DT330]: triton is not installed\n")
    assert (
        "hint: pip install 'dtpoly[torch]' installs it, and what else kernels need\n" in done.stderr
    )


@pytest.mark.long
def test_where_triton_has_no_place_to_write(exp: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = str(tmp_path / "file")
    env = {"TRITON_CACHE_DIR": place, "DTPOLY_CACHE_DIR": place}
    done = dtpoly("compile", "--emit", "ttir", str(exp), env=env)
    assert (done.returncode, done.stdout) == (1, b"")
    said, hint = done.stderr.splitlines()
    assert said.startswith(b"error: Triton's compiler cannot use its files: ")
    assert b"Not a directory" in said
    assert hint == b"  = hint: TRITON_CACHE_DIR says where it keeps them"
