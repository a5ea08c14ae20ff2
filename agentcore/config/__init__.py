"""app.json: its model, the files and environment variables it is merged from, and edits."""

from agentcore.config.app_json import AppDocument, ApprovalsConfig, ClientConfig
from agentcore.config.comments import without_comments
from agentcore.config.config_errors import ConfigChangedError, ConfigError, ConfigProblem
from agentcore.config.config_file import ConfigFile
from agentcore.config.host_config import HostGroupConfig, ProcessHostConfig
from agentcore.config.host_kinds import load_kinds
from agentcore.config.json_edit import with_value, without_value
from agentcore.config.json_source import JsonPath, JsonSource, JsonSyntaxError, format_path
from agentcore.config.layers import DEFAULT, Origin
from agentcore.config.loading import AppConfig, set_modules
from agentcore.config.references import has_reference, has_secret
from agentcore.config.settings_of_modules import RawSettings, module_settings, validate_settings
from agentcore.config.workspace_roots import prepare_roots
from agentcore.config.written_secrets import secrets_to_mask
