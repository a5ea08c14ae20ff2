"""No secret is shown, wherever it stands: in the settings as they are, or in the diff of a change."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.api import BaseModel, Field, Module, SecretStr
from agentcore.config.config_errors import ConfigError
from agentcore.config.config_file import ConfigFile
from agentcore.config.json_source import JsonSource
from agentcore.config.loading import AppConfig
from agentcore.core.declarations.manifest import Manifest
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.settings.display import diff_of, redact_settings
from agentcore.core.settings.settings_change import SettingChange, plan_changes
from agentcore.core.settings.settings_document import SettingsDocument, SettingsSubject

SECRET = "sesame-7f3a"
PLAIN = st.none() | st.booleans() | st.integers() | st.sampled_from(["a", "b", "https://example.org"])
HIDING = st.recursive(
    st.just(SECRET) | PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "token", "key"]), inner, max_size=3)
    ),
    max_leaves=5,
)


class Account(BaseModel):
    user: str = ""
    password: SecretStr | None = None


class Weather(Module):
    name = "weather"

    class Settings(Module.Settings):
        api_key: SecretStr | None = None
        tokens: tuple[SecretStr, ...] = ()
        account: Account | None = None
        accounts: dict[str, Account] = Field(default_factory=dict)
        either: SecretStr | int = 0
        headers: dict[str, str] = Field(default_factory=dict)
        unit: str = "C"


def account() -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({}, optional={"user": PLAIN, "password": HIDING, "pasword": HIDING}) | PLAIN


WEATHER = st.fixed_dictionaries(
    {},
    optional={
        "api_key": HIDING,
        "tokens": HIDING,
        "account": account(),
        "accounts": st.dictionaries(st.sampled_from(["x", "y"]), account(), max_size=2),
        "either": HIDING,
        "headers": st.fixed_dictionaries({}, optional={"Authorization": HIDING, "X-Api-Key": HIDING, "Accept": PLAIN}),
        "apy_key": HIDING,
        "unit": PLAIN,
    },
)
APP = st.fixed_dictionaries(
    {
        "config": st.fixed_dictionaries(
            {}, optional={"weather": WEATHER, "other": st.dictionaries(st.just("odd"), HIDING)}
        )
    },
    optional={
        "modules": st.just([]),
        "models": st.dictionaries(st.just("m"), st.dictionaries(st.sampled_from(["api_key", "secret"]), HIDING)),
        "limits": st.just({"stop_grace": 1}),
        "sekrets": HIDING,
    },
)


def subject() -> SettingsSubject:
    manifest = Manifest(config_key="weather", settings=Weather.Settings)
    record = ModuleRecord("weather")
    record.adopt_plugin(Weather())
    record.declare(manifest)
    return SettingsSubject.of_module(AppConfig(), record)


def file(name: str, value: Any) -> ConfigFile:
    return ConfigFile(Path("/nowhere") / name, JsonSource(json.dumps(value, indent=2)), exists=True)


def diff(document: SettingsDocument, change: SettingChange) -> str:
    try:
        plan = plan_changes(document, [change])
    except Exception as exc:  # what cannot be changed says so without the secret, too
        return str(exc)
    return "\n".join(text for _, text in diff_of(plan.before, plan.after))


@pytest.mark.more
@given(APP, WEATHER)
def test_secret_of_a_module_is_nowhere_in_what_is_shown(app: Any, own: Any) -> None:
    document = subject().merge_files(file("app.json", app), file("weather.json", own))
    assert SECRET not in json.dumps(redact_settings(document).values, default=str)
    assert SECRET not in "\n".join(str(problem) for problem in document.problems)
    assert SECRET not in diff(document, SettingChange(("unit",), "K"))
    assert SECRET not in diff(document, SettingChange(("api_key",), SECRET))
    assert SECRET not in diff(document, SettingChange(("headers",), {"X-Api-Key": SECRET}))
    assert SECRET not in diff(document, SettingChange(("tokens",), is_removal=True))


@given(APP)
def test_secret_is_nowhere_in_what_is_shown_of_the_server(app: Any) -> None:
    document = SettingsSubject.of_app(AppConfig()).merge_files(file("app.json", app), None)
    assert SECRET not in json.dumps(redact_settings(document).values)
    assert SECRET not in "\n".join(str(problem) for problem in document.problems)
    assert SECRET not in diff(document, SettingChange(("locale",), "zh"))


def test_place_that_json_cannot_lead_through_is_an_error() -> None:
    document = subject().merge_files(file("app.json", {}), file("weather.json", {"account": "me"}))
    with pytest.raises(ConfigError, match="is not an object"):
        plan_changes(document, [SettingChange(("account", "user"), "you")])
