# %%
"""A directive of your own: `interchange` and `skew`, from nothing to `dtpoly check --plugin`.

Run it with `python examples/new_primitive.py`, or cell by cell in an editor that knows `# %%`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import dtpoly
from dtpoly.primitives import (
    Body,
    Count,
    Diagnostic,
    Kernel,
    Label,
    Launch,
    LaunchEdit,
    Leaf,
    Loop,
    Made,
    Name,
    Node,
    Parameter,
    Primitive,
    Sequence,
    State,
    Step,
    TensorName,
    View,
    loop_value,
    rewrite,
)

# %%
# A schedule is a tree: loops, sequences, and leaves, which are statements. A directive rewrites
# it. Here is the tree before any directive. A sum takes four statements: the accumulator
# becomes 0, takes in one element after another, the lanes are combined (there are none yet), and
# the value is written.

SUM = """
Func total;
In A;
Var x;
RVar k;

total[x] = rsum(A[x, k], k);
total.compile();
"""


def tell(schedule: dtpoly.Scheduled) -> None:
    """Print the tree and whether it is legal; if it is not, why."""
    print(schedule.tree)
    try:
        schedule.check()
        print("legal for all sizes\n")
    except dtpoly.DtpolyError as error:
        print(f"{error}\n")


tell(dtpoly.parse(SUM))


# %%
# A primitive is a frozen dataclass: a name, its parameters, a field for each parameter, and an
# `apply`, which takes the State and returns another one. `Label()` says that the argument is a
# label of the kernel; everything else is an error with a caret, without a line of ours.
#
# `apply` moves nodes and does not ask whether it may: that is what the legality check is for.
# What it cannot do at all, it refuses.


@dataclass(frozen=True, slots=True)
class Interchange(Primitive):
    """Swap two loops; what stands beside the inner one comes inside of it.

    for x: (A; for y: B; C)  -->  for y: for x: (A; B; C)
    """

    name = "interchange"
    parameters = (Parameter("outer", Label()), Parameter("inner", Label()))

    outer: Name
    inner: Name

    def apply(self, state: State) -> State:
        """Every loop over the one label that holds one over the other."""

        def swap(outer: Loop) -> Node:
            inner = outer.inner(self.inner.text)
            if inner is None:
                return outer
            body = rewrite(outer.child, lambda node: inner.child if node == inner else node)
            return replace(inner, child=replace(outer, child=body))

        swapped = state.with_loops(self.func, self.outer.text, swap)
        if swapped == state:
            raise self.refusal(f"no loop over '{self.inner}' is inside of one over '{self.outer}'")
        return swapped


# %%
# Legal: every element of `scaled` is computed by itself, so its loops may trade places.

SCALED = """
Func scaled;
In A, B;
Var x, y;

scaled[x, y] = A[x, y] * B[y];
scaled.compile();
"""

tell(dtpoly.parse(SCALED, plugins=[Interchange]).scaled.interchange("x", "y"))

# %%
# Refused: with k outside, the value of each sum would be written after its first element. The
# message comes with the two statements, an example at the smallest sizes, and a way out.

tell(dtpoly.parse(SUM, plugins=[Interchange]).total.interchange("x", "k"))

# %%
# Mistakes in the arguments are found without any help, and what `apply` refuses reads the same.

sums = dtpoly.parse(SUM, plugins=[Interchange])
for directive in ("total.interchange(x, z);", "total.interchange(x);"):
    try:
        sums.schedule(directive)
    except dtpoly.DtpolyError as error:
        print(f"{error}\n")

try:
    sums.total.interchange("k", "x").check()
except dtpoly.DtpolyError as error:
    print(f"{error}\n")


# %%
# A loop may also run in another order than that of its index. `counting` gives it a time: here
# the sum of where it is and where another loop is, so that it runs along diagonals. A rule about
# the arguments alone goes into `check`.


@dataclass(frozen=True, slots=True)
class Skew(Primitive):
    """Go through a loop in the order of its sum with another one: along diagonals.

    for x: for y: S(x, y)  -->  for t in 0..X + Y: for y: S(t - y, y)
    """

    name = "skew"
    parameters = (Parameter("loop", Label()), Parameter("by", Label()))

    loop: Name
    by: Name

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Two loops."""
        if self.loop == self.by:
            yield self.mistake(f"'{self.by}' is the same loop", self.by.span)

    def apply(self, state: State) -> State:
        """Every loop of the Func over the label."""
        by = loop_value(self.func, self.by.text)

        def skew(loop: Loop) -> Loop:
            return loop.counting(loop.axis.value + by)

        return state.with_loops(self.func, self.loop.text, skew)


# %%
# Legal: along the diagonals of a matrix, and then in vectors of 4 by 4, for directives compose.

diagonals = dtpoly.parse(SCALED, plugins=[Interchange, Skew]).scaled.skew("x", "y")
tell(diagonals)
tell(diagonals.tensorize(x=4, y=4).interchange("x", "y"))

