"""One reader of documents behind every surface: files, artifacts, addresses and attachments, each in every format."""

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agentcore.api import Principal, Text
from tests.chat.test_attachments import said_last, upload

pytestmark = [pytest.mark.spec("K12"), pytest.mark.processes, pytest.mark.more]

PLUGINS = Path(__file__).parents[2] / "plugins"
OFFICE = PLUGINS / "fs_tools/tests/read/documents"


@dataclass(frozen=True)
class Sample:
    """A document: its name, the type that a server names, two parts of its text, and its bytes."""

    name: str
    mime: str
    parts: tuple[str, str]
    load: Callable[[], bytes]


def zipped(parts: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def make_tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name in ("logs/one.txt", "logs/two.txt"):
            archive.addfile(tarfile.TarInfo(name))
    return file.getvalue()


def make_book() -> bytes:
    spine = '<manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
            "b.opf": f"<package>{spine}</package>",
            "a.xhtml": "<html><h1>The tide</h1><p>It comes at nine.</p></html>",
        }
    )


def make_notebook() -> bytes:
    cells = [{"cell_type": "markdown", "source": "# Tides"}, {"cell_type": "code", "source": "print(9)"}]
    return json.dumps({"cells": cells, "nbformat": 4}).encode()


_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation"

SAMPLES = [
    Sample(
        "report.pdf",
        "application/pdf",
        ("--- page 1 of 2 ---", "Two cranes fell on Friday."),
        (PLUGINS / "web_tools/tests/pages/report.pdf").read_bytes,
    ),
    Sample("report.docx", _WORD, ("# Harbour", "Grüße 港口"), (OFFICE / "report.docx").read_bytes),
    Sample("costs.xlsx", _SHEET, ("row | A | B | C | D", "2026-03-02 14:30"), (OFFICE / "costs.xlsx").read_bytes),
    Sample(
        "costs.ods",
        "application/vnd.oasis.opendocument.spreadsheet",
        ("--- sheet 1 of 1: Costs ---", "1003 | last"),
        (OFFICE / "costs.ods").read_bytes,
    ),
    Sample(
        "report.odt",
        "application/vnd.oasis.opendocument.text",
        ("## Harbour", "Two cranes fell."),
        (OFFICE / "report.odt").read_bytes,
    ),
    Sample("talk.pptx", _SLIDES, ("--- slide 1 of 2 ---", "Say it slowly"), (OFFICE / "talk.pptx").read_bytes),
    Sample("tides.ipynb", "application/x-ipynb+json", ("--- cell 2 of 2: code ---", "print(9)"), make_notebook),
    Sample("tide.epub", "application/epub+zip", ("# The tide", "It comes at nine."), make_book),
    Sample(
        "a.zip", "application/zip", ("docs/a.txt", "docs/b.txt"), lambda: zipped({"docs/a.txt": "", "docs/b.txt": ""})
    ),
    Sample("a.tar.gz", "application/gzip", ("logs/one.txt", "logs/two.txt"), make_tar),
    Sample(
        "costs.csv",
        "text/csv",
        ("columns id (integer), what (text), price (number), day (date)", "2,Quay,0.3,2026-03-02"),
        lambda: b"id,what,price,day\n1,Crane,1200000.5,2026-03-01\n2,Quay,0.3,2026-03-02\n",
    ),
]


@pytest.fixture
async def talk(open_talk, tmp_path):
    """A chat with the modules of all surfaces, and a workspace with the samples."""
    work = tmp_path / "work"
    work.mkdir()
    for sample in SAMPLES:
        (work / sample.name).write_bytes(sample.load())
    config = {"workspace": {"roots": [str(work)]}, "config": {"web_tools": {"allow_private": True}}}
    modules = ("fs_tools", "agent_tools", "web_tools")
    async with open_talk(*modules, approvals={"mode": "allow"}, **config) as opened:
        yield opened


