"""Looks whether all that dtpoly needs is there, and says for each thing what to do.

What may hang or crash, such as the import of torch, is done in a process of its own.
"""

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Any

from dtpoly import __version__
from dtpoly.amounts import listed
from dtpoly.explore.devices.devices import devices
from dtpoly.explore.run.session import known_device
from dtpoly.frozen import dataclass
from dtpoly.missing_package import RING_PACKAGES, first_missing, way_out
from dtpoly.plugins import load_installed
from dtpoly.runtime.cache import folder, private_folder
from dtpoly.system.drivers import has_driver
from dtpoly.system.processes import SPOKEN

# How metadata writes a requirement: a name, the least version, and after a `;` what it depends on.
REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:>=\s*([\w.]+))?[^;]*(?:;(.*))?")
EXTRA = re.compile(r"extra == ['\"]([\w-]+)['\"]")
# The extras with what only those who work on dtpoly need: its tests, its website, its releases.
FOR_DEVELOPERS = ("dev", "site", "release")
# What each other extra is for.
USES = {
    "editor": "dtpoly lsp serves editors with it",
    "torch": "kernels run with it",
    "plots": "dtpoly report draws figures with it",
    "explore": "dtpoly explore searches by a model with it",
    "tables": "results become DataFrames with it",
    "ray": "dtpoly explore measures on several machines with it",
    "proofs": "certificates are checked by a second engine with it",
}
SECONDS = 120  # for the process that asks torch; a first import may take long
ASK_TORCH = """
import json, torch
found = {"version": torch.__version__, "cuda": torch.version.cuda or torch.version.hip, "gpus": []}
if torch.cuda.is_available():
    for at in range(torch.cuda.device_count()):
        found["gpus"].append(torch.cuda.get_device_name(at))
import triton
found["triton"] = triton.__version__
print(json.dumps(found))
"""


class HealthState(StrEnum):
    """What a check found: all is well, something may be missed, or something does not work."""

    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One thing that was looked at: what was found, and what to do about it."""

    name: str
    state: HealthState
    found: str
    way: str = ""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package that dtpoly asks for: the least version, and the extra that brings it, if any."""

    name: str
    least: str
    extra: str


def python_check() -> HealthCheck:
    """Return which Python and which dtpoly run here."""
    place = Path(__file__).resolve().parent.parent
    said = f"dtpoly {__version__} in {place}, Python {platform.python_version()}"
    return HealthCheck("dtpoly", HealthState.OK, said)


def package_checks() -> Iterator[HealthCheck]:
    """Yield a check for each package that dtpoly asks for."""
    try:
        wanted = [*requirements(metadata.requires("dtpoly") or ())]
    except metadata.PackageNotFoundError:
        why = "dtpoly runs from its sources, so nothing says which versions it asks for"
        yield HealthCheck("packages", HealthState.NOTE, why, "pip install --editable .")
        return
    for one in wanted:
        yield package_check(one)


def requirements(lines: Sequence[str]) -> Iterator[Requirement]:
    """Yield each package once, with the first extra that brings it."""
    seen: set[str] = set()
    for line in lines:
        match = REQUIREMENT.match(line)
        assert match is not None, line
        extra = EXTRA.search(match[3] or "")
        name, group = match[1], "" if extra is None else extra[1]
        if group not in FOR_DEVELOPERS and name not in seen:
            seen.add(name)
            yield Requirement(name, match[2] or "", group)


def package_check(wanted: Requirement) -> HealthCheck:
    """Return whether a package is installed, and new enough."""
    install = f"pip install 'dtpoly[{wanted.extra}]'" if wanted.extra else "pip install dtpoly"
    try:
        version = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        if wanted.name in RING_PACKAGES:
            install = way_out(wanted.name)
        state = HealthState.NOTE if wanted.extra else HealthState.WRONG
        use = USES.get(wanted.extra, "")
        said = f"it is not installed; {use}" if use else "it is not installed"
        return HealthCheck(wanted.name, state, said, install)
    if is_older(version, wanted.least):
        said = f"{version}, and dtpoly asks for {wanted.least} or newer"
        return HealthCheck(wanted.name, HealthState.WRONG, said, f"{install} --upgrade")
    return HealthCheck(wanted.name, HealthState.OK, version)


