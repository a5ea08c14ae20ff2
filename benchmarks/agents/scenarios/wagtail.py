"""A page with an image, in Wagtail."""

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.agents import sites
from benchmarks.agents.agent import Agent, FailedError
from benchmarks.agents.programs import Programs

TITLE = "A page with an image in Wagtail"
TASK = (
    "Log in to Wagtail as ada with the password analytical-engine, make an article page below the home page, titled "
    "Harbour, with the sentence 'Ships come and go.' and the picture harbour.png of the workspace, publish it, and "
    "tell me how it looks."
)

_MODELS = """
from django.db import models
from wagtail.admin.panels import FieldPanel
from wagtail.fields import RichTextField
from wagtail.models import Page


class HomePage(Page):
    pass


class ArticlePage(Page):
    body = RichTextField(blank=True)
    picture = models.ForeignKey("wagtailimages.Image", null=True, blank=True, on_delete=models.SET_NULL)
    content_panels = Page.content_panels + [FieldPanel("body"), FieldPanel("picture")]
"""
_TEMPLATE = """{% load wagtailcore_tags wagtailimages_tags %}<!doctype html>
<html lang="en"><title>{{ page.title }}</title><body><h1>{{ page.title }}</h1>{{ page.body|richtext }}
{% if page.picture %}{% image page.picture width-400 %}{% endif %}</body></html>
"""


@asynccontextmanager
async def world(programs: Programs, folder: Path) -> AsyncIterator[str]:
    """A site with its database in a folder beside the workspace, which has the picture; gives the admin's address."""
    site = folder.parent / "site"
    site.mkdir()
    python = str(programs.python)
    await sites.run(site, str(programs.python.with_name("wagtail")), "start", "harbour", ".")
    (site / "home" / "models.py").write_text(_MODELS)
    (site / "home" / "templates" / "home" / "article_page.html").write_text(_TEMPLATE)
    await sites.run(site, python, "manage.py", "makemigrations", "home")
    await sites.run(site, python, "manage.py", "migrate")
    person = {"DJANGO_SUPERUSER_PASSWORD": "analytical-engine"}
    names = ("--username", "ada", "--email", "ada@example.org")
    await sites.run(site, python, "manage.py", "createsuperuser", "--noinput", *names, environ=person)
    await asyncio.to_thread((folder / "harbour.png").write_bytes, _picture(640, 400))
    command = (python, "manage.py", "runserver", "--noreload", "127.0.0.1:PORT")
    async with sites.program(site, "/admin/login/", *command) as address:
        yield f"{address}/admin/"


def _picture(width: int, height: int) -> bytes:
    """A PNG of two colours: sky and sea."""
    colours = (b"\x9a\xc4\xf0", b"\x10\x40\x80")
    rows = b"".join(b"\0" + colours[row * 2 // height] * width for row in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


async def play(agent: Agent, address: str) -> None:
    """The steps."""
    steps = _Steps(agent, address)
    await agent.step("open the site's administration", lambda: agent.open(address))
    await agent.step("log in", steps.log_in)
    await agent.step("find the home page", steps.home)
    await agent.step("begin an article below it", steps.begin)
    await agent.step("type the title", lambda: agent.type("textbox", "Title", "Harbour"))
    await agent.step("write the text", steps.text, steps.text_by_keys)
    await agent.step("open the choice of images", lambda: agent.click("button", "Choose an image"))
    await agent.step("upload the picture", steps.upload)
    await agent.step("publish", steps.publish)
    await agent.step("look at the page", steps.visit)


class _Steps:
    """What is more than one call."""

    def __init__(self, agent: Agent, address: str) -> None:
        self.agent, self.address = agent, address

    async def log_in(self) -> None:
        await self.agent.type("textbox", "Username", "ada")
        await self.agent.type("textbox", "Password", "analytical-engine")
        await self.agent.click("button", "Sign in")
        await self.agent.sees_in_tree("Dashboard")

    async def home(self) -> None:
        await self.agent.click("link", "1 Page created in harbour")
        await self.agent.sees_in_tree("Exploring: Home")

    async def begin(self) -> None:
        await self.agent.click("link", "Add child page")
        await self.agent.click("link", "Article page")
        await self.agent.sees_in_tree("Title")

    async def text(self) -> None:
        try:
            editor = await self.agent.ref("textbox", "Write something")
        except FailedError:  # one tree tells what the empty editor says, the other only where it is
            editor = await self.agent.ref_below("Body", "textbox")
        await self.agent.click_ref(editor, "Body")
        await self.agent.type_here("Ships come and go.", is_empty=True)
        await self.agent.sees_in_tree("Ships come and go.")

    async def text_by_keys(self) -> None:
        await self.agent.click("textbox", "Title")
        await self.agent.press("Tab")
        await self.agent.type_here("Ships come and go.", is_empty=True)
        await self.agent.sees_in_tree("Ships come and go.")

    async def upload(self) -> None:
        await self.agent.click("tab", "Upload")
        await self.agent.click("button", "File")
        await self.agent.upload("harbour.png")
        await self.agent.click("button", "Upload")
        # the image stands in the form; of the menu beside it one tree shows the entries before it is open
        if 'button "Actions"' not in self.agent.newest():
            await self.agent.sees_in_tree("Change image")

    async def publish(self) -> None:
        await self.agent.click("button", "More actions")
        await self.agent.click("button", "Publish")
        await self.agent.sees("published")

    async def visit(self) -> None:
        await self.agent.click("link", "View live")
        await self.agent.sees_in_tree("Ships come and go.")
        await self.agent.sees_in_tree("img")
