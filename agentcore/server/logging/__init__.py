"""The log: one JSON line per event, without secrets."""

from agentcore.server.logging.log_setup import configure_logging, log_to_file_only, log_to_state_folder
