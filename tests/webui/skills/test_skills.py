"""The view of skills: their states and problems, and which agents get them; and a skill in the message box."""

import json

import pytest
from playwright.async_api import expect

from tests.support.provider import accept_instructions
from tests.webui.approval.pressing import press
from tests.webui.approval.viewing import both

HEAD = "---\nname: {name}\ndescription: {text}\nlicense: MIT\nallowed-tools: Read\n---\nDo it well.\n"


@pytest.fixture
def skills(tmp_path, monkeypatch):
    monkeypatch.setattr("agentcore.chat.skills.skills.user_folder", lambda: tmp_path / "own")
    folder = tmp_path / "work" / ".agents" / "skills"
    write(folder, "pdf", HEAD.format(name="pdf", text="Fills forms in PDF files."))
    return folder


def write(folder, name, text):
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "SKILL.md").write_text(text)


def row(page, name):
    return page.get_by_role("article").filter(has=page.get_by_role("heading", name=name, exact=True))


async def test_skill_is_new_until_it_is_accepted(start_webui, skills, tmp_path):
    write(skills, "bad", "---\nname: bad\ndescription:\n---\n")
    ui = await start_webui([], roots=(tmp_path / "work",))
    page = await ui.page("#/skills")
    await expect(row(page, "pdf")).to_contain_text("New")
    await expect(row(page, "pdf")).to_contain_text("Its review waits in the approvals.")
    await expect(row(page, "bad")).to_contain_text("description is empty")
    await expect(row(page, "bad")).to_contain_text(f"{skills}/bad/SKILL.md:3")
    await accept_instructions(ui.host)
    await expect(row(page, "pdf")).to_contain_text("Accepted")
    await row(page, "pdf").get_by_text("Details").click()
    await expect(row(page, "pdf")).to_contain_text("Begin a message with /pdf to use it.")


@pytest.mark.more
async def test_skill_is_switched_off_for_an_agent_once_that_is_confirmed(start_webui, skills, tmp_path):
    ui = await start_webui([], roots=(tmp_path / "work",), config={"agents": {"reader": {}}})
    await accept_instructions(ui.host)
    page = await both(ui)
    await page.goto(f"{ui.address}/#/skills")
    ui.allowed_errors.append("403")  # a change that waits is refused until it is confirmed
    box = row(page, "pdf").get_by_role("checkbox", name="Give pdf to the agent reader")
    await expect(box).to_be_checked()
    await box.click()
    await expect(page.get_by_text("It waits for your confirmation")).to_be_visible()
    view = await page.context.new_page()
    await view.goto(ui.server.approval_address)
    await press(view.get_by_role("button", name="Apply"))
    await expect(box).not_to_be_checked()
    assert json.loads((ui.folder / "app.json").read_text())["agents"]["reader"] == {"system_parts": ["*", "!skill:pdf"]}


@pytest.mark.more
async def test_without_skills_it_says_where_they_go(start_webui, tmp_path):
    (tmp_path / "work").mkdir()
    ui = await start_webui([], roots=(tmp_path / "work",))
    page = await ui.page("#/skills")
    await expect(page.get_by_text("No skills yet")).to_be_visible()


@pytest.mark.more
async def test_it_is_accessible_and_nothing_runs_over_on_a_phone(start_webui, skills, tmp_path, axe_problems):
    write(skills, "bad", "---\nname: bad\ndescription: Use when: now\n---\n")
    write(skills, "long", HEAD.format(name="long", text="long-word-" * 90))
    (skills / "outside").symlink_to(tmp_path)
    ui = await start_webui([], roots=(tmp_path / "work",), config={"agents": {"agent-with-a-long-name-" * 2: {}}})
    await accept_instructions(ui.host)
    page = await ui.page("#/skills", viewport={"width": 390, "height": 2400}, locale="zh-CN")
    await row(page, "long").get_by_text("详情").click()
    await expect(row(page, "bad")).to_be_visible()
    assert await axe_problems(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
