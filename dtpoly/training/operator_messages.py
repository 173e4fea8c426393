"""The messages about operators that train: how they are made, called and differentiated.

None of them has a place in a file, so each says what was given, why that does not fit, and what to
do instead.
"""

from collections.abc import Iterable, Sequence

from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity
from dtpoly.python_errors import error_of
from dtpoly.suggest import did_you_mean


def refused(code: str, title: str, reason: str, way: str) -> DtpolyError:
    """Return the error of a code: what is wrong, why, and the way out."""
    notes = (Note(reason),) if reason else ()
    return error_of([Diagnostic(code, Severity.ERROR, title, None, "", notes, way)])


def no_such(what: str, word: str, known: Iterable[str]) -> DtpolyError:
    """Refuse a word that names nothing of a file."""
    there = (*known,)
    listed = ", ".join(there) or "none"
    return refused(
        "DT275", f"there is no {what} '{word}'", f"there are: {listed}", _one_of(word, there)
    )


def _one_of(word: str, known: Sequence[str]) -> str:
    meant = did_you_mean(word, known).removeprefix("; ")
    return meant or "take one of these"


def none_of(argument: str, given: object, known: Iterable[object]) -> DtpolyError:
    """Refuse a value of an argument that is none of those that it may have."""
    words = ", ".join(map(repr, known))
    title = f"{argument}={given!r} is none of {words}"
    return refused("DT275", title, "the argument has these values alone", "pass one of them")


def which_func(name: str, compiled: Iterable[str]) -> DtpolyError:
    """Refuse a file that compiles several Funcs, of which none is named."""
    every = (*compiled,)
    return refused(
        "DT275",
        f"{name} compiles {', '.join(every)}, and an operator computes one of them",
        "nothing says which one is meant",
        f"name it, as in of='{every[0]}'",
    )


def no_name(name: str) -> DtpolyError:
    """Refuse what is no name of an operator in torch."""
    return refused(
        "DT275",
        f"'{name}' is no name of an operator",
        "torch has operators by a namespace and a name, which are made of letters, digits and _",
        "say it as in name='mylib::rms_norm', or leave it out",
    )


def taken_name(name: str) -> DtpolyError:
    """Refuse a parameter whose name each module of torch has for something else."""
    return refused(
        "DT275",
        f"no parameter of a module can be called '{name}'",
        f"torch.nn.Module has an attribute '{name}' of its own",
        f"give the input another name in the file, or pass '{name}' with each call",
    )


def whole_input(name: str, inputs: Iterable[str]) -> DtpolyError:
    """Refuse a module to which nothing is left to pass."""
    return refused(
        "DT275",
        f"a module of {name} has all of its inputs, so that no call passes any",
        f"they are: {', '.join(inputs)}",
        "leave out those that a call passes",
    )


def too_many(name: str, passed: Sequence[str], count: int) -> DtpolyError:
    """Refuse a call of a module with more inputs than are left to pass."""
    said = f"in a module takes {', '.join(passed)}, but {count} inputs were given"
    return wrong_call(name, passed, said, "the others are the module's own: pass none of them")


def unfit_gradient(title: str, way: str) -> DtpolyError:
    """Refuse a file of gradients that is of another algorithm."""
    reason = "a file of backward= computes gradients of the inputs, from inputs, results and d_..."
    return refused("DT276", title, reason, way)


def result_in_place(func: str, tensor: str) -> DtpolyError:
    """Refuse results that are written into inputs."""
    return refused(
        "DT277",
        f"'{func}' is written into '{tensor}', and an operator that trains makes new results",
        f"torch keeps '{tensor}' for gradients, which read what was there before",
        f"leave out 'into {tensor}'",
    )


def leaf_in_place(what: str) -> DtpolyError:
    """Refuse to write gradients into a tensor that is somebody's parameter."""
    return refused(
        "DT277",
        f"{what} is a leaf that requires a gradient, and would be overwritten",
        "its values are a parameter, which the next step reads",
        "leave out in_place=True, or pass what a layer has computed",
    )


def wrong_call(name: str, words: Sequence[str], said: str, way: str) -> DtpolyError:
    """Refuse a call with too few or too many inputs, or with one that is unknown."""
    takes = f"it takes {', '.join(words)}"
    return refused("DT278", f"{name} {said}", takes, way)


def unfit_input(name: str, error: Exception) -> DtpolyError:
    """Refuse inputs that kernels do not fit, in the words of the function that calls these."""
    title, _, rest = str(error).partition("\n")
    return refused(
        "DT279",
        f"{name} cannot compute of these inputs: {title}",
        rest or "the kernels are proved for inputs as the file declares them, of sizes that agree",
        "pass inputs of the types, axes and sizes that the file declares",
    )


def without_tensors(name: str) -> DtpolyError:
    """Refuse an algorithm of numbers alone."""
    return refused(
        "DT279",
        f"{name} has no tensor among its inputs",
        "an operator runs where its first tensor is",
        "read a tensor input, or call the schedule itself, with device=",
    )


def lost_gradient(name: str, one: str) -> DtpolyError:
    """Refuse an input that requires a gradient and would get none."""
    return refused(
        "DT280",
        f"'{one}' requires a gradient, and {name} was made without one",
        "the call would lose it in silence",
        f"pass {one}.detach(), or name it in by=",
    )


def not_there(function: str, what: str, way: str) -> DtpolyError:
    """Refuse what torch's function of the same name can do and ours cannot."""
    reason = "no kernel of the package computes that"
    return refused("DT281", f"dtpoly.nn.{function} has no {what}", reason, way)


def unfit_shapes(function: str, said: str, way: str) -> DtpolyError:
    """Refuse shapes that do not fit each other, or not the function."""
    return refused("DT282", f"dtpoly.nn.{function}: {said}", "", way)


def no_class(function: str, found: int, count: int, ignored: int) -> DtpolyError:
    """Refuse a class that no logit belongs to."""
    return refused(
        "DT283",
        f"dtpoly.nn.{function}: the target has the class {found}, and there are {count} classes",
        f"classes are from 0 to {count - 1}, and {ignored} is ignored",
        "pass such classes, or say which one is ignored by ignore_index=",
    )


def forked(name: str) -> DtpolyError:
    """Refuse to begin with a GPU in a process that was forked after it was used."""
    return refused(
        "DT284",
        f"{name} was called on a GPU in a process that was forked from one with a GPU",
        "the driver of the GPU does not work in the copy of a process",
        "start processes by spawn: torch.multiprocessing.set_start_method('spawn')",
    )


def not_visible(name: str, why: str) -> DtpolyError:
    """Refuse a form that Inductor sees into, for kernels that are launched in another way."""
    return refused(
        "DT286",
        f"'{name}' has no form that torch.compile sees into",
        why,
        "call the operator itself, which torch.compile takes as a whole, or schedule it otherwise",
    )


def changed(name: str) -> DtpolyError:
    """Refuse a gradient of values that were replaced after the call."""
    return refused(
        "DT285",
        f"the gradient of {name} needs values that were changed after the call",
        "torch saw that a tensor was written in place which was kept for it",
        "change a copy: x = x + 1 in the place of x += 1",
    )
