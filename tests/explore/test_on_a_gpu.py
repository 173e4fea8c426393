"""On a GPU: candidates of all kinds through a worker of its own; those that break it end no run."""

from hashlib import sha256
from pathlib import Path

import pytest

from dtpoly.explore.device import Candidate
from dtpoly.explore.messages import Message
from dtpoly.explore.process import Gone, How, Process
from dtpoly.explore.question import Asked
from dtpoly.explore.results import Call, Outcome
from dtpoly.explore.servants import job_of, result_of
from dtpoly.explore.workers import Place

ASKED = Asked("twice.dt", "Func f; In A; Var x;\nf[x] = 2 * A[x];\n", "f", {"x": 1 << 24})
# It is written by hand, so that nothing of the compiler is needed where the GPU is.
TEXT = """
import torch, triton
import triton.language as tl

@triton.jit
def kernel(A, F, X, N: tl.constexpr):
    x = tl.program_id(0) * N + tl.arange(0, N)
    value = tl.load(A + x, mask=x < X)
    BODY
    tl.store(F + x, 2 * value, mask=x < X)

def f_like(A):
    return torch.empty_like(A)

def f(A, out=None):
    out = f_like(A) if out is None else out
    kernel[(triton.cdiv(A.numel(), 1024),)](A, out, A.numel(), N=1024)
    return out
"""
BASELINE = "def twice(A):\n    return 2 * A\n"
HANGS = "while tl.load(F) != 12345.0:\n        tl.store(F + x, value)"
BREAKS = "tl.store(F + (1 << 40) + x, value)"

pytestmark = pytest.mark.gpu


def answer_of(worker: Process, body: str, seconds: float = 120.0) -> Message | Gone:
    """Both steps of a job, as a crew does them."""
    text = TEXT.replace("BODY", body)
    text_hash = sha256(text.encode()).hexdigest()
    first, second = job_of(Candidate(body, {}, text, text_hash, Call("f", "f")), None)
    if not worker.is_open:
        worker.open()
    answer = worker.do(first, seconds)
    is_ready = not isinstance(answer, Gone) and "is_ready" in answer
    return worker.do(second, seconds) if is_ready else answer


def test_candidates_of_all_kinds(tmp_path: Path) -> None:
    path = tmp_path / "baselines.py"
    path.write_text(BASELINE)
    place = Place("cuda", ASKED, str(path))
    worker = Process(place.opening, place.environment)
    said = worker.open()
    assert said["failed"] == {}
    assert "triton" in said["facts"]["versions"]

    def outcome(body: str, seconds: float = 120.0) -> Outcome | How:
        answer = answer_of(worker, body, seconds)
        return answer.how if isinstance(answer, Gone) else result_of(answer).outcome

    answer = answer_of(worker, "pass")
    assert not isinstance(answer, Gone)
    result = result_of(answer)
    assert result.outcome is Outcome.MEASURED, result.reason
    assert result.median is not None
    assert result.samples >= 5
    # The same work takes about the same time.
    assert 0.3 < result.median / result.baselines["twice"] < 3.0
    assert outcome("value += 1") is Outcome.WRONG
    assert outcome("value = tl.sort(unknown)") is Outcome.REFUSED
    assert outcome(BREAKS) is How.CRASHED
    assert outcome("pass") is Outcome.MEASURED
    assert outcome(HANGS, 20.0) is How.HUNG
    assert outcome("pass") is Outcome.MEASURED
    worker.end()
    worker.close()
