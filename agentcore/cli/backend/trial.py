"""Starts one module of an app.json on trial in this process, independently of a running server."""

import os
import tempfile
from pathlib import Path

from agentcore.cli.options import is_verbose
from agentcore.cli.terminal.verbose import set_up_log
from agentcore.core.discovery.families import load_config
from agentcore.core.module_code.process_exit import bounded_runner
from agentcore.core.process_privacy import hide_secrets
from agentcore.core.trial import Trial, try_module


def run_trial(config_path: Path, name: str) -> Trial:
    """Start a module, inspect it, and stop it.

    Raises:
        ConfigError: app.json is invalid.
    """
    hide_secrets()
    set_up_log(is_verbose=is_verbose())
    config = load_config(config_path, os.environ)
    with (
        tempfile.TemporaryDirectory(prefix="agentcore-trial-", ignore_cleanup_errors=True) as folder,
        bounded_runner() as runner,
    ):
        return runner.run(try_module(config, name, Path(folder)))
