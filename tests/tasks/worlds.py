"""The nine tasks: what a model is asked, what it finds, and what has to be true afterwards."""

import csv
import json
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

World = Callable[[Path], AbstractAsyncContextManager[Mapping[str, str]]]
PAGES = Path(__file__).with_name("pages")
PROGRAMS = Path(__file__).parents[2] / "build" / "tasks" / "python"
"""Wagtail and JupyterLab, as `make task-programs` installs them."""


@dataclass(frozen=True)
class Task:
    """One task.

    Args:
        name: Its name, and that of its recording.
        messages: What the user says, one after the other; one that begins with `/new ` begins another chat. Names of
            places in braces are replaced.
        world: Fills the workspace and serves what the task is about; gives addresses by their names.
        check: Says what is not as it has to be afterwards.
        context_tokens: The window of the model.
        needs_programs: True if it needs what `make task-programs` installs.
        thinking_s: How long a model thinks before each answer, at least: a page goes on loading meanwhile.
    """

    name: str
    messages: tuple[str, ...]
    world: World
    check: Callable[[Path, str], list[str]]
    context_tokens: int = 200_000
    needs_programs: bool = False
    thinking_s: float = 0


def _run_python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, *arguments), cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


@asynccontextmanager
async def _pages(routes: Mapping[str, str], **headers: str) -> AsyncIterator[str]:
    async def show(request: web.Request) -> web.Response:
        text = routes.get(request.path)
        if text is None:
            raise web.HTTPNotFound
        return web.Response(text=text, content_type="text/html", headers=headers)

    app = web.Application()
    app.router.add_get("/{path:.*}", show)
    async with TestServer(app) as server:
        yield f"http://127.0.0.1:{server.port}"


# -- a planted bug in a real package -------------------------------------------------------------------------------

_RIGHT, _WRONG = "{m.group('fraction'):<06s}", "{m.group('fraction'):>06s}"


@asynccontextmanager
async def _bug(workspace: Path) -> AsyncIterator[Mapping[str, str]]:
    spec = find_spec("tomlkit")
    assert spec is not None
    assert spec.origin is not None
    shutil.copytree(Path(spec.origin).parent, workspace / "tomlkit", ignore=shutil.ignore_patterns("__pycache__"))
    file = workspace / "tomlkit" / "_utils.py"
    text = file.read_text()
    assert _RIGHT in text
    file.write_text(text.replace(_RIGHT, _WRONG, 1))
    yield {}


def _check_bug(workspace: Path, text: str) -> list[str]:
    program = (
        "import tomlkit\n"
        "for part, expected in (('5', 500000), ('25', 250000), ('123456', 123456), ('000001', 1)):\n"
        "    read = tomlkit.parse(f'a = 2024-05-01T10:00:00.{part}Z')['a']\n"
        "    assert read.microsecond == expected, (part, read)\n"
    )
    done = _run_python(workspace, "-c", program)
    spec = find_spec("tomlkit")
    assert spec is not None
    assert spec.origin is not None
    changed = [
        file.name
        for file in Path(spec.origin).parent.glob("*.py")
        if file.read_text() != (workspace / "tomlkit" / file.name).read_text()
    ]
    problems = [] if done.returncode == 0 else [done.stderr[-300:]]
    return [*problems, *(f"{name} was changed" for name in changed if name != "_utils.py")]


# -- ten files are changed alike -----------------------------------------------------------------------------------

_CALLERS = ("api", "cli", "cron", "export", "jobs", "mail", "report", "search", "web")


