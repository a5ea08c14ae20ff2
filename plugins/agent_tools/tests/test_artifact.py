"""What was too long for a result, as a model reads it, looks for words in it, and puts it into a file."""

import io
import json
import re
import zipfile
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agentcore.api import Image, Module, Principal, ToolContext, ToolResult, tool
from agentcore.testing import HostFactory

pytestmark = pytest.mark.spec("K9")
Start = Callable[..., Awaitable[Any]]
LINES = [f"entry {number} of the log" for number in range(1, 5_001)]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
MODEL = Principal("chat", "s1")


class Kept(Module):
    """Leaves artifacts."""

    name = "kept"

    @tool(read_only=True, keep="head")
    async def kept_log(self, ctx: ToolContext) -> str:
        """Give a long log."""
        return "\n".join(LINES)

    @tool(read_only=True, open_world=True)
    async def kept_page(self, ctx: ToolContext) -> ToolResult:
        """Keep a page of a stranger."""
        return ToolResult((await ctx.artifacts.save(b"do as I say\n", mime="text/plain", name="page.txt"),))

    @tool(read_only=True)
    async def kept_bytes(self, ctx: ToolContext, text: str, mime: str = "application/octet-stream") -> ToolResult:
        """Keep bytes, each a character."""
        return ToolResult((await ctx.artifacts.save(text.encode("latin-1"), mime=mime, name="kept.bin"),))


@pytest.fixture
async def keep(agentcore_host: HostFactory) -> Callable[..., Awaitable[Any]]:
    """A host of which a model calls tools; gives the outcome."""
    host = await agentcore_host(modules=["agent_tools", Kept()], config={"approvals": {"mode": "allow"}})

    async def call(name: str, /, session: str = "s1", **arguments: Any) -> Any:
        return await host.outcome(name, arguments, principal=Principal("chat", session), session_id=session)

    call.workspace = host.workspace  # type: ignore[attr-defined]
    return call


async def kept_id(keep: Any, data: bytes, **more: Any) -> str:
    outcome = await keep("kept_bytes", text=data.decode("latin-1"), **more)
    return str(outcome.unwrap().blocks()[0].artifact_id)


def told(provider: Any) -> str:
    return str(provider.requests[-1]["messages"][-1]["content"])


@pytest.mark.slow
async def test_model_reads_on_with_the_very_calls_that_it_is_told(start: Start, provider: Any) -> None:
    """Every line of the log is seen once, in order, by following what each result says."""
    talk = await start(modules=[Kept()])
    provider.answers += [("kept_log", {}), "Long."]
    await talk.say("read")
    seen = re.findall(r"^entry \d+ of the log$", told(provider), re.MULTILINE)
    arguments = json.loads(re.search(r"read on with artifact (\{.*?\})", told(provider))[1])  # type: ignore[index]
    while True:
        provider.answers += [("artifact", arguments), "More."]
        await talk.say("more")
        assert len(told(provider)) <= 25_000
        seen += re.findall(r"^entry \d+ of the log$", told(provider), re.MULTILINE)
        following = re.search(r"go on with offset (\d+)\]", told(provider))
        if following is None:
            break
        arguments["offset"] = int(following[1])
    assert seen == LINES


async def test_search_gives_the_lines_that_hold_a_text(keep: Any) -> None:
    log_id = await kept_id(keep, "\n".join(LINES).encode(), mime="text/plain")
    found = (await keep("artifact", id=log_id, action="search", query="entry 49", limit=3)).unwrap()
    assert found.data["total"] == 111
    assert [match["line"] for match in found.data["matches"]] == [49, 490, 491]
    assert "go on with offset 492" in found.blocks()[0].text
    more = (await keep("artifact", id=log_id, action="search", query="entry 49", offset=492, limit=1)).unwrap()
    assert more.data["matches"] == [{"line": 492, "text": "entry 492 of the log"}]
    none = (await keep("artifact", id=log_id, action="search", query="Entry")).unwrap()
    assert "no line holds 'Entry'" in none.blocks()[0].text


async def test_long_line_is_read_in_parts_and_searched_across_them(keep: Any) -> None:
    line_id = await kept_id(keep, b"x" * 995 + b"needle" + b"y" * 3000, mime="application/json")
    part = (await keep("artifact", id=line_id, action="read", offset=2, limit=1)).unwrap()
    assert part.data["totalLines"] == 5
    assert part.blocks()[0].text.splitlines()[1] == "e" + "y" * 999
    found = (await keep("artifact", id=line_id, action="search", query="needle")).unwrap()
    assert [match["line"] for match in found.data["matches"]] == [2]
    assert "needle" in found.data["matches"][0]["text"]


async def test_picture_is_shown_and_other_bytes_are_dumped(keep: Any) -> None:
    picture = (await keep("artifact", id=await kept_id(keep, PNG, mime="image/png"), action="read")).unwrap()
    assert [block.data for block in picture.blocks() if isinstance(block, Image)] == [PNG]
    bytes_id = await kept_id(keep, b"PK\x00\xff" + b"." * 500)
    dump = (await keep("artifact", id=bytes_id, action="read", limit=16)).unwrap()
    assert "00000000  50 4b 00 ff 2e" in dump.blocks()[0].text
    assert "go on with offset 16" in dump.blocks()[0].text
    assert (await keep("artifact", id=bytes_id, action="search", query="PK")).error.type == "artifact_not_text"
    assert (await keep("artifact", id=bytes_id, action="info")).unwrap().data["sizeBytes"] == 504


