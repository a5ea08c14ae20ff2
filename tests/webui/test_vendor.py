"""The vendored libraries are those of the manifest, byte for byte, with their licences."""

import json
from hashlib import sha256

import pytest

from agentcore.server.page.document import page_folder

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


def test_no_vendored_script_is_missing_in_the_manifest():
    listed = {name for library in LIBRARIES for name in library["sha256"]}
    present = {str(path.relative_to(VENDOR)) for path in VENDOR.rglob("*.js")}
    assert present == listed
