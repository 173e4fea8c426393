"""Says which instance computes which element of the thesis' schedules, by formulas of its own.

Each function says which program has which block, how a program goes through its block, and where
that is written. Sizes need not be multiples of blocks: what is outside is left out.
"""

from collections.abc import Callable, Iterable

Row = list[int]
Lane = tuple[int, ...]
# Of every element of x by y: its program, its iteration there, its lane.
Tables = tuple[list[Row], list[Row], list[list[Lane]]]
Blocks = Iterable[tuple[int, int]]  # of x and of y, for each program in the order of the launch


def walked(x: int, y: int, launch: Blocks, block: tuple[int, int], step: tuple[int, int]) -> Tables:
    """Listings 3.8 to 3.10: in each program a loop over x around one over y, each in steps.

    Where a step is 1 there are no lanes (listing 3.9 against 3.6).
    """
    programs = [[-1] * y for _ in range(x)]
    iterations = [[-1] * y for _ in range(x)]
    lanes: list[list[Lane]] = [[()] * y for _ in range(x)]
    for program_id, (x_pid, y_pid) in enumerate(launch):
        x_end, y_end = min(x, (x_pid + 1) * block[0]), min(y, (y_pid + 1) * block[1])
        number = 0
        for x_iter in range(x_pid * block[0], x_end, step[0]):
            for y_iter in range(y_pid * block[1], y_end, step[1]):
                for i in range(x_iter, min(x_iter + step[0], x_end)):
                    for j in range(y_iter, min(y_iter + step[1], y_end)):
                        assert programs[i][j] == -1
                        programs[i][j], iterations[i][j] = program_id, number
                        offsets = ((i - x_iter, step[0]), (j - y_iter, step[1]))
                        lanes[i][j] = tuple(offset for offset, size in offsets if size > 1)
                number += 1
    return programs, iterations, lanes


