"""Lists what is timed: kernels, shapes and dtypes, and the aim of each family."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from math import prod

FLUSHED = "flushed"  # one launch at a time, with nothing of its data in the cache
REPEATED = "repeated"  # many launches in a row: kernels that take as long as a launch

# The peers that one can choose. The last two are asked for by name: one takes minutes, the other is
# ways to compute one kernel, which nobody would use.
KINDS = ("torch", "compile", "triton", "liger", "helion", "max-autotune", "turned")
USUAL = KINDS[:-2]

# What a case calls them, and what a tensor of them is called in torch.
DTYPES: Mapping[str, str] = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "tf32": "float32",  # products round their operands
}


@dataclass(frozen=True, slots=True)
class Derived:
    """A file of examples/ with some directives left out and others added."""

    name: str
    of: str
    adds: str
    leaves_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """One kernel at several shapes, all of them compared in the same way.

    The first of the files is the one that counts; others compute the same in other ways.
    """

    kernel: str
    family: str
    files: tuple[str, ...]
    labels: str
    cases: tuple[str, ...]
    way: str = FLUSHED


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a kernel at one shape with one dtype."""

    kernel: str
    family: str
    files: tuple[str, ...]
    case: str
    sizes: Mapping[str, int]
    dtype: str
    way: str

    @property
    def name(self) -> str:
        """Unique among all rows."""
        return f"{self.kernel} {self.case}"


@dataclass(frozen=True, slots=True)
class Aim:
    """The ratios that a family should reach: the best peer's time divided by ours."""

    mean: float | None = None  # the geometric one
    least: float | None = None
    rows: int | None = None  # so many of them; all, where it is not said


BANDWIDTH = "bound by memory"
MATMUL = "matmul, large"
SMALL_K = "matmul, small k"
RAGGED = "matmul, ragged"
OTHER = "matmul, others"
SIGMOID = "mmsigmoid"
INNER = "2mm, inner fusion"
OUTER = "2mm, outer fusion"
ATTENTION = "attention"
CONV = "conv2d"
TRAINING = "training"
QUANTISED = "weights of 4 bits"
CHOICES = "scans, choices, random numbers"
HEADS = "attention of heads"
GROUPED_ROWS = "products of groups of rows"

# Families of which no results are kept so far.
UNMEASURED = (TRAINING, QUANTISED, CHOICES, HEADS, GROUPED_ROWS)

# What such a name begins with is no peer: it says how far one could get at most.
FLOOR = "floor: "
WINDOW = 1025  # keys that a query of a window sees, with its own

AIMS: Mapping[str, Aim] = {
    BANDWIDTH: Aim(1.03, 0.95),
    MATMUL: Aim(least=0.97),
    SMALL_K: Aim(least=1.0),
    RAGGED: Aim(least=1.0),
    SIGMOID: Aim(1.15, 1.0),
    INNER: Aim(1.15, 1.0),
    OUTER: Aim(1.15, 1.0),
    ATTENTION: Aim(1.15, 1.0),
    CONV: Aim(least=1.0, rows=3),
    OTHER: Aim(),
    TRAINING: Aim(),
    QUANTISED: Aim(),
    CHOICES: Aim(),
    HEADS: Aim(),
    GROUPED_ROWS: Aim(),
}

_LATE = "_late"
_INNERS = ("two_mm_inner", "two_mm_inner_512", "two_mm_inner_1024")
_SHORT = ("mmsigmoid", *_INNERS, "two_mm_outer", "two_mm_outer_512", "attention", "middle_matmul")
_SUMMED = ("tvd", "kl_div", "half_kl_div", "cross_entropy", "half_cross_entropy")
_EARLY = (*_SHORT, *_SUMMED, "big_sum", "tall_column_sum", "ragged_matmul")


def _flash(name: str) -> tuple[Derived, ...]:
    """Return other tiles of attention: rows and keys at a time, warps, and stages."""
    ways = ["128x128x8x2", "128x128x8x3", "128x64x8x3", "64x128x4x2", "64x64x4x2", "64x64x4x3"]
    if name != _CAUSAL:  # there, tiles on the diagonal need registers of their own
        ways += ["128x64x4x2", "128x64x4x3"]
    return tuple(_flash_tiles(name, way) for way in ways)


