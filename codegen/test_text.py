"""Writes a function that tries the functions of a file on random inputs of given sizes."""

from collections.abc import Iterator, Mapping, Sequence

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import (
    Affine,
    Cast,
    Dot,
    Reduce,
    divided,
    division,
    walk,
)
from dtpoly.algorithm.outside import as_shown, padded_axes
from dtpoly.algorithm.program import Program, Scalar, Tensor, in_order, touched
from dtpoly.algorithm.show import show_affine
from dtpoly.poly.model import Model

from .breaking import WIDTH
from .file_parts import CallingText
from .plan_parts import FunctionParts
from .planned_sizes import keyword_labels
from .python_layout import call, inside, tuple_of
from .python_names import PYTHON, fresh, takes_device
from .reference_text import check_meaning, reference
from .type_text import TORCH

# The share that a product of f32 matrices loses in a mode that is less exact.
ROUNDING = {"tf32": 2.0**-10, "tf32x3": 2.0**-20}

# Names that the test itself uses; where a function is called so, it takes another one.
LOCALS = ("device", "dtype", "expected", "generator", "result", "seed")

SHARED = {
    "dt_random": '''\
def dt_random(shape, dtype, generator):
    """Floats around 1 in size; whole numbers from -4 to 4."""
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    low, high = {torch.bool: (0, 2), torch.uint8: (0, 9)}.get(dtype, (-4, 5))
    return torch.randint(low, high, shape, generator=generator).to(dtype)
''',
    "dt_compare": '''\
def dt_compare(name, result, expected, steps, rounding, *dtypes):
    """Refuse a result that is further from what is expected than rounding explains.

    Whole numbers are exact. In floats each of so many steps rounds, and so do values that are
    stored, or that meet in a product.
    """
    result = result.cpu()
    if result.shape != expected.shape:
        raise AssertionError(f"'{name}' has shape {result.shape}, not {expected.shape}")
    allowed = 0
    if result.is_floating_point():
        floats = {dtype for dtype in (result.dtype, *dtypes) if dtype.is_floating_point}
        is_wide = floats == {torch.float64}
        unit = torch.finfo(torch.float64 if is_wide else torch.float32).eps
        stored = max(rounding, *(torch.finfo(dtype).eps for dtype in floats))
        size = torch.nan_to_num(expected, 0, 0, 0).abs().amax().item()
        share = (steps + 16) * unit + (steps**0.5 + 4) * stored
        allowed = share * max(size, 1 / (steps + 16))
    result, expected = result.double(), expected.double()
    same = (result == expected) | (result.isnan() & expected.isnan())
    error = torch.where(same, 0, (result - expected).abs()).amax().item()
    print(f"{name}: the largest error is {error:.3g}, and up to {allowed:.3g} is right")
    if not error <= allowed:
        raise AssertionError(f"'{name}' is off by {error:.3g}, which is more than {allowed:.3g}")
''',
}


def test_lines(
    functions: Sequence[FunctionParts], sizes: Mapping[str, int], precisions: Sequence[str | None]
) -> list[CallingText]:
    """The texts of a reference for each function, of `test`, and of what runs it.

    Raises Unsupported where a Func is more than its definition.
    """
    first = functions[0]
    program, inputs = first.program, first.names.inputs
    check_meaning(program)
    taken = set(first.names.taken)
    taken.update(one.plan for one in functions)
    references: dict[str, str] = {}
    for one in functions:
        for func in one.results:
            if func not in references:
                references[func] = fresh(f"{one.names.funcs[func]}_reference", taken, PYTHON)
                taken.add(references[func])
    test = fresh("test", taken, PYTHON)
    texts = [reference(program, func, name, inputs) for func, name in references.items()]
    tried = _test(functions, references, test, sizes, precisions)
    return [*texts, tried, CallingText.of(_main(test))]


def _main(test: str) -> list[str]:
    """Write what the file does if it is run, laid out as linters want it."""
    given = '**{name: int(size) for name, size in (one.split("=") for one in sys.argv[1:])}'
    called = [f"    {test}({given})"]
    if len(called[0]) > WIDTH:
        called = [f"    {test}(", f"        {given}", "    )"]
    return ['if __name__ == "__main__":  # sizes as arguments: x=100 y=1000', *called]