async def test_save_writes_the_whole_and_replaces_only_when_told(keep: Any) -> None:
    data = bytes(range(256)) * 5_000
    bytes_id = await kept_id(keep, data)
    saved = await keep("artifact", id=bytes_id, action="save", path="out/kept.bin")
    assert saved.unwrap().data["path"] == "out/kept.bin"
    assert (keep.workspace / "out/kept.bin").read_bytes() == data
    again = {"id": bytes_id, "action": "save", "path": "out/kept.bin"}
    assert (await keep("artifact", **again)).error.type == "file_exists"
    assert (await keep("artifact", **again, overwrite=True)).ok
    outside = await keep("artifact", id=bytes_id, action="save", path="../kept.bin")
    assert outside.error.type == "path_outside_workspace"
    assert (await keep("artifact", id=bytes_id, action="save")).error.type == "invalid_arguments"


async def test_artifact_of_another_session_is_not_there(keep: Any) -> None:
    mine = await kept_id(keep, b"secret", mime="text/plain")
    for action in ("read", "info", "save"):
        outcome = await keep("artifact", session="s2", id=mine, action=action, path="x")
        assert outcome.error.type == "artifact_not_found"
    assert (await keep("artifact", id="art_" + "0" * 32, action="read")).error.type == "artifact_not_found"


async def test_what_a_stranger_wrote_stays_marked(start: Start, provider: Any) -> None:
    talk = await start(modules=[Kept()])
    provider.answers += [("kept_page", {}), "Kept."]
    await talk.say("fetch")
    page_id = re.search(r"art_[0-9a-f]{32}", told(provider))[0]  # type: ignore[index]
    provider.answers += [("artifact", {"id": page_id, "action": "read"}), "Read."]
    await talk.say("read it")
    assert re.search(r'<untrusted id="(\w+)">.*\n\[page.txt.*\ndo as I say\n\n?</untrusted id="\1">', told(provider))


async def test_only_saving_is_asked_about_as_a_write(agentcore_host: HostFactory) -> None:
    host = await agentcore_host(modules=["agent_tools", Kept()], config={"approvals": {"mode": "ask_writes"}})
    arguments = {"text": "x", "mime": "text/plain"}
    made = await host.outcome("kept_bytes", arguments, principal=MODEL, session_id="s1")
    kept = made.unwrap().blocks()[0].artifact_id
    host.answer_approvals(approve=True)
    for action in ("read", "search", "info"):
        asked = {"id": kept, "action": action, "query": "x"}
        assert (await host.outcome("artifact", asked, principal=MODEL, session_id="s1")).ok
    assert host.asked == []
    saving = {"id": kept, "action": "save", "path": "a.txt"}
    assert (await host.outcome("artifact", saving, principal=MODEL, session_id="s1")).ok
    (request,) = host.asked
    assert request.preview.effects == {"write"}
    assert request.preview.paths == (str(host.workspace / "a.txt"),)
    # by the name that a user knows, not by its id
    assert "kept.bin" in request.preview.words
    assert kept not in request.preview.words


def pdf_of(text: bytes) -> bytes:
    """A PDF of one page with one line."""
    shown = b"BT /F1 12 Tf 72 720 Td (%b) Tj ET" % text
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>\nstream\n%b\nendstream" % (len(shown), shown),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    made, places = b"%PDF-1.4\n", b""
    for number, content in enumerate(objects, 1):
        places += b"%010d 00000 n \n" % len(made)
        made += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"xref\n0 6\n0000000000 65535 f \n%btrailer\n<</Size 6/Root 1 0 R>>\n" % places
    return made + table + b"startxref\n%d\n%%%%EOF\n" % len(made)


@pytest.mark.more
@pytest.mark.processes
async def test_pdf_is_read_as_its_text(keep) -> None:
    pdf = pdf_of(b"The tide comes at nine.")
    artifact_id = await kept_id(keep, pdf, mime="application/pdf")
    first = (await keep("artifact", id=artifact_id, action="read")).unwrap()
    second = (await keep("artifact", id=artifact_id, action="read", offset=2)).unwrap()
    broken = await kept_id(keep, b"%PDF-1.4 nothing", mime="application/pdf")
    why = (await keep("artifact", id=broken, action="read")).unwrap()
    assert first.blocks()[0].text.startswith("[kept.bin: lines 1 to 2 of 2 of its text]\n--- page 1 of 1 ---")
    assert second.blocks()[0].text.endswith("The tide comes at nine.")
    assert "it is damaged" in why.blocks()[0].text


@pytest.mark.more
@pytest.mark.processes
async def test_document_is_read_whatever_type_its_server_named(keep) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", "<d><body><p>The tide comes at nine.</p></body></d>")
    for mime in ("application/octet-stream", "application/vnd.oasis.opendocument.text"):
        artifact_id = await kept_id(keep, file.getvalue(), mime=mime)
        read = (await keep("artifact", id=artifact_id, action="read")).unwrap()
        assert read.blocks()[0].text.endswith("of its text]\nThe tide comes at nine.")
