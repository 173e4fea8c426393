"""The language server in a process of its own, asked by a client as an editor asks."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from dtpoly.checking import load
from dtpoly.frontend.format import format_source
from dtpoly.source import Source
from tests.editor.talking import URI, Editor, Talker, talker

MATMUL = """\
# Products of matrices.
# A comment of two lines.
Func mm;
In A: f16, B: f16;
Var m, n;
RVar k;
mm[m, n] = rdot(A[m, k], B[k, n], k);
mm.block(m:64, n:64);
mm.tensorize(m:0, n:0, k:32);
mm.map(m:mi/8, n, mi);
mm.compile();
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Talker]:
    with talker() as one:
        yield one


def applied(text: str, edits: Any) -> str:
    """Return the text after the edits of an editor."""
    source = Source("", text)

    def offset(at: types.Position) -> int:
        return source.line_starts[at.line] + at.character

    for one in sorted(edits, key=lambda one: offset(one.range.start), reverse=True):
        text = text[: offset(one.range.start)] + one.new_text + text[offset(one.range.end) :]
    return text


def test_messages_and_what_mends_them(server: Talker) -> None:
    wrong = MATMUL.replace("mm.block", "mm.blok")

    async def steps(editor: Editor) -> str:
        (found,) = await editor.opened(wrong)
        assert found.code == "DT180"
        assert found.severity == types.DiagnosticSeverity.Error
        assert found.range.start == editor.at("blok")
        assert "block" in found.message
        context = types.CodeActionContext([found])
        asked = types.CodeActionParams(editor.document, found.range, context)
        (fix,) = list(await editor.client.text_document_code_action_async(asked) or ())
        assert isinstance(fix, types.CodeAction)
        assert fix.edit is not None
        assert fix.edit.changes is not None
        mended = applied(wrong, fix.edit.changes[URI])
        editor.edited(mended)
        assert await editor.found() == []
        return mended

    assert server.talk(steps) == MATMUL


def test_an_illegal_schedule_is_shown_with_its_reason(server: Talker) -> None:
    async def steps(editor: Editor) -> list[types.Diagnostic]:
        return await editor.opened(MATMUL.replace("m:64, n:64", "m:64, n:64, k:8"))

    found = server.talk(steps)
    assert found
    assert all(one.severity == types.DiagnosticSeverity.Error for one in found)
    assert any("k" in one.message for one in found)


def test_characters_are_counted_as_editors_count_them(server: Talker) -> None:
    async def steps(editor: Editor) -> list[types.Diagnostic]:
        return await editor.opened("Func f;\n# 😀\nIn A; 😀 ü\n")

    places = {(one.range.start.line, one.range.start.character) for one in server.talk(steps)}
    # The picture is one character of Python, and two units of UTF-16.
    assert (2, len("In A; ")) in places
    assert (2, len("In A; 😀 ") + 1) in places


def test_hover_says_what_names_are_and_what_directives_do(server: Talker) -> None:
    async def steps(editor: Editor) -> list[str]:
        await editor.opened(MATMUL)
        words = ("mm[m", "A[m", "Var m", "block", "mi/8", "# Products")
        shifts = (0, 0, len("Var "), 1, 0, 3)
        texts = list[str]()
        for word, shift in zip(words, shifts, strict=True):
            asked = types.HoverParams(**editor.place(word, shift))
            found = await editor.client.text_document_hover_async(asked)
            contents = found.contents if found else None
            texts.append(contents.value if isinstance(contents, types.MarkupContent) else "")
        return texts

    func, tensor, label, block, loop, comment = server.talk(steps)
    assert "f16" in func
    assert "ceil(m / 64) * ceil(n / 64) programs" in func
    assert "a tensor input of f16" in tensor
    assert "A.shape[0]" in label
    assert "mm.block(" in block
    assert "changes" in block
    assert "ceil(m / 64)" in block
    assert "a loop that a directive makes" in loop
    assert comment == ""


def test_what_is_offered_is_legal(server: Talker) -> None:
    started = MATMUL.replace("mm.compile();", "mm.\nmm.compile();")

    async def steps(editor: Editor) -> tuple[list[str], list[str]]:
        await editor.opened(started)
        asked = types.CompletionParams(**editor.place("mm.\n", len("mm.")))
        found = await editor.client.text_document_completion_async(asked)
        assert isinstance(found, types.CompletionList)
        legal = [one.label for one in found.items if one.kind == types.CompletionItemKind.Snippet]
        every = [one.label for one in found.items if one.kind == types.CompletionItemKind.Method]
        return legal, every

    legal, every = server.talk(steps)
    assert legal
    assert {"block", "tensorize", "num_warps"} <= {*every}
    for one in legal[:6]:
        load(Source("", started.replace("mm.\n", f"mm.{one};\n")))


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("mm.num_warps(", set[str]()),
        ("mm.split_k(m, ", {"m", "n", "k", "mi"}),
        ("Func other: ", {"f16", "f32", "bf16"}),
        ("", {"Func", "RVar", "mm"}),
        ("mm[m, n] = e", {"A", "B", "mm", "exp", "rsum", "k"}),
        ("# mm.", set[str]()),
    ],
)
def test_words_that_fit_are_offered(server: Talker, written: str, wanted: set[str]) -> None:
    async def steps(editor: Editor) -> set[str]:
        await editor.opened(f"{MATMUL}{written}")
        lines = editor.text.count("\n")
        asked = types.CompletionParams(editor.document, types.Position(lines, len(written)))
        found = await editor.client.text_document_completion_async(asked)
        assert isinstance(found, types.CompletionList)
        return {one.label for one in found.items}

    assert wanted <= server.talk(steps)