def _test(
    functions: Sequence[FunctionParts],
    references: Mapping[str, str],
    test: str,
    sizes: Mapping[str, int],
    precisions: Sequence[str | None],
) -> CallingText:
    first = functions[0]
    program, keywords = first.program, first.names.labels
    taken = {*(one.names.funcs[one.func] for one in functions), test, *references.values()}
    own_names = {name: fresh(name, taken, PYTHON) for name in LOCALS}
    device, dtype, expected, generator, result, seed = own_names.values()
    used = frozenset(own_names.values())
    inputs = {name: _free(own, taken, used) for name, own in first.names.inputs.items()}
    named = {label: _free(keywords[label], taken, used) for label in _chosen(program, first.model)}
    own = _names(program, first.model, named)
    has_dtype = any(tensor.dtype is None for tensor in program.tensors)
    parameters = [f"{name}={sizes[label]}" for label, name in named.items()]
    extra = [f"{dtype}=torch.float32"] if has_dtype else []
    extra += [f"{device}=None", *([f"{seed}=0"] if program.inputs else [])]
    parameters += ["*", *extra]
    which = ", ".join(f"`{one.func}`" for one in functions)
    body = [f'"""Try {which} on random inputs."""']
    if program.tensors or takes_device(program):
        body.append(f"{device} = dt_device({device})")
    if program.inputs:
        body.append(f"{generator} = torch.Generator().manual_seed({seed})")
    for declared in program.inputs:
        body += _input(program, declared, inputs[declared.name], own, own_names)
    passed = [f"{keywords[label]}={own[label]}" for label in keyword_labels(program)]
    dtypes = list(dict.fromkeys((*([dtype] if has_dtype else ()), *_dtypes(program))))
    rounding = max([0.0, *(ROUNDING.get(precision or "", 0.0) for precision in precisions)])
    for one in functions:
        arguments = [*inputs.values(), *passed]
        where = [f"device={device}"] if takes_device(program) else []
        name = one.names.funcs[one.func]
        before: list[str] = []
        if any(program.func(func).into for func in one.results):  # what is read is written then
            before = [_free(f"expected_{at}", taken, used) for at in range(len(one.results))]
        for wanted, func in zip(before, one.results, strict=False):
            body += call(f"{wanted} = {references[func]}", arguments, ".to(device, copy=True)")
        body += call(f"{result} = {name}", [*arguments, *where])
        for at, func in enumerate(one.results):
            wanted = before[at] if before else expected
            body += [] if before else call(f"{expected} = {references[func]}", arguments)
            found = result if len(one.results) == 1 else f"{result}[{at}]"
            steps = _steps(program, func, own)
            seen = [f'"{func}"', found, wanted, steps, f"{rounding:g}", *dtypes]
            body += call("dt_compare", seen)
    called = ["dt_compare"]
    called += ["dt_device"] if program.tensors or takes_device(program) else []
    called += ["dt_random"] if program.tensors else []
    return CallingText.of([*call(f"def {test}", parameters, ":", indent=0), *inside(body)], called)


def _free(name: str, taken: set[str], used: frozenset[str]) -> str:
    made = fresh(name, taken, PYTHON | used)
    taken.add(made)
    return made


def _chosen(program: Program, model: Model) -> list[str]:
    """Return the labels whose size decides the shapes of inputs: one of those that share a size."""
    tensors = {tensor.name for tensor in program.tensors}
    labels = [
        label
        for func in program.funcs
        for read in touched(func)
        if read.tensor in tensors
        for index in read.indices
        for label in (*index.labels, *as_shown(index).labels)
    ]
    found: dict[str, str] = {}
    for label in (*labels, *keyword_labels(program)):
        found.setdefault(model.size_of[label], label)
    order = [label.name for label in program.labels]
    return sorted(found.values(), key=order.index)


