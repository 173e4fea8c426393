"""Finds the Funcs whose kernels store other results of their functions.

A result may be fused into a Func whose kernel then stores it: that Func is its host. Such a result
has no kernel of its own. Its host needs it, and other Funcs that read it need the host.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from dtpoly.algorithm.expressions import reads
from dtpoly.algorithm.program import Program, in_order, producers, reduced_labels
from dtpoly.schedule.facts import Blocked, Compiled, Fact, Fused, Inlined, NewName, Returned

Edges = Mapping[str, tuple[str, ...]]


def stores_of(program: Program, facts: Iterable[Fact]) -> dict[str, str]:
    """Find the host of each result that another Func's kernel stores.

    It is the first Func, in defined order, that the result is fused into, that has a kernel of its
    own, and that the result does not need. A result without a host keeps its own kernel. So does
    the Func that a function is named after, unless another result of this function, which does not
    read it, can be its host.
    """
    compiled, inlined, returned = set[str](), set[str](), dict[str, set[str]]()
    fused = dict[str, list[str]]()
    for fact in facts:
        match fact:
            case Compiled(func=func):
                compiled.add(func)
            case Returned(func=func, function=function):
                returned.setdefault(func, set()).add(function)
            case Fused(func=func, consumer=consumer):
                fused.setdefault(func, []).append(consumer)
            case Inlined(func=func):
                inlined.add(func)
            case _:
                pass
    below = {name: set(read) for name, read in producers(program).items()}
    wanted = [func for func in below if func in compiled or func in returned]
    needed = {func.name for func in in_order(program, wanted)}
    found = dict[str, str]()
    with_kernels = [
        func
        for func in below
        if func in needed and func not in inlined and (func in compiled or func not in fused)
    ]
    for func in below:
        into = [one for one in with_kernels if one in fused.get(func, ()) and one not in found]
        into = [one for one in into if func in returned.get(one, ())]
        # It is not read there: what is computed once more where it is read keeps its kernel.
        into = [one for one in into if not _needs(one, func, below)]
        _choose(func, into if func in compiled else (), below, found)
    with_kernels = [one for one in with_kernels if one not in found]
    for func in below:
        if func in returned and func not in compiled:
            _choose(func, [one for one in with_kernels if one in fused.get(func, ())], below, found)
    return found


def _choose(
    func: str, hosts: Iterable[str], below: Mapping[str, set[str]], found: dict[str, str]
) -> None:
    """Let the first host that a result does not need store it."""
    host = next((one for one in hosts if not _needs(func, one, below)), None)
    if host is not None:
        found[func] = host
        below[host].add(func)


def reductions_of_stores(
    program: Program, facts: Iterable[Fact], stores: Mapping[str, str]
) -> dict[str, str]:
    """Find the results that are stored in a loop of their host's reduction, and its label.

    A result is stored there if it is fused at this loop, or at one that the loop was split into,
    and has the label.
    """
    facts = tuple(facts)
    split = {(one.func, one.name): one.of for one in facts if isinstance(one, NewName)}
    # A label that numbers parts is no loop inside of the one that they are parts of.
    for block in (one for one in facts if isinstance(one, Blocked)):
        split.pop((block.func, block.name), None)
    found = dict[str, str]()
    for fact in facts:
        if not isinstance(fact, Fused) or stores.get(fact.func) != fact.consumer:
            continue
        host, label = program.func(fact.consumer), fact.label
        while (host.name, label) in split:
            label = split[host.name, label]
        is_reduced = label in reduced_labels(host) and label not in host.labels
        if is_reduced and label in program.func(fact.func).labels:
            found[fact.func] = label
    return found


def order_of(program: Program, stores: Mapping[str, str]) -> Edges:
    """List what Funcs need so that stored results are there: the results, and their hosts."""
    below = {name: set(read) for name, read in producers(program).items()}
    more = dict[str, tuple[str, ...]]()
    for one, other in _edges(below, stores):
        if other not in below[one] and not _needs(other, one, below):
            below[one].add(other)
            more[one] = (*more.get(one, ()), other)
    return more


def readers_first(program: Program, wanted: Iterable[str] | None, more: Edges) -> Edges:
    """List what Funcs need so that those which read an input come before what replaces it in place.

    `more` has what they need besides what they read. Where two Funcs replace what the other one
    reads, no order of kernels is right, and the first edge counts.
    """
    into = program.into
    if not into:
        return more
    needed = [func.name for func in in_order(program, wanted, more)]
    below = {name: {*read, *more.get(name, ())} for name, read in producers(program).items()}
    found = dict(more)
    for name in needed:
        read = {one.tensor for one in reads(program.func(name).body)}
        for writer in (into[tensor] for tensor in into if tensor in read):
            is_known = writer == name or name in below[writer]
            if writer in needed and not is_known and not _needs(name, writer, below):
                below[writer].add(name)
                found[writer] = (*found.get(writer, ()), name)
    return found


def _edges(below: Mapping[str, set[str]], stores: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield who should need whom: a host its results, and other readers of these the host."""
    readers = {result: [one for one in below if result in below[one]] for result in stores}
    yield from ((host, result) for result, host in stores.items())
    for result, host in stores.items():
        yield from ((reader, host) for reader in readers[result] if reader != host)


def _needs(func: str, other: str, below: Mapping[str, Collection[str]]) -> bool:
    """Return whether a Func needs another one, or is it."""
    seen, pending = {func}, [func]
    while pending:
        for name in below.get(pending.pop(), ()):
            if name not in seen:
                seen.add(name)
                pending.append(name)
    return other in seen
