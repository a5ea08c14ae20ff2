"""Skills: found in folders, reviewed by the user, listed to models, and read when a model needs them."""

import json
import os
import re
from pathlib import Path

import pytest

from agentcore.api import Module, ToolContext, tool
from agentcore.chat.skills.skills import Skills

PDF = """---
name: pdf
description: Fills forms in PDF files.
license: MIT
compatibility: Needs qpdf
metadata:
  version: "1.0"
allowed-tools: Bash(qpdf:*) Read
---

# PDF

Look at references/forms.md first.
"""


def write_skill(folder: Path, name: str, text: str | None = None, **files: str) -> Path:
    path = folder / name
    path.mkdir(parents=True)
    (path / "SKILL.md").write_text(text or PDF.replace("name: pdf", f"name: {name}"))
    for file, content in files.items():
        place = path / file.replace("__", "/")
        place.parent.mkdir(exist_ok=True)
        place.write_text(content)
    return path


@pytest.fixture
def work(tmp_path):
    path = tmp_path / "workspace"
    path.mkdir()
    return path


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """The user's own folder of skills."""
    path = tmp_path / "own"
    monkeypatch.setattr("agentcore.chat.skills.skills.user_folder", lambda: path)
    return path


def system_text(request):
    (told,) = [message["content"] for message in request["messages"] if message["role"] == "system"]
    return told


def tools_of(request):
    return [tool["function"]["name"] for tool in request.get("tools", [])]


def results_of(request):
    return [message["content"] for message in request["messages"] if message["role"] == "tool"]


async def listed(talk):
    return {skill["name"]: skill for skill in (await talk.ask("GET", "/api/skills"))["skills"]}


async def test_model_reads_of_accepted_skills_and_then_the_skills_themselves(open_talk, provider, work):
    write_skill(work / ".agents/skills", "pdf", **{"references__forms.md": "Fields first.\n"})
    provider.say("", ("1", "read_skill", '{"name": "pdf"}'))
    provider.say("", ("2", "read_skill", '{"name": "pdf", "file": "references/forms.md"}'))
    provider.say("Done.")
    async with open_talk() as talk:
        await talk.accept_instructions()
        await talk.post()
    first, second, third = provider.requests
    assert "Skill pdf: Fills forms in PDF files." in system_text(first)
    assert "Look at references" not in system_text(first)
    assert tools_of(first) == ["read_skill"]
    (skill,) = results_of(second)
    assert "Look at references/forms.md first." in skill
    assert f"in the folder {work}/.agents/skills/pdf" in skill
    assert "Its files: references/forms.md" in skill
    assert "Bash(qpdf:*) Read" in skill
    assert results_of(third)[1] == "Fields first.\n"
    assert system_text(first) == system_text(third)


async def test_without_skills_nothing_is_added(open_talk, provider):
    provider.say("Hi.")
    async with open_talk() as talk:
        await talk.post()
    assert "Skills are" not in system_text(provider.requests[0])
    assert tools_of(provider.requests[0]) == []


async def test_skill_reaches_a_model_as_it_was_accepted(open_talk, provider, work):
    """New: not at all; changed: as accepted before, also its files; until the change is accepted."""
    path = write_skill(work / "skills", "pdf", **{"notes.md": "One."})
    for _ in range(2):
        provider.say("Hi.")
    provider.say("", ("1", "read_skill", '{"name": "pdf"}'), ("2", "read_skill", '{"name": "pdf", "file": "notes.md"}'))
    provider.say("Done.")
    async with open_talk() as talk:
        await talk.post()
        (change,) = talk.host.policy_changes.waiting
        new = await listed(talk)
        await talk.accept_instructions()
        (path / "SKILL.md").write_text(PDF.replace("Fills", "Steals"))
        (path / "notes.md").write_text("Two.")
        await talk.post()
        (again,) = talk.host.policy_changes.waiting
        changed = await listed(talk)
        await talk.post()
    first, second, _, last = provider.requests
    assert "pdf" not in system_text(first)
    assert (change.proposal.kind, change.proposal.subject) == ("skill", str(path))
    assert [file for file, _ in change.proposal.diff] == [f"{path}/SKILL.md", f"{path}/notes.md"]
    assert "+description: Fills forms" in change.proposal.diff[0][1]
    assert "Skill pdf: Fills forms" in system_text(second)
    assert "-One.\n+Two." in again.proposal.diff[1][1]
    assert [(each["pdf"]["state"], each["pdf"]["isUsable"]) for each in (new, changed)] == [
        ("new", False),
        ("changed", True),
    ]
    assert results_of(last)[1] == "One."


