"""`agentcore skills`."""

import pytest

SKILL = "---\nname: pdf\ndescription: Fills forms in PDF files.\nallowed-tools: Read\n---\nLook first.\n"


@pytest.fixture
def skills(empty_place, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(empty_place.folder / "config"))
    empty_place.write_app(modules=[])
    folder = empty_place.folder / "workspace" / ".agents" / "skills"
    for name, text in {"pdf": SKILL, "bad": "---\nname: bad\ndescription:\n---\n"}.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "SKILL.md").write_text(text)
    return folder


def test_skills_are_listed_with_their_states_and_problems(empty_place, skills):
    done = empty_place.run("skills")
    rows = [line.split()[:3] for line in done.out.splitlines()[1:]]
    assert rows == [["bad", "invalid", "workspace"], ["pdf", "new", "workspace"]]
    assert f"{skills}/bad/SKILL.md:3: description is empty (skill_invalid)" in done.err


def test_one_skill_is_shown(empty_place, skills):
    done = empty_place.run("skills", "pdf")
    assert f"Folder: {skills}/pdf" in done.out
    assert "Names tools: Read" in done.out
    assert empty_place.run("skills", "pdf", "--json").json["files"] == ["SKILL.md"]
    assert [skill["name"] for skill in empty_place.run("skills", "--json").json["skills"]] == ["bad", "pdf"]


def test_unknown_skill_gets_suggestions(empty_place, skills):
    done = empty_place.run("skills", "pfd")
    assert done.code == 1
    assert "there is no skill 'pfd'; did you mean 'pdf'?" in done.err


def test_no_skills_are_said(empty_place):
    empty_place.write_app(modules=[])
    assert "There are no skills" in empty_place.run("skills").err
