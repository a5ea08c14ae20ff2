"""The records of providers: all that the rest reads of one."""

from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest

from agentcore.chat.model.local_servers import PLACES
from agentcore.chat.model.providers import DEFAULT_PROVIDER, PROVIDERS, ProviderName, provider_and_model
from agentcore.chat.model.services import SERVICES

pytestmark = pytest.mark.spec("C5")


def test_each_name_has_its_record_and_the_other_way_round():
    assert get_args(ProviderName) == tuple(PROVIDERS)
    assert [provider.name for provider in PROVIDERS.values()] == list(PROVIDERS)


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=list(PROVIDERS))
def test_each_record_is_whole(provider):
    assert set(provider.label) == {"en", "zh"}
    assert provider.base_url.startswith("https://")
    assert not provider.base_url.endswith("/")
    assert find_spec(provider.adapter) is not None


def test_key_stands_in_the_header_of_its_provider_and_none_where_there_is_no_key():
    openai, anthropic = PROVIDERS["openai"], PROVIDERS["anthropic"]
    assert openai.request_headers("k") == {"Authorization": "Bearer k"}
    assert openai.request_headers("") == {}
    assert anthropic.request_headers("k") == {"anthropic-version": "2023-06-01", "x-api-key": "k"}
    assert anthropic.request_headers("") == {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("anthropic:some", ("anthropic", "some")),
        ("openai:claude-like", ("openai", "claude-like")),
        ("claude-x", ("anthropic", "claude-x")),
        ("qwen3:8b", (DEFAULT_PROVIDER, "qwen3:8b")),
        ("openai", (DEFAULT_PROVIDER, "openai")),
    ],
)
def test_name_says_its_provider_or_means_one(name, expected):
    assert provider_and_model(name) == expected


def test_documentation_has_each_address_and_each_variable():
    page = (Path(__file__).parents[3] / "docs" / "providers.md").read_text()
    known = [place.base_url for place in PLACES]
    for service in SERVICES.values():
        known += [service.base_url or service.example_url, service.key_variable]
    known += [text for provider in PROVIDERS.values() for text in (provider.base_url, provider.usual_model)]
    known = [text for text in known if text]
    assert [name for name in known if f"`{name}`" not in page] == []
