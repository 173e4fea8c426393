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


GRADIENTS = """
Func f, g, r; In A; RVar x, y;
g[x, y] = A[x, y] * 2; f[y] = rsum(A[x, y], x); r[y] = rmax(A[x, y], x);
"""


def test_it_is_stored_in_the_loop_of_a_reduction() -> None:
    fused = "g.fuse_at(f, x); f.compile(g);"
    assert stores(fused, GRADIENTS) == {"g": "f"}
    state = scheduled(fused, GRADIENTS)
    (store,) = [one for one in state.model.statements if one.role is Role.STORE]
    assert (store.labels, store.bound) == (("x", "y"), ("x",))
    shown = [line.strip().split("  ")[0] for line in show_tree(state.kernels).splitlines()]
    at = shown.index("f.x.init")
    assert shown[at + 1 : at + 5] == [
        "loop x by 1",
        "loop x from f.x for 1 at once",
        "loop y from f.y for 1 at once",
        "g@f",
    ]
    assert shown.index("g@f") < shown.index("g.store") < shown.index("f.x.update")


@pytest.mark.parametrize("blocks", ["", "f.block(k:2);"])
def test_it_is_stored_in_its_loop_whatever_else_is_in_parts(blocks: str) -> None:
    """It stands behind the init of the reduction, also where another one is divided."""
    algorithm = "Func f, g; In A, B; RVar x, k; g[x] = A[x]; f[] = rmax(g[x], x) * rsum(B[k], k);"
    shown = [
        line.strip().split("  ")[0]
        for line in show_tree(
            scheduled(f"{blocks} g.fuse_at(f, x); f.compile(g);", algorithm).kernels
        ).splitlines()
    ]
    assert shown.index("f.x.init") < shown.index("g@f") < shown.index("g.store")
    assert shown.index("g.store") < shown.index("f.x.update")


@pytest.mark.parametrize("directives", ["g.compile(f);", "g.compile(f, r); r.fuse_at(f, y);"])
def test_the_func_that_a_function_is_named_after_may_be_stored_elsewhere(directives: str) -> None:
    fused = f"g.fuse_at(f, x); {directives}"
    assert stores(fused, GRADIENTS)["g"] == "f"
    assert kernels(fused, GRADIENTS) == ["f"]


def test_it_keeps_its_kernel_where_the_host_is_no_result_of_its_function() -> None:
    found = only(f"{GRADIENTS} g.fuse_at(f, x); g.compile(); f.compile();")
    assert found.code == "DT195"
    assert found.hint.endswith(
        "the kernel of 'f' stores it if one function returns both: g.compile(f)"
    )


def test_it_keeps_its_kernel_where_the_host_reads_it() -> None:
    algorithm = GRADIENTS.replace("rsum(A[x, y], x)", "rsum(g[x, y], x)")
    assert stores("g.fuse_at(f, x); g.compile(f);", algorithm) == {}
    assert kernels("g.fuse_at(f, x); g.compile(f);", algorithm) == ["g", "f"]


def test_parts_store_and_sum_what_is_theirs() -> None:
    directives = "g.fuse_at(f, x); r.fuse_at(f, y); f.block(x:p/4, p.y:16); g.compile(f, r);"
    assert kernels(directives, GRADIENTS) == ["f_parts", "f"]
    state = scheduled(directives, GRADIENTS)
    assert state.stores == {"g": "f_parts", "r_parts": "f_parts", "r": "f"}
    parts, merge = state.kernels
    assert [(axis.label, axis.step) for axis in parts.grid] == [("p", 1)]
    assert [(axis.label, axis.step) for axis in merge.grid] == [("y", 16)]


def test_a_name_of_a_loop_is_no_name_of_parts() -> None:
    """Both `split` and `block` divide x; the name that `split` gives is that of its loop."""
    directives = "g.fuse_at(f, x); f.block(x:4); f.split(x:xi/2); g.compile(f);"
    parts, merge = scheduled(directives, GRADIENTS).kernels
    assert [(axis.label, axis.step) for axis in parts.grid] == [("x.part", 1)]
    assert "loop xi" not in show_tree((merge,))
    scan = "Func f; In A; Var x, y; RVar s; f[x, y] = scan_sum(A[x, s], s, y);"
    parts, *_ = scheduled("f.block(y:4); f.split(y:yi/2); f.compile();", scan).kernels
    assert [axis.label for axis in parts.grid] == ["y.part"]


