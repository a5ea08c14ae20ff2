"""Settings as users see and change them: schema, values with origins, effects of a change."""

from agentcore.core.settings.app_schema import installed_schema, module_schema
from agentcore.core.settings.display import diff_of, masked_part, redact_settings, to_json_pointer
from agentcore.core.settings.secret_users import users_of_secrets
from agentcore.core.settings.settings_change import SettingChange, SettingsPlan, plan_changes, save_block_settings
from agentcore.core.settings.settings_confirmation import needs_user_confirmation
from agentcore.core.settings.settings_document import SettingsDocument, SettingsSubject
from agentcore.core.settings.settings_schema import SettingsSchema
from agentcore.core.settings.unapplied_settings import waits_for_reload, waits_for_restart
