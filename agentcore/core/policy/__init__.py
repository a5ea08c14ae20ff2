"""What may run: authority of principals, rules, modes, grants, and the facts that they check."""

from agentcore.core.policy.authority import (
    PERSONS,
    Action,
    Decision,
    authorise,
    authorise_route,
    check_mode_change,
    client_in,
    find_reach,
    is_looser,
    owner_of,
    scopes_for,
)
from agentcore.core.policy.grants import GrantOffer
from agentcore.core.policy.page_scripts import PageScripts
