"""Texts of functions for kernels that earlier versions wrote: files with them stay proved."""

LARGER = """\
@triton.jit
def dt_larger(a, b):
    # NaN is larger than any number.
    return tl.where((b > a) | (b != b), b, a)
"""
LIST = """\
@triton.jit
def dt_list(values, places, others, at, axis: tl.constexpr, count: tl.constexpr):
    # The largest pairs of two tiles, as many as the first one has along the last axis, in order:
    # NaN first, and of equal values the smaller place first. Pairs that are equal count as one.
    nowhere = tl.full((), 0x7FFFFFFFFFFFFFFF, tl.int64)
    if values.dtype == tl.float32 or values.dtype == tl.float64:
        nothing = tl.full((), float("-inf"), values.dtype)
    elif values.dtype == tl.uint8:
        nothing = tl.full((), 0, values.dtype)
    else:
        nothing = tl.full((), -(2 ** (values.dtype.primitive_bitwidth - 1)), values.dtype)
    here = tl.arange(0, count)
    row = tl.expand_dims(tl.min(places, axis), axis)
    others = tl.where(row == row, others, nothing)
    at = tl.where(row == row, at, nowhere)
    found_values, found_places = values, places
    for step in tl.range(0, count):
        top = dt_larger(tl.reduce(values, axis, dt_larger), tl.reduce(others, axis, dt_larger))
        top = tl.expand_dims(top, axis)
        is_top = (values == top) | ((values != values) & (top != top))
        is_other = (others == top) | ((others != others) & (top != top))
        one = tl.min(tl.where(is_top, places, nowhere), axis)
        place = tl.minimum(one, tl.min(tl.where(is_other, at, nowhere), axis))
        place = tl.expand_dims(place, axis)
        found_values = tl.where(here == step, top, found_values)
        found_places = tl.where(here == step, place, found_places)
        is_top &= places == place
        is_other &= at == place
        values = tl.where(is_top, nothing, values)
        places = tl.where(is_top, nowhere, places)
        others = tl.where(is_other, nothing, others)
        at = tl.where(is_other, nowhere, at)
    return found_values, found_places
"""
