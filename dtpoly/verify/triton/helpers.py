"""The hashes of texts that the verifier does not follow but knows.

For functions that kernels call, the meaning is listed with the hash: the operation that they
compute. The docstring of each function says what it does. That it does so is an assumption of each
proof that uses it.
"""

# The functions that only the test of a file calls.
HELPERS: dict[str, str] = {
    "dt_fma": "3a164f85303d8693649db430322c0980",
    "dt_clamped": "f0ebf3f0d9fb6514c7d1c16943e55361",
    "dt_remainder": "810772d3ab678ff8986da9181eeae1ab",
    "dt_rounded_up": "c7c1b9ef6335380454cee04bb92ef7ab",
    "dt_rounded_down": "590cdf5b1c1e902429c94b15c96fb297",
    "dt_shifted_left": "fd98584312f7225d6c82cbdd57d836b3",
    "dt_shifted_right": "b1565585bcfa7deda036fb97d4395ce1",
    "dt_drawn_bits": "3bad24fc536943478298e54f05557036",
    "dt_first_largest": "c7f58977f3c6c2cf0a822c45ffc88e9c",
    "dt_first_smallest": "c1d5b70547f1b33dcfdfa89288e7403f",
    "dt_recurrence": "f31345db7fdcd5584e946f1f03edd6b9",
    "dt_listed": "fe7d69715cc5195c97441be22b756c18",
    "dt_padded": "225e88167a4e9f3b69a49a73c984380e",
    "dt_random": "f54bcbd79c1ce611f541af5998fdf5c9",
    "dt_compare": "0d2373c5ca36ead624a4b59aa4df45da",
}
# The runtime of files with plans, by the function that they call: it is imported, or it is a text
# with this hash.
RUNTIME: dict[str, tuple[str, str]] = {
    "dt_function": ("imported", "db5fdf2dff75c609c58772d2674cfc2c")
}
MEANINGS: dict[str, tuple[str, str]] = {
    "dt_shift": ("2ed9d79d154889fd751c0c0af8043ba9", "shift"),
    "dt_line": ("7290a6ab4c3dfcc5826e4cb728370f6e", "line"),
    "dt_nan_above": ("4600405476ec501faec2390acd3769f7", "nan above"),
    "dt_nan_below": ("5d42c11e2c9b22d9a62b97ed4bb0a83c", "nan below"),
    "dt_argmax": ("0cd352f7ddc7d431d9bb87fa323f8ece", "argmax"),
    "dt_argmin": ("cf5e899ae6fd1905c00dbfecdcb167cc", "argmin"),
    "dt_list": ("0de966c58bdbc96f4d7c405c91cc98ae", "list"),
    "dt_clamp": ("e7f2a6e6c6f987fefc30024ac3656321", "clamp"),
    "dt_clamp_whole": ("31e2aa5a20bb0432fae8b237041f8572", "clamp"),
    "dt_mod": ("1dd9893e197fca2e77eecedbc5e67abd", "mod"),
    "dt_mod_whole": ("b5599a117724b72a9f5f4a8681062034", "mod"),
    "dt_cdiv": ("0de58ddce698cdd31bef998b65af0e7a", "cdiv"),
    "dt_cdiv_whole": ("a0e30958e68c5a734d9a8b28e2550bf5", "cdiv"),
    "dt_quotient": ("1659bf71786b806f135e7bd10f68b70f", "quotient"),
    "dt_shl": ("41f4fae9581c86e59512ed2ea2c8dc81", "shl"),
    "dt_shr": ("de147230048a39afa9fdd18a0cf8fe19", "shr"),
    "dt_random_bits": ("6af84fa7d6bd0c2639034fcd5d4f0f5c", "random_bits"),
    "dt_random_float": ("b0d8fb7b3cf97cfbc20d169413db432c", "random"),
    "dt_round": ("c911303d3f62532e49b8a32496be82e5", "nearest"),
    "dt_trunc": ("1fd92a7dfd3ac5766804b38d96587df4", "trunc"),
    "dt_div_rn": ("d073ae5d8bf50498f91e7abab5016fa0", "div_rn"),
    "dt_sqrt_rn": ("2dc97fecd76e391b1f595e4d48f4c94c", "sqrt_rn"),
    "dt_tanh": ("d0ea95b6a824b77c89a89609ad3de3e9", "tanh"),
    "dt_pow": ("8fe175d3158d8a8f3248e4f0e7cf5069", "pow"),
    "dt_pow_whole": ("e3a1962fbc0af7f9ad06ec066a1fa38b", "pow"),
}
