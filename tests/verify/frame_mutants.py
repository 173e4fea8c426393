"""Mistakes in texts of maxima over two labels, and of sums in the frames of several maxima."""

from tests.verify.online_mutants import MISTAKES

# What is replaced by what, as regular expressions, in texts whose maxima are `top` and `other`.
OF_FRAMES: dict[str, tuple[str, str]] = {
    **MISTAKES,
    "corrected by the other maximum": (
        r"tl\.exp\(top_max_before - top_max\)",
        "tl.exp(other_max_before - other_max)",
    ),
    "corrected by the first maximum": (
        r"tl\.exp\(other_max_before - other_max\)",
        "tl.exp(top_max_before - top_max)",
    ),
    "corrected from one maximum to the other": (
        r"tl\.exp\(top_max_before - top_max\)",
        "tl.exp(top_max_before - other_max)",
    ),
    "an exponent less the other maximum": (r"(A_tile\w*) - top_max", r"\1 - other_max"),
    "an exponent less the first maximum": (r"(B_tile\w*) - other_max", r"\1 - top_max"),
    "an exponent less both maxima": (r"(A_tile\w*) - top_max", r"\1 - top_max - other_max"),
    "one maximum is left out in the end": (r" \+ (top|other)_(max|acc)(?=[,\s])", ""),
    "a maximum is taken away in the end": (r" \+ ((?:top|other)_(?:max|acc))(?=[,\s])", r" - \1"),
    "the outer loop begins late": (r"(for z_start in tl\.range\()0, ", r"\g<1>1, "),
    "the outer loop ends early": (r"(for z_start in tl\.range\(0, z_size)", r"\1 - 1"),
    "each row is read twice": (r"(for z_start in tl\.range\(0, z_size)", r"\1 * 2"),
    "the sum begins anew in each row": (
        r"\n( +)(z = tl\.cast\(z_start, offset\))",
        r"\n\1f_sum = f_sum * 0.0\n\1\2",
    ),
    "the sum is corrected in each row": (
        r"\n( +)(z = tl\.cast\(z_start, offset\))",
        r"\n\1f_sum = f_sum * 0.5\n\1\2",
    ),
    "the maximum begins anew in each row": (
        r"\n( +)(z = tl\.cast\(z_start, offset\))",
        r"\n\1top_max = top_max * 0.0 - 1.2676506002282294e30\n\1\2",
    ),
    "the maximum grows in each row": (
        r"\n( +)(z = tl\.cast\(z_start, offset\))",
        r"\n\1top_max = top_max + 1.0\n\1\2",
    ),
    "the first row again and again": (r"\+ z \* A_stride_1", "+ 0 * A_stride_1"),
    "each second row": (r"\+ z \* A_stride_1", "+ z // 2 * A_stride_1"),
    "a tail of the first row alone": (
        r"if not even and y_size % 16 != 0:",
        "if not even and y_size % 16 != 0 and z_start == 0:",
    ),
    "a tail of all rows but the first": (
        r"if not even and y_size % 16 != 0:",
        "if not even and y_size % 16 != 0 and z_start > 0:",
    ),
    "a mask of rows is one too wide": (r"z_mask = \(z < z_size\)", "z_mask = (z <= z_size)"),
    "a mask of rows is one too narrow": (r"z_mask = \(z < z_size\)", "z_mask = (z < z_size - 1)"),
    "rows that are not there are not masked": (
        r"tl\.where\(\s*z_mask\[None, :, None\],\s+(tl\.exp\(.*\)),\s+0\.0,?\s*\)",
        r"\1",
    ),
}
