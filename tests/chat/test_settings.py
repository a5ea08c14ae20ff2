"""Which models and agents there are."""

import pytest

from agentcore.api import ToolError
from agentcore.chat.settings import AgentConfig, ChatSettings

pytestmark = pytest.mark.spec("C5")
OPENAI = {"OPENAI_API_KEY": "sk-1"}
BOTH = {**OPENAI, "ANTHROPIC_API_KEY": "sk-2"}


def choose(wanted=None, *, models=None, environ=OPENAI, agent=None):
    return ChatSettings.from_config(models, {}, environ).choose_model(wanted, agent or AgentConfig())


@pytest.mark.parametrize(
    ("wanted", "environ", "provider", "model"),
    [
        ("openai:gpt-x", OPENAI, "openai", "gpt-x"),
        ("anthropic:claude-x", BOTH, "anthropic", "claude-x"),
        ("claude-x", BOTH, "anthropic", "claude-x"),
        ("qwen3:8b", {"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1"}, "openai", "qwen3:8b"),
        ("deepseek-chat", OPENAI, "openai", "deepseek-chat"),
    ],
)
def test_name_leads_to_its_provider(wanted, environ, provider, model):
    choice = choose(wanted, environ=environ)
    assert (choice.provider, choice.model) == (provider, model)


def test_agent_s_model_comes_before_the_first_of_the_list():
    models = {"first": {}, "second": {"model": "m2"}}
    assert choose(models=models).model == "first"
    assert choose(models=models, agent=AgentConfig(model="second")).model == "m2"
    assert choose("first", models=models, agent=AgentConfig(model="second")).model == "first"


@pytest.mark.parametrize(
    ("environ", "provider", "model"),
    [(OPENAI, "openai", "gpt-5"), ({"ANTHROPIC_API_KEY": "sk-2"}, "anthropic", "claude-sonnet-4-5")],
)
def test_only_provider_with_a_key_is_asked_when_no_model_is_named(environ, provider, model):
    choice = choose(None, environ=environ)
    assert (choice.provider, choice.model) == (provider, model)


def test_key_of_the_environment_does_not_go_to_an_address_that_does_not_name_it():
    models = {"a": {"base_url": "http://elsewhere"}, "b": {"base_url": "http://here", "api_key_env": "OPENAI_API_KEY"}}
    assert choose("a", models=models).api_key.get_secret_value() == ""
    assert choose("b", models=models).api_key.get_secret_value() == "sk-1"


def test_key_is_not_shown():
    assert "sk-1" not in repr(choose("openai:x"))


@pytest.mark.parametrize(
    ("wanted", "models", "environ", "error_type"),
    [
        (None, {}, {}, "model_not_configured"),
        ("gpt-x", {}, {}, "model_not_configured"),
        (None, {}, {**OPENAI, "ANTHROPIC_API_KEY": "sk-2"}, "model_not_configured"),
        (None, {}, {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "model_not_configured"),
        ("claude-x", {}, OPENAI, "model_not_found"),
        ("gpt-x", {"m": {}}, {}, "model_not_found"),
    ],
)
def test_model_that_cannot_be_asked_says_why(wanted, models, environ, error_type):
    with pytest.raises(ToolError) as caught:
        choose(wanted, models=models, environ=environ)
    assert caught.value.type == error_type


def test_wrong_settings_name_the_place_and_no_value():
    with pytest.raises(ToolError, match=r"m\.tools") as caught:
        ChatSettings.from_config({"m": {"tools": "secret-value"}}, {}, {})
    assert caught.value.type == "invalid_settings"
    assert "secret-value" not in caught.value.message


def test_agent_offers_what_its_patterns_say():
    agent = AgentConfig(tools=("read_*", "!read_secret"))
    assert [agent.offers_tool(name) for name in ("read_file", "read_secret", "write_file")] == [True, False, False]
