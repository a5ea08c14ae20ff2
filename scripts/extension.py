"""Makes the browser extension: `python -m scripts.extension` writes build/extension, `--zip` also the file for stores.

`build/extension` is what a browser loads: `extension/` and, of `webui/`, what the extension's documents and worker
reach. No code is changed but the addresses in imports, for an extension has no import map, and the scripts of
`extension/page`, which become one classic script, for a content script cannot be a module. Nothing is made smaller: a
reader of the extension finds the code of this repository.
"""

import argparse
import json
import posixpath
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from scripts.store_checks import explanations, is_comment, problems

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "build" / "extension"
DOCUMENT = ROOT / "docs" / "extension.md"
"""What tells people why each permission is needed."""
OVERLAYS = "panel/webui/"
"""Files that stand in the place of those of `webui/` with the same path."""
PAGE_SCRIPTS = "page/"
ORIGIN_PATH = "/static/"
"""Where the server has the page's files."""

_STATIC_IMPORT = re.compile(r"^((?:import|export)\b[^'\";=]*?\bfrom\s*|import\s*)(['\"])([^'\"\n]+)\2", re.MULTILINE)
_DYNAMIC_IMPORT = re.compile(r"\bimport\(\s*(['\"])([^'\"\n]+)\1\s*\)")
_FILE_ADDRESS = re.compile(r"\bnew URL\(\s*(['\"])(\.[^'\"\n]+)\1\s*,\s*import\.meta\.url\)")
_STYLE_PARTS = re.compile(r"\burl\(['\"]?([^'\")]+)['\"]?\)")
_DOCUMENT_PARTS = re.compile(r"<(?:script|link)\b[^>]*?\b(?:src|href)=\"([^\"]+)\"")

_PAGE_IMPORT = re.compile(r"^import \{([^}\n]*)\} from '(\./[\w./-]+\.js)';$")
_PAGE_DECLARATION = re.compile(r"^(export )?(?:(?:async )?function\*? ?|class |const |let |var )([\w$]+|[{\[])")
_PAGE_FORBIDDEN = re.compile(r"^(?:import\b|export\b|await\b)")


class BuildError(Exception):
    """The extension cannot be made; the message names the file, and what is wrong with it."""


def build(target: Path = BUILT, root: Path = ROOT) -> None:
    """Write the extension into a folder, which is emptied before.

    Args:
        target: Where it is written.
        root: The folder that has `extension/` and `webui/`.
    Raises:
        BuildError: A script imports what is not there or what an extension cannot import, or the scripts of
            `extension/page` cannot be joined.
    """
    files = _collected(root)
    page = [name for name in files if name.startswith(PAGE_SCRIPTS) and name.endswith(".js")]
    if page:
        files["page.js"] = join_scripts({name: _text(name, files.pop(name)) for name in page}).encode()
    addresses = _import_map(root / "webui" / "index.html")
    for name in [name for name in files if name.endswith(".js") and name != "page.js"]:
        files[name] = _with_relative_imports(name, _text(name, files[name]), addresses).encode()
    kept = _reached(files)
    shutil.rmtree(target, ignore_errors=True)
    for name in kept:
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[name])


def _collected(root: Path) -> dict[str, bytes]:
    """All files by their paths in the extension; overlays stand where what they replace would."""
    webui = {f"webui/{name}": path for name, path in _files(root / "webui")}
    own = dict(_files(root / "extension"))
    overlays = {name.removeprefix("panel/"): own.pop(name) for name in list(own) if name.startswith(OVERLAYS)}
    if strange := [name for name in overlays if name not in webui]:
        raise BuildError(f"extension/panel/{strange[0]}: there is no {strange[0]} that it could stand for")
    return {name: path.read_bytes() for name, path in (webui | own | overlays).items()}


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not any(part.startswith(".") for part in name.split("/")) and path.suffix != ".ts":
            yield name, path


