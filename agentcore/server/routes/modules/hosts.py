"""Routes for hosts: their state, and restarting one."""

from functools import partial

from agentcore.core.approvals.policy_changes import Proposal
from agentcore.encoding import to_json
from agentcore.server.confirmation import propose_change
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.modules.host_views import HostList, HostView
from agentcore.server.route_table import ServerRoute


async def get_hosts(exchange: Exchange) -> Answer:
    """Send all hosts."""
    return Answer(to_json(exchange.parts.host_views.list_hosts()))


async def restart_host(exchange: Exchange) -> Answer:
    """Stop a host in order and start its modules again, with the code that is on the disk then."""
    core = exchange.core
    switch = exchange.parts.switch
    name = exchange.path_values["name"]
    modules = core.find_host(name).describe_host().modules
    if await switch.must_confirm_restart(exchange.principal, modules):
        again = [record.name for record in core.modules.restarted_with(modules)]
        apply = await switch.only_if_code_unchanged(again, partial(core.restart_host, name))
        raise propose_change(core.policy_changes, exchange.principal, Proposal("host_restart", name, (), ()), apply)
    await core.restart_host(name)
    return Answer(to_json(exchange.parts.host_views.show_host(name)))


ROUTES = (
    ServerRoute(
        "GET",
        "/api/hosts",
        get_hosts,
        "The hosts of app.json: how each stands and why, its modules, its memory, and what goes on in it.",
        answer=HostList,
    ),
    ServerRoute(
        "POST",
        "/api/hosts/{name}/restart",
        restart_host,
        "End a host in order, and start its modules again, with the code that is on the disk then. Calls in it end. "
        "Asked for by the page, code that changed since it was loaded waits for a person. The error is "
        "`host_not_found` where app.json names none of this name.",
        action="manage_modules",
        answer=HostView,
    ),
)
