"""Makes the frame of a group of launches, from the axes that were chosen for its tensors."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from dtpoly.framing.frame_arguments import (
    SIZES,
    ArgumentSite,
    CannotFrame,
    fixed_text,
    in_order,
    number_site,
    scalars_of,
)
from dtpoly.framing.frame_guesses import ANY, guesses_of_launches
from dtpoly.framing.kernel_frame import FrameGuess, FrameScalar, FrameTensor, KernelFrame
from dtpoly.framing.launch_groups import LaunchGroup
from dtpoly.framing.size_formulas import SizeFormula, grid_formulas
from dtpoly.framing.tensor_axes import AxesChoice, facts_of
from dtpoly.frozen import dataclass

# Formulas that are that much less probable than the one that is taken are not asked about.
CLOSE = 1.7
POWER = re.compile(r"next_power_of_2\((?:cdiv\()?len\((\w+)\)")


@dataclass(frozen=True, slots=True)
class FrameOptions:
    """What may be chosen in a frame: how strides are passed, and which formula a number is."""

    mode: str = SIZES
    chosen: Mapping[str, int] = field(default_factory=dict[str, int])
    # Whether a constant that is the same in all launches is that number, also where a formula fits.
    are_numbers: bool = False
    # Whether a float that is the same in all launches is that number, and no choice of callers.
    are_floats: bool = False
    # Whether a number of lanes is a size that is a power of two itself, as heads often have.
    are_powers: bool = False

    def taken(self, site: ArgumentSite) -> int:
        """Return which formula of a place is taken."""
        if site.about in self.chosen:
            return self.chosen[site.about]
        if self.are_powers and (found := _own_power(site)) is not None:
            return found[0]
        numbers = (at for at, one in enumerate(site.formulas) if one.text.isdecimal())
        return next(numbers, 0) if self.are_numbers and site.is_constant else 0


def _own_power(site: ArgumentSite) -> tuple[int, str] | None:
    """Return the formula of a constant that is a size, and a power of two; with its label."""
    texts = [one.text for one in site.formulas]
    for at, one in enumerate(site.formulas if site.is_constant else ()):
        if one.text.startswith("len(") and f"next_power_of_2({one.text})" in texts:
            return at, one.labels[0]
    return None


@dataclass(frozen=True, slots=True)
class BuiltFrame:
    """A frame, and the places in it where another formula fits, too."""

    frame: KernelFrame
    sites: tuple[ArgumentSite, ...]
    # The labels of which a tile takes all, and the others.
    tiled: tuple[str, ...]
    looped: tuple[str, ...]
    # Those of the former whose sizes are powers of two.
    powers: tuple[str, ...] = ()


def built(
    group: LaunchGroup, choice: AxesChoice, options: FrameOptions
) -> BuiltFrame | CannotFrame:
    """Return the frame of a group without promises."""
    texts: dict[str, str] = {}
    sites: list[ArgumentSite] = []
    for name in group.parameters:
        tensor = group.tensor_of(name)
        if tensor is not None:
            texts[name] = tensor.name
        elif name in group.numbers:
            site = number_site(group, choice, name, options.mode)
            texts[name] = _taken(site, options, name)
            sites.append(site)
        else:
            text = fixed_text(group, name, is_float=options.are_floats)
            if isinstance(text, CannotFrame):
                return text
            texts[name] = text
    grid: list[str] = []
    for axis, row in enumerate(group.grid):
        programs = grid_formulas(row, facts_of(group, choice.labels))
        site = ArgumentSite(f"axis {axis} of the grid", programs)
        sites.append(site)
        grid.append(_taken(site, options, ANY))
    while len(grid) > 1 and grid[-1] == "1":
        grid.pop()
    labels = dict.fromkeys(
        word for one in choice.tensors for word in one.words if not word.isdecimal()
    )
    tiled = {label for text in texts.values() for label in POWER.findall(text)}
    owns = (_own_power(one) for one in sites if options.are_powers)
    powers = tuple(dict.fromkeys(one[1] for one in owns if one is not None))
    tiled |= {*powers}
    guesses = _guesses(sites, options, group)
    told = {one.about for one in guesses}
    taken = {one.about: _taken(one, options, ANY) for one in sites if one.about not in told}
    frame = KernelFrame(
        group.name,
        tuple(
            FrameTensor(one.tensor.name, one.words or ("1",), one.tensor.dtype, one.tensor.use)
            for one in choice.tensors
        ),
        tuple(FrameScalar(name, dtype) for name, dtype in scalars_of(group, texts)),
        tuple(grid),
        tuple(texts.items()),
        in_order(group.parameters, group.constants),
        guesses=guesses,
        notes=_notes(group, choice),
        beyond=guesses_of_launches(group, choice, texts, taken),
    )
    return BuiltFrame(
        frame,
        tuple(sites),
        tuple(one for one in labels if one in tiled),
        tuple(one for one in labels if one not in tiled),
        powers,
    )


def _taken(site: ArgumentSite, options: FrameOptions, otherwise: str) -> str:
    """Return the formula that is taken: the most probable one, unless another one was chosen."""
    at = options.taken(site)
    return site.formulas[at].text if at < len(site.formulas) else otherwise


def alternatives(site: ArgumentSite, taken: int) -> tuple[int, ...]:
    """Return the formulas besides the one that is taken that are about as probable."""
    if not site.formulas:
        return ()
    least = site.formulas[0].cost
    return tuple(
        at for at, one in enumerate(site.formulas) if at != taken and one.cost - least <= CLOSE
    )


def _guesses(
    sites: Sequence[ArgumentSite], options: FrameOptions, group: LaunchGroup
) -> tuple[FrameGuess, ...]:
    found: list[FrameGuess] = []
    for site in sites:
        taken = options.taken(site)
        others = [site.formulas[at] for at in alternatives(site, taken)]
        if taken < len(site.formulas) and others:
            one = site.formulas[taken]
            texts = tuple(other.text for other in others)
            found.append(FrameGuess(site.about, one.text, texts, _further(one, others[0], group)))
        elif not site.formulas:
            found.append(FrameGuess(site.about, "any number", (), "no formula in sizes fits it"))
    return tuple(found)


def _further(one: SizeFormula, other: SizeFormula, group: LaunchGroup) -> str:
    """Return which launch would tell two formulas apart."""
    pair = (one.text, other.text)
    stride = next((text for text in pair if ".stride(" in text), "")
    if stride:
        name = stride.partition(".")[0]
        return f"a launch with a '{name}' that is no contiguous tensor would tell"
    number = next((text for text in pair if text.isdecimal()), "")
    labels = list(dict.fromkeys((*one.labels, *other.labels)))
    if any("cdiv" in text or "power" in text for text in pair) and labels and number:
        bound = max((number, *re.findall(r", (\d+)\)", " ".join(pair))), key=int)
        return f"a launch with len({labels[0]}) > {bound} would tell"
    if number or group.count == 1:
        sizes = " and ".join(f"len({label})" for label in labels)
        return f"a launch with another {sizes} would tell"
    return f"a launch in which {one.text} and {other.text} differ would tell"


def _notes(group: LaunchGroup, choice: AxesChoice) -> tuple[str, ...]:
    """Return what a reader should know of the launches that were seen."""
    launches = "one launch" if group.count == 1 else f"{group.count} different launches"
    notes = [f"Written by dtpoly verify --init, from {launches} of '{group.name}'."]
    if choice.labels:
        sizes = [
            f"len({label}) was {', '.join(map(str, sorted(set(row))))}"
            for label, row in choice.labels.items()
        ]
        notes.append(f"{'; '.join(sizes)}.")
    if group.count == 1:
        notes.append(
            "With one launch, a number that is a size by chance looks like one: record launches"
            " of two or more sizes, best of different primes."
        )
    return tuple(notes)
