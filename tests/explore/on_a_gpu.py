"""`python -m tests.explore.on_a_gpu`: a worker with candidates of all kinds, on a GPU.

It needs dtpoly, torch, Triton and numpy, and neither isl nor pytest: the candidates are written by
hand.
"""

import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from dtpoly.explore.bench.bench import Candidate
from dtpoly.explore.store.measured_question import UserQuestion
from dtpoly.explore.store.results import FunctionCall, Outcome
from dtpoly.explore.workers.process import Gone, NoAnswer, Process
from dtpoly.explore.workers.servants import job_of, result_of
from dtpoly.explore.workers.socket_messages import Message
from dtpoly.explore.workers.workers import RunPlace
from dtpoly.frozen import dataclass

ASKED = UserQuestion("twice.dt", "Func f; In A; Var x;\nf[x] = 2 * A[x];\n", "f", {"x": 1 << 24})
TEXT = """
import torch, triton
import triton.language as tl

@triton.jit
def kernel(A, F, X, N: tl.constexpr):
    x = tl.program_id(0) * N + tl.arange(0, N)
    value = tl.load(A + x, mask=x < X)
    BODY
    tl.store(F + x, 2 * value, mask=x < X)

def f(A, out=None):
    out = torch.empty_like(A) if out is None else out
    kernel[(triton.cdiv(A.numel(), 1024),)](A, out, A.numel(), N=1024)
    return out
"""
BASELINE = "def twice(A):\n    return 2 * A\n"
HANGS = "while tl.load(F) != 12345.0:\n        tl.store(F + x, value)"
# Its two operands take 512 KiB of shared memory.
LARGE = """square = tl.load(A + tl.arange(0, 256)[:, None] * 256 + tl.arange(0, 256)[None, :])
    value += tl.sum(tl.dot(square, square))"""
BREAKS = "tl.store(F + (1 << 40) + x, value)"


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate: the text in the place of BODY, its time limit, and the expected outcome."""

    name: str
    body: str
    expected: Outcome | NoAnswer
    kind: str = ""
    seconds: float = 120.0


TRIALS = (
    Trial("right", "pass", Outcome.MEASURED),
    Trial("wrong values", "value += 1", Outcome.WRONG, "wrong values"),
    Trial("no such name", "value = tl.sort(unknown)", Outcome.REFUSED, "does not compile"),
    Trial("too large", LARGE, Outcome.REFUSED, "out of resources"),
    Trial("right after a refusal", "pass", Outcome.MEASURED),
    Trial("breaks the device", BREAKS, NoAnswer.CRASHED),
    Trial("right after a crash", "pass", Outcome.MEASURED),
    Trial("hangs", HANGS, NoAnswer.HUNG, seconds=20.0),
    Trial("right after it hung", "pass", Outcome.MEASURED),
)


def answer_of(worker: Process, trial: Trial) -> Message | Gone:
    """Do both steps of a job, as a crew does them."""
    text = TEXT.replace("BODY", trial.body)
    text_hash = sha256(text.encode()).hexdigest()
    first, second = job_of(Candidate(trial.name, {}, text, text_hash, FunctionCall("f", "f")), None)
    if not worker.is_open:
        worker.open()
    answer = worker.do(first, trial.seconds)
    is_ready = not isinstance(answer, Gone) and "is_ready" in answer
    return worker.do(second, trial.seconds) if is_ready else answer


def objections(trial: Trial, answer: Message | Gone) -> list[str]:
    """Yield what is not as expected."""
    if isinstance(answer, Gone):
        is_right = answer.how is trial.expected
        return [] if is_right else [f"{answer.how} and not {trial.expected}: {answer.reason}"]
    result = result_of(answer)
    told = f"{result.outcome} ({result.kind}: {result.reason})"
    if result.outcome is not trial.expected:
        return [f"{told} and not {trial.expected}"]
    found: list[str] = []
    if trial.kind and result.kind != trial.kind:
        found.append(f"{told} and not of the kind '{trial.kind}'")
    if result.outcome is Outcome.MEASURED:
        assert result.median is not None
        if result.samples < 5:
            found.append(f"only {result.samples} samples")
        ratio = result.median / result.baselines["twice"]
        # The same work takes about the same time.
        if not 0.3 < ratio < 3.0:
            found.append(f"{ratio:.2f} times the time of the baseline")
    return found


def tried(folder: Path) -> list[str]:
    """Do all trials with one worker, and return what went wrong, with the names of the trials."""
    path = folder / "baselines.py"
    path.write_text(BASELINE)
    place = RunPlace("cuda", ASKED, str(path))
    worker = Process(place.opening, place.environment)
    found: list[str] = []
    try:
        said = worker.open()
        if said["failed"]:
            found.append(f"opening: baselines failed: {said['failed']}")
        if "triton" not in said["facts"]["versions"]:
            found.append(f"opening: it does not say which Triton it has: {said['facts']}")
        for trial in TRIALS:
            wrong = objections(trial, answer_of(worker, trial))
            found.extend(f"{trial.name}: {one}" for one in wrong)
    finally:
        worker.end()
        worker.close()
    return found


def main() -> int:
    """Print what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        found = tried(Path(folder))
    for line in found:
        print(line)
    print(f"{len(TRIALS)} trials, {len(found)} objections")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
