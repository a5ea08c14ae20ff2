"""What may run: authority of principals, rules, modes, grants and what they look at."""

from agentcore.host.policy.authority import (
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
from agentcore.host.policy.grants import GrantOffer
