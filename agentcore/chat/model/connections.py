"""Providers that are set up: each has a name, an address, a key, and the protocol of its service."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from agentcore.chat.model.providers import DEFAULT_PROVIDER, PROVIDERS, Provider
from agentcore.chat.model.services import SERVICES, Service
from agentcore.late_dataclasses import dataclass

PROVIDER_NAME = r"^[a-z][a-z0-9_-]{0,39}$"
ProviderId = Annotated[str, Field(pattern=PROVIDER_NAME)]
"""The name of a provider that is set up."""

KeyOrigin = Literal["environment", "stored"]
_NO_KEY = SecretStr("")


def _check_service(name: str | None) -> str | None:
    if name is not None and name not in SERVICES:
        raise ValueError(f"there is no such service; there are: {', '.join(SERVICES)}")
    return name


class ProviderConfig(BaseModel, defer_build=True):
    """One provider of app.json's `providers`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    service: Annotated[
        str | None,
        Field(description="What it is, such as `deepseek`; left out: what its name says, else `openai`."),
    ] = None
    base_url: Annotated[str | None, Field(description="Address of the API; else the service's own.")] = None
    api_key_env: Annotated[
        str | None, Field(description="The environment variable that holds the key; else the service's usual one.")
    ] = None

    _known = field_validator("service")(_check_service)


class StoredProvider(BaseModel, defer_build=True):
    """The service, key and address that a user entered for one provider."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    service: str | None = None
    key: Annotated[SecretStr | None, Field(max_length=1000)] = None
    base_url: Annotated[str | None, Field(max_length=1000)] = None

    _known = field_validator("service")(_check_service)


@dataclass(frozen=True, slots=True)
class Connection:
    """A provider as requests use it.

    Args:
        name: Its name; `NAME:MODEL` names one of its models.
        service: What it is.
        base_url: Its address; None: the protocol's own.
        key: Its key; empty if there is none.
        key_origin: Where the key is from; None if there is none.
        has_own_address: True if an address was set for it.
        is_fixed: True if the environment sets it, so that what is entered has no effect.
        is_named: True if app.json names it, so that its address is changed there.
    """

    name: str
    service: Service
    base_url: str | None
    key: SecretStr = _NO_KEY
    key_origin: KeyOrigin | None = None
    has_own_address: bool = False
    is_fixed: bool = False
    is_named: bool = False

    @property
    def protocol(self) -> Provider:
        """The protocol that it speaks."""
        return PROVIDERS[self.service.protocol]

    @property
    def is_usable(self) -> bool:
        """True if it can be asked: it has a key, or an address that may need none."""
        return bool(self.key.get_secret_value()) or self.has_own_address or self.service.is_local


def service_named(name: str, service: str | None = None) -> Service:
    """Return the service of a provider: the given one, else the one of its name, else any with the default protocol."""
    return SERVICES[service or (name if name in SERVICES else DEFAULT_PROVIDER)]


def find_connections(
    environ: Mapping[str, str], configured: Mapping[str, ProviderConfig], stored: Mapping[str, StoredProvider]
) -> dict[str, Connection]:
    """Return the providers that are set up, by name.

    The environment overrides what is stored, entirely, because a key that was entered for one address must not be sent
    to another. app.json overrides both, and uses a stored key only if it was entered for the address in app.json.
    """
    found = {name: _from_store(name, entry) for name, entry in stored.items()}
    for service in SERVICES.values():
        found |= _in_environ(service, environ)
    found |= {name: _from_config(name, config, environ, stored.get(name)) for name, config in configured.items()}
    order = [*SERVICES, *found]
    return dict(sorted(found.items(), key=lambda item: order.index(item[0])))


def _from_store(name: str, entry: StoredProvider) -> Connection:
    service = service_named(name, entry.service)
    return Connection(
        name,
        service,
        entry.base_url or service.default_base_url,
        entry.key or _NO_KEY,
        "stored" if entry.key is not None else None,
        has_own_address=entry.base_url is not None,
    )


def _in_environ(service: Service, environ: Mapping[str, str]) -> dict[str, Connection]:
    protocol = PROVIDERS[service.protocol]
    if protocol.is_alternative:
        return {}
    key = environ.get(service.key_variable, "")
    base_url = environ.get(protocol.base_url_variable) if service.name == service.protocol else None
    address = base_url or service.default_base_url
    if not (key or base_url) or not (address or service.base_url):
        return {}
    origin: KeyOrigin | None = "environment" if key else None
    own = bool(base_url)
    return {
        service.name: Connection(
            service.name, service, address, SecretStr(key), origin, has_own_address=own, is_fixed=True
        )
    }


def _from_config(
    name: str, config: ProviderConfig, environ: Mapping[str, str], stored: StoredProvider | None
) -> Connection:
    service = service_named(name, config.service)
    base_url = config.base_url or service.default_base_url
    # a key of the environment is sent only to the service's own address, or if app.json names its variable
    variable = config.api_key_env or ("" if config.base_url else service.key_variable)
    key: SecretStr | None = SecretStr(environ[variable]) if environ.get(variable) else None
    origin: KeyOrigin | None = None if key is None else "environment"
    if key is None and stored is not None and stored.key is not None and _from_store(name, stored).base_url == base_url:
        key, origin = stored.key, "stored"
    return Connection(
        name,
        service,
        base_url,
        key or _NO_KEY,
        origin,
        has_own_address=config.base_url is not None,
        is_fixed=origin == "environment" or config.api_key_env is not None,
        is_named=True,
    )
