"""Answers whether a directive may be added to a schedule: what it would change, or why not."""

from dataclasses import replace

from dtpoly.algorithm.program import Directive
from dtpoly.algorithm.show import show_directive
from dtpoly.asking.answer_text import answer_lines
from dtpoly.checking import Checked
from dtpoly.diagnostics import Diagnostic, DtpolyError, has_errors
from dtpoly.frontend.added import Added, add_directives
from dtpoly.frontend.resolve import resolve
from dtpoly.frozen import dataclass
from dtpoly.offers import vain_added
from dtpoly.one_pass_offers import with_one_pass
from dtpoly.plugins import completed
from dtpoly.python_errors import Messages
from dtpoly.render.diagnostic_text import plain, render
from dtpoly.render.html import block
from dtpoly.render.printable import printable
from dtpoly.schedule.directive_question import Answer, may_add
from dtpoly.source import Source

NAME = "<directive>"  # of the text in which the directive stands


class NoOneDirectiveError(ValueError):
    """Raised for a text that is not exactly one directive."""


@dataclass(frozen=True, repr=False, eq=False)
class DirectiveAnswer:
    """The answer whether a directive may be added. `print` shows what `dtpoly why-not` does."""

    answer: Answer
    new: Directive
    is_refused: bool  # whether the schedule was refused without it

    @property
    def is_legal(self) -> bool:
        """True if it may be added: the schedule is legal with it, for all sizes."""
        return self.answer.is_legal

    @property
    def is_there(self) -> bool:
        """True if the schedule says the same already."""
        return self.answer.is_there

    @property
    def directive(self) -> str:
        """Return the directive as it is written in a file."""
        return show_directive(self.new)

    @property
    def instead_of(self) -> tuple[str, ...]:
        """Return the directives that would give way to it."""
        return tuple(show_directive(one.old) for one in self.answer.replaced)

    @property
    def diagnostics(self) -> Messages:
        """Return why it may not be added; of one that may, what is to be said of it."""
        found = self.answer.diagnostics
        return Messages(one for one in found if not self.is_legal or is_about_it(one))

    def __bool__(self) -> bool:
        return self.is_legal

    def __str__(self) -> str:
        shown = plain(answer_lines(self.answer, self.new, None, is_refused=self.is_refused))
        told = self.diagnostics
        return f"{shown}\n{plain(render(told))}" if told else shown

    def __repr__(self) -> str:
        said = "may be added" if self.is_legal else "may not be added"
        why = next((f": {one.title}" for one in self.diagnostics), "")
        return f"<DirectiveAnswer: {self.directive} {said}{'' if self.is_legal else why}>"

    def _repr_html_(self) -> str:
        """Show a notebook the same as `print`."""
        return block(str(self))


def answered(checked: Checked, directive: str) -> DirectiveAnswer:
    """Answer for a directive such as `f.block(x:16)`; the text has a Program.

    It takes the place of directives that concern the same. Raises DtpolyError where the text is
    wrong by itself, and NoOneDirectiveError where it is not one directive.
    """
    added = add_directives(checked.file, Source(NAME, directive))
    if not has_errors(added.found):
        check_is_one(added)
    resolved = resolve(added.file)
    wrong = [one for one in (*added.found, *resolved.found) if is_about_it(one)]
    if has_errors(wrong):
        raise DtpolyError(wrong)
    *others, new = resolved.program.directives
    program = replace(resolved.program, directives=tuple(others))
    known = completed(resolved.program.directives, checked.primitives).primitives
    answer = may_add(program, new, known)
    if answer.is_legal:
        more = vain_added(answer.program, new, known)
        answer = replace(answer, diagnostics=(*answer.diagnostics, *more))
    else:
        offering = with_one_pass(answer.diagnostics, answer.program, known)
        answer = replace(answer, diagnostics=offering)
    is_refused = checked.verdict is not None and not checked.verdict.is_legal
    return DirectiveAnswer(answer, new, is_refused)


def is_about_it(diagnostic: Diagnostic) -> bool:
    """True if a message is about the new directive, and not about the file."""
    return diagnostic.span is None or diagnostic.span.source.name == NAME


def check_is_one(added: Added) -> None:
    """Refuse a text that is not exactly one directive. Raises NoOneDirectiveError."""
    problem = ""
    if added.others:
        problem = f"'{_short(added.others[0].span.text)}' is no directive"
    elif not added.directives:
        problem = "it is empty"
    elif len(added.directives) > 1:
        problem = f"there are {len(added.directives)}; ask about one at a time"
    if problem:
        raise NoOneDirectiveError(f"{problem}; write one such as 'f.block(x:16)'")


def _short(text: str) -> str:
    words = printable(" ".join(text.split()))
    return words if len(words) <= 40 else f"{words[:39]}…"
