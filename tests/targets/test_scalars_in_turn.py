"""Programs that take blocks in turn, and numbers that a kernel is given: Triton compiles them."""

import json

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.cli.server import Server
from tests.verify.texts import text_of

TEXT = (
    "Func f, p; In A: f16, B: f16; SIn s, n; Var i, j; RVar k; p[i, j] = rdot(A[i, k], B[k, j], k);"
    "f[i, j] = p[i, j] * s + n; f.block(i:32, j:32); f.tensorize(i:0, j:0, k:32);"
    "f.persistent(); p.fuse_at(f, j); f.compile();"
)


def test_they_are_brought_to_their_types_before_the_loop(served: Server) -> None:
    words = ("compile", "--emit", "ptx", "--target", "cuda:90", "--json", "-")
    code, out, err = served(*words, "--size", "i=64,j=64,k=64", stdin=TEXT.encode())
    assert code == 0, err
    assert json.loads(out)["kernels"]
    program = load(Source("f.dt", TEXT))
    text = text_of(program)
    assert text.index("s = tl.full(") < text.index("for block in tl.range(")
    assert verify(program, text, seconds=60).verdict is LayerVerdict.PROVED
