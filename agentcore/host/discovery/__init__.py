"""Where the code of modules is found: entry points, local folders, what they need."""

from agentcore.host.discovery.families import FamilyMember, name_of_block, nameless_blocks
from agentcore.host.discovery.finding import (
    Found,
    ModuleNotChosen,
    candidates,
    choose_command,
    find_module,
    installed_names,
)
from agentcore.host.discovery.installed import Family, installed_families