@asynccontextmanager
async def _refactoring(workspace: Path) -> AsyncIterator[Mapping[str, str]]:
    shop = workspace / "shop"
    shop.mkdir()
    (shop / "__init__.py").write_text('"""A shop."""\n')
    (shop / "settings.py").write_text(
        '"""Settings of the shop."""\n\nimport json\n\n\ndef load_settings(path, defaults=None):\n'
        '    """Read settings from a JSON file, over defaults."""\n    with open(path) as file:\n'
        "        return {**(defaults or {}), **json.load(file)}\n"
    )
    for number, name in enumerate(_CALLERS):
        style = number % 3
        imported, called = (
            ("from shop.settings import load_settings", "load_settings"),
            ("from shop import settings", "settings.load_settings"),
            ("import shop.settings as conf", "conf.load_settings"),
        )[style]
        defaults = ', {"limit": 10}' if number % 2 else ""
        (shop / f"{name}.py").write_text(
            f'"""The part {name} of the shop; it calls load_settings once."""\n\n{imported}\n\n\n'
            f"def {name}_limit(path):\n    # load_settings reads the file each time\n"
            f'    return {called}(path{defaults}).get("limit", {number})\n'
        )
    tests = "".join(
        f"\n\ndef test_{name}(file):\n    from shop.{name} import {name}_limit\n\n    assert {name}_limit(file) == 7\n"
        for name in _CALLERS
    )
    (workspace / "test_shop.py").write_text(
        'import json\n\nimport pytest\n\n\n@pytest.fixture\ndef file(tmp_path):\n    path = tmp_path / "a.json"\n'
        f'    path.write_text(json.dumps({{"limit": 7}}))\n    return path\n{tests}'
    )
    yield {}