def _names(program: Program, model: Model, named: Mapping[str, str]) -> dict[str, str]:
    """Return the variable of every label whose size is that of one that was chosen."""
    by_size = {model.size_of[label]: name for label, name in named.items()}
    return {label: by_size[size] for label, size in model.size_of.items() if size in by_size}


def _input(
    program: Program,
    one: Tensor | Scalar,
    name: str,
    own: Mapping[str, str],
    words: Mapping[str, str],
) -> Iterator[str]:
    """Yield what draws an input; `words` are the names of the test's own."""
    device, generator = words["device"], words["generator"]
    match one:
        case Tensor():
            shape = _shape(program, one.name, own)
            dtype = TORCH[one.dtype] if one.dtype is not None else words["dtype"]
            if one.within is not None:  # a promise, which the test keeps, too
                below = own[one.within] if isinstance(one.within, str) else str(one.within)
                seen = ["0", below, shape, f"generator={generator}"]
                yield from call(f"{name} = torch.randint", seen, f".to({device}, {dtype})")
                return
            yield from call(f"{name} = dt_random", [shape, dtype, generator], f".to({device})")
        case Scalar(dtype=DType.BOOL):
            yield f"{name} = torch.randint(0, 2, (), generator={generator}).item() == 1"
        case Scalar(dtype=dtype) if dtype is not None and not is_float(dtype):
            yield f"{name} = torch.randint(1, 4, (), generator={generator}).item()"
        case Scalar():
            yield f"{name} = 0.5 + torch.rand((), generator={generator}).item()"


def _shape(program: Program, tensor: str, own: Mapping[str, str]) -> str:
    """Return the smallest shape in which every read is inside."""
    mine = [r for func in program.funcs for r in touched(func) if r.tensor == tensor]
    extents: list[str] = []
    for axis in range(len(mine[0].indices) if mine else 0):
        inner = [as_shown(r.indices[axis]) for r in mine if axis not in padded_axes(r)]
        # An axis that is only read through a pad is as long as its index without the shift.
        padded = [Affine(read.indices[axis].terms) for read in mine]
        affine = [index for index in inner or padded if index.data is None]
        # Data may be anything: the axis is as long as the labels of the data are, if it is read
        # at nothing else.
        plain = [Affine(((label, 1),)) for index in padded for label in index.labels]
        texts = list(dict.fromkeys(_reach(index, own) for index in affine or plain)) or ["1"]
        extents.append(texts[0] if len(texts) == 1 else f"max({', '.join(texts)})")
    return tuple_of(extents)


def _reach(index: Affine, own: Mapping[str, str]) -> str:
    total = _end(index, own, is_last=True) + Affine((), 1)
    return show_affine(total) if total.terms else str(max(total.constant, 0))


def _end(index: Affine, own: Mapping[str, str], *, is_last: bool) -> Affine:
    """Return the least or the largest value of an index."""
    total = Affine((), index.constant)
    for term, factor in index.terms:
        is_high = is_last is (factor > 0)
        if isinstance(term, str):
            one = Affine(((own[term], 1),), -1) if is_high else Affine()
        elif (quotient := division(term)).operator == "//":
            one = divided("//", _end(quotient.inner, own, is_last=is_high), quotient.divisor)
        else:
            one = Affine((), quotient.divisor - 1 if is_high else 0)
        total = total + one.scaled(factor)
    return total


def _steps(program: Program, func: str, own: Mapping[str, str]) -> str:
    """Return how many values are added up for an element, one reduction after another."""
    products: dict[str, None] = {}
    for one in in_order(program, [func]):
        for node in walk(one.body):
            if isinstance(node, Reduce | Dot):
                products[" * ".join(own[label] for label in node.labels if label in own) or "1"] = (
                    None
                )
    return " + ".join(products) or "0"


def _dtypes(program: Program) -> Iterator[str]:
    """Yield the declared types to which values are rounded on the way."""
    declared = [*(t.dtype for t in program.tensors), *(func.dtype for func in program.funcs)]
    declared += [n.dtype for f in program.funcs for n in walk(f.body) if isinstance(n, Cast)]
    yield from (TORCH[dtype] for dtype in declared if dtype is not None and is_float(dtype))