def _text(name: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as exc:
        raise BuildError(f"{name}: is not UTF-8: {exc}") from exc


def _import_map(document: Path) -> dict[str, str]:
    """Bare names, and beginnings of such, to paths in the extension."""
    found = re.search(r'<script type="importmap">(.*?)</script>', document.read_text("utf-8"), re.DOTALL)
    if found is None:
        raise BuildError(f"{document.name}: has no import map")
    imports = json.loads(found[1])["imports"]
    return {name: _path_of(address) for name, address in imports.items()}


def _path_of(address: str) -> str:
    return f"webui/{address.removeprefix(ORIGIN_PATH)}"


def _with_relative_imports(name: str, source: str, addresses: dict[str, str]) -> str:
    """A script with imports that a browser finds without an import map, and the page's files under their path here."""

    def relative(specifier: str) -> str:
        path = _resolved(name, specifier, addresses)
        found = posixpath.relpath(path, posixpath.dirname(name))
        return found if found.startswith(".") else f"./{found}"

    def static(match: re.Match[str]) -> str:
        return f"{match[1]}{match[2]}{relative(match[3])}{match[2]}"

    def dynamic(match: re.Match[str]) -> str:
        if is_comment(source, match.start()):  # a type, which names files that need not be in the extension
            return match[0]
        return f"import({match[1]}{relative(match[2])}{match[1]})"

    source = _STATIC_IMPORT.sub(static, source)
    rewritten = _DYNAMIC_IMPORT.sub(dynamic, source)
    return re.sub(rf"(['\"]){ORIGIN_PATH}", r"\1/webui/", rewritten) if name.startswith("webui/") else rewritten


def _resolved(name: str, specifier: str, addresses: dict[str, str]) -> str:
    """The path in the extension that an import means."""
    if specifier.startswith("."):
        return posixpath.normpath(posixpath.join(posixpath.dirname(name), specifier))
    if specifier.startswith(ORIGIN_PATH):
        return _path_of(specifier)
    if specifier in addresses:
        return addresses[specifier]
    for prefix, path in addresses.items():
        if prefix.endswith("/") and specifier.startswith(prefix):
            return path + specifier.removeprefix(prefix)
    raise BuildError(
        f"{name}: imports {specifier!r}, which is neither a path nor in the import map of webui/index.html"
    )


def _reached(files: dict[str, bytes]) -> list[str]:
    """What is of the extension: its own files, and of the page's those that its scripts and documents reach."""
    own = [name for name in files if not name.startswith("webui/")]
    kept, waiting = set(own), own
    while waiting:
        name = waiting.pop()
        for target in _targets(name, files[name]):
            if target not in files:
                raise BuildError(f"{name}: there is no {target}")
            if target not in kept:
                kept.add(target)
                waiting.append(target)
    # pictures are named in templates, and licences by nothing
    return sorted([*kept, *(name for name in files if re.match(r"webui/(icon\.svg|vendor/licences/)", name))])


def _targets(name: str, content: bytes) -> Iterator[str]:
    """What a script or a document needs beside itself, as paths in the extension."""
    if name.endswith(".html"):
        found = _DOCUMENT_PARTS.findall(_text(name, content))
    elif name.endswith(".css"):
        found = [target for target in _STYLE_PARTS.findall(_text(name, content)) if not target.startswith("data:")]
    elif name.endswith(".js"):
        source = _text(name, content)
        dynamic = [match for match in _DYNAMIC_IMPORT.finditer(source) if not is_comment(source, match.start())]
        files = [match[2] for match in _FILE_ADDRESS.finditer(source)]
        found = [*(match[3] for match in _STATIC_IMPORT.finditer(source)), *(match[2] for match in dynamic), *files]
    else:
        return
    for target in found:
        if "://" in target:
            raise BuildError(f"{name}: loads {target}; an extension loads its own files alone")
        path = target[1:] if target.startswith("/") else posixpath.join(posixpath.dirname(name), target)
        yield posixpath.normpath(path)


def join_scripts(scripts: dict[str, str]) -> str:
    """Join ES modules into one classic script, in the order in which they need each other.

    Args:
        scripts: Source by path. An import is one line, `import {a, b} from './x.js';`; what is exported is declared at
            the same time, `export function a`.
    Raises:
        BuildError: A script has anything else, two have the same name at their top, a name or a file that is imported
            is not there, or scripts need each other in a circle.
    """
    parts = {name: _PageScript(name, source) for name, source in scripts.items()}
    owners: dict[str, str] = {}
    for part in parts.values():
        for declared in part.declared:
            if declared in owners:
                raise BuildError(f"{part.name}: {declared} is the name of something in {owners[declared]} too")
            owners[declared] = part.name
        for target, names in part.imports.items():
            if target not in parts:
                raise BuildError(f"{part.name}: there is no {target}")
            if missing := [name for name in names if name not in parts[target].exported]:
                raise BuildError(f"{part.name}: {target} exports no {missing[0]}")
    try:
        order = [*TopologicalSorter({name: sorted(part.imports) for name, part in parts.items()}).static_order()]
    except CycleError as exc:
        raise BuildError(f"scripts import each other: {' < '.join(exc.args[1])}") from exc
    bodies = [f"// {name}\n{parts[name].body}" for name in order]
    return "(() => {\n'use strict';\n" + "\n".join(bodies) + "})();\n"


class _PageScript:
    """One ES module as far as joining has to understand it: imports, names at its top, and the rest as it stands."""

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        self.imports: dict[str, list[str]] = {}
        self.declared: list[str] = []
        self.exported: list[str] = []
        self.body = "".join(f"{self._line(line)}\n" for line in source.splitlines())

    def _line(self, line: str) -> str:
        if match := _PAGE_IMPORT.match(line):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(self.name), match[2]))
            names = [each.strip() for each in match[1].split(",") if each.strip()]
            if renamed := [each for each in names if not re.fullmatch(r"[\w$]+", each)]:
                raise BuildError(f"{self.name}: import {renamed[0]!r} without another name")
            self.imports.setdefault(target, []).extend(names)
            return ""
        if match := _PAGE_DECLARATION.match(line):
            if match[2] in "{[":
                raise BuildError(f"{self.name}: declare one name at a time at the top: {line}")
            self.declared.append(match[2])
            if match[1]:
                self.exported.append(match[2])
            return line.removeprefix("export ")
        if _PAGE_FORBIDDEN.match(line):
            message = "only `import {a} from './x.js';` on one line, and `export` before a declaration, can be joined"
            raise BuildError(f"{self.name}: {message}: {line}")
        return line


def pack(target: Path, built: Path = BUILT, document: Path = DOCUMENT) -> None:
    """Check what was built as a store would, and write it as one file, the same for the same content.

    Raises:
        BuildError: With all that is wrong with it; no file is written.
    """
    if found := problems(built, explanations(document)):
        raise BuildError("\n".join(found))
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in _files(built):
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)


def main(arguments: Sequence[str]) -> int:
    """Build, and pack where it is asked for. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripts.extension", description="Make the browser extension.")
    parser.add_argument(
        "--zip", action="store_true", help="check it as a store would, and write build/agentcore-extension.zip"
    )
    options = parser.parse_args(arguments)
    archive = BUILT.parent / "agentcore-extension.zip"
    try:
        build()
        if options.zip:
            pack(archive)
    except BuildError as exc:
        sys.stderr.write(f"{exc}\n")
        return 1
    if options.zip:
        sys.stdout.write("".join(f"{permission}: {reason}\n" for permission, reason in explanations(DOCUMENT).items()))
    sys.stdout.write(f"{archive} ({archive.stat().st_size:,} bytes)\n" if options.zip else f"{BUILT}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
