"""`python -m benchmarks merge FILE... -o FILE`: parts of the rows, of several GPUs, become one."""

from pathlib import Path

import click

from benchmarks.gpu.merged import Apart, merged
from benchmarks.gpu.results import read, write
from benchmarks.gpu.rows import rows
from benchmarks.terminal import console

EXAMPLE = """\b
Parts of the table on two GPUs of one machine, at the same time:
  CUDA_VISIBLE_DEVICES=0 python -m benchmarks run build/gpu -o a.json --kernels matmul &
  CUDA_VISIBLE_DEVICES=1 python -m benchmarks run build/gpu -o b.json --kernels softmax
  wait
  python -m benchmarks merge a.json b.json -o results.json"""


@click.command(short_help="Make one file of results of several.", epilog=EXAMPLE)
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The JSON file of all results; one that is there is replaced.",
)
def command(files: tuple[Path, ...], output: Path) -> int:
    """Join FILES that `run` wrote of parts of the rows, on several GPUs of one machine.

    Rows are in the order of the table. Of ceilings the best that any GPU reached is taken, of the
    host's times of a kernel those of the first file that has them.

    Exit codes: 0 they are one; 1 they are of other machines or versions, or have the same row with
    other times.
    """
    try:
        results = merged({str(path): read(path) for path in files})
    except Apart as error:
        raise click.ClickException(str(error)) from error
    write(output, results)
    there = {row.name for row in results.rows}
    known = sum(row.name in there for row in rows())
    whole = sum(1 for _ in rows())
    console().print(f"{output}: {known} of {whole} rows of the table", highlight=False)
    return 0
