"""The type of one parameter of a kernel, and what Triton knows of its value."""

from dtpoly.algorithm.dtypes import DType
from dtpoly.frozen import dataclass

# Triton's short names of types.
TYPES = {
    DType.BOOL: "i1",
    DType.U8: "u8",
    DType.I8: "i8",
    DType.I16: "i16",
    DType.I32: "i32",
    DType.I64: "i64",
    DType.F8E4M3: "fp8e4nv",
    DType.F8E5M2: "fp8e5",
    DType.F16: "fp16",
    DType.BF16: "bf16",
    DType.F32: "fp32",
    DType.F64: "fp64",
}
CONSTANT = "constexpr"
ALIGNED = 16  # bytes of an address, or what a number is divisible by


@dataclass(frozen=True, slots=True)
class ParameterType:
    """The type of a parameter. A constant has its value, which may be a type."""

    name: str
    type: str
    value: int | bool | DType | None = None
    is_aligned: bool = False
    is_told: bool = True  # whether Triton may look at what is passed
    is_chosen: bool = False  # a constant that the runtime chooses
