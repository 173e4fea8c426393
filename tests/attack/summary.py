"""Sums campaigns up: a table for people, JSON for programs, a file for each finding."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from tests.attack.outcome import FINDINGS, Verdict
from tests.attack.record import Entry, Record


@dataclass(frozen=True)
class Summary:
    """All attempts of one campaign that are in its record."""

    campaign: str
    verdicts: Mapping[Verdict, int]
    figures: Mapping[str, int]
    seconds: float
    findings: tuple[Entry, ...]

    @property
    def attempts(self) -> int:
        """Return how many there were."""
        return sum(self.verdicts.values())


def summary_of(campaign: str, record: Record) -> Summary:
    """Count what is in a record."""
    verdicts: Counter[Verdict] = Counter()
    figures: Counter[str] = Counter()
    for one in record.entries.values():
        verdicts[one.outcome.verdict] += 1
        figures.update(one.outcome.figures)
    seconds = sum(one.seconds for one in record.entries.values())
    every = sorted(record.entries.values(), key=lambda one: one.seed)
    findings = tuple(one for one in every if one.outcome.is_finding)
    return Summary(campaign, verdicts, figures, seconds, findings)


def table_of(summaries: list[Summary]) -> Table:
    """Return one row a campaign."""
    table = Table(title="attack")
    table.add_column("campaign")
    table.add_column("attempts", justify="right")
    table.add_column("what they came to")
    table.add_column("counted")
    table.add_column("findings", justify="right")
    for one in summaries:
        verdicts = (f"{word.value} {count}" for word, count in one.verdicts.items() if count)
        counted = (f"{word} {count}" for word, count in sorted(one.figures.items()))
        table.add_row(
            one.campaign,
            str(one.attempts),
            "\n".join(verdicts),
            "\n".join(counted),
            str(len(one.findings)),
        )
    return table


def as_json(summaries: list[Summary]) -> str:
    """Return the same for programs."""
    data: dict[str, Any] = {
        one.campaign: {
            "attempts": one.attempts,
            "verdicts": {word.value: one.verdicts.get(word, 0) for word in Verdict},
            "figures": dict(sorted(one.figures.items())),
            "seconds": round(one.seconds, 1),
            "findings": [
                {
                    "seed": entry.seed,
                    "verdict": entry.outcome.verdict.value,
                    "what": entry.outcome.what,
                }
                for entry in one.findings
            ],
        }
        for one in summaries
    }
    return json.dumps(data, indent=1) + "\n"


def again(campaign: str, seed: int) -> str:
    """Return the command that makes one attempt once more, in front of one's eyes."""
    return f"python -m tests.attack {campaign} --only {seed}"


def save_finding(folder: Path, campaign: str, entry: Entry) -> Path:
    """Write down what shows a finding again."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{campaign}-{entry.seed}.txt"
    outcome = entry.outcome
    parts = (
        f"{outcome.verdict.value}: {outcome.what}",
        f"It took {entry.seconds:.1f} s. To see it again, from the root of the project:",
        f"    {again(campaign, entry.seed)}",
        "",
        outcome.case,
    )
    path.write_text("\n".join(parts).rstrip() + "\n")
    return path


def found_any(summaries: list[Summary]) -> bool:
    """Return whether somebody must look at something."""
    return any(one.verdicts.get(word, 0) for one in summaries for word in FINDINGS)