async def test_refused_skill_is_proposed_again_once_it_changes(open_talk, work):
    path = write_skill(work / "skills", "pdf")
    async with open_talk() as talk:
        await listed(talk)
        (change,) = talk.host.policy_changes.waiting
        await talk.host.policy_changes.decide_change(change.change_id, approved=False, by="test")
        refused = await listed(talk)
        assert talk.host.policy_changes.waiting == []
        (path / "SKILL.md").write_text(f"{PDF}More.\n")
        await listed(talk)
        assert len(talk.host.policy_changes.waiting) == 1
    assert (refused["pdf"]["state"], refused["pdf"]["isUsable"]) == ("refused", False)


async def test_decisions_survive_a_restart(open_talk, provider, work):
    write_skill(work / "skills", "pdf")
    async with open_talk() as talk:
        await talk.accept_instructions()
    async with open_talk() as talk:
        assert (await listed(talk))["pdf"]["state"] == "ready"
        assert talk.host.policy_changes.waiting == []


async def test_few_skills_wait_at_once(open_talk, work):
    for number in range(10):
        write_skill(work / "skills", f"s{number}")
    async with open_talk() as talk:
        first = await listed(talk)
        await talk.accept_instructions()
        second = await listed(talk)
    assert sum(skill["isWaiting"] for skill in first.values()) == 8
    assert {skill["state"] for skill in first.values()} == {"new"}
    assert [name for name, skill in second.items() if skill["isWaiting"]] == ["s8", "s9"]


async def test_sources_have_an_order(open_talk, work, own_folder):
    """The workspace before the user's own before modules; a skill that is not accepted replaces none that is."""
    write_skill(own_folder, "pdf", PDF.replace("Fills", "Fills own"))
    (own_folder / "agent").mkdir()
    async with open_talk(Shelf()) as talk:
        await talk.accept_instructions()
        write_skill(work / ".claude/skills", "pdf")
        before = (await talk.ask("GET", "/api/skills"))["skills"]
        await talk.accept_instructions()
        after = (await talk.ask("GET", "/api/skills"))["skills"]
    assert [(each["source"], each["state"], each["isUsable"]) for each in before if each["name"] == "pdf"] == [
        ("workspace", "new", False),
        ("user", "ready", True),
    ]
    assert [(each["source"], each["state"]) for each in after] == [
        ("workspace", "ready"),
        ("user", "shadowed"),
        ("module:shelf", "ready"),
    ]


class Shelf(Module):
    """Has skills."""

    name = "shelf"
    skills_folder = "shelf"


class Helper(Module):
    """Delegates work."""

    @tool(effects=["execute"])
    async def helper_delegate(self, ctx: ToolContext, prompt: str) -> str:
        """Have a sub-agent do it."""
        return await ctx.run_agent(prompt)


async def test_module_that_names_no_folder_is_refused(agentcore_host):
    bad = type("Bad", (Shelf,), {"name": "bad", "skills_folder": "nowhere", "__module__": __name__})
    host = await agentcore_host(modules=[bad], is_failure_expected=True)
    assert (
        "skills_folder of module 'bad' must be a folder beside the module's file"
        in host.host.modules.records["bad"].reason
    )


BAD_HEADS = {
    "no-fence": ("name: x\n", 1, "has to begin with frontmatter"),
    "no-end": ("---\nname: no-end\n", 1, "no end"),
    "no-name": ("---\ndescription: x\n---\n", 1, "name is missing"),
    "upper": ("---\ndescription: x\nname: Upper\n---\n", 3, "lower-case letters"),
    "double": ("---\nname: a--b\ndescription: x\n---\n", 2, "single hyphens"),
    "long-name": (f"---\nname: {'x' * 65}\ndescription: x\n---\n", 2, "the limit is 64"),
    "no-text": ("---\nname: no-text\ndescription:\n---\n", 3, "description is empty"),
    "long-text": (f"---\nname: long-text\ndescription: {'x' * 1025}\n---\n", 3, "the limit is 1,024"),
    "list": ("---\nname: [a]\ndescription: x\n---\n", 2, "name must be text"),
    "twice": ("---\nname: twice\ndescription: x\nname: other\n---\n", 4, "name is there twice"),
    "colon": ("---\nname: colon\ndescription: Use when: now\n---\n", 3, "has to be in quotes"),
    "alias": ("---\nname: alias\ndescription: *x\n---\n", 3, "not YAML"),
    "deep": (f"---\nname: deep\ndescription: {'[' * 9000}\n---\n", 1, "not YAML"),
    "meta": ("---\nname: meta\ndescription: x\nmetadata: x\n---\n", 4, "metadata must be a mapping"),
    "tools": ("---\nname: tools\ndescription: x\nallowed-tools:\n  - {a: b}\n---\n", 4, "allowed-tools must be text"),
    "huge-head": (f"---\nname: huge-head\n# {'x' * 17_000}\n---\n", 1, "the limit is 16,384"),
}


