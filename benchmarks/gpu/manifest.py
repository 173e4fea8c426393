"""Reads and writes what was prepared in a folder: the texts to time and their proofs, as JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.files import write_whole

MANIFEST = "manifest.json"
PROVED = "proved"


@dataclass(frozen=True, slots=True)
class Prepared:
    """One emitted text; if there is none, why."""

    name: str  # KERNEL, KERNEL__VARIANT, or KERNEL__CASE__VARIANT
    source: str  # the .dt file, as its name alone
    func: str = ""
    file: str = ""  # below the folder of the manifest
    parameters: tuple[str, ...] = ()
    text_hash: str = ""
    source_hash: str = ""
    # Of each layer of the verifier, what is known; empty if nobody looked.
    layers: Mapping[str, str] = field(default_factory=dict[str, str])
    schedule: tuple[str, ...] = ()
    failure: str = ""

    @property
    def of(self) -> str:
        """The file or the kernel of the table that it is a variant of; itself, if it is none."""
        return self.name.partition("__")[0]

    @property
    def tag(self) -> str:
        """Return the case that it is for, if it is for one alone."""
        parts = self.name.split("__")
        return parts[1] if len(parts) > 2 else ""

    @property
    def is_variant(self) -> bool:
        """Return whether it is from a folder of variants."""
        return "__" in self.name

    @property
    def is_proved(self) -> bool:
        """Return whether its times count."""
        return bool(self.layers) and set(self.layers.values()) == {PROVED}


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that was prepared, what was looked for and is not there, and how it was made."""

    texts: tuple[Prepared, ...]
    missing: tuple[str, ...]
    command: str
    date: str
    versions: Mapping[str, str] = field(default_factory=dict[str, str])


def hash_of(text: str) -> str:
    """Return the hash that tells one text from another."""
    return sha256(text.encode()).hexdigest()


def write(folder: Path, manifest: Manifest) -> None:
    """Keep a manifest beside its texts."""
    write_whole(folder / MANIFEST, json.dumps(asdict(manifest), indent=1) + "\n")


def read(folder: Path) -> Manifest:
    """Return the manifest of a folder, whose texts must be those that it speaks of."""
    manifest = unchecked(folder)
    for one in manifest.texts:
        if one.file and hash_of((folder / one.file).read_text()) != one.text_hash:
            raise ValueError(f"{one.file} is not the text that was prepared: prepare it again")
    return manifest


def unchecked(folder: Path) -> Manifest:
    """Return the same, while texts are being written anew."""
    data: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    texts = tuple(prepared(one) for one in data.pop("texts"))
    return Manifest(texts, tuple(data.pop("missing")), **data)


def prepared(data: Mapping[str, Any]) -> Prepared:
    """Return one text, from what JSON has of it."""
    lists: dict[str, Any] = {name: tuple(data[name]) for name in ("parameters", "schedule")}
    return Prepared(**{**data, **lists})
