"""A notebook in JupyterLab: written, run, and exported for others to read."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.agents import sites
from benchmarks.agents.agent import Agent, FailedError
from benchmarks.agents.programs import Programs

TITLE = "A published notebook in JupyterLab"
TASK = (
    "In JupyterLab, make a notebook: a heading, and a cell that counts the primes below 1000. Run it, tell me the "
    "result, save it as primes.ipynb, and export it as HTML."
)

_CODE = """def primes(limit):
    found = []
    for number in range(2, limit):
        if all(number % known for known in found):
            found.append(number)
    return found

print("primes:", len(primes(1000)))"""
_HEADING = "# Primes\n\n- found by trial division"


@asynccontextmanager
async def world(programs: Programs, folder: Path) -> AsyncIterator[str]:
    """The server over the workspace; gives its address."""
    settings = folder.parent / "jupyter"
    quiet = settings / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    quiet.mkdir(parents=True)
    (quiet / "notification.jupyterlab-settings").write_text(json.dumps({"fetchNews": "false"}))
    command = [str(programs.python), "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.port=PORT"]
    command += ["--IdentityProvider.token=", "--ServerApp.password=", f"--ServerApp.root_dir={folder}"]
    environ = {
        "JUPYTER_CONFIG_DIR": str(settings),
        "JUPYTERLAB_SETTINGS_DIR": str(settings / "lab" / "user-settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(settings / "lab" / "workspaces"),
        "JUPYTER_DATA_DIR": str(settings / "data"),
        "JUPYTER_RUNTIME_DIR": str(settings / "runtime"),
        "IPYTHONDIR": str(settings / "ipython"),
        "PATH": f"{programs.python.parent}{os.pathsep}{os.environ['PATH']}",
    }
    async with sites.program(folder, "/lab", *command, environ=environ) as address:
        yield f"{address}/lab"


async def play(agent: Agent, address: str) -> None:
    """The steps."""
    steps = _Steps(agent, address)
    await agent.step("open JupyterLab", steps.open)
    await agent.step("make a notebook", steps.make, steps.make_by_menu)
    await agent.step("make the cell one of Markdown", steps.markdown)
    await agent.step("write a heading and a list", steps.heading, lambda: agent.type_by_code(_HEADING))
    await agent.step("render it", lambda: steps.run("found by trial division"))
    await agent.step("type the cell's code", steps.code, lambda: agent.type_by_code(_CODE))
    await agent.step("run it and read the output", lambda: steps.run("primes: 168"), steps.run_again)
    await agent.step("save it under a name", steps.save)
    await agent.step("export it as HTML", steps.export, steps.export_by_palette)
    await agent.step("read the exported page", steps.exported, steps.converted)


class _Steps:
    """What is more than one call."""

    def __init__(self, agent: Agent, address: str) -> None:
        self.agent, self.address = agent, address

    async def open(self) -> None:
        """The launcher takes a while."""
        await self.agent.open(self.address)
        await self.agent.sees("Console")

    async def make(self) -> None:
        """The tile of the launcher; a tile has a picture and a text."""
        await self.agent.click("img|button", "Python 3 (ipykernel)")
        await self.agent.sees("Untitled.ipynb")
        await self.agent.sees_in_tree("| Idle")  # its kernel

    async def make_by_menu(self) -> None:
        await self.agent.click("menuitem", "File")
        await self.agent.click("menuitem|listitem|generic", "New")
        await self.agent.click("menuitem", "Notebook")
        await self.agent.click("button", "Select")

    async def markdown(self) -> None:
        await self.agent.choose("combobox", "Cell type", ["Markdown"])
        await self.agent.click("textbox")

    async def heading(self) -> None:
        await self.agent.type_here(_HEADING, is_empty=True)

    async def code(self) -> None:
        await self.agent.type_here(_CODE, is_empty=True)

    async def run(self, output: str) -> None:
        await self.agent.press("Shift+Enter")
        await self.agent.sees(output)

    async def run_again(self) -> None:
        """Where the code was not typed as meant."""
        for key in ("Escape", "Control+a", "Delete"):
            await self.agent.press(key)
        await self.agent.type_by_code(_CODE)
        await self.run("primes: 168")

    async def save(self) -> None:
        await self.agent.press("Control+s")
        await self.agent.sees_in_tree("Rename and Save")
        await self.agent.type("textbox", "File name", "primes.ipynb")
        await self.agent.click("button", "Rename and Save")
        await self.agent.sees_in_tree("primes.ipynb")

    async def export(self) -> None:
        await self.agent.click("menuitem", "File")
        await self.agent.click("menuitem|listitem|generic", "Save and Export Notebook As")
        await self.agent.click("menuitem", "HTML")
        await self.agent.click("button", "Ok")

    async def export_by_palette(self) -> None:
        await self.agent.press("Escape")
        await self.agent.press("Control+Shift+c")
        await self.agent.type_here("export html")
        await self.agent.press("Enter")

    async def exported(self) -> None:
        _check(await self.agent.downloaded("primes.html"))

    async def converted(self) -> None:
        """With the program on the command line."""
        await self.agent.run("jupyter nbconvert --to html primes.ipynb")
        _check(await self.agent.read("primes.html", around="primes: 168"))


def _check(text: str) -> None:
    if "primes: 168" not in text:
        raise FailedError("the export has not the notebook's output")