@pytest.mark.more
async def test_problems_name_file_and_line(open_talk, work):
    for name, (text, _, _) in BAD_HEADS.items():
        write_skill(work / "skills", name, text)
    async with open_talk() as talk:
        found = await listed(talk)
        assert talk.host.policy_changes.waiting == []
    for name, (_, line, message) in BAD_HEADS.items():
        assert found[name]["state"] == "invalid"
        (problem,) = found[name]["problems"]
        assert (problem["type"], problem["line"]) == ("skill_invalid", line), problem
        assert message in problem["message"]
        assert problem["file"] == f"{work}/skills/{name}/SKILL.md"


@pytest.mark.more
async def test_files_that_are_no_good_make_a_skill_invalid(open_talk, work, tmp_path):
    """Links, files that are no text, huge ones, FIFOs."""
    skills = work / "skills"
    (tmp_path / "secret").write_text("SECRET")
    (write_skill(skills, "link") / "out.md").symlink_to(tmp_path / "secret")
    (write_skill(skills, "zero") / "SKILL.md").write_bytes(PDF.encode() + b"\n\0")
    (write_skill(skills, "latin") / "SKILL.md").write_bytes(b"---\nname: latin\ndescription: \xe9\n---\n")
    (write_skill(skills, "huge") / "SKILL.md").write_text(PDF + "x" * 200_000)
    os.mkfifo(write_skill(skills, "fifo") / "pipe")
    many = write_skill(skills, "many")
    for number in range(2_100):
        (many / f"f{number}").touch()
    deep = write_skill(skills, "deep") / "/".join("abcdefghijklmno")
    deep.mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/SKILL.md").write_text(PDF)
    (skills / "outside").symlink_to(tmp_path / "outside")
    async with open_talk() as talk:
        answer = await talk.ask("GET", "/api/skills")
    found = {
        skill["name"]: [(p["type"], p["file"], p.get("line")) for p in skill["problems"]] for skill in answer["skills"]
    }
    assert found == {
        "deep": [("skill_too_large", f"{skills}/deep/a/b/c/d/e/f/g/h/i/j/k/l/m", None)],
        "fifo": [("skill_not_a_file", f"{skills}/fifo/pipe", None)],
        "huge": [("skill_too_large", f"{skills}/huge/SKILL.md", None)],
        "latin": [("skill_not_text", f"{skills}/latin/SKILL.md", 3)],
        "link": [("skill_link", f"{skills}/link/out.md", None)],
        "many": [("skill_too_large", f"{skills}/many", None)],
        "zero": [("skill_not_text", f"{skills}/zero/SKILL.md", 15)],
    }
    assert [(p["type"], p["file"]) for p in answer["problems"]] == [("skill_link", f"{skills}/outside")]


async def test_link_inside_the_workspace_is_the_same_skill(open_talk, work):
    write_skill(work / ".agents/skills", "pdf")
    (work / ".claude/skills").mkdir(parents=True)
    (work / ".claude/skills/pdf").symlink_to("../../.agents/skills/pdf")
    async with open_talk() as talk:
        answer = await talk.ask("GET", "/api/skills")
    assert [skill["folder"] for skill in answer["skills"]] == [f"{work}/.agents/skills/pdf"]


async def test_other_fields_and_names_of_the_folder_are_no_errors(open_talk, work):
    """Fields of other products are ignored; a folder with another name is a warning."""
    head = "---\nname: pdf\ndescription: >\n  Fills\n  forms.\nversion: 1\nallowed-tools: [Read, 'Bash(git add:*)']\n"
    write_skill(work / "skills", "skill", f"{head}metadata: {{a: {{b: c}}}}\n---\r\nDo it.\n")
    async with open_talk() as talk:
        skill = (await listed(talk))["pdf"]
    assert skill["description"] == "Fills forms."
    assert skill["allowedTools"] == ["Read", "Bash(git add:*)"]
    assert [(p["type"], p["isError"]) for p in skill["problems"]] == [("skill_name", False)]
    assert skill["state"] == "new"