def _flash_tiles(name: str, way: str) -> Derived:
    m, keys, warps, stages = way.split("x")
    adds = (
        f"{name}.block(b:1, h:1, m:{m});",
        f"{name}.tensorize(b:0, h:0, m:0, n:0, k:0, l:{keys});",
        f"{name}.num_warps({warps});",
        f"{name}.num_stages({stages});",
    )
    left_out = ("block", "tensorize", "num_warps", "num_stages")
    return Derived(f"{name}_{way}", name, "\n".join(adds), left_out)


def _row_parts(way: str) -> Derived:
    """Return other parts of the gradients of a layer normalization: rows of a part, and warps."""
    rows, warps = way.split("x")
    adds = (
        f"dw.block(x:p/{rows}, p.y:32);",
        "dw.tensorize(y:0, x:1, p:32);",
        f"dw.num_warps({warps});",
    )
    name = "layer_norm_backward"
    return Derived(f"{name}_{way}", name, "\n".join(adds), ("block", "tensorize", "num_warps"))


def _scan_parts(way: str) -> Derived:
    """Return other parts of a scan of long rows: elements of a part, and at a time, and warps."""
    part, tile, warps = map(int, way.split("x"))
    adds = (
        f"sums.block(x:1, t:p/{part});",
        f"sums.tensorize(x:0, t:{tile}, p:{2**24 // part});",
        f"sums.num_warps({warps});",
    )
    name = "long_cumsum"
    return Derived(f"{name}_{way}", name, "\n".join(adds), ("block", "tensorize", "num_warps"))


def _decoding_parts(way: str) -> Derived:
    """Return other parts of a decoding kernel: keys of a part, and at a time, warps, and stages."""
    part, keys, warps, stages = way.split("x")
    name = "flash_decoding"
    adds = (
        f"{name}.block(b:1, h:1, g:16, l:p/{part});",
        f"{name}.tensorize(b:0, h:0, g:0, n:0, k:0, l:{keys}, p:8);",
        f"{name}.num_warps({warps});",
        f"{name}.num_stages({stages});",
    )
    left_out = ("block", "tensorize", "num_warps", "num_stages")
    return Derived(f"{name}_{way}", name, "\n".join(adds), left_out)


def _product_tiles(name: str, reduced: str, way: str) -> Derived:
    """Return other tiles of a product with weights of 4 bits."""
    m, n, k, warps, stages = way.split("x")
    adds = (
        f"product.block(m:{m}, n:{n});",
        f"product.tensorize(m:0, n:0, {reduced}:{k});",
        f"product.num_warps({warps});",
        f"product.num_stages({stages});",
    )
    left_out = ("block", "tensorize", "num_warps", "num_stages")
    return Derived(f"{name}_{way}", name, "\n".join(adds), left_out)


def _expert_tiles(way: str) -> Derived:
    """Return other tiles of grouped products; `by` groups of rows meet the same columns in turn."""
    n, warps, stages, by = way.split("x")
    name = "wide_grouped_matmul"
    adds = (
        f"product.block(t:1, i:128, n:{n});",
        f"product.map(t:ti/{by}, n, ti, i);" if by else "",
        f"product.num_warps({warps});",
        f"product.num_stages({stages});",
    )
    left_out = ("block", "map", "num_warps", "num_stages")
    return Derived(f"{name}_{way}", name, "\n".join(adds), left_out)


_ONE_WARP = "value.block(x:1); value.tensorize(x:0, j:0, k:256); value.num_warps(1);"
_NARROW_LISTS = "value.tensorize(x:0, j:0, k:512);"
_CAUSAL = "causal_flash_attention"
_FLASHES = ("flash_attention", _CAUSAL, "grouped_flash_attention")
_WINDOW_WAYS = (
    *("64x64x4x2", "64x32x4x4"),
    *("128x64x4x3", "128x64x8x2", "128x64x8x3", "128x32x4x4"),
)
_FEW_WAYS = ("16x32x64x4x4", "16x64x128x4x3", "16x128x64x4x4")
_MANY_WAYS = ("64x128x64x4x3", "128x128x64x8x3", "128x128x64x4x3", "128x256x64x8x3")
_EXPERT_WAYS = (
    *("256x8x3x", "256x8x4x4", "256x8x4x8", "256x8x4x16", "256x8x3x16"),
    *("128x4x4x", "128x8x4x", "128x4x4x16"),
)

