"""Tests that isl can read the text that is printed for it."""

import islpy as isl

from dtpoly.poly.dependences import dependences
from dtpoly.poly.isl_text import facts_text, isl_text
from dtpoly.poly.lift import lift
from tests.schedule.told import SUM, read


def test_relations() -> None:
    model = lift(read(SUM))
    flows = [one for one in dependences(model) if one.target == "total"]
    text = isl_text(model, ((f"{one}", one.relation) for one in flows))
    assert text == (
        "# of all sizes: N_x >= 0 and N_k >= 0\n"
        "[N_x, N_k] -> {\n"
        "  # total reads what total.k.init wrote to total.k\n"
        "  total_k_init[x] -> total[x' = x] : 0 <= x < N_x;\n"
        "  # total reads what total.k.update wrote to total.k\n"
        "  total_k_update[x, k] -> total[x' = x] : 0 <= x < N_x and 0 <= k < N_k;\n"
        "  # total reads what total.k.combine wrote to total.k\n"
        "  total_k_combine[x] -> total[x' = x] : 0 <= x < N_x;\n"
        "}\n"
    )
    assert isl.UnionMap(text).get_map_list().n_map() == 3


def test_sets() -> None:
    model = lift(read(SUM))
    text = isl_text(model, (("", s.domain) for s in model.statements))
    assert isl.UnionSet(text).get_set_list().n_set() == len(model.statements)


def test_what_holds_of_all_sizes() -> None:
    shifted = "Func f, g; In A; Var x, y; g[x] = A[x]; f[y] = g[y + 1]; f.compile();"
    assert facts_text(lift(read(SUM))) == "N_x >= 0 and N_k >= 0"
    assert isl.Set(f"[N_x, N_y] -> {{ : {facts_text(lift(read(shifted)))} }}").is_equal(
        lift(read(shifted)).context
    )
