"""Texts of scans in parts with one mistake each."""

import re
from collections.abc import Iterator, Mapping

from dtpoly.plan.runtime_text import FIRST

# A pattern in a line of a kernel, and what it becomes.
OF_PARTS: Mapping[str, tuple[str, str]] = {
    "the part itself counts as before": (r"\(p - 1\)", "(p - 0)"),
    "a stale state": (r"\(p - 1\)", "(p - 2)"),
    "the part itself counts as behind": (r"\(p \+ 1\)", "(p + 0)"),
    "a state from further behind": (r"\(p \+ 1\)", "(p + 2)"),
    "the state before is dropped": (r"f_start_value \+ f_scan", "f_scan"),
    "it is put to twice": (r"f_start_value \+ f_scan", "f_start_value + f_start_value + f_scan"),
    "it is subtracted": (r"f_start_value \+ f_scan", "f_scan - f_start_value"),
    "it is all there is": (r"f_start_value \+ f_scan", "f_start_value + 0.0 * f_scan"),
    "it is not compared": (r"dt_max\(f_start_value, f_scan\)", "f_scan"),
    "the smaller one": (r"dt_max\((f_start_value), (f_scan)\)", r"tl.minimum(\1, \2)"),
    "the state before the next part": (r"\+ p_block (\* f_start_stride_0)", r"+ (p_block + 1) \1"),
    "the state before the first part": (r"\+ p_block \* f_start_stride_0", "+ 0"),
    "it begins from 0": (r"^( +f_carry) = f_start_value$", r"\1 = f_start_value * 0.0"),
    "it begins one further": (r"(tl\.range\(32 \* p_block)", r"\1 + 16"),
    "the part begins at the row's start": (r"tl\.range\(32 \* p_block,", "tl.range(0,"),
    "it ends in the next part": (r"(32 \* p_block \+) 17", r"\1 33"),
    "it ends too soon": (r"(32 \* p_block \+) 17", r"\1 1"),
    "the last tile in all parts": (r"and 32 \* p_block \+ 31 >= t_size ", ""),
    "the last tile never": (r"32 \* p_block \+ 31 >= t_size", "32 * p_block + 31 < 0"),
    "the last tile of a state alone": (r"(f_parts_acc) \+= ", r"\1 = "),
    "the largest for a state": (r"tl\.sum\((f_parts_acc, 0)\)", r"tl.max(\1)"),
    "the last factor alone": (r"(f_factors_acc) \*= ", r"\1 = "),
    "factors are added": (r"(f_factors_acc) \*= ", r"\1 += "),
    "a sum of factors": (r"tl\.reduce\((f_factors_acc, 0), dt_mul\)", r"tl.sum(\1)"),
    "factors begin from 0": (r"(f_factors_acc = tl\.full\(\(16,\)), 1\.0", r"\1, 0.0"),
    "missing factors are 0": (r"(f_factors_acc \*= tl\.where\(.*), 1\.0\)", r"\1, 0.0)"),
    "a state begins from 1": (r"(f_parts_carry = tl\.full\(\(\)), 0\.0", r"\1, 1.0"),
    "the factor of no part is 0": (r"(\(tl\.where\(.*f_factors_tile), 1\.0\)", r"\1, 0.0)"),
    "a factor too many": (r"(\(tl\.where\(.*f_factors_tile), 1\.0\)", r"\1, 0.5)"),
    "what no part has is 1": (r"(other=)0\.0", r"\g<1>1.0"),
    "the first part has one before": (r"32 <= 32 \* p", "0 <= 32 * p"),
    "the second part has none before": (r"32 <= 32 \* p", "64 <= 32 * p"),
    "states are not carried on": (r"^( +)(f_start_carry) = tl\.(sum|reduce)\(.*$", r"\1\2 = \2"),
    "another lane is carried on": (r"(== )1(?=, f_start_scan)", r"\g<1>0"),
    "what is carried is dropped": (r"= f_start_carry \+ f_start_scan", "= f_start_scan + 0.0"),
    "the halves are exchanged": (r"f_factors_ptr \+ p_block", "f_parts_ptr + p_block"),
    "one half for both": (r", f_parts_carry\)$", r", f_factors_prod)"),
    "the pair turned round": (
        r"tl\.associative_scan\(\((\w+), (\w+)\)",
        r"tl.associative_scan((\2, \1)",
    ),
    "the product of another order": (
        r"(\w+_factor) \* (\w+_carry) \+ (\w+)$",
        r"\1 * \3 + \2",
    ),
    "the factor is dropped": (r"\w+_factor \* (\w+_carry)", r"\1"),
    "steps swapped": (r"return a \* c, b \* c \+ d", "return a * c, d * a + b"),
    "turned round": (r", reverse=True\)", ")"),
    "turned back": (r"(tl\.associative_scan\(\w+, \d, \w+)\)", r"\1, reverse=True)"),
    "the steps of a part backwards": (r"^( +)reverse=True,$", r"\1reverse=False,"),
    "another row": (r"\+ x_start (\* f_start_stride_1)", r"+ 0 \1"),
    "the states of another row": (r"x_start (\* f_parts_stride_1)", r"0 \1"),
    "a part too few": (r"(p_mask = 32 \* p\.to\(tl\.int64\)) <", r"\1 + 32 <"),
    "a tile of parts too few": (r"(\(t_size \+ 31\) // 32) \+ -1", r"\1 + -3"),
    "the last parts are left out": (r"if \(t_size \+ 31\) % 64 >= 32", "if t_size % 64 > 64"),
}
MISTAKEN = ("sums", "sums from the end", "largest before", "states", "states behind")


def mutants(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield the mistakes of a text: which, in which line, and the whole text."""
    head, _, rest = text.partition(FIRST)
    plan = head.index("_plan = {")
    lines, rest = head[:plan].split("\n"), head[plan:] + FIRST + rest
    for at, line in enumerate(lines):
        if line.lstrip().startswith("#"):
            continue
        for word, (pattern, new) in OF_PARTS.items():
            changed = re.sub(pattern, new, line, count=1)
            if changed != line:
                yield word, at + 1, "\n".join([*lines[:at], changed, *lines[at + 1 :]]) + rest