DERIVED = (
    *(_row_parts(f"{rows}x{warps}") for rows, warps in product((16, 32, 64), (4, 16))),
    *(_scan_parts(way) for way in ("4096x4096x8", "8192x8192x16", "32768x4096x8", "65536x2048x4")),
    Derived("top_k_warp", "top_k", _ONE_WARP, ("block", "tensorize")),
    Derived("top_k_narrow", "top_k", _NARROW_LISTS, ("tensorize",)),
    *(one for name in _FLASHES for one in _flash(name)),
    *(
        _decoding_parts(f"{part}x{way}")
        for part in (256, 512, 1024, 2048, 4096)
        for way in ("32x2x3", "32x4x3", "32x4x5", "64x4x3", "64x4x4", "128x4x3", "128x8x3")
    ),
    *(_flash_tiles("window_flash_attention", way) for way in _WINDOW_WAYS),
    *(
        _product_tiles(name, reduced, way)
        for name, reduced in (("packed_w4a16", "k"), ("w4a16", "c"))
        for way in (*_FEW_WAYS, *_MANY_WAYS)
        if name == "packed_w4a16" or way.split("x")[2] == "64"
    ),
    *(_expert_tiles(way) for way in _EXPERT_WAYS),
    # The thesis's table 4.4: the same tiles in the other order of programs, plain or in groups.
    Derived("half_matmul_ungrouped", "half_matmul", "half_matmul.map(m, n);", ("map",)),
    Derived("tf32_matmul_grouped", "tf32_matmul", "tf32_matmul.map(m:mi/8, n, mi);", ("map",)),
    # The same kernels, each launched when the one before it is done.
    *(Derived(f"{name}{_LATE}", name, "", ("early",)) for name in _EARLY),
)

_GLU = ("16384x16384 f32", "16384x16384 bf16", "128x65536 f32", "128x65536 bf16")
_LOSS = ("8192x4096 f32", "8192x32768 f32", "8192x128256 bf16")
_RMS = ("8192x4096 bf16", "8192x4096 f32", "32768x2048 bf16", "16384x16384 f32")
_SOFTMAX = ("4096x4096 f32", "4096x16384 f32", "4096x4096 bf16")
_NARROW = ("4096x512 f32", "4095x1000 f32")
_WIDE, _HALF_WIDE = ("4096x65536 f32", "8192x50257 f32"), ("8192x50257 bf16",)
_ENTROPY = ("8192x50257 f32",)
_HALF_ENTROPY = ("8192x50257 bf16", "8192x128256 bf16")
_TALL, _SQUARE = ("4194304x64 f32",), ("16384x16384 f32",)
_LARGE = ("4096x4096x4096 bf16", "8192x8192x8192 bf16", "16384x16384x16384 f16")
_TINY_K, _SMALL_K = ("32768x32768x32 f16",), ("16384x16384x64 f16", "8192x8192x128 f16")
_SIGMOID = ("256x512x32 tf32", "512x1024x32 tf32", "1024x2048x32 tf32")
_INNER = ("128x128x64x64", "256x256x64x64", "512x512x64x64", "1024x1024x64x64")
_OUTER = ("64x128x32x32", "128x256x32x32", "256x512x32x32", "512x1024x32x32")
_CONV = ("4x64x112x112x128x3x3 f16", "4x128x56x56x256x3x3 f16")
_DEEP_CONV = ("4x256x28x28x512x3x3 f16",)
_ONE_CHANNEL, _FEW_FILTERS = ("8x1x161x700x64x5x5 f16",), ("8x32x79x341x32x5x10 f16",)
_HEADS = tuple(
    f"{b}x{2048 // k}x{s}x{k}x{k}x{s} bf16"
    for k in (64, 128)
    for s in (1024, 4096, 16384)
    for b in (1, 4)
)
_CACHES = tuple(
    f"{b}x8x{g}x128x128x{s} bf16"
    for s in (8192, 32768, 131072)
    for b, g in ((1, 4), (8, 4), (1, 1))
)
_GROUPED = ("half_matmul", "half_matmul_ungrouped")
_GROUPED_32 = ("tf32_matmul", "tf32_matmul_grouped")

# That of the thesis has no maximum; it is timed beside the safe ones, and does not count.
_UNSAFE, _ONLINE = "softmax", "online_softmax"


def _tiled(file: str, few: bool | None = None) -> tuple[str, ...]:
    """Return a file, and all that differ from it in tiles; of products, for few rows or many."""
    found = tuple(one.name for one in DERIVED if one.of == file)
    if few is not None:
        ways = _FEW_WAYS if few else _MANY_WAYS
        found = tuple(name for name in found if name.removeprefix(f"{file}_") in ways)
    return (file, *found)


