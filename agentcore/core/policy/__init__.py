"""What may run: authority of principals, rules, modes, grants and what they look at."""

from agentcore.core.policy.authority import (
    PERSONS,
    Action,
    Decision,
    authorise,
    authorise_route,
    check_mode_change,
    client_in,
    is_looser,
    owner_of,
    reach,
    scopes_for,
)
from agentcore.core.policy.grants import GrantOffer