# %%
# Refused: the value of total[0] stands on diagonal 0, but its second element on diagonal 1.

tell(dtpoly.parse(SUM, plugins=[Skew]).total.skew("x", "k"))


# %%
# Some directives leave the loops as they are, and change how a kernel is launched or written. A
# `LaunchEdit` has an `edit`: it takes the `Launch` of a kernel, which is data, and returns another
# one. This one computes products the other way round, as `swap` does. `changes_nothing` looks at
# the kernels that were made, and says when the code would be the same without it.


@dataclass(frozen=True, slots=True)
class Turned(LaunchEdit):
    """Compute the tiles of products the other way round, and turn the result.

    acc[m, n] += A[m, k] @ B[k, n]  -->  acc[n, m] += B[n, k] @ A[k, m], then turned
    """

    name = "turned"

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Rows of products are columns while they are summed."""
        return replace(launch, is_swapped=True)

    def changes_nothing(self, made: Made) -> Iterator[Diagnostic]:
        """Without a product nothing is turned."""
        if not made.multiplies:
            yield made.whole("no kernel of it multiplies two matrices", "remove it")


PRODUCT = """
Func product;
In A, B;
Var m, n;
RVar k;

product[m, n] = rdot(A[m, k], B[k, n], k);
product.compile();
product.block(m:32, n:32); product.tensorize(m:0, n:0, k:32);
"""


def show(schedule: dtpoly.Scheduled, word: str) -> None:
    """Print the lines of the kernel that have a word."""
    print("\n".join(line.strip() for line in schedule.source.splitlines() if word in line), "\n")


products = dtpoly.parse(PRODUCT, plugins=[Turned])
show(products, "tl.dot")
show(products.product.turned(), "tl.dot")

# %%
# Or it has a `rewrite`: it takes the `Body` of a kernel, the steps that the loops became, and
# returns other steps. A step is data, too. What comes of it is validated; then the text that is
# made of it is proved, as each text is: so a rewrite that is wrong makes a message, and no kernel.


@dataclass(frozen=True, slots=True)
class LastUse(LaunchEdit):
    """Let what is loaded of tensors leave the cache first, for nobody reads it again.

    A_value = load(A)  -->  A_value = load(A, evict first)
    """

    name = "last_use"
    parameters = (Parameter("inputs", TensorName(), Count.EACH),)

    inputs: tuple[Name, ...]

    def rewrite(self, body: Body) -> tuple[Step, ...]:
        """Each load of the tensors is marked."""
        variables = {body.variables.get(one.text) for one in self.inputs}
        return body.with_loads(
            lambda load: replace(load, is_streamed=True) if load.tensor in variables else load
        )


show(dtpoly.parse(SUM, plugins=[LastUse]).total.last_use("A"), "tl.load")

# %%
# A primitive may be wrong: it is checked, never trusted. This one forgets a statement, this one
# turns the order round, and this one does something twice.


@dataclass(frozen=True, slots=True)
class Forget(Primitive):
    """Leave out the first statement of each sequence: wrong on purpose."""

    name = "forget"

    def apply(self, state: State) -> State:
        """Every sequence of the kernel."""

        def forget(node: Node) -> Node:
            return Sequence(node.children[1:]) if isinstance(node, Sequence) else node

        return state.with_kernels(self.func, lambda k: replace(k, body=rewrite(k.body, forget)))


@dataclass(frozen=True, slots=True)
class Hurry(Primitive):
    """Write the result first: wrong on purpose."""

    name = "hurry"

    def apply(self, state: State) -> State:
        """Every sequence of the kernel."""

        def hurry(node: Node) -> Node:
            return Sequence(node.children[::-1]) if isinstance(node, Sequence) else node

        return state.with_kernels(self.func, lambda k: replace(k, body=rewrite(k.body, hurry)))


@dataclass(frozen=True, slots=True)
class Twice(Primitive):
    """Do every statement two times: wrong on purpose."""

    name = "twice"

    def apply(self, state: State) -> State:
        """Every leaf of the kernel."""

        def twice(node: Node) -> Node:
            return Sequence((node, node)) if isinstance(node, Leaf) else node

        return state.with_kernels(self.func, lambda k: replace(k, body=rewrite(k.body, twice)))


for wrong in (Forget, Hurry, Twice):
    try:
        dtpoly.parse(SUM, plugins=[wrong]).schedule(f"total.{wrong.name}();").check()
    except dtpoly.DtpolyError as error:
        print(f"{error}\n")

# %%
# To use a primitive in .dt files, put its class into a file of its own, as in skew.py:
#
#     dtpoly check --plugin skew.py sum.dt
#
# or into a package, with an entry point. Then every .dt file may use it, and nothing is to be
# said on the command line:
#
#     [project.entry-points."dtpoly.primitives"]
#     skew = "my_package.skew:Skew"
#
# Everything that dtpoly.primitives offers is described in docs/primitives.md.
