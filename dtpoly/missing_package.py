"""Says that a package is not installed, and which command installs it.

dtpoly checks, proves and writes kernels without torch and triton. Only what runs or compiles
kernels needs these two, and so they are an extra of the package.
"""

import sys
from collections.abc import Iterable
from importlib.util import find_spec

from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity

CODE = "DT330"
# What a generated file imports; what runs of kernels on the CPU need besides; and the extra of
# pyproject.toml that brings all of them.
KERNEL_PACKAGES = ("torch", "triton")
RING_PACKAGES = (*KERNEL_PACKAGES, "numpy")
INSTALL = "pip install 'dtpoly[torch]'"
KERNELS = (
    "running and compiling kernels takes torch and triton; checking, proving and writing them "
    "takes neither"
)
TRITON_SYSTEM = "linux"  # the only system for which triton is published


def missing_package(package: str, why: str = KERNELS, way: str = "") -> Diagnostic:
    """Return the message that a package is not installed; `why` says what needs it.

    `way` says how it is installed, if the extra for kernels does not have it.
    """
    title, way = f"{package} is not installed", way or way_out(package)
    return Diagnostic(CODE, Severity.ERROR, title, None, notes=(Note(why),), hint=way)


def way_out(package: str) -> str:
    """Return what a user can do who lacks a package that kernels need."""
    if package == "triton" and not sys.platform.startswith(TRITON_SYSTEM):
        return "triton is published for Linux alone: take a machine with Linux"
    return f"{INSTALL} installs it, and what else kernels need"


def first_missing(packages: Iterable[str] = KERNEL_PACKAGES) -> str | None:
    """Return the first of some packages that is not installed; none of them is imported."""
    return next((one for one in packages if find_spec(one) is None), None)


def require(packages: Iterable[str] = KERNEL_PACKAGES, why: str = KERNELS) -> None:
    """Do nothing if the packages are installed. Raises DtpolyError if one is not."""
    package = first_missing(packages)
    if package is not None:
        raise DtpolyError([missing_package(package, why)])


def kernel_package(error: ModuleNotFoundError) -> str | None:
    """Return which of the packages that kernels need an import did not find; None for others."""
    package = (error.name or "").partition(".")[0]
    return package if package in RING_PACKAGES else None


def explained(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error of an import with the command that installs the package, for Python."""
    package = kernel_package(error)
    if package is None:
        return error
    message = f"kernels need {package}, which is not installed: {way_out(package)}"
    return ModuleNotFoundError(message, name=error.name)