def _check_refactoring(workspace: Path, text: str) -> list[str]:
    done = _run_python(workspace, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_shop.py")
    problems = [] if done.returncode == 0 else [done.stdout[-500:]]
    for file in (workspace / "shop").glob("*.py"):
        source = file.read_text()
        if "load_settings" in source:
            problems.append(f"{file.name} still says load_settings")
        if "{" in source and "defaults=" not in source and file.stem not in {"settings", "__init__"}:
            problems.append(f"{file.name} does not pass defaults by its name")
    if "def read_settings(path, *, defaults=None)" not in (workspace / "shop" / "settings.py").read_text():
        problems.append("the function is not as it was asked for")
    return problems


# -- fifty thousand rows, a sheet and a PDF ------------------------------------------------------------------------

_PRODUCTS = ("anchor", "buoy", "chain", "davit", "engine")


def _orders() -> list[tuple[int, str, int, str]]:
    return [
        (number, _PRODUCTS[number * 7 % 5], number * 37 % 23 + 1, f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}")
        for number in range(1, 50_001)
    ]


def write_sheet(file: Path, rows: list[tuple[str | float, ...]]) -> None:
    """Write an XLSX file with one sheet."""

    def cell(value: str | float) -> str:
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="Prices" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')


def make_pdf(*pages: str) -> bytes:
    """Return a PDF with a line of text on each page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        drawing = f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 500 300] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream")
    body = "%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    body += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return f"{body}startxref\n{body.index('xref')}\n%%EOF\n".encode()


@asynccontextmanager
async def _data(workspace: Path) -> AsyncIterator[Mapping[str, str]]:
    with (workspace / "orders.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("order", "product", "quantity", "day"))
        rows.writerows(_orders())
    prices: list[tuple[str | float, ...]] = [("product", "price in euros")]
    prices += [(name, 10.5 * (number + 1)) for number, name in enumerate(_PRODUCTS)]
    write_sheet(workspace / "prices.xlsx", prices)
    (workspace / "terms.pdf").write_bytes(
        make_pdf("Terms of the harbour shop, 2026", "From 20 pieces in one order on, a discount of 15 percent holds.")
    )
    yield {}


def _check_data(workspace: Path, text: str) -> list[str]:
    prices = {name: 10.5 * (number + 1) for number, name in enumerate(_PRODUCTS)}
    totals = dict.fromkeys(_PRODUCTS, 0.0)
    for _, product, quantity, day in _orders():
        if day.startswith("2026-03"):
            totals[product] += quantity * prices[product] * (0.85 if quantity >= 20 else 1)
    file = workspace / "march.json"
    if not file.exists():
        return ["there is no march.json"]
    found = json.loads(file.read_text())
    return [
        f"{name}: {found.get(name)} and not {total:.2f}"
        for name, total in totals.items()
        if not isinstance(found.get(name), int | float) or abs(found[name] - total) > 0.02
    ]


# -- research over twelve pages ------------------------------------------------------------------------------------

_HARBOURS = {
    "Amble": (1847, 3.2, "the north pier"),
    "Brixham": (1795, 5.1, "the breakwater"),
    "Craster": (1906, 1.4, "the east pier"),
    "Dunbar": (1730, 2.8, "the Cromwell harbour"),
    "Eyemouth": (1768, 3.9, "the middle quay"),
    "Fraserburgh": (1818, 6.4, "the Balaclava pier"),
    "Girvan": (1881, 2.2, "the south pier"),
    "Hartlepool": (1835, 8.7, "the old pier"),
    "Ilfracombe": (1828, 4.4, "the stone pier"),
    "Johnshaven": (1871, 1.1, "the west arm"),
    "Kirkcaldy": (1843, 5.6, "the tide harbour"),
}


def _harbour_page(name: str, year: int, depth: float, part: str) -> str:
    notes = "".join(
        f"<p>Note {number}: the keeper's log of {name} has nothing unusual here.</p>" for number in range(40)
    )
    correction = (
        "<h2>Corrections</h2><p>The year given above is that of the first plan. The harbour was opened nine years "
        "later.</p>"
        if name in {"Brixham", "Dunbar"}
        else ""
    )
    return (
        f"<!doctype html><title>{name}</title><h1>{name}</h1><p>{name} was opened in {year}. Its best known part is "
        f"{part}.</p>{notes}<table><tr><th>Depth at low water</th><td>{depth} m</td></tr></table>{correction}"
    )


@asynccontextmanager
async def _research(workspace: Path) -> AsyncIterator[Mapping[str, str]]:
    links = "".join(f'<li><a href="/{name.lower()}">{name}</a></li>' for name in _HARBOURS)
    routes = {"/": f"<!doctype html><title>Harbours</title><h1>Eleven harbours</h1><ul>{links}</ul>"}
    routes |= {f"/{name.lower()}": _harbour_page(name, *facts) for name, facts in _HARBOURS.items()}
    async with _pages(routes) as address:
        yield {"site": address}


def _check_research(workspace: Path, text: str) -> list[str]:
    file = workspace / "harbours.csv"
    if not file.exists():
        return ["there is no harbours.csv"]
    with file.open(newline="") as opened:
        found = [tuple(row) for row in csv.reader(opened)][1:]
    years = {name: year + (9 if name in {"Brixham", "Dunbar"} else 0) for name, (year, _, _) in _HARBOURS.items()}
    expected = [(name, str(years[name]), str(_HARBOURS[name][1])) for name in sorted(years, key=lambda n: years[n])]
    return [] if found == expected else [f"{found} and not {expected}"]


# -- a long session ------------------------------------------------------------------------------------------------

_LONG = (
    (
        "In this chat we make a small library of books in Python, in the folder library, without other packages. Begin "
        "with library/books.py: a dataclass Book with title, author and year. Keep it short."
    ),
    (
        "Add library/store.py: a class Store over a SQLite file whose path it gets, with add(book) and all(), "
        "which gives "
        "books in the order in which they were added."
    ),
    "Add test_store.py with pytest for both methods, and run it.",
    "Store needs find(words): all books whose title or author has each of the words, in any case. With a test.",
    "A year may be unknown: None. Books without a year must be storable. With a test.",
    "Adding the same title and author twice must raise ValueError. With a test.",
    (
        "Add library/__main__.py: `python -m library FILE add TITLE AUTHOR [YEAR]` and `python -m library FILE "
        "list`, which "
        "prints one line a book: `TITLE by AUTHOR (YEAR)`, and `(year unknown)` where there is none. Try it on "
        "books.db "
        "with three books of your choice, one without a year."
    ),
    (
        "Now `python -m library FILE find WORDS…` in the same form. Run all tests once more, and tell me how many "
        "there are."
    ),
    "What did I say in the beginning that we do without?",
)


@asynccontextmanager
async def _nothing(workspace: Path) -> AsyncIterator[Mapping[str, str]]:
    yield {}


def _check_long(workspace: Path, text: str) -> list[str]:
    tests = _run_python(workspace, "-m", "pytest", "-q", "-p", "no:cacheprovider", ".")
    problems = [] if tests.returncode == 0 else [tests.stdout[-500:]]
    file = str(workspace / "again.db")
    for words in (("add", "Emma", "Jane Austen", "1815"), ("add", "Beowulf", "unknown")):
        _run_python(workspace, "-m", "library", file, *words)
    listed = _run_python(workspace, "-m", "library", file, "list").stdout.split("\n")
    found = _run_python(workspace, "-m", "library", file, "find", "AUSTEN", "em").stdout.split("\n")
    if listed[:2] != ["Emma by Jane Austen (1815)", "Beowulf by unknown (year unknown)"]:
        problems.append(f"list says {listed}")
    if found[:1] != ["Emma by Jane Austen (1815)"] or any(found[1:]):
        problems.append(f"find says {found}")
    again = _run_python(workspace, "-m", "library", file, "add", "Emma", "Jane Austen", "1815")
    if again.returncode == 0:
        problems.append("a book was added twice")
    return problems


# -- sub-agents and memory -----------------------------------------------------------------------------------------


@asynccontextmanager
async def _team(workspace: Path) -> AsyncIterator[Mapping[str, str]]:
    for part, (count, odd) in {"north": (23, 7), "south": (31, 19)}.items():
        folder = workspace / part
        folder.mkdir()
        for number in range(count):
            state = "BROKEN" if number == odd else "ok"
            (folder / f"lamp-{number:02}.txt").write_text(f"lamp {number}\nstate: {state}\n" + "log line\n" * 50)
    yield {}


def _check_team(workspace: Path, text: str) -> list[str]:
    return [f"the last answer does not name {lamp}" for lamp in ("lamp-07", "lamp-19") if lamp not in text]


# -- an odd page ---------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _odd(workspace: Path) -> AsyncIterator[Mapping[str, str]]:
    log = workspace.parent / "odd.json"

    async def keep(request: web.Request) -> web.Response:
        log.write_text(await request.text())
        return web.Response(text="kept")

    app = web.Application()
    app.router.add_post("/done", keep)
    app.router.add_static("/", PAGES)
    async with TestServer(app) as server:
        yield {"site": f"http://127.0.0.1:{server.port}"}


def _check_odd(workspace: Path, text: str) -> list[str]:
    log = workspace.parent / "odd.json"
    if not log.exists():
        return ["nothing was sent"]
    sent = json.loads(log.read_text())
    expected = {
        "saved": ["delivery"],
        "code": "KINGFISHER",
        "note": "Leave it at the gate",
        "plan": "Yearly",
        "order": ["Second", "Third", "First"],
        "day": "2027-02-17",
        "city": "City 4321",
    }
    return [
        f"{name} is {sent.get(name)!r} and not {value!r}" for name, value in expected.items() if sent.get(name) != value
    ]


# -- two programs from the registries ------------------------------------------------------------------------------


@asynccontextmanager
async def _wagtail(workspace: Path) -> AsyncIterator[Mapping[str, str]]:
    from benchmarks.agents.programs import Programs
    from benchmarks.agents.scenarios import wagtail

    async with wagtail.world(Programs(PROGRAMS.parent), workspace) as address:
        yield {"site": address.removesuffix("/admin/")}


def _check_wagtail(workspace: Path, text: str) -> list[str]:
    with sqlite3.connect(workspace.parent / "site" / "db.sqlite3") as database:
        pages = database.execute(
            "SELECT p.live, a.body, a.picture_id, p.depth FROM wagtailcore_page p "
            "JOIN home_articlepage a ON a.page_ptr_id = p.id WHERE p.title = 'Harbour'"
        ).fetchall()
    if len(pages) != 1:
        return [f"there are {len(pages)} pages"]
    live, body, picture, depth = pages[0]
    found = {
        "published": bool(live),
        "body": "Ships come and go." in body,
        "picture": picture is not None,
        "depth": depth,
    }
    return [] if found == {"published": True, "body": True, "picture": True, "depth": 3} else [str(found)]


@asynccontextmanager
async def _jupyterlab(workspace: Path) -> AsyncIterator[Mapping[str, str]]:
    from benchmarks.agents.programs import Programs
    from benchmarks.agents.scenarios import jupyterlab

    async with jupyterlab.world(Programs(PROGRAMS.parent), workspace) as address:
        yield {"site": address.removesuffix("/lab")}


def _check_jupyterlab(workspace: Path, text: str) -> list[str]:
    file = workspace / "primes.ipynb"
    if not file.exists():
        return ["there is no primes.ipynb"]
    cells: list[Any] = json.loads(file.read_text())["cells"]
    heading = any(cell["cell_type"] == "markdown" and "# Primes" in "".join(cell["source"]) for cell in cells)
    counted = any("168" in json.dumps(cell.get("outputs", "")) for cell in cells)
    said = "168" in text
    return [] if heading and counted and said else [f"heading {heading}, output {counted}, said {said}"]


TASKS = {
    task.name: task
    for task in (
        Task(
            "bug",
            (
                (
                    "The folder tomlkit is a copy of a library for TOML. A user reports: after reading `at = "
                    "2024-05-01T10:00:00.5Z` the value is 5 microseconds after ten, and not half a second. Find "
                    "the bug, "
                    "fix it in the library, and show that it is gone."
                ),
            ),
            _bug,
            _check_bug,
        ),
        Task(
            "refactoring",
            (
                (
                    "In the package shop, rename the function load_settings to read_settings everywhere, also "
                    "in comments "
                    "and docstrings, and make `defaults` a keyword-only argument: `def read_settings(path, *, "
                    "defaults=None)`. Change all callers, and run test_shop.py with pytest."
                ),
            ),
            _refactoring,
            _check_refactoring,
        ),
        Task(
            "data",
            (
                (
                    "orders.csv has the orders of the year, prices.xlsx the prices, and terms.pdf the terms. "
                    "Work out the "
                    "turnover of March 2026 for each product, with the discount of the terms, and write it to "
                    "march.json: "
                    "an object from product to euros, rounded to two places. Tell me the largest."
                ),
            ),
            _data,
            _check_data,
        ),
        Task(
            "research",
            (
                (
                    "{site}/ lists eleven harbours. Make harbours.csv with the columns name, opened, depth (in "
                    "metres at low "
                    "water, as it stands there), sorted by the year of opening, the oldest first. Read each "
                    "page whole: some "
                    "have corrections."
                ),
            ),
            _research,
            _check_research,
        ),
        Task(
            "wagtail",
            (
                (
                    "At {site}/admin/ is Wagtail. Log in as ada with the password analytical-engine, make an "
                    "article page "
                    "below the home page, titled Harbour, with the sentence 'Ships come and go.' and the "
                    "picture harbour.png "
                    "of the workspace, publish it, and tell me how it looks."
                ),
            ),
            _wagtail,
            _check_wagtail,
            needs_programs=True,
        ),
        Task(
            "jupyterlab",
            (
                (
                    "At {site}/lab is JupyterLab. Use it in the browser: make a notebook with a heading '# "
                    "Primes' in a "
                    "Markdown cell and a code cell that counts the primes below 1000. Run both, tell me the "
                    "result, and save "
                    "it as primes.ipynb."
                ),
            ),
            _jupyterlab,
            _check_jupyterlab,
            needs_programs=True,
            thinking_s=3,
        ),
        Task("long", _LONG, _nothing, _check_long, context_tokens=16_384),
        Task(
            "team",
            (
                (
                    "The folders north and south have a file for each lamp. Let one sub-agent go through north "
                    "and another "
                    "one through south, at the same time, and find the lamps whose state is not ok. Then keep "
                    "in your memory "
                    "which lamps are broken, so that you know it in other chats."
                ),
                "/new Which lamps are broken? I told you in another chat. Do not look at the files.",
            ),
            _team,
            _check_team,
        ),
        Task(
            "odd",
            (
                (
                    "Open {site}/odd.html and do what the page asks for, from top to bottom. Then press Send, "
                    "and tell me "
                    "what the page says."
                ),
            ),
            _odd,
            _check_odd,
        ),
    )
}
