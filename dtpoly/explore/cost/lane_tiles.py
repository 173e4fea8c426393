"""Says how Triton shares the tile of a product among threads, where no tensor core multiplies."""

from dtpoly.frozen import dataclass

WARP = 32
SQUARE = 4  # rows and columns that are side by side in a thread, where it has enough of them
READ_AHEAD = 4  # indices that are summed over for which a thread has both operands in registers


@dataclass(frozen=True, slots=True)
class LaneSide:
    """The rows or the columns of a product: those of a thread, and the threads along them."""

    each: float
    threads: int
    square: int  # side by side


def lane_sides(rows: int, columns: int, warps: int) -> tuple[LaneSide, LaneSide]:
    """Return how a tile is shared among threads: squares, along columns first."""
    each = rows * columns / (warps * WARP)
    square = SQUARE if each >= SQUARE**2 else 2 if each >= SQUARE else 1
    along = min(WARP, max(columns // square, 1))
    down = WARP // along
    beside = min(warps, max(columns // (square * along), 1))
    below = warps // beside
    return (
        LaneSide(max(rows / (down * below), 1), down, square),
        LaneSide(max(columns / (along * beside), 1), along, square),
    )


def operand_registers(rows: int, columns: int, warps: int) -> float:
    """Return how many registers a thread needs for what it multiplies, beside its sums."""
    across, along = lane_sides(rows, columns, warps)
    return READ_AHEAD * (across.each + along.each)