async def test_binary_and_large_files_are_reviewed_by_their_digest(open_talk, provider, work):
    path = write_skill(work / "skills", "pdf")
    (path / "logo.png").write_bytes(b"\x89PNG\0")
    (path / "data.csv").write_text("1\n" * 100_000)
    provider.say("", ("1", "read_skill", '{"name": "pdf", "file": "logo.png"}'))
    provider.say("Done.")
    async with open_talk() as talk:
        await listed(talk)
        (change,) = talk.host.policy_changes.waiting
        await talk.accept_instructions()
        await talk.post()
        (path / "logo.png").write_bytes(b"\x89PNG\1")
        state = (await listed(talk))["pdf"]["state"]
    assert "+[200,000 bytes, SHA-256 " in dict(change.proposal.diff)[f"{path}/data.csv"]
    assert "skill_file_not_text" in results_of(provider.requests[1])[0]
    assert state == "changed"


async def test_long_skill_is_read_in_parts(open_talk, provider, work):
    text = PDF + "".join(f"Line {number}.\n" for number in range(5_000))
    write_skill(work / "skills", "pdf", text)
    provider.say("", ("1", "read_skill", '{"name": "pdf"}'))
    provider.say("", ("2", "read_skill", '{"name": "pdf", "start_line": 4000}'))
    provider.say("Done.")
    async with open_talk() as talk:
        await talk.accept_instructions()
        await talk.post()
    first, second = results_of(provider.requests[2])
    assert len(first) < 25_400
    assert "read on with read_skill(name='pdf', file='SKILL.md', start_line=" in first
    assert second.startswith("Line 3996.")
    assert "Line 4999." in second


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"name": "pfd"}, "skill_not_found: there is no skill 'pfd'; did you mean 'pdf'?"),
        ({"name": "pdf", "file": "../../secret"}, "skill_file_not_found"),
        ({"name": "pdf", "file": "/etc/passwd"}, "skill_file_not_found"),
        ({"name": "pdf", "start_line": 1000}, "invalid_arguments"),
        ({"name": "pdf", "start_line": 0.5}, "invalid_arguments"),
        ({"name": "pdf", "start_char": 1000}, "invalid_arguments: line 1 of SKILL.md has"),
        ({"name": "pdf", "start_char": -1}, "invalid_arguments"),
    ],
)
async def test_reading_what_is_not_there_says_what_is(open_talk, provider, work, arguments, error):
    write_skill(work / "skills", "pdf", **{"notes.md": "One."})
    provider.say("", ("1", "read_skill", json.dumps(arguments)))
    provider.say("Done.")
    async with open_talk() as talk:
        await talk.accept_instructions()
        await talk.post()
    assert error in results_of(provider.requests[1])[0]


async def test_skills_are_left_out_for_an_agent_or_a_chat(open_talk, provider, work):
    write_skill(work / "skills", "pdf")
    write_skill(work / "skills", "csv")
    for _ in range(3):
        provider.say("Hi.")
    agents = {"default": {"system_parts": ["*", "!skill:csv"]}, "none": {"system_parts": ["*", "!skills"]}}
    async with open_talk(agents=agents) as talk:
        await talk.accept_instructions()
        session_id = await talk.begin()
        await talk.say(session_id, "hello")
        await talk.ask("PATCH", f"/api/sessions/{session_id}/system", {"told": {"skill:pdf": False, "skill:csv": True}})
        await talk.say(session_id, "again")
        other = await talk.begin(agentId="none")
        await talk.say(other, "hello")
        agents_of = {name: skill["agents"] for name, skill in (await listed(talk)).items()}
    first, second, third = provider.requests
    assert ("Skill pdf" in system_text(first), "Skill csv" in system_text(first)) == (True, False)
    assert ("Skill pdf" in system_text(second), "Skill csv" in system_text(second)) == (False, True)
    assert "Skills are" not in system_text(third)
    assert tools_of(third) == []
    assert agents_of == {"pdf": ["default"], "csv": []}


async def test_message_that_begins_with_a_skill_brings_it_along(open_talk, provider, work):
    write_skill(work / "skills", "pdf")
    provider.say("Done.")
    provider.say("Hm.")
    async with open_talk() as talk:
        await talk.accept_instructions()
        session_id = await talk.begin()
        await talk.say(session_id, "/pdf fill in the form")
        await talk.say(session_id, "/pdfx is no skill")
        items = (await talk.ask("GET", f"/api/sessions/{session_id}/messages"))["items"]
    said = provider.requests[0]["messages"][-1]["content"]
    assert said.startswith("/pdf fill in the form\n\nThe person wants you to use this skill")
    assert "Look at references/forms.md first." in said
    assert provider.requests[1]["messages"][-1]["content"] == "/pdfx is no skill"
    assert [item["text"] for item in items if item["role"] == "user"] == ["/pdf fill in the form", "/pdfx is no skill"]


