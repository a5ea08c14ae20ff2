"""The vendored libraries are those of the manifest, byte for byte, with their licences."""

import json
import re
from hashlib import sha256

import pytest

from agentcore.server.page.page_document import page_folder

VENDOR = page_folder() / "vendor"
LIBRARIES = json.loads((VENDOR / "manifest.json").read_text())["libraries"]


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library["name"])
def test_each_file_of_a_library_is_the_one_of_the_manifest(library):
    assert library["version"]
    for name, digest in library["sha256"].items():
        assert sha256((VENDOR / name).read_bytes()).hexdigest() == digest, name


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library["name"])
def test_each_library_comes_with_its_licence(library):
    assert library["licence"]
    assert len((VENDOR / library["licenceFile"]).read_text()) > 200


def test_mermaid_comes_without_elk_and_with_the_licences_of_what_it_contains():
    assert "org.eclipse.elk" not in (VENDOR / "mermaid.js").read_text()
    licences = (VENDOR / "licences" / "mermaid.txt").read_text()
    contained = re.findall(r"^==== (\S+) \S+, part of the bundle ====$", licences, re.MULTILINE)
    assert {"d3-shape", "dagre-d3-es", "cytoscape", "dompurify", "katex"} <= set(contained)
    assert "Eclipse Public License" not in licences
    assert "GNU GENERAL PUBLIC" not in licences.upper()


def test_no_vendored_file_is_missing_in_the_manifest():
    listed = {name for library in LIBRARIES for name in library["sha256"]}
    files = {path.relative_to(VENDOR) for path in VENDOR.rglob("*") if path.is_file()}
    present = {str(path) for path in files if path.parts[0] not in ("licences", "manifest.json")}
    assert present == listed


def test_each_icon_that_is_named_is_there():
    """Of one that is not, nothing is drawn: a button would be blank."""
    icons = set(re.findall(r'^  "([a-z0-9-]+)": ', (VENDOR / "lucide.js").read_text(), re.MULTILINE))
    sources = [path.read_text() for path in page_folder().rglob("*.js") if VENDOR not in path.parents]
    plain = {name for text in sources for name in re.findall(r'<ac-icon [^>]*?name="([a-z0-9-]+)"', text)}
    chosen = [part for text in sources for part in re.findall(r"<ac-icon [^>]*?name=\$\{([^}]*)\}", text)]
    named = plain | {name for part in chosen for name in re.findall(r"[?:] *'([a-z0-9-]+)'", part)}
    assert len(named) > 20
    assert named - icons == set()
