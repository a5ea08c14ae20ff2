"""The chat of a server is created when it is used."""

import pytest

from agentcore.chat.model.providers import PROVIDERS
from agentcore.chat.model.services import SERVICES
from agentcore.server.late_chat import has_provider_variable

_VARIABLES = sorted(
    {service.key_variable for service in SERVICES.values()}
    | {provider.key_variable for provider in PROVIDERS.values()}
    | {provider.base_url_variable for provider in PROVIDERS.values()}
)


@pytest.mark.parametrize("name", [name for name in _VARIABLES if name])
def test_each_variable_of_a_provider_is_known_without_the_chat(name: str) -> None:
    assert has_provider_variable({name: "x"})
    assert not has_provider_variable({name: ""})


async def test_a_server_opens_the_chat_at_the_first_request_for_it(bare_server) -> None:
    late_chat = bare_server.app.dispatcher.parts.late_chat
    assert not late_chat.is_open

    assert (await bare_server.get("/api/tools"))[0] == 200
    assert not late_chat.is_open
    assert (await bare_server.get("/api/sessions"))[0] == 200

    assert late_chat.is_open