def test_what_has_no_parts_is_computed_by_the_kernel_that_merges() -> None:
    algorithm = GRADIENTS.replace("rmax", "rargmax")
    directives = "g.fuse_at(f, x); r.fuse_at(f, y); f.block(x:4); g.compile(f, r);"
    assert scheduled(directives, algorithm).stores == {"g": "f_parts", "r": "f"}


PART_MISTAKES = {
    "two sums": (
        "f.block(x:p/4);",
        "DT239 x:p/4",
        "leave 'x' in one program: tensorize cuts its loop into tiles",
    ),
    "another name": ("f.block(x:p/4, q.y:16);", "DT185 q", "did you mean p?"),
    "no parts": ("f.block(q.y:16);", "DT185 q", "write y:16"),
    "a reduced label": ("f.block(x:p/4, p.x:16);", "DT185 x", "write y"),
}


def test_a_reduction_inside_of_another_one_has_no_parts_if_it_reads_at_its_index() -> None:
    """Its parts would need that index; a kernel was emitted that read it, and never set it."""
    algorithm = """
    Func f, g; In A, B; RVar x, y, k;
    g[k] = B[k] * 2; f[x] = rmax(rsum(A[x, y, k], k), y); g.fuse_at(f, k, recompute);
    """
    found = only(f"{algorithm} f.block(k:p/2); f.compile(g);")
    assert found.code == "DT239"
    assert found.notes[0].text == "it is inside of a reduction over 'y', and reads at its index"


@pytest.mark.parametrize("name", PART_MISTAKES)
def test_a_mistake_about_parts_has_a_place_and_a_way_out(name: str) -> None:
    directives, place, hint = PART_MISTAKES[name]
    sums = "rsum(A[x, y], x)"
    algorithm = GRADIENTS.replace(sums, f"{sums} * {sums}") if name == "two sums" else GRADIENTS
    found = only(f"{algorithm} g.fuse_at(f, x); {directives} g.compile(f);")
    assert [f"{found.code} {found.span.text if found.span else ''}", found.hint] == [place, hint]


def refused_gradients(directives: str, algorithm: str = GRADIENTS) -> tuple[str, str, list[str]]:
    (found,) = check(Source("t.dt", algorithm + directives)).diagnostics
    return found.code, found.title, [note.text for note in found.notes]


def test_what_is_computed_again_in_a_loop_is_refused() -> None:
    """Each tile of y would sum the whole row again."""
    sums = GRADIENTS.replace("A[x, y] * 2", "A[x, y] * reshape(t[x], x, 1)")
    sums = sums.replace("Func f", "Func t, f").replace(
        "g[x, y] =", "t[x] = rsum(A[x, y], y); g[x, y] ="
    )
    directives = "t.fuse_at(g, x); g.fuse_at(f, x); f.tensorize(y:16, x:1); g.compile(f);"
    code, title, notes = refused_gradients(directives, sums)
    assert code == "DT203"
    assert any("example" in note for note in notes), (title, notes)
    whole = directives.replace("y:16", "y:0")
    assert scheduled(whole, sums).stores == {"g": "f"}


def test_a_result_without_the_label_of_the_blocks_needs_a_block() -> None:
    rows = """
    Func f, g; In A; RVar x, y, k;
    g[x] = rmax(A[x, k], k); f[y] = rsum(A[x, y], x);
    """
    code, title, notes = refused_gradients("g.fuse_at(f, x); f.block(y:16); f.compile(g);", rows)
    assert (code, title) == ("DT204", "'g' is not stored exactly once")
    assert any("no program stores g[0]" in note for note in notes)


def test_a_label_of_the_host_that_the_result_lacks_is_around_its_loop() -> None:
    algorithm = """
    Func w, z; In D, X; Var k, n; RVar m;
    z[m, n] = D[m, n] * 2; w[k, n] = rdot(X[m, k], z[m, n], m);
    """
    fused = "z.fuse_at(w, m); w.compile(z);"
    code, title, _ = refused_gradients(fused, algorithm)
    assert (code, title) == ("DT201", "'w' stores 'z' outside of the loop that computes it")
    # With the loop over m outside of the one over k, each z[m, n] is computed and stored once.
    for more in ("", "w.block(n:16); w.tensorize(k:0, n:0, m:4);", "w.block(m:p/4, p.n:16);"):
        assert "z" in scheduled(f"{fused} w.reorder(m, k, n); {more}", algorithm).stores
