"""A result is stored by one statement of one kernel; other schedules of that are refused."""

import pytest

from dtpoly.checking import check
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.model import Role
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.legality import judge
from dtpoly.schedule.state import State
from dtpoly.schedule.static_checks import view_of
from dtpoly.schedule.tree_text import show_tree
from dtpoly.source import Source
from tests.schedule.told import only, read, told

ROWS = """
Func f, t, u; In A; Var x, y; RVar k;
t[x] = rmax(A[x, k], k);
u[x] = t[x] * 2;
f[x, y] = A[x, y] - reshape(t[x], x, 1);
"""


def scheduled(directives: str, algorithm: str = ROWS) -> State:
    verdict = judge(read(algorithm + directives), DIRECTIVES)
    assert verdict.is_legal, str(verdict)
    return verdict.scheduled


def stores(directives: str, algorithm: str = ROWS) -> dict[str, str]:
    """The checks see which kernel stores which result, and the schedule agrees."""
    program = read(algorithm + directives)
    view = view_of(program, bind(program.directives, DIRECTIVES))
    made = scheduled(directives, algorithm).stores
    assert view.stores == {one: made[one] for one in made if one in view.funcs}
    return dict(view.stores)


def kernels(directives: str, algorithm: str = ROWS) -> list[str]:
    return [kernel.name for kernel in scheduled(directives, algorithm).kernels]


def test_a_result_that_is_fused_is_stored_by_its_host() -> None:
    fused = "t.fuse_at(f, x); f.compile(t);"
    assert stores(fused) == {"t": "f"}
    assert kernels(fused) == ["f"]
    shown = show_tree(scheduled(fused).kernels).splitlines()
    leaves = [line.strip() for line in shown if line.strip() in ("t@f", "t.store", "f")]
    assert leaves == ["t@f", "t.store", "f"]


def test_a_host_need_not_read_what_it_stores() -> None:
    fused = "t.fuse_at(f, x); u.fuse_at(f, x); f.compile(u);"
    assert stores(fused) == {"u": "f"}
    assert kernels(fused) == ["f"]
    unread = told(f"{ROWS} u.compile(); t.fuse_at(u, x); u.fuse_at(f, x); f.compile();")
    assert unread == ["DT195 f"]


def test_a_result_that_is_not_fused_has_a_kernel() -> None:
    assert stores("f.compile(u, t);") == {}
    assert kernels("f.compile(u, t);") == ["t", "f", "u"]


def test_a_result_with_a_function_of_its_own_keeps_its_kernel() -> None:
    assert stores("t.fuse_at(f, x); f.compile(t); t.compile();") == {}
    assert kernels("t.fuse_at(f, x); f.compile(t); t.compile();") == ["t", "f"]


def test_another_kernel_reads_it_from_memory() -> None:
    """Its kernel comes after that of the host, wherever it is defined and asked for."""
    directives = "t.fuse_at(f, x); u.compile(f, t);"
    assert stores(directives) == {"t": "f"}
    assert kernels(directives) == ["f", "u"]


def test_the_first_of_two_hosts_stores_it() -> None:
    """That which is defined first: `u` stands above `f`."""
    directives = "t.fuse_at(u, x); t.fuse_at(f, x); f.compile(t, u);"
    assert stores(directives) == {"t": "u"}
    assert kernels(directives) == ["u", "f"]


def test_what_is_needed_by_a_result_is_no_host_of_it() -> None:
    found = only(f"{ROWS} u.fuse_at(t, x); f.compile(u);")
    assert (found.code, found.hint) == ("DT195", "the other way round: t.fuse_at(u, x)")


def test_what_stores_is_a_statement_of_the_host() -> None:
    state = scheduled("t.fuse_at(f, x); f.compile(t);")
    (store,) = [one for one in state.model.statements if one.role is Role.STORE]
    assert (store.name, store.func, store.labels) == ("t.store", "f", ("x",))
    assert [read.array for read in store.reads] == ["t@f"]
    assert store.writes.array == "t"


def test_directives_are_a_set() -> None:
    given = ["t.fuse_at(f, x);", "u.fuse_at(f, x);", "f.block(x:4);", "f.compile(t, u);"]
    first = scheduled(" ".join(given))
    again = scheduled(" ".join(reversed(given)))
    assert (first.stores, first.kernels) == (again.stores, again.kernels)


MISTAKES = {
    "twice": ("f.compile(t, t);", "DT211 t", "name it once: f.compile(t)"),
    "itself": ("f.compile(f);", "DT211 f", "name it once: f.compile()"),
    "an input": ("f.compile(A);", "DT184 A", "there are t, u"),
    "a label": ("f.compile(x);", "DT184 x", "there are t, u"),
    "inlined": (
        "f.compile(u); u.inline(); t.compile();",
        "DT196 u.inline()",
        "remove one of the two directives",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_has_a_place_and_a_way_out(name: str) -> None:
    directives, place, hint = MISTAKES[name]
    found = only(ROWS + directives)
    assert [f"{found.code} {found.span.text if found.span else ''}", found.hint] == [place, hint]


SUMS = "Func f, q; In A; Var x; RVar k; q[x] = rmax(A[x, k], k); f[x] = rsum(A[x, k], k);"


def test_atomic_results_come_alone() -> None:
    found = only(f"{SUMS} q.fuse_at(f, x); f.block(k:32); f.atomic(k); f.compile(q);")
    assert (found.code, found.title) == ("DT194", "the kernel of 'f' stores 'q', too")


def test_partial_results_do_not_keep_it_from_being_stored() -> None:
    directives = "q.fuse_at(f, x); f.block(k:32); f.compile(q);"
    assert stores(directives, SUMS) == {"q": "f"}
    assert len(kernels(directives, SUMS)) == 2


def test_panels_have_one_result() -> None:
    text = (
        "Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n]; f[m, n] = rdot(A[m, k], g[n, k],"
        "k); f.block(m:16, n:16); f.panels(n:32); f.compile(g);"
    )
    assert told(text) == ["DT197 f.panels(n:32)"]


def refused(directives: str) -> tuple[str, str, list[str]]:
    (found,) = check(Source("t.dt", ROWS + directives)).diagnostics
    return found.code, found.title, [note.text for note in found.notes]


def test_a_label_that_it_lacks_may_have_no_blocks() -> None:
    code, title, notes = refused("t.fuse_at(f, x); f.block(y:16); f.compile(t);")
    assert (code, title) == ("DT204", "'t' is not stored exactly once")
    assert "the store of 't' writes t[x]" in notes
    assert "example, at x = 1, y = 0, k = 0: no program stores t[0]" in notes


def test_a_loop_that_is_not_around_its_store() -> None:
    code, title, notes = refused("t.fuse_at(f, y, recompute); f.compile(t);")
    assert (code, title) == ("DT201", "'f' stores 't' outside of the loop that computes it")
    assert "no loop over 'y' of 'f' is around every read of 't'" in notes
