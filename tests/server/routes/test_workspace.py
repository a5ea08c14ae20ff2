"""`/api/workspace/files`: names of files by a few letters, bounded, without what is ignored or protected."""

import pytest

pytestmark = pytest.mark.spec("K12")


@pytest.fixture
async def find(make_server, tmp_path):
    root = tmp_path / "project"
    for name in (
        "README.md",
        "src/server/app.py",
        "src/server/apparatus.py",
        "docs/a plan.md",
        "build/out.js",
        "src/keep.log",
        "src/other.log",
        "src/generated/made.py",
        ".git/config",
        ".vscode/tasks.json",
        "app.json",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / ".gitignore").write_text("# made\n/build/\n*.log\n!keep.log\n")
    (root / "src" / ".gitignore").write_text("generated\n")
    (root / "outside").symlink_to("/etc")
    server = await make_server(app={"workspace": {"roots": [str(root)]}})

    async def find(query="", limit=20):
        status, found = await server.get(f"/api/workspace/files?q={query}&limit={limit}")
        assert status == 200, found
        return [file["path"] for file in found["files"]], found["isCut"]

    return find


async def test_files_are_found_by_a_few_letters_the_best_first(find):
    assert (await find("app"))[0][:2] == ["src/server/app.py", "src/server/apparatus.py"]
    assert (await find("srvapp"))[0][0] == "src/server/app.py"
    assert (await find("PLAN"))[0] == ["docs/a plan.md"]
    assert (await find("zzz"))[0] == []
    assert (await find("", limit=2))[0] == [".gitignore", "README.md"]


async def test_what_is_ignored_protected_or_a_link_is_left_out(find):
    paths, is_cut = await find(limit=100)
    assert set(paths) == {
        ".gitignore",
        "README.md",
        "docs/",
        "docs/a plan.md",
        "src/",
        "src/.gitignore",
        "src/keep.log",
        "src/server/",
        "src/server/app.py",
        "src/server/apparatus.py",
    }
    assert not is_cut