def is_older(version: str, least: str) -> bool:
    """True if a version is older than another; only their numbers are compared."""
    return _numbers(version) < _numbers(least)


def _numbers(version: str) -> tuple[int, ...]:
    parts = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    return tuple(map(int, parts[0].split("."))) if parts else ()


def gpu_checks() -> Iterator[HealthCheck]:
    """Yield whether torch and triton can be imported, and which GPUs they find."""
    package = first_missing()
    if package is not None:
        there = "a GPU may be here" if has_driver() else "no driver of a GPU was found"
        said = f"{there}; {package}, which would use it, is not installed"
        yield HealthCheck("GPU", HealthState.NOTE, said, way_out(package))
        return
    found = ask_torch()
    if isinstance(found, str):
        way = "reinstall torch and triton: pip install --force-reinstall 'dtpoly[torch]'"
        yield HealthCheck("kernels", HealthState.WRONG, f"torch cannot be used: {found}", way)
        return
    yield from gpus_of(found, is_driven=has_driver())


def gpus_of(found: Mapping[str, Any], *, is_driven: bool) -> Iterator[HealthCheck]:
    """Yield a check for each GPU that torch finds; without one, why there may be none."""
    for name in found["gpus"]:
        if known_device(name):
            yield HealthCheck("GPU", HealthState.OK, name)
        else:
            known = listed(tuple(one.name for one in devices().values()))
            way = "dtpoly device -o mine.json, and then --device mine.json or DTPOLY_DEVICE"
            said = f"{name}; the cost model knows only {known}"
            yield HealthCheck("GPU", HealthState.NOTE, said, way)
    if found["gpus"]:
        return
    if is_driven and found["cuda"] is None:
        way = "install a torch for this GPU: https://pytorch.org/get-started"
        said = "there is a GPU, but this torch is made for CPUs"
        yield HealthCheck("GPU", HealthState.WRONG, said, way)
    elif is_driven:
        way = "look at the driver: nvidia-smi, or rocm-smi"
        said = "torch finds none, though there is a driver"
        yield HealthCheck("GPU", HealthState.WRONG, said, way)
    else:
        way = "dtpoly run --device cpu runs kernels in Triton's interpreter"
        yield HealthCheck("GPU", HealthState.NOTE, "none was found", way)


def ask_torch() -> Mapping[str, Any] | str:
    """Return what torch says of itself and of its GPUs, or why it cannot say anything."""
    environment = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", ASK_TORCH],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=SECONDS,
            env={**environment, **SPOKEN},
        )
    except subprocess.TimeoutExpired:
        return f"its import takes more than {SECONDS} seconds"
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        return last or f"its process ended with exit code {done.returncode}"
    answer: Mapping[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def cache_check() -> HealthCheck:
    """Return whether proofs and texts can be kept."""
    place = folder()
    way = "name a folder of your own in DTPOLY_CACHE_DIR; until then each proof is made again"
    if place is None:
        return HealthCheck("cache", HealthState.WRONG, "there is no home for it", way)
    base = private_folder()
    if base is None:
        said = f"{place} is no folder that only you can write to"
        return HealthCheck("cache", HealthState.WRONG, said, way)
    try:
        with tempfile.TemporaryFile(dir=base):
            pass
    except OSError as error:
        said = f"{place} cannot be written: {error.strerror or error}"
        return HealthCheck("cache", HealthState.WRONG, said, way)
    return HealthCheck("cache", HealthState.OK, str(place))


def plugin_check() -> HealthCheck:
    """Return which installed packages bring directives, and whether they can be loaded."""
    loaded = load_installed()
    if loaded.found:
        said = "; ".join(one.title for one in loaded.found)
        way = "update or remove the package; dtpoly check on a file with its directive says more"
        return HealthCheck("plugins", HealthState.WRONG, said, way)
    names = ", ".join(one.name for one in loaded.primitives)
    return HealthCheck("plugins", HealthState.OK, names or "no installed package brings directives")
