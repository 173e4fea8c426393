"""Schedules that go to another process, and schedules in which directives are exchanged."""

import copy
import io
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

import dtpoly
from dtpoly.diagnostics import DtpolyError
from tests.cli.process import environment

ROOT = Path(__file__).parent.parent
SOFTMAX = ROOT / "examples" / "softmax.dt"
COMPILE: Callable[..., Any] = vars(torch)["compile"]
TO_SKEW = "Func f; In A; Var x, y; f[x, y] = exp(A[x, y]); f.skew(x, y);"
TWO = """\
Func f, g;  # two of them
In A;
Var x, y;
g[x, y] = exp(A[x, y]);
f[x, y] = g[x, y] + 1;
f.block(x:4, y:8);  # blocks
g.fuse_at(f, x);
f.compile();
"""
REFUSED = """\
Func f, g;
In A;
Var x;
RVar y;
g[x] = rsum(A[x, y], y);
f[x, y] = A[x, y] / reshape(g[x], x, 1);
g.fuse_at(f, y);
f.compile();
"""


@pytest.fixture(autouse=True)
def cold_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use an empty cache, so that proofs of earlier tests cannot hide what is lost on the way."""
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(tmp_path / "cache"))


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled])
def test_a_copy_after_it_was_proved(again: Callable[[Any], Any]) -> None:
    k = dtpoly.load(SOFTMAX, verify=False).softmax
    assert k.verdict.is_legal
    A = torch.randn(3, 20)
    y = k(A)
    other = again(k)
    assert other == k
    assert (other.name, other.focus, other.verifies) == (k.name, "softmax", False)
    assert torch.equal(other(A), y)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.softmax = dtpoly.load(SOFTMAX)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.softmax(x)
        return y


def test_a_model_that_was_called_is_copied_and_saved() -> None:
    model, A = Model(), torch.randn(3, 20)
    y = model(A)
    assert torch.equal(copy.deepcopy(model)(A), y)
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    assert torch.equal(torch.load(file, weights_only=False)(A), y)


def test_messages_of_a_copy_point_to_the_same_places() -> None:
    k = dtpoly.parse(TWO).f.persistent().schedule("f.num_warps(4);").f.warp_specialize()
    other = pickled(k)
    assert str(other.diagnostics) == str(k.diagnostics) != "no errors\n"
    assert other.report == k.report


def test_a_copy_of_a_refused_one() -> None:
    k = dtpoly.parse(REFUSED)
    assert not k.is_legal
    assert str(pickled(k).diagnostics) == str(k.diagnostics)


@pytest.mark.parametrize("again", [copy.deepcopy, pickled])
@pytest.mark.parametrize("text", [TWO, REFUSED])
def test_a_copy_of_a_verdict(again: Callable[[Any], Any], text: str) -> None:
    verdict = dtpoly.parse(text).verdict
    other = again(verdict)
    assert str(other) == str(verdict)
    assert repr(other.scheduled) == repr(verdict.scheduled)
    mine, its = (v.scheduled.model.statements for v in (verdict, other))
    for one, same in zip(mine, its, strict=True):
        assert one.domain.is_equal(same.domain)
        for read, as_read in zip(one.reads, same.reads, strict=True):
            assert read.relation.is_equal(as_read.relation)


def test_a_verdict_in_a_process_that_knows_nothing() -> None:
    verdict = dtpoly.parse(TWO).verdict
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).scheduled)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        input=pickle.dumps(verdict),
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == f"{verdict.scheduled}\n"


def rows(k: dtpoly.Scheduled) -> tuple[str, bool, str]:
    return str(k), k.verdict.is_legal, type(k).__name__


def refused(text: str) -> None:
    dtpoly.parse(text)


@pytest.mark.long
def test_processes_that_know_nothing() -> None:
    spawn = multiprocessing.get_context("spawn")
    k = dtpoly.parse(TO_SKEW, plugins=[ROOT / "examples" / "skew.py"])
    assert k.is_legal
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        assert pool.submit(rows, k).result() == rows(k)
        with pytest.raises(DtpolyError, match="DT1") as raised:
            pool.submit(refused, "Func f").result()
    found, *_ = raised.value.diagnostics
    assert found.span is not None
    assert found.span.source.text == "Func f"


def test_a_plugin_is_the_same_one_in_this_process() -> None:
    k = dtpoly.parse(TO_SKEW, plugins=[ROOT / "examples" / "skew.py"])
    assert pickled(k) == k


def test_a_plugin_that_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "skew.py"
    path.write_text((ROOT / "examples" / "skew.py").read_text())
    data = pickle.dumps(dtpoly.parse(TO_SKEW, plugins=[path]))
    file = tmp_path / "data"
    file.write_bytes(data)
    path.unlink()
    code = f"import pickle; pickle.load(open({str(file)!r}, 'rb'))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False
    )
    assert "cannot read the plugin" in done.stderr


def test_instead_of_what_contradicts() -> None:
    k = dtpoly.parse(TWO)
    with pytest.raises(DtpolyError, match="DT187"):
        k.schedule("g.fuse_at(f, y);")
    other = k.instead("g.fuse_at(f, y)").instead("f.block(x:16);")
    said = [str(one) for one in str(other).splitlines() if "." in one]
    assert said == ["f.compile();", "g.fuse_at(f, y);", "f.block(y:8);", "f.block(x:16);"]
    assert k == dtpoly.parse(TWO)
    assert pickled(other) == other


def test_instead_of_nothing_is_one_more() -> None:
    k = dtpoly.parse(TWO)
    assert k.instead("f.num_warps(8);") == k.f.num_warps(8)


def test_without() -> None:
    k = dtpoly.parse(TWO)
    assert k.without("f.block") == k.without("f.block(x:4, y:8);")
    left = k.without("f.block", "g.fuse_at")
    assert str(left).splitlines()[-1:] == ["f.compile();"]
    assert left.f.block(x=4, y=8).g.fuse_at("f", "x").is_legal
    assert k.algorithm.program.directives == ()
    assert k.algorithm == k.algorithm.algorithm


def test_what_stays_has_its_line() -> None:
    k = dtpoly.parse(TWO).f.persistent().without("f.block")
    (left,) = (one for one in k.diagnostics if one.code == "DT198")
    assert left.span is not None
    file = dtpoly.parse(TWO.replace("f.block(x:4, y:8); ", " ")).checked.file
    assert [str(one.span) for one in file.statements[:5]] == [
        str(one.span) for one in k.checked.file.statements[:5]
    ]


@pytest.mark.parametrize("words", ["f.unroll", "f.block(x:5)", "h.block", "", "block"])
def test_without_what_is_not_there(words: str) -> None:
    k = dtpoly.parse(TWO)
    with pytest.raises((ValueError, DtpolyError)):
        k.without(words)


def test_torch_compile_of_one_that_was_never_called() -> None:
    A = torch.randn(3, 20)
    k = dtpoly.load(SOFTMAX)

    def called(x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = k(x) + 1
        return y

    compiled = COMPILE(called, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(A), A.softmax(1) + 1)
    model = COMPILE(Model(), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(model(A), A.softmax(1))


TRACEBACK = """
import dtpoly
def mine():
    return dtpoly.parse("Func f")