def _both(file: str) -> tuple[str, ...]:
    """Return a file, and the same one that is never launched early, if it may be."""
    return (file, f"{file}{_LATE}") if file in _EARLY else (file,)


def _fused(kernel: str, family: str, file: str, cases: Sequence[str]) -> Group:
    """Return two products of small matrices."""
    tf32 = tuple(f"{case} tf32" for case in cases)
    return Group(kernel, family, _both(file), "m n k l", tf32, REPEATED)


def _weights(kernel: str, file: str, few: bool) -> Group:
    """Return a product with weights of 4 bits, for as many rows as a decoder has, or for many."""
    m = 16 if few else 2048
    cases = tuple(f"{m}x{n}x4096 f16" for n in (4096, 14336))
    files = _tiled(file, few)
    if not few:
        files = (f"wide_{file}", *files)  # a kernel of its own unpacks the weights
    return Group(kernel, QUANTISED, files, "m n k", cases)


_HEADED = "b h m n k l"
_NORMED = ("8192x4096 bf16", "8192x4096 f32")
_TOKENS = ("128256x8192x4096 bf16", "50257x16384x1024 f32")
_LONG_ROWS = ("1x16777216 f32", "8x2097152 f32", "64x262144 f32")
_ROUTED = "e t i k n"  # experts, groups of rows, rows of a group, what is summed, columns
_WIDE_GROUPS = (
    *("8x128x128x4096x14336 bf16", "64x128x128x2048x1408 bf16"),
    "8x32x128x4096x4096 bf16",
)
_GROUPS_OF_64 = ("64x256x64x2048x1408 bf16",)
_LOGITS = ("4096x16384 f32", "8192x50257 f32", "8192x128256 bf16")
_SHARED = tuple(one for one in _HEADS if one.startswith("1x") and "x1024x" not in one)
_UNALIGNED = (*_both("ragged_matmul"), "half_matmul")
_THOUSAND = (*_both("middle_matmul"), "matmul", "half_matmul")

