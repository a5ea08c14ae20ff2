"""Values of references in settings of modules: the environment at the server's start, and stored secrets."""

from collections.abc import Mapping

from pydantic import SecretStr

from agentcore.config.loading import AppConfig
from agentcore.config.references import References
from agentcore.store.credentials.secret_table import read_secrets
from agentcore.store.state.state_dir import locate_state_dir


def references_of(config: AppConfig, to_come: Mapping[str, SecretStr] | None = None) -> References:
    """Return the values of references in settings of an app.json; secrets are read when one is named.

    Args:
        to_come: Secrets that will be stored together with the settings.
    """

    def kept() -> Mapping[str, SecretStr]:
        secrets = read_secrets(locate_state_dir(config.file, config.sources.environ))
        return {name: secret.value for name, secret in secrets.items()} | dict(to_come or {})

    return References(config.sources.environ, kept)
