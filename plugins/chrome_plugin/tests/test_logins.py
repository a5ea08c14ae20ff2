"""Log-ins that servers ask for by HTTP: those of the settings, those that a person gives, and none."""

import pytest

from agentcore.api import ToolError
from agentcore.core.calls.chat_protocols import Reply
from agentcore.core.settings.display import redact_settings
from agentcore.core.settings.settings_document import SettingsSubject

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("B9")

LOGIN = "ada:s3cret:word"


@pytest.mark.parametrize("tool", ["browser_navigate", "chrome_new_tab"])
async def test_login_of_the_settings_is_given_to_its_host_alone(start_host, site, other_site, tool):
    host = await start_host(basic_auth={site.address.removeprefix("http://"): LOGIN})
    given = {"browserId": (await host.call("chrome_launch")).data["browserId"]} if tool == "chrome_new_tab" else {}
    assert (await host.call(tool, url=site.url("/guarded"), **given)).data["title"] == "Inside"
    with pytest.raises(ToolError) as caught:
        await host.call(tool, url=other_site.url("/guarded"), **given)
    assert caught.value.type == "login_required"
    assert LOGIN not in str(caught.value) + shown_settings(host)


@pytest.mark.more
@pytest.mark.parametrize("path", ["/guarded", "/guarded-empty"])
async def test_login_that_nobody_has_set_or_can_be_asked_for_names_its_setting(act, fails, site, path):
    error = await fails("browser_navigate", url=site.url(path))
    assert error.type == "login_required"
    assert all(part in error.message for part in ("basic_auth", site.address, "nobody could be asked"))
    assert (await act("browser_navigate", url=site.url("/"))).data["title"] == "Home"


@pytest.mark.more
async def test_login_that_is_wrong_is_said_to_be(start_host, site):
    host = await start_host(("browser",), basic_auth={site.address: "ada:wrong"})
    with pytest.raises(ToolError, match="not accepted") as caught:
        await host.call("browser_navigate", url=site.url("/guarded"))
    assert caught.value.type == "login_required"


@pytest.mark.more
async def test_person_who_can_be_asked_gives_it_and_the_model_does_not_see_it(start_host, site):
    host = await start_host(("browser",))
    person = host.host.conversation.chat = Person(["ada:no", "no", LOGIN])
    for said in ("not accepted", "the person gave none"):
        with pytest.raises(ToolError, match=said):
            await host.call("browser_navigate", url=site.url("/guarded"))
    result = await host.call("browser_navigate", url=site.url("/guarded"))
    assert (result.data["title"], "s3cret" in str(result)) == ("Inside", False)
    assert (await host.call("browser_reload")).data["title"] == "Inside"
    assert all(site.address in question for question in person.asked)
    assert len(person.asked) == 3


class Person:
    """Answers questions, one after the other."""

    def __init__(self, answers):
        self.asked, self._answers = [], iter(answers)

    def session_of(self, call):
        return None

    async def hosts_of(self, session_id):
        return []

    async def ask_user(self, call, inquiry):
        self.asked.append(inquiry.text)
        return Reply(next(self._answers))


def shown_settings(host):
    """The module's settings as the page and the API show them."""
    record = host.host.modules.records["browser"]
    return repr(redact_settings(SettingsSubject.of_module(host.host.config, record).read_document()))
