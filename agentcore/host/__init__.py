"""The host: loads modules, routes calls, runs resources."""

from agentcore.config.app_config import AppConfig, load_config
from agentcore.config.errors import ConfigError
from agentcore.host.calls.call import CallOutcome, CallRequest
from agentcore.host.host import Host

__all__ = ["AppConfig", "CallOutcome", "CallRequest", "ConfigError", "Host", "load_config"]