try:
    mine()
except dtpoly.DtpolyError as error:
    print("\\n".join(error._render_traceback_()))
"""


def test_a_property_that_fails_shows_no_line_of_python() -> None:
    k = dtpoly.parse(REFUSED)
    with pytest.raises(DtpolyError) as raised:
        _ = k.source
    mine, message, *_ = getattr(raised.value, "_render_traceback_")()  # noqa: B009
    assert mine.endswith(": _ = k.source")
    assert message.startswith("DtpolyError: error[DT203]")


@pytest.mark.parametrize("wrong", ["k['h']", "k.h", "k.f.block(1.5)", "k(1, 2, 3)"])
def test_what_a_notebook_shows_of_a_usual_error_begins_with_the_users_line(wrong: str) -> None:
    with pytest.raises((KeyError, AttributeError, TypeError)) as raised:
        eval(wrong, {"k": dtpoly.parse(TWO)})
    shown = [frame for frame in raised.traceback if "__tracebackhide__" not in frame.locals]
    assert not any("api.py" in str(frame.path) for frame in shown)


IN_A_NOTEBOOK = """
import builtins
class ZMQInteractiveShell: pass
builtins.get_ipython = ZMQInteractiveShell
import dtpoly
k = dtpoly.load({path!r}, verify=False)
print(k.explain())
"""


def test_a_notebook_shows_tables_once() -> None:
    """There rich shows what it draws at once, and what is to be returned lacks it."""
    done = subprocess.run(
        [sys.executable, "-c", IN_A_NOTEBOOK.format(path=str(SOFTMAX))],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{dtpoly.load(SOFTMAX).explain()}\n"
    assert "kernel    computes" in done.stdout


def test_a_notebook_shows_no_line_of_dtpoly(tmp_path: Path) -> None:
    file = tmp_path / "cell.py"
    file.write_text(TRACEBACK)
    done = subprocess.run(
        [sys.executable, file], env=environment(), capture_output=True, text=True, check=True
    )
    one, two, message, *_ = done.stdout.splitlines()
    assert one == f"{file}:6: mine()"
    assert two == f'{file}:4: return dtpoly.parse("Func f")'
    assert message.startswith("DtpolyError: error[DT1")
