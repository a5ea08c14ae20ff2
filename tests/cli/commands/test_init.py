"""`agentcore init`."""

import json

import pytest


@pytest.mark.more
@pytest.mark.spec("M1")
def test_app_json_lists_what_is_installed_and_the_workspace_is_made(empty_place):
    empty_place.add_module("clock", "def init(runtime): pass\n")
    done = empty_place.run("init")
    assert done.code == 0
    assert "clock" in json.loads((empty_place.folder / "app.json").read_text())["modules"]
    assert (empty_place.folder / "workspace").is_dir()
    assert empty_place.run("modules", "info", "clock").code == 0


def test_app_json_that_is_there_is_never_overwritten(place):
    before = (place.folder / "app.json").read_bytes()
    done = place.run("init")
    assert done.code == 2
    assert "was left as it is" in done.err
    assert (place.folder / "app.json").read_bytes() == before


def test_output_says_what_a_chat_would_use_and_ends_with_the_next_command(empty_place):
    lines = empty_place.run("init", environ={"OPENAI_API_KEY": "sk-secret-1"}).out.splitlines()
    assert lines[-2] == "Model: gpt-5 (OpenAI-compatible, with the key in OPENAI_API_KEY)"
    assert lines[-1] == "Next: agentcore serve --open"


def test_next_command_names_an_app_json_elsewhere(empty_place):
    lines = empty_place.run("init", "deep").out.splitlines()
    assert lines[-2].startswith("Model: ")
    assert lines[-1] == "Next: agentcore serve --open --config deep/app.json"


def test_folder_is_made(empty_place):
    assert empty_place.run("init", "deep/er").code == 0
    assert (empty_place.folder / "deep" / "er" / "app.json").is_file()


def test_folder_that_cannot_be_made_is_an_error(empty_place):
    (empty_place.folder / "file").write_text("")
    done = empty_place.run("init", "file/below")
    assert done.code == 2
    assert "cannot write" in done.err
