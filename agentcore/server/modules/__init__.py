"""Modules over HTTP: their routes, WebSockets and descriptions, and enabling and disabling them."""

from agentcore.server.modules.host_views import HostViews, host_of
from agentcore.server.modules.module_view import ModuleViews
from agentcore.server.modules.pasted import BLOCKS, FoundSecret, exposed_arguments, exposure_warning, secrets_in
from agentcore.server.modules.requirement_views import encode_requirement