def test_definitions_and_all_places_of_a_name(server: Talker) -> None:
    async def steps(editor: Editor) -> None:
        await editor.opened(MATMUL)
        for word, shift, declared, places in (
            ("A[m", 0, "A: f16", 2),
            ("mm.map", 0, "mm;", 6),
            ("mi);", 0, "mi/8", 2),
            ("k:32", 0, "k;\n", 5),
        ):
            asked = types.DefinitionParams(**editor.place(word, shift))
            found = await editor.client.text_document_definition_async(asked)
            assert isinstance(found, types.Location)
            assert found.range.start == editor.at(declared), word
            context = types.ReferenceContext(include_declaration=True)
            every = await editor.client.text_document_references_async(
                types.ReferenceParams(context=context, **editor.place(word, shift))
            )
            assert len(every or ()) == places, word

    server.talk(steps)


def test_names_are_changed_everywhere(server: Talker) -> None:
    async def steps(editor: Editor) -> None:
        for old, new, places in (("mi/8", "inner", 2), ("mm[", "product", 6), ("k]", "depth", 5)):
            await editor.opened(MATMUL)
            asked = types.RenameParams(new_name=new, **editor.place(old))
            found = await editor.client.text_document_rename_async(asked)
            assert found is not None
            assert found.changes is not None
            text = applied(MATMUL, found.changes[URI])
            load(Source("", text))
            assert len(re.findall(rf"\b{new}\b", text)) == places
            assert not re.search(rf"\b{old.strip('/8[]')}\b", text)

    server.talk(steps)


@pytest.mark.parametrize("name", ["exp", "Func", "2m", "A", "größe"])
def test_a_name_that_means_something_else_is_refused(server: Talker, name: str) -> None:
    async def steps(editor: Editor) -> None:
        await editor.opened(MATMUL)
        asked = types.RenameParams(new_name=name, **editor.place("mm["))
        with pytest.raises(JsonRpcException, match=name):
            await editor.client.text_document_rename_async(asked)

    server.talk(steps)


def test_the_layout_is_that_of_fmt(server: Talker) -> None:
    untidy = MATMUL.replace("m:64, n:64", "m:64,n:64").replace("Var m, n;\n", "Var m,n; ")

    async def steps(editor: Editor) -> str:
        await editor.opened(untidy)
        options = types.FormattingOptions(tab_size=4, insert_spaces=True)
        asked = types.DocumentFormattingParams(editor.document, options)
        return applied(untidy, await editor.client.text_document_formatting_async(asked) or ())

    assert server.talk(steps) == format_source(Source("", untidy)) != untidy


def test_folds_names_and_hints(server: Talker) -> None:
    async def steps(editor: Editor) -> None:
        await editor.opened(MATMUL)
        client = editor.client
        folds = await client.text_document_folding_range_async(
            types.FoldingRangeParams(editor.document)
        )
        assert {(one.start_line, one.end_line) for one in folds or ()} == {(0, 1), (7, 10)}
        found = await client.text_document_document_symbol_async(
            types.DocumentSymbolParams(editor.document)
        )
        assert [one.name for one in found or ()] == ["mm", "A", "B", "m", "n", "k"]
        whole = types.Range(types.Position(0, 0), types.Position(20, 0))
        hints = await client.text_document_inlay_hint_async(
            types.InlayHintParams(editor.document, whole)
        )
        texts = {str(one.label).strip(): one.position for one in hints or ()}
        assert texts[": f16"] == editor.at("mm;", len("mm"))
        assert texts["= A.shape[0]"] == editor.at("m, n;", 1)
        assert any(text.startswith("ceil(m / 64) * ceil(n / 64) programs") for text in texts)

    server.talk(steps)


def test_only_the_newest_text_is_judged(server: Talker) -> None:
    async def steps(editor: Editor) -> int:
        await editor.opened(MATMUL)
        for number in range(40):
            editor.edited(f"{MATMUL}mm.num_warps({number});\n")
        editor.edited(MATMUL.replace("A[m", "C[m"))
        assert any("'C'" in one.message for one in await editor.found())
        return editor.published.qsize()

    assert server.talk(steps) == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "Func",
        "mm." * 999,
        "(" * 3000,
        "Func f;\r\nIn A;\rVar x",
        "\u2028f.\x0b",
        "😀.",
        "{" * 99,
    ],
)
def test_any_text_gets_an_answer(server: Talker, text: str) -> None:
    async def steps(editor: Editor) -> None:
        await editor.opened(text)
        for line in range(3):
            where: dict[str, Any] = {
                "text_document": editor.document,
                "position": types.Position(line, 3),
            }
            client = editor.client
            await client.text_document_hover_async(types.HoverParams(**where))
            await client.text_document_completion_async(types.CompletionParams(**where))
            await client.text_document_definition_async(types.DefinitionParams(**where))
        asked = types.FoldingRangeParams(editor.document)
        await editor.client.text_document_folding_range_async(asked)

    server.talk(steps)


def test_directives_of_a_plugin_are_known(server: Talker) -> None:
    text = "Func f; In A; Var x, y; f[x, y] = exp(A[x, y]); f.skew(x, y); f.compile();\n"

    async def steps(editor: Editor) -> list[types.Diagnostic]:
        return await editor.opened(text)

    assert [one.code for one in server.talk(steps)] == ["DT180"]
    with talker("--plugin", "examples/skew.py") as other:
        assert other.talk(steps) == []
