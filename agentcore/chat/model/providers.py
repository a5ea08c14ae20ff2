"""The providers of models, one record each. A new one needs its name here, a record, and an adapter."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Literal

from agentcore.late_dataclasses import dataclass
from agentcore.tool_formats.dialects import DIALECTS, Dialect

ProviderName = Literal["openai", "anthropic", "openai_responses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider of models, or a protocol that many servers speak.

    Attributes:
        name: Its name in app.json and the API; `NAME:MODEL` names one of its models.
        label: Its name for users, by language.
        base_url: Its own address, which is used if no other is set.
        models_path: Path of the list of its models, relative to the address.
        key_header: The header that carries the key, and the prefix of the key in it.
        headers: Further headers that every request needs.
        key_prefix: Prefix of its own keys, by which a key that was entered for another provider is recognised.
        key_variable: The environment variable of its key.
        base_url_variable: The environment variable of another address; empty: there is none.
        is_alternative: True if it is another protocol of a provider that has its key already: a key in the environment
            does not set it up, but is used once it was set up otherwise.
        usual_model: The model that is used at its own address if none is named.
        model_prefix: Prefix of its models' names; empty: there is no such rule.
        marks_failures: True if its protocol marks failed results; otherwise only their text says so.
        dialect: Its dialect of tool schemas, at its own address.
        strict_dialect: The dialect with which it enforces the schema; None: it cannot.
        marks_cache: True if requests mark how far to cache them; other providers detect equal beginnings themselves.
        needs_definitions: True if it refuses requests with calls in their history and no definitions of tools.
        adapter: The module with its `create_model(choice)`; imported at first use, because its library takes a second.
    """

    name: ProviderName
    label: Mapping[str, str]
    base_url: str
    models_path: str
    key_header: tuple[str, str]
    headers: Mapping[str, str]
    key_prefix: str
    key_variable: str
    base_url_variable: str
    usual_model: str
    model_prefix: str
    marks_failures: bool
    dialect: Dialect
    strict_dialect: Dialect | None
    marks_cache: bool
    needs_definitions: bool
    adapter: str
    is_alternative: bool = False

    def dialect_at(self, base_url: str | None, *, is_strict: bool) -> Dialect:
        """Return the dialect of tool schemas at an address; at another one than its own, the portable dialect."""
        if is_strict and self.strict_dialect is not None:
            return self.strict_dialect
        is_own = base_url is None or base_url.rstrip("/") == self.base_url
        return self.dialect if is_own else DIALECTS["portable"]

    def request_headers(self, key: str) -> dict[str, str]:
        """Return the headers of a request; without the key header if the key is empty, as for local servers."""
        header, before = self.key_header
        return {**self.headers, **({header: f"{before}{key}"} if key else {})}


OPENAI = Provider(
    name="openai",
    label={"en": "OpenAI-compatible", "zh": "OpenAI 兼容"},
    base_url="https://api.openai.com/v1",
    models_path="/models",
    key_header=("Authorization", "Bearer "),
    headers={},
    key_prefix="",
    key_variable="OPENAI_API_KEY",
    base_url_variable="OPENAI_BASE_URL",
    usual_model="gpt-5",
    model_prefix="",
    marks_failures=False,
    dialect=DIALECTS["openai"],
    strict_dialect=DIALECTS["openai_strict"],
    marks_cache=False,
    needs_definitions=False,
    adapter="agentcore.chat.model.openai_model",
)
"""Source: https://platform.openai.com/docs/api-reference/models/list."""

OPENAI_RESPONSES = replace(
    OPENAI,
    name="openai_responses",
    label={"en": "OpenAI (responses)", "zh": "OpenAI（responses）"},
    base_url_variable="",
    adapter="agentcore.chat.model.openai_responses_model",
    is_alternative=True,
)
"""Source: https://platform.openai.com/docs/api-reference/responses."""

ANTHROPIC = Provider(
    name="anthropic",
    label={"en": "Anthropic", "zh": "Anthropic"},
    base_url="https://api.anthropic.com",
    models_path="/v1/models?limit=1000",
    key_header=("x-api-key", ""),
    headers={"anthropic-version": "2023-06-01"},
    key_prefix="sk-ant-",
    key_variable="ANTHROPIC_API_KEY",
    base_url_variable="ANTHROPIC_BASE_URL",
    usual_model="claude-sonnet-4-5",
    model_prefix="claude-",
    marks_failures=True,
    dialect=DIALECTS["anthropic"],
    strict_dialect=None,
    marks_cache=True,
    needs_definitions=True,
    adapter="agentcore.chat.model.anthropic_model",
)
"""Source: https://docs.anthropic.com/en/api/models-list."""

PROVIDERS: Mapping[ProviderName, Provider] = {
    provider.name: provider for provider in (OPENAI, ANTHROPIC, OPENAI_RESPONSES)
}
"""All providers by name, in the order in which they are shown."""

DEFAULT_PROVIDER: ProviderName = "openai"
"""The provider of a model, and the protocol of a server, unless specified otherwise."""


def provider_and_model(name: str, names: Collection[str] = PROVIDERS) -> tuple[str, str]:
    """Parse a name, by its `provider:` or a prefix of the model; names of local models may contain colons.

    Args:
        name: The name.
        names: The providers that may be before the colon.
    """
    head, colon, rest = name.partition(":")
    if colon and head in names:
        return head, rest
    for provider in PROVIDERS.values():
        if provider.model_prefix and name.startswith(provider.model_prefix):
            return provider.name, name
    return DEFAULT_PROVIDER, name
