"""Finding modules: real distributions on sys.path, real files in a folder; nothing is imported unasked."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from agentcore.api import Module
from agentcore.core.discovery.code import READ_WHOLE_BYTES
from agentcore.core.discovery.installed import installed_entries
from agentcore.core.discovery.source_search import (
    ModuleNotChosen,
    ModuleNotInstalled,
    describe_found_module,
    find_candidates,
    find_module,
    installed_names,
    unload_modules,
)
from tests.core.installing import Site

Install = Callable[..., Path]

MODULE = "from agentcore.api import Module\nclass {cls}(Module):\n    version = {version!r}\n"


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def install(site: Site) -> Install:
    """Lay out a distribution as an installer does; gives its .dist-info folder."""
    return site.install


@pytest.fixture
def folder(tmp_path: Path, site: Site) -> Path:
    """The folder of local modules."""
    path = tmp_path / "modules"
    path.mkdir()
    return path


def loaded(name: str, modules_dir: Path | None = None) -> Any:
    return find_module(name, modules_dir).load()


# -- installed distributions ---------------------------------------------------------------------------------------


@pytest.mark.spec("M1")
def test_module_is_found_by_the_name_of_its_entry_point(install: Install, site: Site) -> None:
    install(
        "acme-weather",
        {"weather": "acme_weather:Weather", "radar": "acme_weather.radar:Radar"},
        {
            "acme_weather/__init__.py": MODULE.format(cls="Weather", version="1"),
            "acme_weather/radar.py": MODULE.format(cls="Radar", version="1"),
        },
        version="2.3",
    )
    found = find_module("radar", None)
    assert (found.name, found.distribution, found.version) == ("radar", "acme-weather", "2.3")
    assert found.file == site.path / "acme_weather" / "__init__.py"
    assert found.source_paths == (site.path / "acme_weather",)
    assert found.describe_origin() == {"distribution": "acme-weather", "version": "2.3", "file": str(found.file)}
    assert issubclass(found.load(), Module)
    assert {"weather", "radar"} <= set(installed_names())


@pytest.mark.spec("M1")
def test_nothing_is_imported_until_a_module_is_loaded(install: Install) -> None:
    exits = {"acme_bomb/__init__.py": "raise SystemExit('imported')"}
    install("acme-bomb", {"bomb": "acme_bomb:Bomb"}, exits)
    install("acme-calm", {"calm": "acme_calm"}, {"acme_calm.py": ""})
    assert "bomb" in installed_names()
    bomb = find_module("bomb", None)
    assert bomb.describe_origin()["distribution"] == "acme-bomb"
    assert bomb.compute_fingerprint()
    assert loaded("calm").__name__ == "acme_calm"
    assert "acme_bomb" not in sys.modules
    with pytest.raises(SystemExit):
        bomb.load()


@pytest.mark.spec("M1")
def test_three_of_a_thousand_are_found_in_one_pass(site: Site) -> None:
    for number in range(1000):
        info = site.path / f"many_{number}-1.0.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_text(f"[agentcore.modules]\nmany_{number} = many_{number}:Many\n")
    unload_modules([])
    entries = installed_entries()
    assert len([name for name in entries if name.startswith("many_")]) == 1000
    for number in (0, 500, 999):
        assert find_module(f"many_{number}", None) is entries[f"many_{number}"][0]
    assert installed_entries() is entries
    assert not any(name.startswith("many_") for name in sys.modules)


def test_distribution_that_is_installed_later_is_seen(install: Install) -> None:
    with pytest.raises(ModuleNotInstalled):
        find_module("late", None)
    install("acme-late", {"late": "acme_late"}, {"acme_late.py": ""})
    assert find_module("late", None).distribution == "acme-late"


@pytest.mark.spec("M1")
def test_missing_module_names_near_ones_and_the_command_to_try(install: Install, folder: Path) -> None:
    install("acme-weather", {"weather_maps": "acme_weather:Weather"})
    write(folder, {"weather_map.py": ""})
    with pytest.raises(ModuleNotInstalled) as caught:
        find_module("weathr_map", folder)
    assert caught.value.near == ("weather_map", "weather_maps")
    assert caught.value.command == f"{shlex.quote(sys.executable)} -m pip install agentcore-weathr-map"
    assert str(caught.value) == (
        "module 'weathr_map' is not installed; did you mean 'weather_map' or 'weather_maps'? "
        f"Else try: {caught.value.command} (anybody may have registered that name on the package index: look at who "
        "publishes it first)"
    )


@pytest.mark.parametrize("name", ["", "Weather", "we-ather", "../weather", "weather__x", "weather\n"])
def test_name_that_no_module_can_have_is_not_installed(install: Install, folder: Path, name: str) -> None:
    install("acme-weather", {name or "x": "acme_weather:Weather"})
    write(folder.parent, {"weather.py": ""})
    with pytest.raises(ModuleNotInstalled):
        find_module(name, folder)
    assert name not in installed_names(folder)


@pytest.mark.spec("M1", "S4")
def test_nothing_is_found_of_two_distributions_with_one_name_until_one_is_chosen(install: Install, site: Site) -> None:
    install("acme-a", {"twice": "acme_a"}, {"acme_a.py": ""})
    install("Acme.B", {"twice": "acme_b"}, {"acme_b.py": ""}, version="2.0")
    with pytest.raises(ModuleNotChosen) as caught:
        find_module("twice", None)
    assert {found.source for found in caught.value.candidates} == {"acme-a", "acme-b"}
    for text in ("acme-a 1.0", "acme-b 2.0", str(site.path / "acme_a.py"), "agentcore modules choose twice acme-b"):
        assert text in str(caught.value)
    assert find_module("twice", None, "acme-b").distribution == "Acme.B"


@pytest.mark.spec("M1", "S4")
def test_another_distribution_than_the_chosen_one_is_not_found(install: Install) -> None:
    install("acme-a", {"clock": "acme_a"}, {"acme_a.py": ""})
    with pytest.raises(ModuleNotChosen, match=r"module 'clock' was acme-b, and is acme-a 1\.0"):
        find_module("clock", None, "acme-b")


@pytest.mark.parametrize("spelling", ["acme_clock", "Acme-Clock", "acme.clock", "ACME__clock"])
def test_name_of_a_distribution_is_one_however_it_is_spelled(install: Install, spelling: str) -> None:
    install(spelling, {"clock": "acme_clock"}, {"acme_clock.py": ""})
    assert find_module("clock", None, "acme-clock").distribution == spelling


def test_folder_of_metadata_with_another_name_makes_another_source(install: Install) -> None:
    info = install("acme-clock", {"clock": "acme_clock"}, {"acme_clock.py": ""})
    info.rename(info.with_name("other_clock-1.0.dist-info"))
    unload_modules([])
    assert find_module("clock", None).source == "acme-clock (in other-clock)"
    with pytest.raises(ModuleNotChosen):
        find_module("clock", None, "acme-clock")


def test_newest_of_several_versions_that_an_installer_left_counts(install: Install) -> None:
    """Also for what it does not register any more; remains without metadata, and pip's own with a tilde, do not."""
    install("acme-clock", {"clock": "acme_clock", "gone": "acme_clock"}, {"acme_clock.py": ""}, version="1.10")
    install("acme-clock", {"clock": "acme_clock"}, version="1.9")
    (install("acme-clock", {"clock": "acme_clock"}, version="3.0") / "METADATA").unlink()
    tilde = install("acme-clock", {"clock": "acme_clock"}, version="4.0")
    tilde.rename(tilde.with_name("~cme_clock-4.0.dist-info"))
    unload_modules([])
    (found,) = find_candidates("clock", None)
    assert (found.version, found.source) == ("1.10", "acme-clock")
    install("acme-clock", {"clock": "acme_clock"}, version="2.0")
    assert find_module("clock", None, "acme-clock").version == "2.0"
    assert "gone" not in installed_names()


