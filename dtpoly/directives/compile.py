"""The primitive `compile`: a function that computes Funcs, and the kernels that it needs."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from dtpoly.algorithm.program import in_order
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_kinds import FuncName
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.facts import Compiled, Fact, Returned
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Compile(Primitive):
    """Make a function that computes a Func, and every kernel that it launches.

        f      -->  def f(inputs): launch the kernels that f needs, producers first; return f
        f, g   -->  def f(inputs): launch the kernels that f and g need; return f, g

    A Func that f needs has a kernel of its own unless all its readers have it fused or inlined.
    A further result g that is fused into f, or into another Func that has a kernel, is stored by
    that kernel; else it has a kernel of its own. So does f, unless it is fused into another result
    of its function, which does not read it.
    """

    name: ClassVar[str] = "compile"
    ignores_sizes: ClassVar[bool] = True
    aliases: ClassVar[tuple[str, ...]] = ("compile_to_kernel",)
    stage: ClassVar[Stage] = Stage.COMPILE
    is_of_result: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("results", FuncName(), Count.LIST, least=0),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.compile();",),
                (
                    "make the function `f` and every kernel that it needs; also spelled "
                    "`compile_to_kernel`; **+** `f.compile(g);` returns `(f, g)`"
                ),
            ),
        ),
        heading="Several results",
        paragraph=(
            "`f.compile(g, h)` makes one function `f` that returns the tuple of `f`, `g` and `h`, "
            "in this order. A result that is fused is stored by the kernel that it is fused into: "
            "after `g.fuse_at(f, x)`, the kernel of `f` computes an element of `g` once, uses it, "
            "and stores it. The Func that it is fused into need not read it: then its elements at "
            "x are computed in the iteration of the loop at x. If `f` sums over x, that is the "
            "loop of the sum: what both of them read is loaded once. If it lacks a label of the "
            "blocks, programs of the first block of this label store it. Other kernels that read "
            "it take it from memory. A result that is not fused has a kernel of its own, which the "
            "function launches, too. `f` itself may be fused into `g` or `h` if these do not read "
            "it. Where `f.block(x:p/64)` cuts the label of such a sum, each program stores the "
            "elements of `g` that are in its part of x. Results that are fused into `f` and reduce "
            "over x, too, are summed in the same parts, and one kernel merges all of them; "
            "`f.block(p.y:32)` is about the blocks of this kernel alone."
        ),
        is_extension=False,
    )
    needs_kernel: ClassVar[bool] = False

    results: tuple[Name, ...] = ()

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that each result is named once, and that those in place are named."""
        yield from self._unnamed(view)
        seen: dict[str, Span | None] = {self.func: self.span}
        for at, result in enumerate(self.results):
            if result.text in seen:
                note = Note("it is one already", seen[result.text])
                yield Diagnostic(
                    "DT211",
                    Severity.ERROR,
                    f"'{result.text}' is twice among the results of '{self.func}'",
                    result.span,
                    "again",
                    (note,),
                    f"name it once: {self._without(at)}",
                )
            seen.setdefault(result.text, result.span)

    def _unnamed(self, view: View) -> Iterator[Diagnostic]:
        """Report Funcs in place that the function needs and does not return."""
        if not view.program.into:
            return
        results = (self.func, *(one.text for one in self.results if one.text in view.funcs))
        for func in in_order(view.program, results):
            if func.into is not None and func.name not in results:
                more = Name(func.name)
                yield Diagnostic(
                    "DT212",
                    Severity.ERROR,
                    f"'{self.func}' needs '{func.name}', which goes into '{func.into.tensor}'",
                    self.span,
                    f"does not return '{func.name}'",
                    (Note(f"'{func.name}' goes into '{func.into.tensor}'", func.into.span),),
                    "a function returns what it writes in place: "
                    f"{str(replace(self, results=(*self.results, more))).rstrip(';')}",
                )

    def _without(self, at: int) -> str:
        left = (*self.results[:at], *self.results[at + 1 :])
        return str(replace(self, results=left)).rstrip(";")

    def facts(self) -> Iterator[Fact]:
        """State that the Func is compiled, and what its function returns besides."""
        yield Compiled(self.func)
        for result in self.results:
            yield Returned(result.text, self.func, result.span)
