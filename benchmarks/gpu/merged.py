"""Merges results of parts of the rows into one file, or says why they do not fit."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import TypeVar

from benchmarks.gpu.manifest import Prepared
from benchmarks.gpu.results import Ceilings, HostTime, Results, RowResult
from benchmarks.gpu.rows import rows

One = TypeVar("One", RowResult, Prepared)


class Apart(Exception):
    """Files of results that cannot be one."""


def merged(files: Mapping[str, Results]) -> Results:
    """Return all that is in files of results, each of which has its name. Raises Apart.

    They were measured on GPUs of one machine, maybe at the same time, some of the rows on each.
    """
    given = [*files.values()]
    for (one, here), (other, there) in combinations(files.items(), 2):
        _one_machine(one, here, other, there)
    measured = _joined(files, lambda results: results.rows, lambda row: row.name, "the row")
    texts = _joined(
        files, lambda results: results.texts, lambda text: (text.name, text.text_hash), "the text"
    )
    return Results(
        command="\n".join(dict.fromkeys(one.command for one in given)),
        date=max(one.date for one in given),  # they are all in UTC, so the last one is the largest
        machine=given[0].machine,
        ceilings=best(one.ceilings for one in given),
        texts=tuple(texts),
        missing=tuple(dict.fromkeys(name for one in given for name in one.missing)),
        absent={kind: why for one in given for kind, why in one.absent.items()},
        rows=tuple(sorted(measured, key=lambda row: _place(ROWS, row.name))),
        host=tuple(_host(given)),
        broken=tuple(dict.fromkeys(broken for one in given for broken in one.broken)),
    )


def best(given: Iterable[Ceilings]) -> Ceilings:
    """Return the best that any of the GPUs reached: the highest rates, the shortest launch."""
    known = [*given]
    dtypes = dict.fromkeys(dtype for one in known for dtype in one.products)
    launches = [one.launch for one in known if one.launch]  # 0 is what was not measured
    return Ceilings(
        max(one.copy for one in known),
        {dtype: max(one.products.get(dtype, 0.0) for one in known) for dtype in dtypes},
        min(launches, default=0.0),
    )


def _one_machine(one: str, here: Results, other: str, there: Results) -> None:
    """Both are of the same device and versions, and lack the same peers for the same reasons."""
    names = {*here.machine, *there.machine}
    differ = sorted(k for k in names if here.machine.get(k) != there.machine.get(k))
    if differ:
        raise Apart(f"{one} and {other} were measured elsewhere: {', '.join(differ)} differ")
    both = {*here.absent} & {*there.absent}
    kinds = sorted(kind for kind in both if here.absent[kind] != there.absent[kind])
    if kinds:
        why = f"'{here.absent[kinds[0]]}' and '{there.absent[kinds[0]]}'"
        raise Apart(f"{one} and {other} lack {kinds[0]} for other reasons: {why}")


def _joined(
    files: Mapping[str, Results],
    part: Callable[[Results], Iterable[One]],
    key: Callable[[One], Hashable],
    what: str,
) -> Iterator[One]:
    """Yield each once; what is in two files has to be the same in both."""
    known: dict[Hashable, tuple[str, One]] = {}
    for file, results in files.items():
        for one in part(results):
            if key(one) not in known:
                known[key(one)] = file, one
                yield one
            elif known[key(one)][1] != one:
                first = known[key(one)][0]
                raise Apart(f"{first} and {file} differ in {what} '{one.name}': take it from one")


def _host(given: Iterable[Results]) -> Iterator[HostTime]:
    """Yield the host's times of each kernel, all from one file, in which its candidates took turns.

    The first file counts. Whoever measures rows of a kernel on two GPUs has them twice.
    """
    known: dict[str, list[HostTime]] = {}
    for results in given:
        for kernel in dict.fromkeys(one.kernel for one in results.host):
            known.setdefault(kernel, [one for one in results.host if one.kernel == kernel])
    for kernel in sorted(known, key=lambda kernel: _place(KERNELS, kernel)):
        yield from known[kernel]


# The order of the table.
ROWS = tuple(row.name for row in rows())
KERNELS = tuple(dict.fromkeys(row.kernel for row in rows()))


def _place(order: tuple[str, ...], name: str) -> int:
    """Return where it stands in the table; at the end what the table does not have."""
    return order.index(name) if name in order else len(order)
