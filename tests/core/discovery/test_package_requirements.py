"""What a module's metadata require is looked at before its code is imported."""

import shlex
import sys

import pytest

from agentcore import __version__
from tests.core.installing import Site

pytestmark = [pytest.mark.spec("M1"), pytest.mark.spec("S4")]

IMPORTED = "raise RuntimeError('imported')"


def needs(site: Site, *lines: str, python: str = "") -> None:
    headers = "".join(f"Requires-Dist: {line}\n" for line in lines)
    headers += f"Requires-Python: {python}\n" if python else ""
    site.install("acme-needy", {"needy": "acme_needy"}, {"acme_needy.py": IMPORTED}, headers=headers)


async def reason(make_host) -> str:
    host = await make_host(modules=["needy"])
    record = host.modules.records["needy"]
    assert record.state == "failed"
    return record.reason


@pytest.mark.parametrize(
    ("line", "said", "to_install"),
    [
        ("no-such-package-anywhere>=2,<3", "no-such-package-anywhere<3,>=2, which is not installed", None),
        ("pydantic>=999", "pydantic>=999, and ", "pydantic>=999"),
        ("Agentcore.Runtime>=9", f"Agentcore.Runtime>=9, and {__version__} is installed", "Agentcore.Runtime>=9"),
        ("no-such-package; python_version >= '3'", "no-such-package, which is not installed", "no-such-package"),
        ("gone @ https://example.org/gone.whl", "gone, which is not installed", "gone @ https://example.org/gone.whl"),
        ("!!", "'!!', which is no requirement", ""),
    ],
)
async def test_what_is_missing_is_named_with_the_command_that_installs_it(make_host, site, line, said, to_install):
    needs(site, line)
    text = await reason(make_host)
    assert text.startswith(f"acme-needy 1.0 needs {said}")
    if to_install:
        assert f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(to_install)}" in text


async def test_everything_that_is_missing_stands_in_one_message(make_host, site):
    needs(site, "no-such-a", "no-such-b[x]>=1", python=">=9")
    text = await reason(make_host)
    for said in (
        "Python >=9, and this is 3.",
        "no-such-a, which",
        "no-such-b[x]>=1, which",
        "no-such-a 'no-such-b[x]>=1'",
    ):
        assert said in text


async def test_extra_that_a_requirement_asks_for_is_looked_at_too(make_host, site):
    site.install("acme-base", {}, headers="Requires-Dist: no-such-x; extra == 'fast'\nRequires-Dist: no-such-y\n")
    needs(site, "acme-base[fast]>=1")
    text = await reason(make_host)
    assert "no-such-x, which is not installed (for acme-base[fast])" in text
    assert "pip install 'acme-base[fast]>=1'" in text
    assert "no-such-y" not in text


@pytest.mark.parametrize(
    "line", ["agentcore-runtime", "pydantic>=2,<3", "no-such; python_version < '3'", "no-such; extra == 'test'"]
)
async def test_what_is_there_or_does_not_count_here_keeps_no_module_from_its_import(make_host, site, line):
    needs(site, line, python=">=3.11")
    assert await reason(make_host) == "imported"
