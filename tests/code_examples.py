"""Calls that produce the diagnostics about generated code and compiled kernels."""

from collections.abc import Callable

from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import check
from dtpoly.cli.init_against import refused as unmatched
from dtpoly.cli.init_frame import unseen
from dtpoly.cli.without_algorithm import tensors_in
from dtpoly.code_map import code_map
from dtpoly.diagnostics import DtpolyError
from dtpoly.extract.python_modules import read_module
from dtpoly.extract.taking_out import take_out, unlaunched
from dtpoly.generate import Code, code_of
from dtpoly.schedule.state import State
from dtpoly.source import Source
from dtpoly.targets.advice import advice, refused, too_large
from dtpoly.targets.kernel_binary import Failed, KernelBinary
from dtpoly.targets.subject import Subject, subjects
from dtpoly.targets.target import parse_target
from dtpoly.verdict_messages import of_edited, of_emitted
from dtpoly.verify.proof.verify import verify
from dtpoly.watching.launch_record import read_record, written

COPY = """\
Func copy;
In A;
Var x, y;

copy[x, y] = 2 * A[x, y];

copy.compile();
"""
PRODUCT = """\
Func mm;
In A, B;
Var m, n;
RVar k;

mm[m, n] = rdot(A[m, k], B[k, n], k);

mm.compile();
"""
ONLINE = """\
Func f, top;
In A;
Var x;
RVar y;

top[x] = rmax(abs(A[x, y]), y);
f[x] = rsum({}, y);

f.tensorize(x:16, y:32);
top.online(f, y);
f.compile();
"""
HOPPER = parse_target("cuda:90")


def generated(text: str) -> tuple[State, Code]:
    """Return the code of a legal schedule."""
    verdict = check(Source("kernels.dt", text)).verdict
    assert verdict is not None
    return verdict.scheduled, code_of(verdict.scheduled)


def subject(text: str, dtype: DType = DType.F32, **sizes: int) -> Subject:
    """Return its only kernel."""
    state, code = generated(text)
    (one,) = subjects(state, code.stages, sizes, dtype)
    return one


def said(one: Subject, spilled: int = 0, shared: int = 0, ptx: str = "") -> None:
    """Raise the message for a kernel that needs this many bytes."""
    binary = KernelBinary(one.kernel.name, HOPPER, {"ptx": ptx}, 4, 4, 32, spilled, shared)
    raise DtpolyError(advice(one, binary))


def no_dtype() -> None:
    generated(COPY.replace("2 * A[x, y]", "A[x, y] >> 2"))


def too_large_always() -> None:
    generated(COPY + "copy.tensorize(x:2048, y:1024);\n")


def too_large_at_sizes() -> None:
    copy = subject(COPY + "copy.tensorize(x:64, y:0);\n", x=64, y=100_000)
    raise DtpolyError(too_large(copy))


def shared_memory() -> None:
    tiles = "mm.block(m:128, n:128);\nmm.tensorize(m:0, n:0, k:128);\nmm.num_stages(4);\n"
    said(subject(PRODUCT + tiles, DType.F16), shared=256 * 1024, ptx="wgmma.mma_async")


def registers() -> None:
    tiles = "mm.block(m:64, n:64);\nmm.tensorize(m:0, n:0, k:32);\nmm.num_warps(4);\n"
    said(subject(PRODUCT + tiles), spilled=656, ptx="mma.sync")


def apart() -> None:
    said(subject(COPY + "copy.block(x:128);\ncopy.tensorize(x:0);\n"))


def exact() -> None:
    said(subject(PRODUCT + "mm.block(m:16, n:16);\nmm.tensorize(m:0, n:0, k:16);\n"))


def not_exact() -> None:
    tiles = "mm.block(m:32, n:32);\nmm.tensorize(m:0, n:0, k:4);\n"
    said(subject(PRODUCT + tiles, DType.F16))


def triton_refuses() -> None:
    state, code = generated(COPY + "copy.tensorize(y:64);\n")
    (copy,) = subjects(state, code.stages, dtype=DType.F8E4M3)
    lines = code_map(state, code)
    line = next(line.number for line in lines if "tl.load" in line.text)
    failure = Failed("type fp8e4nv not supported in this architecture", line)
    raise DtpolyError([refused(copy, parse_target("cuda:80"), failure, lines)])


def changed(old: str, new: str) -> tuple[State, Source]:
    """Return the kernels of copies of 16 elements, with a mistake."""
    state, code = generated(COPY + "copy.tensorize(y:16);\n")
    assert old in code.text
    return state, Source("kernels.py", code.text.replace(old, new, 1))


def in_no_way_up_to_date() -> None:
    generated(ONLINE.format("floor(A[x, y] / reshape(top[x], x, 1) * 127)"))


def in_other_tiles() -> None:
    exponentials = ONLINE.format("exp(A[x, y] - reshape(top[x], x, 1))")
    generated(exponentials.replace("y:32", "y:32, top.y:16"))


def wrong_code() -> None:
    state, text = changed("y_mask = y < y_size", "y_mask = y <= y_size")
    raise DtpolyError(of_emitted(verify(state.program, text.text), text, "kernels.dt", state))


def unproved_code() -> None:
    state, text = changed("@triton.jit\n", "@triton.jit\n@again\n")
    raise DtpolyError(of_emitted(verify(state.program, text.text), text, "kernels.dt", state))


def late_code() -> None:
    state, text = changed("2", "2")
    raise DtpolyError(of_emitted(verify(state.program, text.text, 1e-9), text, "kernels.dt", state))


def wrong_kernel() -> None:
    state, text = changed("2.0 * A_tile", "3.0 * A_tile")
    raise DtpolyError(of_edited(verify(state.program, text.text), text))


FOREIGN = """\
import triton
import triton.language as tl
from elsewhere import scale


@triton.autotune([], key=[])
@triton.jit
def doubled(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, scale(x), mask=at < n)
"""


def unclear_name() -> None:
    take_out(read_module(Source("project.py", FOREIGN)), "doubled")


def no_launch() -> None:
    module = read_module(Source("project.py", FOREIGN))
    raise DtpolyError([unlaunched(module, "doubled", "doubled.dt")])


def no_tensor() -> None:
    line = "# tensors: X[r, n], W[2 * n], out(Y[r, n])"
    tensors_in([(Source("shapes.dt", f"{line}\n"), line)])


def no_record() -> None:
    read_record(Source("record.json", '{"version": 7, "launches": []}\n'))


def no_such_launch() -> None:
    raise unseen(Source("record.json", written(())), "project.py::doubled", ())


def no_meaning() -> None:
    raise unmatched(Source("sofmax", "sofmax"), "no algorithm 'sofmax'", "no file has it", MEANT)


MEANT = "did you mean 'softmax'?"
CALLS: dict[str, Callable[[], object]] = {
    "DT230_no_dtype": no_dtype,
    "DT300": too_large_always,
    "DT301": too_large_at_sizes,
    "DT302": shared_memory,
    "DT303": registers,
    "DT304": apart,
    "DT305": exact,
    "DT305_f16": not_exact,
    "DT306": triton_refuses,
    "DT307": in_no_way_up_to_date,
    "DT307_tiles": in_other_tiles,
    "DT310": wrong_code,
    "DT311": unproved_code,
    "DT311_late": late_code,
    "DT312": wrong_kernel,
    "DT313": unclear_name,
    "DT314": no_launch,
    "DT315": no_tensor,
    "DT316": no_record,
    "DT317": no_such_launch,
    "DT318": no_meaning,
}
