"""Settings as people see and change them: schema, values with origins, what a change does."""

from agentcore.host.settings.change import SettingChange, SettingsPlan, plan_changes
from agentcore.host.settings.confirmation import needs_person
from agentcore.host.settings.display import diff_of, masked_part, pointer, shown
from agentcore.host.settings.document import SettingsDocument, SettingsSubject
from agentcore.host.settings.json_schema import installed_schema, module_schema
from agentcore.host.settings.pending import waits_for_reload, waits_for_restart
from agentcore.host.settings.secret_users import users_of_secrets
from agentcore.host.settings.settings_schema import SettingsSchema
