"""The pytest plugin, as projects meet it that may have nothing to do with agentcore."""

import subprocess
import sys

import pytest

EMPTY_RUN = (
    "import sys, pytest\n"
    "{before}"
    "code = pytest.main(['-q', '-p', 'no:cacheprovider', *{options!r}])\n"
    "ours = ('pydantic', 'structlog', 'agentcore.core', 'agentcore.api')\n"
    "print('loaded', *[name for name in ours if name in sys.modules])\n"
)

WITHOUT_PYTEST_ASYNCIO = (
    "import os\nos.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'\nsys.modules['pytest_asyncio'] = None\n"
)


def run_pytest(folder, *options, before=""):
    """What pytest prints in a folder, and which of our packages it loaded."""
    code = EMPTY_RUN.format(before=before, options=list(options))
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    output, _, loaded = done.stdout.rpartition("loaded")
    return output, loaded.split()


@pytest.mark.more
def test_project_that_uses_no_fixture_loads_nothing(tmp_path):
    (tmp_path / "test_other.py").write_text("def test_passes(): pass\n")
    output, loaded = run_pytest(tmp_path)
    assert "1 passed" in output
    assert loaded == []


@pytest.mark.more
def test_fixtures_are_offered_with_their_purpose(tmp_path):
    output, _ = run_pytest(tmp_path, "--fixtures")
    assert "agentcore_host" in output
    assert "Start real servers with the modules of a test" in output


def test_project_without_pytest_asyncio_is_left_alone(tmp_path):
    (tmp_path / "test_other.py").write_text("def test_passes(): pass\n")
    output, _ = run_pytest(tmp_path, "-p", "agentcore.testing.plugin", "--fixtures", before=WITHOUT_PYTEST_ASYNCIO)
    assert "tmp_path" in output
    assert "agentcore_host" not in output


@pytest.mark.more
def test_fixtures_work_in_a_project_of_somebody_else(tmp_path):
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nasyncio_mode = strict\nasyncio_default_fixture_loop_scope = function\n"
    )
    (tmp_path / "test_mine.py").write_text(
        "import pytest\n"
        "from agentcore.api import Module, tool\n\n"
        "class Dice(Module):\n"
        "    @tool\n"
        "    def dice_roll(self) -> int:\n"
        "        '''Roll.'''\n"
        "        return 4\n\n"
        "@pytest.mark.asyncio\n"
        "async def test_roll(agentcore_host):\n"
        "    host = await agentcore_host(modules=[Dice])\n"
        "    assert (await host.call('dice_roll')).data == 4\n"
    )
    output, _ = run_pytest(tmp_path)
    assert "1 passed" in output
