"""Run campaigns against dtpoly, and say what they found.

    python -m tests.attack [CAMPAIGN ...] [--seconds N] [--attempts N] [--seed S] [--workers W]
    python -m tests.attack CAMPAIGN --only SEED

Without names every campaign is run. Each keeps a record of its attempts, and goes on behind the
last one when it is run again; what was a finding is tried again first. The exit code is 1 if
there are findings.
"""

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from tests.attack.campaign import Campaign
from tests.attack.campaigns import CAMPAIGNS
from tests.attack.processes import ROOT
from tests.attack.record import Entry, record_at
from tests.attack.running import Limits, StartError, only, run
from tests.attack.summary import (
    as_json,
    found_any,
    save_finding,
    summary_of,
    table_of,
)

FOLDER = ROOT / "build" / "attack"
SECONDS = 60.0
# The seconds between two lines that say how far a campaign is.
EVERY = 10.0


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("campaign", nargs="*", help="all of them, if none is named")
    parser.add_argument("--seconds", type=float, help=f"for all together; {SECONDS:g} if not said")
    parser.add_argument("--attempts", type=int, help="of each campaign, instead of a time")
    parser.add_argument("--seed", type=int, default=0, help="the first one; 0 if not said")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--record", type=Path, default=FOLDER, help="folder of the records")
    parser.add_argument("--only", type=int, metavar="SEED", help="one attempt; keep no record")
    parser.add_argument("--list", action="store_true", help="say which campaigns there are")
    return parser.parse_args(words)


def chosen(names: Sequence[str], has_gpu: bool) -> tuple[list[Campaign], list[str]]:
    """Return the campaigns to run, and why others are not run. Raises SystemExit."""
    known = {one.name: one for one in CAMPAIGNS}
    for name in names:
        if name not in known:
            there = ", ".join(one.name for one in CAMPAIGNS if not one.is_hidden)
            raise SystemExit(f"there is no campaign '{name}'; there are: {there}")
    wanted = [known[one] for one in names] or [one for one in CAMPAIGNS if not one.is_hidden]
    run_here = [one for one in wanted if has_gpu or not one.needs_gpu]
    left_out = [f"{one.name} is not run: it needs a GPU" for one in wanted if one not in run_here]
    return run_here, left_out


def is_gpu_here() -> bool:
    """True if there is an NVIDIA GPU to run kernels on."""
    return Path("/dev/nvidiactl").exists() and importlib.util.find_spec("torch") is not None


def told(
    console: Console, campaign: Campaign, findings: Path
) -> tuple[Callable[[Entry], None], Callable[[], None]]:
    """Return two functions: one to call for each attempt, and one to call from time to time."""
    state = {"attempts": 0, "findings": 0}
    last = [time.monotonic()]

    def seen(entry: Entry) -> None:
        state["attempts"] += 1
        if entry.outcome.is_finding:
            state["findings"] += 1
            path = save_finding(findings, campaign.name, entry)
            said = f"{campaign.name}, seed {entry.seed}: {entry.outcome.verdict.value}:"
            console.print(f"{said} {entry.outcome.what} ({path})", markup=False, soft_wrap=True)

    def tick() -> None:
        if time.monotonic() - last[0] >= EVERY:
            last[0] = time.monotonic()
            counted = f"{state['attempts']} attempts, {state['findings']} findings"
            console.print(f"{campaign.name}: {counted}", markup=False)

    return seen, tick


def run_only(campaign: Campaign, seed: int, console: Console) -> int:
    """Make one attempt, and show all of it."""
    entries: list[Entry] = []
    seeds, limits = only([seed])
    run(campaign, record_at(None), seeds, limits, 1, entries.append)
    (entry,) = entries
    outcome = entry.outcome
    console.print(f"{outcome.verdict.value}: {outcome.what}", markup=False, soft_wrap=True)
    console.print(f"{dict(outcome.figures)}, {entry.seconds:.1f} s", markup=False)
    console.print(outcome.case, markup=False, soft_wrap=True, highlight=False)
    return int(outcome.is_finding)


def main(words: Sequence[str] | None = None) -> int:
    """Run what the command line asks for."""
    asked = arguments(words)
    console = Console()
    if asked.list:
        for one in CAMPAIGNS:
            if not one.is_hidden:
                console.print(f"{one.name}: {one.about}", markup=False)
        return 0
    campaigns, left_out = chosen(asked.campaign, is_gpu_here())
    for why in left_out:
        console.print(why, markup=False)
    if asked.only is not None:
        if len(campaigns) != 1:
            raise SystemExit("--only needs the name of one campaign that can run here")
        return run_only(campaigns[0], asked.only, console)
    records = {one.name: record_at(asked.record / f"{one.name}.jsonl") for one in campaigns}
    is_broken = False
    end = time.monotonic() + (asked.seconds or SECONDS)
    with suppress(KeyboardInterrupt):  # the attempts so far are in the records, and are reported
        for at, one in enumerate(campaigns):
            share = max(end - time.monotonic(), 0.0) / (len(campaigns) - at)
            by_count = asked.attempts is not None and asked.seconds is None
            limits = Limits(None if by_count else share, asked.attempts)
            console.print(f"{one.name}: {one.about}", markup=False)
            seen, tick = told(console, one, asked.record / "findings")
            record = records[one.name]
            try:
                run(one, record, record.open_seeds(asked.seed), limits, asked.workers, seen, tick)
            except StartError as error:
                is_broken = True
                console.print(str(error), markup=False, soft_wrap=True)
    summaries = [summary_of(name, record) for name, record in records.items()]
    asked.record.mkdir(parents=True, exist_ok=True)
    (asked.record / "summary.json").write_text(as_json(summaries))
    console.print(table_of(summaries))
    return int(is_broken or found_any(summaries))


if __name__ == "__main__":
    sys.exit(main())
