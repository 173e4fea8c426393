"""`python -m tests.verify.fingerprints` writes the table of functions that the verifier knows.

Look at what has changed in a function before you let it: a proof assumes what is said of it.
"""

from pathlib import Path

from dtpoly.codegen import reference_terms, test_text
from dtpoly.codegen.operation_spelling import TEXTS
from dtpoly.plan.runtime_text import runtime_text
from dtpoly.verify.plan.runtime import MAKER, hash_of
from dtpoly.verify.triton import helpers
from dtpoly.verify.triton.known import fingerprint
from dtpoly.verify.triton.unit.unit import read_unit

MEANINGS = {
    "dt_shift": "shift",
    "dt_line": "line",
    "dt_nan_above": "nan above",
    "dt_nan_below": "nan below",
    "dt_argmax": "argmax",
    "dt_argmin": "argmin",
    "dt_list": "list",
    "dt_clamp": "clamp",
    "dt_clamp_whole": "clamp",
    "dt_mod": "mod",
    "dt_mod_whole": "mod",
    "dt_cdiv": "cdiv",
    "dt_cdiv_whole": "cdiv",
    "dt_quotient": "quotient",
    "dt_shl": "shl",
    "dt_shr": "shr",
    "dt_random_bits": "random_bits",
    "dt_random_float": "random",
    "dt_round": "nearest",
    "dt_trunc": "trunc",
    "dt_div_rn": "div_rn",
    "dt_sqrt_rn": "sqrt_rn",
    "dt_tanh": "tanh",
    "dt_pow": "pow",
    "dt_pow_whole": "pow",
}
HEAD = '''\
"""The hashes of texts that the verifier does not follow but knows.

For functions that kernels call, the meaning is listed with the hash: the operation that they
compute. The docstring of each function says what it does. That it does so is an assumption of each
proof that uses it.
"""

'''
OF_RUNTIME = """\
# The runtime of files with plans, by the function that they call: it is imported, or it is a text
# with this hash.
"""
# Only for the texts of functions, which are read one by one: no file has these.
IMPORTS = "import torch\n"


RUNTIME = """\
# The runtime of files with plans, by the function that they call: it is imported, or it is a text
# with this hash.
RUNTIME: dict[str, tuple[str, str]] = {{
    "dt_function": ("imported", "{}")
}}
"""


def table() -> str:
    """Return the text of the module."""
    texts = {**reference_terms.SHARED, **test_text.SHARED}
    shared = read_unit(IMPORTS + "\n".join(texts.values()))
    own = read_unit(IMPORTS + "\n".join(f"@triton.jit\n{text}" for text in TEXTS.values()))
    lines = [f'    "{one}": "{fingerprint(shared, one)}",' for one in texts]
    more = [
        f'    "{one}": ("{fingerprint(own, one)}", "{word}"),' for one, word in MEANINGS.items()
    ]
    runtime = hash_of(runtime_text().rstrip("\n").split("\n"))
    return (
        f"{HEAD}# The functions that only the test of a file calls.\n"
        "HELPERS: dict[str, str] = {\n"
        + "\n".join(lines)
        + f"\n}}\n{OF_RUNTIME}RUNTIME: dict[str, tuple[str, str]] = {{\n"
        + f'    "{MAKER}": ("imported", "{runtime}")\n'
        + "}\nMEANINGS: dict[str, tuple[str, str]] = {\n"
        + "\n".join(more)
        + "\n}\n"
    )


if __name__ == "__main__":
    Path(helpers.__file__).write_text(table())
