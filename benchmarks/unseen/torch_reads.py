"""Writes reads of tensors as views where there are some, else as gathers."""

from collections.abc import Callable, Sequence

from benchmarks.unseen.torch_writer import Piece, Writer, laid
from dtpoly.algorithm.expressions import Affine, DataIndex, DividedIndex, Expr, Read
from dtpoly.algorithm.outside import padding_of

Expression = Callable[[Writer, Expr], Piece]


def read(writer: Writer, node: Read, expression: Expression) -> Piece:
    """Return the elements that a read reads, with an axis for each label."""
    labels = tuple(dict.fromkeys(label for one in node.indices for label in one.labels))
    if node.padding is None and _is_plain(node):
        return Piece(_narrowed(writer, node, labels), labels)
    padding = padding_of(node)
    value = "0" if padding is None else expression(writer, padding).code
    if _is_view(node):
        return _view(writer, node, value)
    if not any(one.data is not None for one in node.indices) and _is_by_axis(node):
        return _selected(writer, node, labels)
    if _is_row(node):
        return _rows(writer, node, expression)
    places = [laid(one, labels) for one in places_of(writer, node, expression)]
    is_inside = node.padding is None and all(
        one.data is None or one.within is not None for one in node.indices
    )
    name = writer.variable(node.tensor)
    code = f"helpers.gathered({name}, ({', '.join(places)},), {value}, {is_inside})"
    return Piece(writer.keep(code), labels)


def _is_plain(node: Read) -> bool:
    labels = [one.plain for one in node.indices]
    return None not in labels and len({*labels}) == len(labels)


def _narrowed(writer: Writer, node: Read, labels: Sequence[str]) -> str:
    name, shape = writer.variable(node.tensor), writer.shape(node.tensor)
    wanted = [writer.sizes[one] for one in labels]
    if [*shape] == wanted:
        return name
    return f"{name}[{', '.join(f':{size}' for size in wanted)}]"


def _is_view(node: Read) -> bool:
    """Return whether each label moves along one axis only, forwards, two along each at most."""
    seen: list[str] = []
    for index in node.indices:
        for term, factor in index.terms:
            if not isinstance(term, str) or factor < 1 or len(index.terms) > 2:
                return False
            seen.append(term)
    return len({*seen}) == len(seen)


def _view(writer: Writer, node: Read, value: str) -> Piece:
    shape, starts, pads = writer.shape(node.tensor), list[int](), list[int]()
    axes: list[list[tuple[int, int]]] = []
    for index, extent in zip(node.indices, shape, strict=True):
        last = index.constant + sum(f * (writer.sizes[x] - 1) for x, f in index.linear)
        before = max(-index.constant, 0) if node.padding is not None else 0
        after = max(last - extent + 1, 0) if node.padding is not None else 0
        starts.append(index.constant + before)
        pads = [before, after, *pads]
        axes.append([(writer.sizes[x], factor) for x, factor in index.linear])
    given = f"{starts}, {axes}, {pads}, {value}"
    code = writer.keep(f"helpers.windows({writer.variable(node.tensor)}, {given})")
    first = [x for index in node.indices for x in index.labels[:1]]
    second = [x for index in node.indices for x in index.labels[1:]]
    return Piece(code, (*first, *second))


def _is_by_axis(node: Read) -> bool:
    """Return whether each axis has one label of its own, and nothing is outside."""
    each = [one.labels for one in node.indices]
    every = [x for one in each for x in one]
    return node.padding is None and all(len(x) == 1 for x in each) and len({*every}) == len(every)


def _selected(writer: Writer, node: Read, labels: Sequence[str]) -> Piece:
    code = writer.variable(node.tensor)
    for axis, index in enumerate(node.indices):
        if not index.is_plain:
            places = writer.once(_along(writer, index, index.labels))
            code = f"{code}.index_select({axis}, {places})"
    return Piece(writer.keep(code), (*labels,))


def _is_row(node: Read) -> bool:
    """Return whether one axis is at data that is promised to be inside, and others at labels."""
    data = [one for one in node.indices if one.data is not None]
    others = [one.plain for one in node.indices if one.data is None]
    if len(data) != 1 or data[0].within is None or None in others or node.padding is not None:
        return False
    return not {*others} & {*data[0].labels} and len({*others}) == len(others)


def _rows(writer: Writer, node: Read, expression: Expression) -> Piece:
    """Return whole rows, as an embedding gives them."""
    words: list[str] = []
    labels: list[str] = []
    for index in node.indices:
        if index.data is None:
            words.append(f":{writer.sizes[index.labels[0]]}")
            labels += index.labels
        else:
            found = expression(writer, index.data)
            words.append(found.code)
            labels += found.labels
    code = f"{writer.variable(node.tensor)}[{', '.join(words)}]"
    return Piece(writer.keep(code), tuple(labels))


def places_of(writer: Writer, node: Read, expression: Expression) -> list[Piece]:
    """Return where a read reads along each axis."""
    found: list[Piece] = []
    for index in node.indices:
        labels = index.labels
        if not any(isinstance(term, DataIndex) for term, _ in index.terms):
            code = _along(writer, index, labels)
            # A place that no label moves is a number, of which the others make a tensor.
            known = f"torch.tensor({code}, device=device)" if not labels else code
            found.append(Piece(writer.once(known), labels))
            continue
        terms = [str(index.constant)] if index.constant else []
        for term, factor in index.terms:
            if isinstance(term, DataIndex):
                code = laid(expression(writer, term.value), labels)
                terms.append(f"{factor} * {code}.long()" if factor != 1 else f"{code}.long()")
            else:
                one = Affine(((term, factor),))
                terms.append(
                    laid(Piece(f"({_along(writer, one, one.labels)})", one.labels), labels)
                )
        found.append(Piece(f"({' + '.join(terms)})", labels))
    return found


def _along(writer: Writer, index: Affine, labels: Sequence[str]) -> str:
    """Return an index that no data is in, over the axes of some labels."""
    terms: list[str] = []
    for term, factor in index.terms:
        match term:
            case str():
                code = laid(Piece(writer.indices(term), (term,)), labels)
            case DividedIndex(operator, inner, divisor):
                code = f"(({_along(writer, inner, labels)}) {operator} {divisor})"
            case DataIndex():
                raise TypeError("data, where labels alone are expected")
        terms.append(f"{factor} * {code}" if factor != 1 else code)
    return " + ".join([*terms, *([str(index.constant)] if index.constant or not terms else [])])
