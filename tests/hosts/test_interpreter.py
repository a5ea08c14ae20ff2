"""Modules for another interpreter: two whose dependencies conflict run side by side."""

import subprocess
import sys
from pathlib import Path

import pytest

from agentcore.testing import ModuleNotReadyError
from tests.core.installing import Site

pytestmark = pytest.mark.spec("H2")

_MODULE = """
from agentcore.api import Module, tool
import acme_dependency


class Weather(Module):
    \"\"\"Needs its own version of something.\"\"\"

    @tool(read_only=True)
    async def weather_dependency(self) -> str:
        \"\"\"Say which version it has.\"\"\"
        return acme_dependency.VERSION
"""


@pytest.fixture
def python(tmp_path) -> Path:
    """An interpreter with agentcore, and beside it a module with a dependency that is not here."""
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    here = [each for each in sys.path if Path(each).is_dir() and "site-packages" in each]
    root = Path(__file__).parents[2]
    (packages / "here.pth").write_text("\n".join([str(root), *here]))
    Site(packages).install(
        "acme-weather",
        {"weather": "acme_weather:Weather"},
        {"acme_weather.py": _MODULE, "acme_dependency.py": "VERSION = '2.0'\n"},
    )
    return folder / "bin" / "python"


@pytest.mark.source_tree
async def test_module_of_another_interpreter_runs_with_what_is_installed_there(agentcore_host, python):
    hosts = {"other": {"kind": "process", "modules": ["weather"], "python": str(python)}}
    host = await agentcore_host(["weather"], config={"hosts": hosts})
    assert (await host.call("weather_dependency")).content[0].text == "2.0"
    record = host.host.modules.get_record("weather")
    assert record.origin["distribution"] == "acme-weather"
    assert str(python.parents[1]) in record.origin["file"]
    assert "acme_dependency" not in sys.modules


@pytest.mark.more
@pytest.mark.source_tree
async def test_module_that_is_not_installed_there_is_missing(agentcore_host, python):
    hosts = {"other": {"kind": "process", "modules": ["wether"], "python": str(python)}}
    with pytest.raises(ModuleNotReadyError, match="module 'wether' is not installed"):
        await agentcore_host(["wether"], config={"hosts": hosts})


def _bare(folder: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "bare")], check=True)
    return folder / "bare" / "bin" / "python"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: folder / "nothing", "could not be started"),
        (_bare, "No module named"),
    ],
)
async def test_interpreter_that_cannot_run_hosts_is_told(agentcore_host, tmp_path, make, said):
    hosts = {"other": {"kind": "process", "modules": ["weather"], "python": str(make(tmp_path))}}
    host = await agentcore_host(["weather"], config={"hosts": hosts}, is_failure_expected=True)
    record = host.host.modules.get_record("weather")
    assert record.state == "failed"
    assert "host 'other' did not start" in record.reason
    assert said in record.reason, record.reason
