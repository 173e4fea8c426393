"""Says what a frame takes for granted because all launches that were seen were like that.

A formula that fits every launch may be a coincidence, a size may have been the same by chance, and
a branch may never have been taken. A proof of a frame is worth nothing for a launch that is not as
the frame says. So each such guess has a sentence, which the frame keeps in a line `# guessed:`, and
which the verdict repeats until somebody has looked at it and removes the line.
"""

from collections.abc import Iterator, Mapping, Sequence

from dtpoly.framing.frame_arguments import unsaid_strides
from dtpoly.framing.launch_groups import GroupTensor, LaunchGroup
from dtpoly.framing.tensor_axes import AxesChoice, LabelledTensor, plain_axes

ANY = "any"  # a number of programs that no formula gives


def guesses_of_launches(
    group: LaunchGroup,
    choice: AxesChoice,
    texts: Mapping[str, str],
    numbers: Mapping[str, str],
) -> tuple[str, ...]:
    """Return what a frame takes for granted.

    `texts` is what it gives each parameter, and `numbers` what it takes numbers for, by what each
    number is called. Numbers of which the frame says itself what else they may be are left out.
    """
    return (
        *_formulas(group, numbers),
        *_constants(group, texts, numbers),
        *_sizes(choice),
        *_labels(choice),
        *_axes(choice),
        *_layouts(choice, texts),
        *_memory(group),
        *_dtypes(group),
    )


def _in_all(count: int) -> str:
    return "in the one launch" if count == 1 else f"in all {count} launches"


def _listed(parts: Sequence[str]) -> str:
    """Return parts as a sentence lists them."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _quoted(names: Sequence[str]) -> str:
    return _listed([f"'{one}'" for one in names])


def _formulas(group: LaunchGroup, numbers: Mapping[str, str]) -> Iterator[str]:
    """Yield which numbers follow from sizes."""
    found = [
        f"{about} was {text}"
        for about, text in numbers.items()
        if not _is_number(text) and text != ANY and about != f"'{text}'"
    ]
    if found:
        yield (
            f"{_in_all(group.count)} {_listed(found)}: that a number follows from sizes may be a"
            " coincidence"
        )


def _constants(
    group: LaunchGroup, texts: Mapping[str, str], numbers: Mapping[str, str]
) -> Iterator[str]:
    """Yield which parameters always have one value, so that other branches were not looked at."""
    found = [f"{about} was {text}" for about, text in numbers.items() if _is_number(text)]
    scalars = set((group.scalars or {}).values())
    for name in group.fixed:
        text = texts[name]
        if text != name and text not in scalars:
            found.append(f"'{name}' was {text}")
    if found:
        yield (
            f"{_in_all(group.count)} {_listed(found)}: a launch with other values is not looked at"
        )


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def _sizes(choice: AxesChoice) -> Iterator[str]:
    """Yield which axes have a number for their size."""
    for one in choice.tensors:
        for at, word in enumerate(one.words):
            if word.isdecimal():
                yield f"axis {at} of {_shown(one)} always has size {word}"
    for label, row in choice.labels.items():
        if len(row) > 1 and len(set(row)) == 1:
            yield f"len({label}) was {row[0]} in all launches, and is any size in this frame"


def _labels(choice: AxesChoice) -> Iterator[str]:
    """Yield which axes of several tensors have one size, because they had it."""
    for label in choice.labels:
        places = [
            f"axis {one.words.index(label)} of {_shown(one)}"
            for one in choice.tensors
            if label in one.words
        ]
        if len(places) > 1:
            yield f"the sizes of {_listed(places)} are always equal"


def _axes(choice: AxesChoice) -> Iterator[str]:
    """Yield which axes of a tensor the frame leaves out, and whether others are one axis."""
    for one in choice.tensors:
        tensor = one.tensor
        for at, (sizes, strides) in enumerate(zip(tensor.sizes, tensor.strides, strict=True)):
            if set(sizes) == {1}:
                yield (f"{_axis_of(tensor, at)} always has size 1: this frame has {_shown(one)}")
            elif set(strides) == {0}:
                yield (f"{_axis_of(tensor, at)} always has stride 0: this frame has {_shown(one)}")
        if plain_axes(tensor) != one.axes:
            count = len(tensor.sizes)
            yield (
                f"the {'axis' if count == 1 else f'{count} axes'} of '{tensor.name}' always"
                f" {'lies' if count == 1 else 'lie'} in memory as those of {_shown(one)}"
            )


def _axis_of(tensor: GroupTensor, at: int) -> str:
    count = len(tensor.sizes)
    return f"{'the axis' if count == 1 else f'axis {at} of the {count} axes'} of '{tensor.name}'"


def _layouts(choice: AxesChoice, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield which strides the frame takes as those of contiguous tensors."""
    axes = [*unsaid_strides(choice, texts)]
    for one, at, is_so in axes:
        if not is_so:
            yield (
                f"'{one.tensor.name}' was not contiguous, but no argument is the stride of axis"
                f" {at} of {_shown(one)}: this frame takes it as that of a contiguous tensor"
            )
    seen: dict[str, list[int]] = {}
    for one, at, is_so in axes:
        if is_so:
            seen.setdefault(_shown(one), []).insert(0, at)
    found = [f"{_listed(list(map(str, ats)))} of {shown}" for shown, ats in seen.items()]
    if found:
        yield f"the strides of these axes are always those of contiguous tensors: {_listed(found)}"


def _memory(group: LaunchGroup) -> Iterator[str]:
    """Yield which parameters share memory, and that others do not."""
    for one in group.tensors:
        if len(one.parameters) > 1:
            yield f"{_quoted(one.parameters)} are always given one tensor, '{one.name}'"
    for name, other in group.shared:
        yield (
            f"'{name}' and '{other}' shared memory, but this frame takes them as apart: the proof"
            " says nothing of such a launch"
        )
    if len(group.tensors) > 1 and not group.shared:
        yield "no two tensors share memory, except where one is named as another"


def _dtypes(group: LaunchGroup) -> Iterator[str]:
    """Yield which dtypes tensors had."""
    kinds: dict[str, list[str]] = {}
    for one in group.tensors:
        kinds.setdefault(one.dtype, []).append(one.name)
    if kinds:
        parts = [
            f"{_quoted(names)} {'are' if len(names) > 1 else 'is'} always {dtype}"
            for dtype, names in kinds.items()
        ]
        yield _listed(parts)
    for name in group.fixed:
        if name in group.mixed:
            yield f"'{name}' was now a float and now a whole number: this frame has a float"


def _shown(one: LabelledTensor) -> str:
    return f"{one.tensor.name}[{', '.join(one.words or ('1',))}]"
