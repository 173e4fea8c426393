"""`python -m tests.gpu.check FOLDER`: runs what `tests.gpu.prepare` wrote, on a GPU.

Needs torch, triton and pyparsing. Prints a table; with OUT set, results are kept there as JSON.
"""

import argparse
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from tests.gpu.plan import AGAIN, GROUPS, LOADING, RACES, Case, read, write
from tests.gpu.pool import Result, run_all

# Triton has no types to check against.
triton: Any = importlib.import_module("triton")
OUTCOMES = ("right", "nothing to run", "wrong", "failed", "GPU error", "not run")
GOOD = ("right", "nothing to run")
LAUNCHED_OTHERWISE = ("otherwise", "together", "panels")
SANITIZER = (
    "compute-sanitizer",
    "--tool",
    "memcheck",
    "--error-exitcode",
    "99",
    "--launch-timeout",
    "60",
)


def main() -> None:
    """Run all parts that are asked for."""
    parser = argparse.ArgumentParser(prog="tests.gpu.check", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=min(os.cpu_count() or 1, 12))
    parser.add_argument("--seconds", type=float, default=400.0, help="for the cases")
    parser.add_argument("--launches", type=int, default=10_000, help="of each scratch kernel")
    parser.add_argument(
        "--parts",
        nargs="*",
        default=["cases", "barriers", "chains", "memcheck"],
        help="which to run",
    )
    chosen = parser.parse_args()
    os.environ.pop("TRITON_INTERPRET", None)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}")
    found: dict[str, object] = {"gpu": torch.cuda.get_device_name(), "triton": triton.__version__}
    is_good = True
    for part in chosen.parts:
        start = time.monotonic()
        try:
            told, good = _part(part, chosen, start + chosen.seconds)
        except ChildProcessError as error:
            told, good = str(error), False
            print(error)
        found[part] = told
        is_good = is_good and good
        print(f"({part}: {time.monotonic() - start:.0f} s)\n", flush=True)
        _keep(found)
    print("all is right" if is_good else "SOMETHING IS WRONG")
    raise SystemExit(not is_good)


def _part(part: str, chosen: argparse.Namespace, until: float) -> tuple[object, bool]:
    match part:
        case "cases":
            return cases(chosen.folder, chosen.workers, until)
        case "barriers":
            return barriers(chosen.folder, chosen.launches)
        case "chains":
            return chains(chosen.folder, chosen.launches)
        case _:
            return memcheck(chosen.folder)


def _keep(found: dict[str, object]) -> None:
    out = os.environ.get("OUT")
    if out:
        (Path(out) / "gpu.json").write_text(json.dumps(found, indent=1) + "\n")


def cases(folder: Path, workers: int, until: float) -> tuple[object, bool]:
    """Run all cases, and compare each with the reference."""
    plan = list(read(folder))
    numbers = [at for at, case in enumerate(plan) if case.group not in (GROUPS[1], LOADING)]
    # If cases of one file came one after the other, one worker alone would compile all of them.
    results = run_all(folder, numbers[::2] + numbers[1::2], workers, until)
    _table(plan, results)
    bad = [one for one in results if one.outcome not in GOOD]
    for one in sorted(bad, key=lambda r: (r.outcome, r.case))[:40]:
        print(f"--- {one.outcome}: {plan[one.case]}\n{one.why.strip()[:700]}")
    told = [{**asdict(one), "name": str(plan[one.case])} for one in bad]
    again = sum(one.why.endswith(AGAIN) for one in results)
    print(f"{again} of them also by a call that launches what one before it launched")
    return {"bad": told, "counts": Counter(one.outcome for one in results), "again": again}, not bad


def _table(plan: Sequence[Case], results: Sequence[Result]) -> None:
    counts = Counter((plan[one.case].group, one.outcome) for one in results)
    print(f"{'group':16}" + "".join(f"{outcome:>16}" for outcome in OUTCOMES))
    for group in dict.fromkeys(plan[one.case].group for one in results):
        print(f"{group:16}" + "".join(f"{counts[group, o]:16}" for o in OUTCOMES))