def test_older_copy_of_the_same_distribution_is_no_second_module(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("acme-a", {"twice": "acme_a"}, {"acme_a.py": ""}, version="2.0")
    old = tmp_path / "old"
    write(
        old / "acme_a-1.0.dist-info",
        {"METADATA": "Name: acme-a\nVersion: 1.0\n", "entry_points.txt": "[agentcore.modules]\ntwice = acme_a"},
    )
    monkeypatch.setattr(sys, "path", [*sys.path, str(old)])
    assert find_module("twice", None).version == "2.0"


def test_broken_metadata_of_others_is_left_out(install: Install, site: Site) -> None:
    (install("acme-binary", {}) / "entry_points.txt").write_bytes(b"[agentcore.modules]\n\xff = x")
    (install("acme-odd", {}) / "entry_points.txt").write_text("no section\n[agentcore.modules]\nno equals\n#a = b\n[x")
    install("acme-good", {"good": "acme_good"})
    with capture_logs() as logs:
        unload_modules([])
        assert find_module("good", None).distribution == "acme-good"
    assert [entry["event"] for entry in logs] == ["entry_points_unreadable"]
    assert "#a" not in installed_names()


def test_distribution_without_metadata_is_named_by_its_folder_and_still_loads(site: Site) -> None:
    write(site.path / "acme_bare-1.dist-info", {"entry_points.txt": "[agentcore.modules]\nbare = acme_bare"})
    write(site.path, {"acme_bare.py": ""})
    unload_modules([])
    found = find_module("bare", None)
    assert (found.distribution, found.version, found.source) == ("acme_bare", "", "acme-bare")
    assert found.describe_origin() == {"distribution": "acme_bare", "file": str(site.path / "acme_bare.py")}
    assert found.load().__name__ == "acme_bare"


@pytest.mark.parametrize("value", ["acme_gone:Gone", "acme_gone.deep:Gone", "", "not a name"])
def test_entry_point_that_leads_nowhere_fails_when_it_is_loaded(install: Install, value: str) -> None:
    install("acme-gone", {"gone": value})
    found = find_module("gone", None)
    assert found.compute_fingerprint()
    with pytest.raises(ImportError):
        found.load()


# -- loading afresh ------------------------------------------------------------------------------------------------


@pytest.mark.spec("K1", "M4")
def test_forgotten_distribution_is_imported_anew_with_all_its_modules(install: Install, site: Site) -> None:
    files = {
        "acme_pair/__init__.py": "",
        "acme_pair/one.py": "from acme_pair.shared import VERSION\n",
        "acme_pair/two.py": "from acme_pair.shared import VERSION\n",
        "acme_pair/shared.py": "from acme_pair_extra import VERSION\n",
        "acme_pair_extra.py": "VERSION = 1\n",
    }
    install("acme-pair", {"one": "acme_pair.one", "two": "acme_pair.two"}, files)
    first = loaded("one")
    assert (first.VERSION, loaded("two").VERSION) == (1, 1)
    write(site.path, {"acme_pair_extra.py": "VERSION = 2\n"})
    assert loaded("one") is first
    unload_modules([find_module("one", None)])
    assert not any(name.startswith("acme_pair") for name in sys.modules)
    assert (loaded("one").VERSION, loaded("two").VERSION) == (2, 2)
    assert first.VERSION == 1


def test_forgetting_leaves_neighbours_alone(install: Install) -> None:
    install("acme-x", {"x": "acme_x"}, {"acme_x/__init__.py": ""})
    install("acme-xy", {"xy": "acme_xy"}, {"acme_xy/__init__.py": ""})
    loaded("x")
    neighbour = loaded("xy")
    unload_modules([find_module("x", None)])
    assert "acme_x" not in sys.modules
    assert sys.modules["acme_xy"] is neighbour


def test_forgetting_part_of_a_namespace_leaves_the_rest(install: Install, site: Site) -> None:
    install("acme-one", {"one": "acmespace.one:VERSION"}, {"acmespace/one/__init__.py": "VERSION = 1\n"})
    install("acme-two", {"two": "acmespace.two"}, {"acmespace/two/__init__.py": ""})
    assert loaded("one") == 1
    other = loaded("two")
    assert find_module("one", None).source_paths == (site.path / "acmespace" / "one",)
    write(site.path, {"acmespace/one/__init__.py": "VERSION = 2\n"})
    unload_modules([find_module("one", None)])
    assert loaded("one") == 2
    assert sys.modules["acmespace.two"] is other
    from acmespace.one import VERSION  # type: ignore[import-not-found]

    assert VERSION == 2


def test_core_is_never_forgotten(install: Install) -> None:
    install("acme-core", {"core": "agentcore.api"}, {"agentcore/__init__.py": ""})
    before = sys.modules["agentcore.api"]
    unload_modules([find_module("core", None)])
    assert sys.modules["agentcore.api"] is before


def test_code_that_was_taken_out_can_be_put_back_whole(install: Install, site: Site, folder: Path) -> None:
    files = {"acme_back/__init__.py": "from acme_back import part\n", "acme_back/part.py": "VALUE = 1\n"}
    install("acme-back", {"back": "acme_back"}, files)
    write(folder, {"local/__init__.py": "from .part import VALUE\n", "local/part.py": "VALUE = 1\n"})
    first, local = loaded("back"), loaded("local", folder)
    both = find_module("back", None), find_module("local", folder)
    taken = unload_modules(both)
    write(site.path, {"acme_back/part.py": "VALUE = 2\n", "acme_back/new.py": ""})
    write(folder, {"local/part.py": "VALUE = 2\n"})
    assert (loaded("back").part.VALUE, loaded("local", folder).VALUE) == (2, 2)
    for each in reversed(taken):
        each.put_back()
    assert loaded("back") is first
    assert sys.modules["acme_back.part"].VALUE == 1
    assert [name for name in sys.modules if "__local__" in name] == [local.__name__, f"{local.__name__}.part"]
    unload_modules(both)
    assert not any(name.startswith("acme_back") or "__local__" in name for name in sys.modules)


# -- has it changed? -----------------------------------------------------------------------------------------------


@pytest.mark.spec("S4")
def test_fingerprint_changes_with_the_files_and_only_with_them(install: Install, site: Site) -> None:
    files = {"acme_print/__init__.py": "", "acme_print/data.json": "{}", "acme_print/big.bin": "x" * READ_WHOLE_BYTES}
    info = install("acme-print", {"print": "acme_print"}, files)
    prints = [find_module("print", None).compute_fingerprint()]
    loaded("print")
    write(site.path, files)
    assert find_module("print", None).compute_fingerprint() == prints[0]
    for name, text in (("data.json", "[]"), ("new.py", ""), ("big.bin", "x" * (READ_WHOLE_BYTES + 2))):
        write(site.path, {f"acme_print/{name}": text})
        prints.append(find_module("print", None).compute_fingerprint())
    (info / "METADATA").write_text("Name: acme-print\nVersion: 2.0\n")
    unload_modules([])
    prints.append(find_module("print", None).compute_fingerprint())
    assert len(set(prints)) == len(prints)


@pytest.mark.spec("S2")
def test_what_metadata_say_is_one_line_and_short_where_a_person_decides_on_it(install: Install) -> None:
    """A version or a name of several lines would make up lines of what is shown."""
    info = install("acme-lines", {"lines": "acme_lines"})
    said = f"Name: acme-lines\n - evil 1.0\nVersion: 9.0\n + trusted 1.0 {'x' * 100_000}\n"
    (info / "METADATA").write_text(said)
    unload_modules([])
    shown = describe_found_module(find_module("lines", None))
    assert "9.0 + trusted 1.0 xxx" in shown
    assert "\n" not in shown
    assert len(shown) < 1000


def test_fingerprint_of_a_file_that_cannot_be_read_is_still_one(install: Install, site: Site) -> None:
    install("acme-link", {"link": "acme_link"}, {"acme_link/__init__.py": ""})
    before = find_module("link", None).compute_fingerprint()
    (site.path / "acme_link" / "gone.py").symlink_to("nowhere.py")
    assert find_module("link", None).compute_fingerprint() == before


# -- local modules -------------------------------------------------------------------------------------------------


@pytest.mark.spec("M1")
def test_local_file_is_a_module(folder: Path) -> None:
    write(folder, {"clock.py": MODULE.format(cls="Clock", version="1")})
    found = find_module("clock", folder)
    assert (found.distribution, found.version, found.file) == ("", "", folder / "clock.py")
    assert found.describe_origin() == {"file": str(folder / "clock.py")}
    assert found.load().__name__ == "Clock"
    assert "clock" in installed_names(folder)
    assert "clock" not in installed_names()


@pytest.mark.spec("M1")
def test_local_package_is_a_module_and_counts_before_a_file(folder: Path) -> None:
    write(
        folder,
        {
            "clock/__init__.py": "from .hands import Clock\n",
            "clock/hands.py": MODULE.format(cls="Clock", version="package"),
            "clock.py": MODULE.format(cls="Clock", version="file"),
            "notes/readme.txt": "",
            "Upper.py": "",
            "clock.json": "{}",
        },
    )
    assert loaded("clock", folder).version == "package"
    assert {"notes", "Upper"}.isdisjoint(installed_names(folder))


def test_local_python_module_with_hooks_is_given_as_it_is(folder: Path) -> None:
    write(folder, {"plain.py": "from agentcore.api import Module, hookimpl\n@hookimpl\ndef init(runtime): ...\n"})
    assert callable(loaded("plain", folder).init)


def test_bases_and_private_classes_of_a_local_module_are_not_taken_for_it(folder: Path) -> None:
    text = MODULE.format(cls="Base", version="1") + "class Clock(Base): ...\nclass _Part(Module): ...\n"
    write(folder, {"clock.py": text})
    assert loaded("clock", folder).__name__ == "Clock"


def test_local_file_with_two_modules_names_both(folder: Path) -> None:
    write(folder, {"two.py": MODULE.format(cls="B", version="1") + "class A(Module): ...\n"})
    with pytest.raises(TypeError, match="defines several modules, A, B"):
        loaded("two", folder)


@pytest.mark.spec("M1", "S4")
def test_nothing_is_found_of_an_entry_point_and_a_local_module_until_one_is_chosen(
    install: Install, folder: Path
) -> None:
    install("acme-clock", {"clock": "acme_clock"}, {"acme_clock.py": ""})
    write(folder, {"clock.py": ""})
    with pytest.raises(ModuleNotChosen, match=r"acme-clock 1\.0 .* and "):
        find_module("clock", folder)
    assert find_module("clock", folder, "acme-clock").distribution == "acme-clock"
    assert find_module("clock", folder, str(folder)).file == folder / "clock.py"


@pytest.mark.spec("M4")
def test_local_module_is_fresh_at_each_load_and_leaves_nothing_behind(folder: Path) -> None:
    write(folder, {"clock/__init__.py": "from .part import VALUE\n", "clock/part.py": "VALUE = 1\n"})
    write(folder, {"clock_2.py": ""})
    before = set(sys.modules)
    first, neighbour = loaded("clock", folder), loaded("clock_2", folder)
    write(folder, {"clock/part.py": "VALUE = 2\n"})
    second = loaded("clock", folder)
    assert (first.VALUE, second.VALUE) == (1, 2)
    assert neighbour.__name__ in sys.modules
    unload_modules([find_module("clock", folder), find_module("clock_2", folder)])
    assert {name for name in set(sys.modules) - before if "clock" in name} == set()


def test_local_module_does_not_take_a_name_from_others(folder: Path) -> None:
    write(folder, {"json.py": "VALUE = 1\n"})
    assert loaded("json", folder).VALUE == 1
    assert hasattr(sys.modules["json"], "dumps")


def test_failed_import_of_a_local_module_leaves_nothing_behind(folder: Path) -> None:
    write(folder, {"broken/__init__.py": "from . import part\n1 / 0\n", "broken/part.py": ""})
    before = set(sys.modules)
    with pytest.raises(ZeroDivisionError):
        loaded("broken", folder)
    assert set(sys.modules) == before


def test_folder_of_local_modules_may_be_missing(tmp_path: Path) -> None:
    assert installed_names(tmp_path / "none") == installed_names()
    with pytest.raises(ModuleNotInstalled):
        find_module("clock", tmp_path / "none")


@pytest.mark.spec("S4")
def test_fingerprint_of_a_local_module_follows_its_file(folder: Path) -> None:
    write(folder, {"clock.py": "a = 1"})
    before = find_module("clock", folder).compute_fingerprint()
    assert find_module("clock", folder).compute_fingerprint() == before
    write(folder, {"clock.py": "a = 2"})
    assert find_module("clock", folder).compute_fingerprint() != before