GROUPS = (
    Group("dyt", BANDWIDTH, ("dyt",), "x y", (*_GLU[:2], _GLU[3])),
    Group("geglu", BANDWIDTH, ("geglu",), "x y", _GLU),
    Group("swiglu", BANDWIDTH, ("swiglu",), "x y", _GLU),
    Group("tvd", BANDWIDTH, _both("tvd"), "x y", _LOSS),
    Group("kl_div", BANDWIDTH, _both("kl_div"), "x y", _LOSS[:2]),
    Group("kl_div", BANDWIDTH, _both("half_kl_div"), "x y", _LOSS[2:]),
    Group("rms_norm", BANDWIDTH, ("rms_norm",), "x y", _RMS),
    Group("layer_norm", BANDWIDTH, ("layer_norm",), "x y", ("8192x4096 bf16", "16384x8192 f32")),
    Group("softmax", BANDWIDTH, ("narrow_softmax", _UNSAFE), "x y", _NARROW),
    Group("softmax", BANDWIDTH, ("safe_softmax", _UNSAFE, _ONLINE), "x y", _SOFTMAX),
    Group("softmax", BANDWIDTH, ("wide_softmax", _UNSAFE, _ONLINE), "x y", _WIDE),
    Group("softmax", BANDWIDTH, ("half_wide_softmax", _UNSAFE, _ONLINE), "x y", _HALF_WIDE),
    Group("cross_entropy", BANDWIDTH, _both("cross_entropy"), "x y", _ENTROPY),
    Group("cross_entropy", BANDWIDTH, _both("half_cross_entropy"), "x y", _HALF_ENTROPY),
    Group("sum", BANDWIDTH, _both("big_sum"), "x", ("268435456 f32", "268435456 bf16")),
    Group("sum of rows", BANDWIDTH, ("tall_row_sum",), "x y", _TALL),
    Group("sum of rows", BANDWIDTH, ("row_sum",), "x y", _SQUARE),
    Group("sum of columns", BANDWIDTH, _both("tall_column_sum"), "x y", _TALL),
    Group("sum of columns", BANDWIDTH, ("column_sum",), "x y", _SQUARE),
    Group("matmul", OTHER, _THOUSAND, "m n k", ("1024x1024x1024 f16",), REPEATED),
    Group("matmul", MATMUL, ("half_matmul",), "m n k", _LARGE),
    Group("matmul", MATMUL, _GROUPED, "m n k", ("16384x16384x16384 bf16",)),
    Group("matmul", MATMUL, ("tf32_matmul",), "m n k", ("8192x8192x8192 tf32",)),
    Group("matmul", MATMUL, _GROUPED_32, "m n k", ("16384x16384x16384 tf32",)),
    Group("matmul", SMALL_K, ("tiny_k_matmul",), "m n k", _TINY_K),
    Group("matmul", SMALL_K, ("small_k_matmul",), "m n k", _SMALL_K),
    Group("matmul", RAGGED, _UNALIGNED, "m n k", ("4000x4100x1000 f16",)),
    Group("batched matmul", OTHER, ("batched_matmul",), "b m n k", ("64x1024x1024x1024 bf16",)),
    Group("mmsigmoid", SIGMOID, _both("mmsigmoid"), "m n k", _SIGMOID, REPEATED),
    Group("mmsigmoid", SIGMOID, ("half_mmsigmoid",), "m n k", ("8192x8192x8192 bf16",)),
    _fused("2mm, inner fusion", INNER, "two_mm_inner", _INNER[:2]),
    _fused("2mm, inner fusion", INNER, "two_mm_inner_512", _INNER[2:3]),
    _fused("2mm, inner fusion", INNER, "two_mm_inner_1024", _INNER[3:]),
    _fused("2mm, outer fusion", OUTER, "two_mm_outer", _OUTER[:2]),
    _fused("2mm, outer fusion", OUTER, "two_mm_outer_512", _OUTER[2:]),
    Group(
        "attention",
        ATTENTION,
        _both("attention"),
        "m n k l",
        tuple(f"{n}x{n}x{n}x{n} tf32" for n in (64, 128, 256)),
        REPEATED,
    ),
    # Pictures, channels, height, width, filters, and the sides of a filter.
    Group("conv2d", CONV, ("conv2d",), "b c h w f r s", _CONV),
    Group("conv2d", CONV, ("deep_conv2d",), "b c h w f r s", _DEEP_CONV),
    Group("conv2d", CONV, ("one_channel_conv2d",), "b c h w f r s", _ONE_CHANNEL),
    Group("conv2d", CONV, ("few_filters_conv2d",), "b c h w f r s", _FEW_FILTERS),
    Group("add + rms_norm", TRAINING, ("add_rms_norm",), "x y", _NORMED),
    Group("layer_norm forward", TRAINING, ("layer_norm_forward",), "x y", _NORMED),
    Group("layer_norm backward", TRAINING, _tiled("layer_norm_backward"), "x y", _NORMED),
    Group("adam in place", TRAINING, ("adam_in_place",), "x", ("67108864 f32", "67108864 bf16")),
    Group("embedding", TRAINING, ("embedding",), "v l k", _TOKENS),
    Group("dropout", CHOICES, ("dropout",), "x y", ("8192x8192 f32", "8192x8192 bf16")),
    Group("scan of rows", CHOICES, ("scan_rows",), "x t", ("8192x4096 f32", "1024x65536 f32")),
    Group("scan of long rows", CHOICES, _tiled("long_cumsum"), "x t", _LONG_ROWS),
    Group("top 8", CHOICES, _tiled("top_k"), "x k", ("8192x4096 f32", "8192x128256 bf16")),
    Group("moe gate", CHOICES, ("moe_gate",), "t k", ("65536x64 f32", "65536x128 bf16")),
    Group("log_sum_exp", CHOICES, ("log_sum_exp",), "x y", _LOGITS),
    Group("quantize rows", QUANTISED, ("quantize_rows",), "x y", _NORMED),
    _weights("w4a16, pairs", "packed_w4a16", True),
    _weights("w4a16, pairs", "packed_w4a16", False),
    _weights("w4a16, halves", "w4a16", True),
    _weights("w4a16, halves", "w4a16", False),
    Group("grouped matmul", GROUPED_ROWS, _tiled("wide_grouped_matmul"), _ROUTED, _WIDE_GROUPS),
    Group("grouped matmul", GROUPED_ROWS, ("grouped_matmul",), _ROUTED, _GROUPS_OF_64),
    Group("attention, heads", HEADS, _tiled("flash_attention"), _HEADED, _HEADS),
    Group("attention, causal", HEADS, _tiled(_CAUSAL), _HEADED, _HEADS),
    Group("attention, grouped", HEADS, _tiled("grouped_flash_attention"), _HEADED, _SHARED),
    Group("attention, window", HEADS, _tiled("window_flash_attention"), _HEADED, _SHARED),
    Group("attention, decoding", HEADS, _tiled("flash_decoding"), "b h g n k l", _CACHES),
)