def count(size: int, block: int) -> int:
    """`triton.cdiv`, as in listing 3.8, line 30."""
    return -(-size // block)


def one_program(x: int, y: int, step: tuple[int, int]) -> Tables:
    """Listing 3.6: the grid is `(1,)`."""
    return walked(x, y, [(0, 0)], (x, y), step)


def as_in_listing_3_8(x: int, y: int, block: tuple[int, int], step: tuple[int, int]) -> Tables:
    """Lines 14 and 15: x_pid is the remainder by x_BLOCK_COUNT, y_pid the rest."""
    x_count, y_count = count(x, block[0]), count(y, block[1])
    launch = [(pid % x_count, pid // x_count % y_count) for pid in range(x_count * y_count)]
    return walked(x, y, launch, block, step)


def figure_3_4_a(x: int, y: int) -> Tables:
    """`tensorize(x:1, y:4)`: a row of four at a time."""
    return one_program(x, y, (1, 4))


def figure_3_4_a_full(x: int, y: int) -> Tables:
    """`tensorize(x:1, y:0)`: a whole row at a time."""
    return one_program(x, y, (1, y))


def figure_3_4_b(x: int, y: int) -> Tables:
    """`tensorize(x:2, y:2)`."""
    return one_program(x, y, (2, 2))


def figure_3_4_c(x: int, y: int) -> Tables:
    """`tensorize(x:1, y:1)`, or no `tensorize`: also listings 3.4, 3.5, 3.12 to 3.14 and 3.16."""
    return one_program(x, y, (1, 1))


def figure_3_4_d(x: int, y: int) -> Tables:
    """`tensorize(x:4, y:4)`."""
    return one_program(x, y, (4, 4))


def figure_3_4_d_full(x: int, y: int) -> Tables:
    """`tensorize(x:0, y:0)`: everything at once."""
    return one_program(x, y, (x, y))


def figure_3_5_a(x: int, y: int) -> Tables:
    """`map(x, y)`."""
    launch = [(x_pid, y_pid) for x_pid in range(x) for y_pid in range(y)]
    return walked(x, y, launch, (1, 1), (1, 1))


def figure_3_5_b(x: int, y: int) -> Tables:
    """`map(y, x)`."""
    launch = [(x_pid, y_pid) for y_pid in range(y) for x_pid in range(x)]
    return walked(x, y, launch, (1, 1), (1, 1))


def figure_3_5_c(x: int, y: int) -> Tables:
    """`map(y:yi/2, x, yi)`; y is even."""
    launch = [
        (x_pid, y_pid * 2 + yi_pid)
        for y_pid in range(y // 2)
        for x_pid in range(x)
        for yi_pid in range(2)
    ]
    return walked(x, y, launch, (1, 1), (1, 1))


def figure_3_5_d(x: int, y: int) -> Tables:
    """`map(y:yi/2, x:xi/2, yi, xi)`; both are even."""
    launch = [
        (x_pid * 2 + xi_pid, y_pid * 2 + yi_pid)
        for y_pid in range(y // 2)
        for x_pid in range(x // 2)
        for yi_pid in range(2)
        for xi_pid in range(2)
    ]
    return walked(x, y, launch, (1, 1), (1, 1))


def listing_3_1(x: int, y: int) -> Tables:
    """`block(x:1, y:256); tensorize(y:64)`."""
    return as_in_listing_3_8(x, y, (1, 256), (1, 64))


def listing_3_3(x: int, y: int) -> Tables:
    """`tensorize(x:4, y:128)`."""
    return one_program(x, y, (4, 128))


def listing_3_8(x: int, y: int) -> Tables:
    """`block(x:16, y:64)`."""
    return as_in_listing_3_8(x, y, (16, 64), (1, 1))


def listing_3_9(x: int, y: int) -> Tables:
    """`tensorize(x:64, y:0)`: line 15 is the only loop."""
    return one_program(x, y, (64, y))


def listing_3_10(x: int, y: int) -> Tables:
    """`block(x:4, y:128); tensorize(x:0, y:16)`: line 20 is the only loop."""
    return as_in_listing_3_8(x, y, (4, 128), (4, 16))


def listing_3_11(x: int, y: int) -> Tables:
    """Lines 12 to 18. With fewer blocks of x than a group has, there is one group of those."""
    x_count, y_count = count(x, 8), count(y, 16)
    group = min(4, x_count)
    launch: list[tuple[int, int]] = []
    for pid in range(x_count * y_count):
        x_pid = pid // (y_count * group) % (x_count // group)
        y_pid = pid // group % y_count
        launch.append((x_pid * group + pid % group, y_pid))
    return walked(x, y, launch, (8, 16), (1, 1))


def listing_3_15(x: int, y: int) -> Tables:
    """`tensorize(y:0)`: line 15 is the only loop."""
    return one_program(x, y, (1, y))


def listing_3_17(x: int, _: int) -> Tables:
    """Listing 3.18, line 12: the loop over x; that over k is not one of the element's."""
    return one_program(x, 1, (1, 1))


def listing_3_20_partial(x: int, k: int) -> Tables:
    """Lines 9 to 19: a program for each block of k, in it a loop over x; y is the block."""
    k_count = count(k, 32)
    return walked(x, k_count, [(0, pid % k_count) for pid in range(k_count)], (x, 1), (1, 1))


def listing_4_1(x: int, y: int) -> Tables:
    """`block(x:1, y:512); tensorize(x:0, y:0); map(x, y)`."""
    y_count = count(y, 512)
    launch = [(pid // y_count % x, pid % y_count) for pid in range(x * y_count)]
    return walked(x, y, launch, (1, 512), (1, 512))


def listing_4_2(x: int, y: int) -> Tables:
    """`block(x:4); tensorize(x:0, y:512)`."""
    launch = [(pid, 0) for pid in range(count(x, 4))]
    return walked(x, y, launch, (4, y), (4, 512))


def listing_4_3(m: int, n: int) -> Tables:
    """`block(m:16); tensorize(m:16, n:64)`; also listing 4.4."""
    launch = [(pid, 0) for pid in range(count(m, 16))]
    return walked(m, n, launch, (16, n), (16, 64))


# For each file: the table of each kernel in the order in which they run, and sizes at which there
# are several programs, or several iterations where there is but one program.
BY_HAND: dict[str, tuple[list[Callable[[int, int], Tables]], tuple[int, int]]] = {
    "figure_3_04a_full_row": ([figure_3_4_a_full], (3, 7)),
    "figure_3_04a_row": ([figure_3_4_a], (3, 7)),
    "figure_3_04b_square": ([figure_3_4_b], (5, 7)),
    "figure_3_04c_element": ([figure_3_4_c], (3, 7)),
    "figure_3_04d_all": ([figure_3_4_d], (6, 9)),
    "figure_3_04d_full": ([figure_3_4_d_full], (3, 7)),
    "figure_3_05a_map": ([figure_3_5_a], (3, 7)),
    "figure_3_05b_map": ([figure_3_5_b], (3, 7)),
    "figure_3_05c_map": ([figure_3_5_c], (3, 6)),
    "figure_3_05d_map": ([figure_3_5_d], (6, 8)),
    "listing_3_01_add": ([listing_3_1], (2, 600)),
    "listing_3_03_softmax": ([figure_3_4_c, listing_3_17, listing_3_3], (6, 300)),
    "listing_3_04_rms_norm": ([figure_3_4_c], (3, 7)),
    "listing_3_05_relu": ([figure_3_4_c], (3, 7)),
    "listing_3_08_relu_block": ([listing_3_8], (40, 150)),
    "listing_3_09_relu_tensorize": ([listing_3_9], (140, 5)),
    "listing_3_10_relu_block_tensorize": ([listing_3_10], (6, 300)),
    "listing_3_11_relu_map": ([listing_3_11], (64, 48)),
    "listing_3_12_swish": ([figure_3_4_c, figure_3_4_c], (3, 7)),
    "listing_3_13_swish_fused": ([figure_3_4_c], (3, 7)),
    "listing_3_14_swish_partly_fused": ([figure_3_4_c], (3, 7)),
    "listing_3_15_swish_tensorized": ([listing_3_15], (3, 7)),
    "listing_3_16_relu_options": ([figure_3_4_c], (3, 7)),
    "listing_3_17_sum": ([listing_3_17], (5, 7)),
    "listing_3_19_sum_tensorize": ([listing_3_17], (5, 40)),
    "listing_3_20_sum_block": ([listing_3_20_partial, listing_3_17], (5, 70)),
    "listing_4_01_geglu": ([listing_4_1], (3, 1100)),
    "listing_4_02_softmax": ([listing_4_2], (10, 520)),
    "listing_4_03_2mm": ([listing_4_3], (40, 70)),
    "listing_4_04_attention": ([listing_4_3], (40, 70)),
}
