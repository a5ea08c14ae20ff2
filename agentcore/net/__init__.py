"""Addresses that modules may contact: the shared URL policy, patterns of hosts and of URLs."""

from agentcore.net.loopback import is_loopback_name
from agentcore.net.url_pattern import host_of