# Where only the host's time counts; also what a machine without a GPU can run.
TINY: Mapping[str, str] = {
    "sum": "256 f32",
    "matmul": "16x16x16 f16",
    "batched matmul": "2x16x16x16 f16",
    "mmsigmoid": "16x16x16 f32",
    "2mm, inner fusion": "16x16x16x16 f32",
    "2mm, outer fusion": "16x16x16x16 f32",
    "attention": "16x16x16x16 f32",
    "conv2d": "1x16x8x8x16x3x3 f16",
    "adam in place": "2048 f32",
    "embedding": "64x16x64 f32",
    "moe gate": "64x16 f32",
    "w4a16, pairs": "16x64x256 f16",
    "w4a16, halves": "16x64x256 f16",
    "grouped matmul": "3x4x128x16x32 bf16",
    "attention, heads": "1x2x128x16x16x128 f16",
    "attention, causal": "1x2x128x16x16x128 f16",
    "attention, grouped": "1x8x128x16x16x128 f16",
    "attention, window": "1x1x64x16x16x64 f16",
    "attention, decoding": "1x2x4x16x16x1100 f16",
}


def rows(groups: Sequence[Group] = GROUPS) -> Iterator[Row]:
    """Yield every line of the table."""
    for group in groups:
        for case in group.cases:
            yield row(group, case)


def tiny_rows(groups: Sequence[Group] = GROUPS) -> Iterator[Row]:
    """Yield one small row of each kernel."""
    kernels = {group.kernel: group for group in reversed(groups)}
    for name in dict.fromkeys(group.kernel for group in groups):
        yield row(kernels[name], TINY.get(name, "16x64 f32"))


def row(group: Group, case: str) -> Row:
    """`8192x4096 f32`, as a row of a group."""
    shape, dtype = case.split()
    assert dtype in DTYPES
    pairs = zip(group.labels.split(), map(int, shape.split("x")), strict=True)
    return Row(group.kernel, group.family, group.files, case, dict(pairs), dtype, group.way)


def tag(case: str) -> str:
    """Return a case as a part of a file's name."""
    return case.replace(" ", "_")


def files(groups: Sequence[Group] = GROUPS) -> tuple[str, ...]:
    """The names of all files that the table asks for, in its order; those derived as well."""
    return tuple(dict.fromkeys(name for group in groups for name in group.files))


def is_named(names: Sequence[str], asked: Sequence[str]) -> bool:
    """Return whether one of the names is asked for, or matches what is; all, if nothing is."""
    return not asked or any(fnmatchcase(name, one) for name in names for one in asked)


def flops(one: Row) -> int:
    """Operations of tensor cores: two for each product."""
    sizes = one.sizes
    match one.kernel:
        case "matmul" | "batched matmul" | "mmsigmoid" | "w4a16, pairs" | "w4a16, halves":
            return 2 * prod(sizes.values())
        case "grouped matmul":
            return 2 * prod(sizes[label] for label in "tikn")
        case "2mm, inner fusion" | "2mm, outer fusion" | "attention":
            return 2 * sizes["m"] * sizes["l"] * (sizes["k"] + sizes["n"])
        case "attention, heads" | "attention, causal" | "attention, grouped" | "attention, window":
            scores = sizes["b"] * sizes["h"] * _seen(one.kernel, sizes["m"], sizes["l"])
            return 2 * scores * (sizes["k"] + sizes["n"])
        case "attention, decoding":
            scores = sizes["b"] * sizes["h"] * sizes["g"] * sizes["l"]
            return 2 * scores * (sizes["k"] + sizes["n"])
        case "conv2d":
            height, width = sizes["h"] - sizes["r"] + 1, sizes["w"] - sizes["s"] + 1
            around = sizes["c"] * sizes["r"] * sizes["s"]
            return 2 * sizes["b"] * height * width * sizes["f"] * around
        case _:
            return 0


def _seen(kernel: str, queries: int, keys: int) -> int:
    """Return how many pairs of a query and a key there are in one head."""
    if kernel in ("attention, heads", "attention, grouped"):
        return queries * keys
    window = WINDOW if kernel == "attention, window" else queries
    return sum(min(place + 1, window, keys) for place in range(queries))
