"""The operations of Triton that a kernel may call: a row for each, found by its word.

A row says how the operation is written, which rows of the table of semantics decide the type of its
result, and which rule computes that result and notes what the operation does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    BlockPointerValue,
    DescriptorValue,
    NoneValue,
    TileValue,
    Unread,
    Value,
)
from dtpoly.verify.algebra.regions import set_of
from dtpoly.verify.algebra.whole import TRUE, both, names_of, negation
from dtpoly.verify.triton import (
    accessing,
    block_pointers,
    lane_operations,
    tile_making,
    tile_shapes,
)
from dtpoly.verify.triton import descriptor_access as descriptors
from dtpoly.verify.triton import unread_values as unread
from dtpoly.verify.triton import unread_words as words
from dtpoly.verify.triton.domains import ranged
from dtpoly.verify.triton.named_arguments import in_places
from dtpoly.verify.triton.operands import Operands
from dtpoly.verify.triton.reader import Reader
from dtpoly.verify.triton.reducing import along_axis, by_function
from dtpoly.verify.triton.signatures import NUMBER, TEXT, Signature, by_place, of_count
from dtpoly.verify.triton.tile_products import dot


@dataclass(frozen=True, slots=True)
class TritonOperation:
    """An operation: how it is written, what decides the type of its result, and what it does."""

    signature: Signature
    rule: Callable[[Operands], Value]
    # The rows of the table of semantics; none if the result has the type of an operand, or one that
    # is always the same, or if there is no result.
    types: tuple[str, ...] = ()


def perform(read: Reader, word: str, args: list[ast.expr], node: ast.Call) -> Value:
    """Return the value of `tl.word(...)`, and note what it does. Raises Unread."""
    named = {str(one.arg): one.value for one in node.keywords}
    operation = OPERATIONS.get(word)
    signature = Signature() if operation is None else operation.signature
    args, named = in_places(word, args, named)
    signature.check(args, named, node)
    is_counted = signature.counts is None or len(args) in signature.counts
    if operation is None or not is_counted:
        raise Unread(node.lineno, f"a call of 'tl.{word}'")
    return operation.rule(Operands(read, word, args, signature.by_name(args, named), node))


def _loaded(given: Operands) -> TileValue:
    block = _block(given)
    if block is not None:
        return block_pointers.loaded(given, block)
    mask, other = given.tile_of("mask"), given.tile_of("other")
    if mask is None and other is not None:
        given.state.doubt(given.line, f"{given.text}: 'other' without 'mask'")
    return accessing.load(given.state, given.tile(0), mask, other, given.line)


def _block(given: Operands) -> BlockPointerValue | None:
    """Return the block pointer through which memory is touched; None where it is an address."""
    match given.args:
        # What has no name is read as an address, once.
        case [ast.Name(id=one), *_] if isinstance(given.state.names.get(one), BlockPointerValue):
            found = given.value(0)
            assert isinstance(found, BlockPointerValue)
            return found
        case _:
            pass
    if set(given.by_name) & set(block_pointers.OPTIONS):
        raise given.refused(": only a block has a boundary check")
    return None


def _stored(given: Operands) -> NoneValue:
    block = _block(given)
    if block is not None:
        return block_pointers.stored(given, block)
    mask, value = given.tile_of("mask"), given.tile(1)
    accessing.store(given.state, given.word, given.tile(0), value, mask, given.line)
    return NoneValue()


def _described(given: Operands) -> DescriptorValue:
    named = {word: one for word, one in given.by_name.items() if word != DESCRIBED[0]}
    return descriptors.made(given.read, given.args, named, given.node)


def _waited(given: Operands) -> NoneValue:
    accessing.barrier(given.state, given.line)
    return NoneValue()


def _asserted(given: Operands) -> NoneValue:
    claim = given.args[0]
    if given.read.truth(claim) != TRUE or given.tile(0).kind != kinds.WEAK:
        raise Unread(given.line, f"'{ast.unparse(claim)}' is not sure to be true")
    return NoneValue()


def _assumed(given: Operands) -> NoneValue:
    # Triton compiles only for calls for which this is true, so it must be true of all.
    state, claim = given.state, given.args[0]
    claimed = negation(given.read.truth(claim))
    there = both(state.facts, state.here(), claimed)
    ranges = ranged(state.digits.ranges, state.ranges, names_of(there))
    if not state.run.is_empty(set_of(both(there, ranges))):
        raise Unread(given.line, f"'{ast.unparse(claim)}' is not sure to be true")
    return NoneValue()


EVICTION = ("", "evict_first", "evict_last")
OF_LOADS = {"eviction_policy": EVICTION, "cache_modifier": ("", ".ca", ".cg", ".cv")}
OF_STORES = {"eviction_policy": EVICTION, "cache_modifier": ("", ".wb", ".cg", ".cs", ".wt")}
OF_ATOMICS = {
    "sem": ("acquire", "release", "acq_rel", "relaxed"),
    "scope": ("gpu", "sys"),  # only within a block would be too little
}
TO = ("to", "value", "mask")
DESCRIBED = ("base", "shape", "strides", "block_shape")
SCANNED = ("input", "axis", "combine_fn", "reverse")
EXTREME = by_place("x", "y", "propagate_nan", named=("propagate_nan",))
ALONG = Signature(("input", "axis"), ("axis", "keep_dims"), 2)
TIES = "return_indices_tie_break_left"
WITH_PLACE = Signature(
    ("input", "axis", "return_indices", TIES),
    ("axis", "return_indices", TIES, "keep_dims"),
    4,
)
PLACED = Signature(
    ("input", "axis", "tie_break_left", "keep_dims"), ("axis", "tie_break_left", "keep_dims"), 4
)
ASSEMBLY = ("asm", "constraints", "args", "dtype", "is_pure", "pack")
HINT = Signature(most=2, written=NUMBER)
MATRICES = Signature(
    ("input", "other", "acc"), ("acc", "input_precision", "allow_tf32", "out_dtype"), 3
)

OPERATIONS: Mapping[str, TritonOperation] = {
    **dict.fromkeys(
        ("program_id", "num_programs"),
        TritonOperation(by_place("axis", named=("axis",)), tile_making.program),
    ),
    "arange": TritonOperation(Signature(most=2), tile_making.arange),
    "cdiv": TritonOperation(Signature(most=2), tile_making.cdiv),
    "full": TritonOperation(
        by_place("shape", "value", "dtype", named=("shape", "value", "dtype")),
        tile_making.filled,
        ("full", "cast"),
    ),
    "zeros": TritonOperation(
        by_place("shape", "dtype", named=("shape", "dtype")), tile_making.filled, ("full",)
    ),
    "zeros_like": TritonOperation(of_count(1), tile_making.zeros_like),
    "load": TritonOperation(
        Signature(
            ("pointer", "mask", "other"),
            ("mask", "other", *block_pointers.OPTIONS),
            3,
            words=OF_LOADS,
        ),
        _loaded,
        ("load", "load other"),
    ),
    "store": TritonOperation(
        Signature(TO, ("mask", block_pointers.CHECKED), 3, words=OF_STORES), _stored, ("store",)
    ),
    "make_block_ptr": TritonOperation(
        by_place(*block_pointers.MADE, named=block_pointers.MADE), block_pointers.made
    ),
    "advance": TritonOperation(
        by_place("base", "offsets", named=("base", "offsets")), block_pointers.advanced
    ),
    **{
        word: TritonOperation(
            Signature(("to", "value", "mask"), ("mask",), 3, words=OF_ATOMICS),
            unread.atomic,
            (word,),
        )
        for word in ("atomic_add", "atomic_max", "atomic_min")
    },
    **{
        word: TritonOperation(Signature(TO, ("mask",), 3, words=OF_ATOMICS), unread.atomic)
        for word in ("atomic_and", "atomic_or", "atomic_xor", "atomic_xchg")
    },
    **dict.fromkeys(
        ("cumsum", "cumprod"),
        TritonOperation(
            Signature(("input", "axis", "reverse"), ("axis", "reverse"), 3),
            unread.only_shaped(unread.running_total),
        ),
    ),
    **dict.fromkeys(
        ("join", "interleave"),
        TritonOperation(of_count(2), unread.only_shaped(unread.joined)),
    ),
    **dict.fromkeys(
        ("flip", "sort"),
        TritonOperation(
            Signature(("x", "dim", "descending"), ("dim", "descending"), 3),
            unread.only_shaped(unread.same_shape),
        ),
    ),
    "make_tensor_descriptor": TritonOperation(
        by_place(*DESCRIBED, named=DESCRIBED[1:]), _described
    ),
    "debug_barrier": TritonOperation(Signature(most=0), _waited),
    "static_assert": TritonOperation(Signature(counts=(1, 2), written=TEXT), _asserted),
    "assume": TritonOperation(of_count(1), _assumed),
    **dict.fromkeys(("multiple_of", "max_contiguous"), TritonOperation(HINT, tile_shapes.hinted)),
    "cast": TritonOperation(
        Signature(
            ("input", "dtype", unread.ROUNDING, "bitcast"), ("dtype", unread.ROUNDING, "bitcast"), 2
        ),
        unread.cast,
        ("cast",),
    ),
    "expand_dims": TritonOperation(of_count(2), tile_shapes.expanded),
    **dict.fromkeys(("trans", "permute"), TritonOperation(Signature(), tile_shapes.permuted)),
    "reshape": TritonOperation(of_count(2), tile_shapes.in_shape),
    "split": TritonOperation(of_count(1), unread.split),
    "broadcast_to": TritonOperation(of_count(2), tile_shapes.broadcast),
    "sum": TritonOperation(replace(ALONG, options=(*ALONG.options, "dtype")), along_axis, ("sum",)),
    **{
        word: TritonOperation(WITH_PLACE, words.extreme_and_place, (word,))
        for word in ("max", "min")
    },
    **{
        word: TritonOperation(PLACED, unread.only_shaped(words.place_of_extreme))
        for word in ("argmax", "argmin")
    },
    "histogram": TritonOperation(
        Signature(("input", "num_bins", "mask"), ("mask",), 3),
        unread.only_shaped(words.histogram),
    ),
    "gather": TritonOperation(
        Signature(("src", "index", "axis"), ("axis",), 3), unread.only_shaped(words.gathered)
    ),
    **dict.fromkeys(
        ("rand", "randn"), TritonOperation(of_count(2), unread.only_shaped(words.drawn))
    ),
    **dict.fromkeys(
        ("device_print", "static_print"),
        TritonOperation(Signature(), unread.only_shaped(words.said)),
    ),
    "device_assert": TritonOperation(of_count(1, 2), unread.only_shaped(words.said)),
    "inline_asm_elementwise": TritonOperation(
        by_place(*ASSEMBLY, named=ASSEMBLY), unread.only_shaped(words.assembly)
    ),
    "reduce": TritonOperation(
        by_place("input", "axis", "combine_fn", named=("axis", "combine_fn")), by_function
    ),
    "associative_scan": TritonOperation(by_place(*SCANNED, named=SCANNED[1:]), unread.scan),
    "dot": TritonOperation(MATRICES, dot, ("dot", "dot as", "dot onto")),
    "where": TritonOperation(of_count(3), lane_operations.where, ("where",)),
    **{
        word: TritonOperation(
            EXTREME,
            lane_operations.extreme_of_two,
            (word, f"{word} of all", f"{word.removesuffix('imum')} of python"),
        )
        for word in ("maximum", "minimum")
    },
    "clamp": TritonOperation(
        by_place("x", "min", "max", named=("min", "max")), lane_operations.clamped, ("clamp",)
    ),
    "fma": TritonOperation(of_count(3), lane_operations.fma, ("fma",)),
    **{
        word: TritonOperation(of_count(1), lane_operations.unary, (word,))
        for word in (
            *("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sqrt_rn", "sin", "cos", "erf"),
            *("abs", "ceil", "floor", "sigmoid"),
        )
    },
    **{
        f"extra.libdevice.{word}": TritonOperation(of_count(1), lane_operations.of_library)
        for word in lane_operations.OF_LIBRARY
    },
    **{
        f"extra.libdevice.{word}": TritonOperation(
            of_count(count), unread.only_shaped(words.of_library)
        )
        for word, count in words.LIBRARY.items()
    },
    **{
        word: TritonOperation(of_count(2), lane_operations.binary, (word,))
        for word in lane_operations.BINARY
    },
}