async def read(talk: Any, tool: str, session_id: str | None = None, **arguments: Any) -> str:
    """Return the text of a result."""
    host = talk.client.running
    outcome = await host.outcome(tool, arguments, principal=Principal("page", "test"), session_id=session_id)
    return "\n".join(block.text for block in outcome.unwrap().blocks() if isinstance(block, Text))


def missing(sample: Sample, shown: str) -> list[str]:
    return [part for part in sample.parts if part not in shown]


@pytest.mark.parametrize("is_named", [True, False])
async def test_file_of_every_format_is_read(talk, subtests, tmp_path, is_named):
    for sample in SAMPLES:
        with subtests.test(format=sample.name):
            name = sample.name
            if not is_named and not sample.name.endswith((".ipynb", ".csv")):
                name = sample.name.replace(".", "_")  # the content decides
                (tmp_path / "work" / name).write_bytes(sample.load())
            assert missing(sample, await read(talk, "read_file", path=name)) == []


async def test_artifact_of_every_format_is_read_searched_and_described(talk, subtests):
    session_id = await talk.begin()
    for sample in SAMPLES:
        with subtests.test(format=sample.name):
            link = await talk.host.store.artifacts.save(
                sample.load(), mime=sample.mime, name=sample.name, session_id=session_id
            )
            whole = await read(talk, "artifact", session_id, id=link.artifact_id, action="read")
            assert missing(sample, whole) == []
            needle = sample.parts[1]
            found = await read(talk, "artifact", session_id, id=link.artifact_id, action="search", query=needle)
            line = int(found.splitlines()[1].partition(":")[0])
            assert needle in found.splitlines()[1]
            there = await read(talk, "artifact", session_id, id=link.artifact_id, action="read", offset=line, limit=1)
            assert needle in there
            about = await read(talk, "artifact", session_id, id=link.artifact_id, action="info")
            assert " lines" in about


async def test_document_of_every_format_is_fetched(talk, subtests):
    async def answer(request):
        sample = next(each for each in SAMPLES if each.name == request.match_info["name"])
        mime = sample.mime if request.match_info["kind"] == "typed" else "application/octet-stream"
        return web.Response(body=sample.load(), headers={"Content-Type": mime})

    async def download(request):
        sample = next(each for each in SAMPLES if each.name == request.query["file"])
        named = {"Content-Type": sample.mime, "Content-Disposition": f'attachment; filename="{sample.name}"'}
        return web.Response(body=sample.load(), headers=named)

    app = web.Application()
    app.router.add_get("/{kind}/{name}", answer)
    app.router.add_get("/download", download)
    async with TestServer(app, host="127.0.0.1") as server:
        for sample in SAMPLES:
            for path in (f"/typed/{sample.name}", f"/untyped/{sample.name}", f"/download?file={sample.name}"):
                with subtests.test(format=path):
                    url = str(server.make_url("/")).rstrip("/") + path
                    assert missing(sample, await read(talk, "web_fetch", url=url)) == []


async def test_attachment_of_every_format_is_read(talk, provider, subtests):
    for sample in SAMPLES:
        with subtests.test(format=sample.name):
            provider.say("I see.")
            session_id = await talk.begin()
            sent = await upload(talk, sample.load(), sample.name)
            await talk.say(session_id, "Sum up", attachments=[sent["artifactId"]])
            assert missing(sample, said_last(provider)) == []


async def test_file_that_a_message_mentions_is_read_by_the_call_that_follows(talk, provider, subtests):
    for sample in SAMPLES:
        with subtests.test(format=sample.name):
            provider.say("", ("a", "read_file", json.dumps({"path": sample.name})))
            provider.say("I see.")
            session_id = await talk.begin()
            await talk.say(session_id, f"Sum up {sample.name}")
            assert missing(sample, json.dumps(provider.requests[-1]["messages"], ensure_ascii=False)) == []