def _told(command: Sequence[str]) -> Generator[dict[str, Any]]:
    """Yield the lines of JSON of a process, as they come."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                yield json.loads(line)
    if process.returncode:
        raise ChildProcessError(f"{' '.join(command)} ended with {process.returncode}")


def barriers(folder: Path, launches: int) -> tuple[object, bool]:
    """Return kernels whose lanes or warps wait for others: always right; without barriers refuted.

    A GPU need not show that barriers are missing; the race detector, which ran before, does.
    """
    plan = list(read(folder))
    command = [sys.executable, "-m", "tests.gpu.barriers", str(folder), str(launches)]
    found: list[dict[str, Any]] = []
    for one in _told(command):
        case: Case = plan[int(one["case"])]
        print(f"{case.name:40} {one['wrong']:6} of {one['launches']} launches wrong", flush=True)
        found.append(one)
    right = all(one["wrong"] == 0 for one in found if one["group"] in (GROUPS[0], LOADING))
    races: list[dict[str, Any]] = json.loads((folder / RACES).read_text())
    for one in races:
        print(f"{one['name']:40} {one['with_barriers'] or 'no race'}")
        print(f"{' without barriers':40} {one['without_barriers'] or 'no race'}")
    refuted = all(one["without_barriers"] and not one["with_barriers"] for one in races)
    good = right and refuted and bool(found) and bool(races)
    return {"launches": found, "race detector": races}, good


def chains(folder: Path, launches: int) -> tuple[object, bool]:
    """Run launches of which each needs the one before.

    They are right if they wait; without the wait some are wrong.
    """
    command = [sys.executable, "-m", "tests.gpu.chains", str(folder), str(launches)]
    found: list[dict[str, Any]] = []
    for one in _told(command):
        print(f"{one['chain']:40} {one['wrong']:6} of {one['looks']} looks wrong")
        print(
            f"{' without waiting':40} {one['wrong without waiting']:6} of {one['looks']}",
            flush=True,
        )
        found.append(one)
    # If only the second of two kernels begins early, the first one waits for all before it.
    good = bool(found) and all(not one["wrong"] for one in found)
    is_seen = any(one["wrong without waiting"] for one in found)
    return found, good and is_seen


def memcheck(folder: Path) -> tuple[object, bool]:
    """Run a few cases of each kind under compute-sanitizer, and one that is wrong on purpose."""
    tool = shutil.which(SANITIZER[0]) or "/usr/local/cuda/bin/compute-sanitizer"
    if not Path(tool).exists():
        print("there is no compute-sanitizer here")
        return "no compute-sanitizer", True
    plan = list(read(folder))
    sizes: dict[str, list[int]] = {}
    for at, case in enumerate(plan):
        if case.group == "sizes" and case.recipe.layout != "expanded" and all(case.sizes.values()):
            sizes.setdefault(case.name, []).append(at)
    # Of each listing these are the smallest, a middle and the largest sizes, which are ragged.
    some = {at for one in sizes.values() for at in (one[0], one[len(one) // 2], one[-1])}
    randoms = [at for at, case in enumerate(plan) if case.group == "random"][::10]
    others = [at for at, case in enumerate(plan) if case.group in LAUNCHED_OTHERWISE][::4]
    scratch = [at for at, case in enumerate(plan) if case.group == GROUPS[0]][:2]
    numbers = [*sorted(some), *randoms, *others, *scratch]
    os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"
    until = time.monotonic() + 200
    log = folder / "memcheck.%p.txt"
    command = (tool, *SANITIZER[1:], "--log-file", str(log))
    results = run_all(folder, numbers, 6, until, command)
    reports = {path: path.read_text() for path in folder.glob("memcheck.*.txt")}
    errors = [line for text in reports.values() for line in text.splitlines() if _is_bad(line)]
    for path in reports:
        path.unlink()
    counts = Counter(one.outcome for one in results)
    print(f"memcheck: {dict(counts)}, {len(errors)} reports in {len(reports)} processes")
    for one in results:
        if one.outcome not in GOOD:
            print(f"--- {one.outcome}: {plan[one.case]}\n{one.why.strip()[:500]}")
    print("\n".join(errors[:20]))
    planted = _planted(folder, plan, command)
    print("\n".join(planted[:3]) or "the planted overrun was NOT reported")
    told = {"counts": counts, "errors": errors, "planted": planted}
    good = not errors and bool(reports) and bool(planted) and set(counts) <= {*GOOD, "not run"}
    return told, good


def _is_bad(line: str) -> bool:
    return "Invalid __" in line or ("ERROR SUMMARY" in line and " 0 errors" not in line)


def _planted(folder: Path, plan: Sequence[Case], command: Sequence[str]) -> list[str]:
    """Return what is reported of a sum that reads one element too many at the end of its input."""
    case = next(case for case in plan if case.name == "listing_3_19_sum_tensorize")
    text = (folder / case.file).read_text()
    wrong, found = re.subn(r"k < k_size", "k <= k_size", text)
    assert found
    place = folder / "planted"
    place.mkdir(exist_ok=True)
    (place / case.file).write_text(wrong)
    write(
        place,
        [Case("planted", case.name, case.file, case.text, case.funcs, {"x": 1, "k": 128 + 3})],
    )
    log = place / "memcheck.txt"
    at = command.index("--log-file") + 1
    run_all(place, [0], 1, time.monotonic() + 100, [*command[:at], str(log)])
    lines = log.read_text().splitlines() if log.exists() else []
    return [line for line in lines if "Invalid __global__ read" in line or "bytes after" in line]


if __name__ == "__main__":
    main()
