"""The log: one JSON line an event, nothing secret in it."""

from agentcore.server.logging.setup import configure_logging, log_to_file_only, log_to_state_folder
