"""A real llama.cpp server that needs a key: it is found, asks for its key, and a chat with it works."""

import pytest

from agentcore.chat.model.local_servers import KnownServer
from tests.chat.test_setup import confirm

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("start_llama"), pytest.mark.spec("C5")]

KEY = "sk-of-the-llama"
_ANSWER_S = 300
"""A model that runs on the processor of a busy machine takes its time."""
PATH = "/api/chat/providers/llama_cpp"


async def test_locked_llama_is_found_asks_for_its_key_and_answers(open_talk, start_llama, text_of):
    base_url = f"{start_llama(2048, KEY)}/v1"
    place = {"kind": "llama_cpp", "baseUrl": base_url}
    async with open_talk(models={}) as talk:
        talk.client.server.app.dispatcher.parts.chat.setup.places = (KnownServer("llama_cpp", base_url),)
        (locked,) = (await talk.ask("POST", "/api/chat/local-servers"))["found"]
        assert locked == {**place, "models": [], "needsKey": True, "provider": None}

        wrong = await talk.ask("POST", f"{PATH}/test", {"key": "sk-wrong", "baseUrl": base_url}, status=400)
        assert wrong["error"]["type"] == "provider_unauthorized"
        assert "sk-wrong" not in str(wrong)

        checked = await talk.ask("POST", f"{PATH}/test", {"key": KEY, "baseUrl": base_url})
        await talk.ask("PUT", PATH, {"key": KEY, "baseUrl": base_url}, status=403)
        await confirm(talk)
        (found,) = (await talk.ask("POST", "/api/chat/local-servers"))["found"]
        assert (found["needsKey"], found["provider"]) == (False, "llama_cpp")
        (model,) = found["models"]
        assert model in checked["models"]

        events = await talk.post("Hello.", model=f"llama_cpp:{model}", limit_s=_ANSWER_S)
        errors = {event["error"]["type"] for event in events if "error" in event}
        assert errors <= {"answer_cut"}, events  # the server ends each answer early
        assert text_of(events).strip()
