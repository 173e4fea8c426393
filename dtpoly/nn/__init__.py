"""Offers modules and functions of torch.nn that are computed by kernels of dtpoly, and train.

Each is an algorithm with a schedule in a .dt file of this package, as is its gradient. A module
takes what the one of the same name in torch.nn takes, and has the same parameters.
"""

from dtpoly.missing_package import explained

try:
    from dtpoly.nn.functional import (
        cross_entropy,
        geglu,
        layer_norm,
        linear_cross_entropy,
        rms_norm,
        rope,
        scaled_dot_product_attention,
        softmax,
        swiglu,
    )
    from dtpoly.nn.modules import CrossEntropyLoss, GeGLU, LayerNorm, RMSNorm, Softmax, SwiGLU
    from dtpoly.nn.packaged_operators import names, operator
except ModuleNotFoundError as error:
    raise explained(error) from None

__all__ = [
    "CrossEntropyLoss",
    "GeGLU",
    "LayerNorm",
    "RMSNorm",
    "Softmax",
    "SwiGLU",
    "cross_entropy",
    "geglu",
    "layer_norm",
    "linear_cross_entropy",
    "names",
    "operator",
    "rms_norm",
    "rope",
    "scaled_dot_product_attention",
    "softmax",
    "swiglu",
]
