"""The primitive `split`."""

from tests.schedule.told import MAP, TWO, only, told


def test_of_a_label_and_of_what_a_split_makes() -> None:
    assert told(f"{MAP} f.split(x:xi/4, y:yi/3); f.split(xi:xj/2); f.unroll(xj:2);") == []


def test_of_no_label() -> None:
    assert told(f"{MAP} f.split(z:zi/4);") == ["DT185 z"]


def test_of_each_other() -> None:
    assert told(f"{MAP} f.split(p:q/4, q:p/4);") == ["DT185 p", "DT185 q"]
    assert told(f"{MAP} f.split(p:p/4);") == ["DT185 p"]


def test_forms_and_factors() -> None:
    assert told(f"{MAP} f.split(x:4);") == ["DT181 x:4"]
    assert told(f"{MAP} f.split(x:xi/0);") == ["DT182 x:xi/0"]


def test_new_names_are_new() -> None:
    for taken in ("y", "A", "f"):
        assert told(f"{MAP} f.split(x:{taken}/4);") == [f"DT189 {taken}"]
    assert told(f"{MAP} f.split(x:i/4, y:i/4);") == ["DT189 i"]
    assert told(f"{MAP} f.block(x:4); f.split(x:i/4); f.map(x:i/4, i);") == ["DT189 i"]


def test_new_names_are_those_of_one_func() -> None:
    assert told(f"{TWO} f.split(x:xi/4); g.split(x:xi/4);") == []


def test_a_free_name_is_suggested() -> None:
    assert only(f"{MAP} f.split(x:xi/4, y:xi/8);").hint == "choose another name, such as yi"
