"""What a shell completes."""

import pytest


def complete(place, *words):
    """What is offered for the last word."""
    environ = {
        "_AGENTCORE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["agentcore", *words]),
        "COMP_CWORD": str(len(words)),
    }
    return [line.partition(",")[2] for line in place.run(environ=environ).out.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_is_printed(place, shell):
    done = place.run("completion", shell)
    assert done.code == 0
    assert "_AGENTCORE_COMPLETE" in done.out


def test_commands_are_completed(place):
    assert complete(place, "mo") == ["modules"]
    assert complete(place, "modules", "re") == ["reload"]


def test_options_of_a_former_name_are_completed_and_the_name_itself_is_not(place):
    assert complete(place, "ag") == []
    assert complete(place, "agent", "--po") == complete(place, "host", "--po") == ["--pool"]


@pytest.mark.more
def test_tools_and_their_arguments_are_completed_once_they_were_seen(place):
    assert complete(place, "call", "clock_") == []
    place.run("tools")
    assert complete(place, "call", "clock_t") == ["clock_text"]
    assert complete(place, "tools", "clock_w") == ["clock_wait"]
    assert complete(place, "call", "clock_now", "co") == ["count="]


def test_modules_are_completed(place):
    assert complete(place, "modules", "disable", "cl") == ["clock"]


def test_broken_app_json_completes_nothing_and_says_nothing(place):
    (place.folder / "app.json").write_text("{")
    assert complete(place, "modules", "disable", "cl") == []


def test_hosts_are_completed(place):
    (place.folder / "app.json").write_text('{"hosts": {"away": {"kind": "process", "modules": ["clock"]}}}')
    assert complete(place, "hosts", "restart", "a") == ["away"]
