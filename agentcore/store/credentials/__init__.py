"""Credentials: page sessions, keys of clients and hosts, one-time codes, secrets."""

from agentcore.store.credentials.client_keys import KEY_PREFIX, ClientKeys, ClientKind, KnownClient, PairedKind
from agentcore.store.credentials.host_keys import HOST_KEY_PREFIX, HostKeys, KnownHost
from agentcore.store.credentials.module_secrets import ModuleSecrets, delete_module_secrets
from agentcore.store.credentials.one_time_codes import CODE_SECONDS
from agentcore.store.credentials.page_sessions import IDLE_DAYS, PageSessions
from agentcore.store.credentials.secret_table import (
    check_secret,
    check_secret_exists,
    read_secrets,
    remove_secret,
    save_secret,
)