async def test_many_descriptions_are_shortened(open_talk, provider, work):
    for number in range(40):
        text = f"---\nname: s{number}\ndescription: {'word ' * 200}\n---\nDo it.\n"
        write_skill(work / "skills", f"s{number}", text)
    provider.say("Hi.")
    async with open_talk() as talk:
        for _ in range(5):
            await talk.accept_instructions()
        await talk.post()
    told = system_text(provider.requests[0])
    assert all(f"Skill s{number}: word" in told for number in range(40))
    assert len(told) < 15_000


async def test_agent_without_skills_is_given_none(open_talk, work):
    write_skill(work / "skills", "pdf")
    async with open_talk(agents={"none": {"system_parts": ["*", "!skills"]}}) as talk:
        await talk.accept_instructions()
        off = await talk.ask("PUT", "/api/skills/pdf/agents/none", {"isOn": True}, status=400)
        unknown = await talk.ask("PUT", "/api/skills/nope/agents/default", {"isOn": True}, status=404)
    assert (off["error"]["type"], unknown["error"]["type"]) == ("skills_off", "skill_not_found")


@pytest.mark.processes
@pytest.mark.parametrize("isolation", ["server", "process"])
async def test_skills_of_a_module_are_found_wherever_it_runs_on_this_machine(agentcore_host, isolation):
    host = await agentcore_host(modules=[Shelf()], isolation=isolation)
    (status,) = (await Skills(host.host).list_skills()).skills
    assert (status.found.source, status.found.folder) == ("module:shelf", str(Path(__file__).parent / "shelf" / "csv"))


async def test_sub_agent_reads_skills_too(open_talk, provider, work):
    write_skill(work / "skills", "pdf")
    provider.say("", ("1", "helper_delegate", '{"prompt": "Fill it in."}'))
    provider.say("", ("2", "read_skill", '{"name": "pdf"}'))
    provider.say("Filled in.")
    provider.say("Done.")
    async with open_talk(Helper(), approvals={"mode": "allow"}) as talk:
        await talk.accept_instructions()
        await talk.post()
    assert "Skill pdf: Fills forms" in system_text(provider.requests[1])
    assert "Look at references/forms.md first." in results_of(provider.requests[2])[0]


async def test_skill_that_is_not_accepted_is_not_read_by_its_name(open_talk, provider, work):
    write_skill(work / "skills", "pdf")
    provider.say("Hm.")
    async with open_talk() as talk:
        await talk.post("/pdf fill in the form")
    assert provider.requests[0]["messages"][-1]["content"] == "/pdf fill in the form"


async def test_very_long_line_is_read_in_parts(open_talk, provider, work):
    line = "".join(f"{number:06}," for number in range(15_000))
    write_skill(work / "skills", "pdf", **{"data.json": f"Above\n{line}\nBelow"})
    arguments = {"name": "pdf", "file": "data.json"}
    parts = []
    async with open_talk() as talk:
        await talk.accept_instructions()
        for number in range(8):
            provider.say("", (str(number), "read_skill", json.dumps(arguments)))
            provider.say("Done.")
            await talk.post(session_id=f"s{number}")
            (result,) = results_of(provider.requests[-1])
            assert len(result) < 25_400
            text, _, rest = result.rpartition("\n[")
            parts.append(text)
            found = re.search(r"start_line=(\d+)(?:, start_char=(\d+))?\)\]$", rest)
            if found is None:
                parts[-1] = result
                break
            arguments |= {"start_line": int(found[1]), "start_char": int(found[2] or 1)}
    assert len(parts) > 3
    assert parts[0] == "Above"
    assert "".join(parts[1:]) == f"{line}\nBelow"


async def test_long_list_of_files_leaves_room_for_the_instructions(open_talk, provider, work):
    files = {f"{'long' * 60}__{'long' * 60}{number}.md": "" for number in range(100)}
    write_skill(work / "skills", "pdf", PDF + "x" * 30_000, **files)
    provider.say("", ("1", "read_skill", '{"name": "pdf"}'))
    provider.say("Done.")
    async with open_talk() as talk:
        await talk.accept_instructions()
        await talk.post()
    (result,) = results_of(provider.requests[-1])
    assert len(result) < 25_400
    assert "Look at references/forms.md first." in result
    assert "read on with read_skill(name='pdf', file='SKILL.md', start_line=" in result
