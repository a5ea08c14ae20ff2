"""Routes for modules: their state, enabling and disabling them, reloading, and choosing their source."""

from functools import partial
from typing import Annotated

from pydantic import BaseModel, Field

from agentcore.core.approvals.policy_changes import Apply, Proposal
from agentcore.core.declarations.module_login import ModuleLogin
from agentcore.core.discovery.source_search import Found
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.installing import pip_command
from agentcore.server.body_models import StrictModel
from agentcore.server.confirmation import change_policy, propose_change
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.modules.module_view import ModuleView
from agentcore.server.modules.report_view import LoginView, ReportView, show_login, show_report
from agentcore.server.page.page_document import page_version
from agentcore.server.route_table import ServerRoute


class ModuleList(BaseModel, defer_build=True):
    """All modules that are listed or installed, the listed ones first.

    `pageVersion` names the scripts and the policy that the page was opened with; a page of another version reloads.
    It is empty while the server stops.
    `installCommand` is the beginning of the command that installs packages for the server.
    """

    modules: list[ModuleView]
    pageVersion: str  # noqa: N815 - the name on the wire
    installCommand: str  # noqa: N815 - as above


async def get_modules(exchange: Exchange) -> Answer:
    """Send all modules."""
    modules = b",".join(await exchange.parts.module_views.list_modules(exchange.principal))
    version = page_version(exchange.core.modules, is_stopping=exchange.core.is_stopping)
    rest = to_json({"pageVersion": version, "installCommand": pip_command()})
    return Answer(b'{"modules":[%b],%b' % (modules, rest[1:]))


async def get_module(exchange: Exchange) -> Answer:
    """Send one module."""
    return Answer(await exchange.parts.module_views.show_module(exchange.path_values["name"], exchange.principal))


async def get_report(exchange: Exchange) -> Answer:
    """Send a module's current report."""
    record = exchange.core.modules.get_record(exchange.path_values["name"])
    return Answer(await show_report(record, exchange.core.definition_review))


async def log_in(exchange: Exchange) -> Answer:
    """Start a module's log-in, or complete it with the address at which the user's browser ended."""
    login = _find_login(exchange)
    landed = exchange.body.landed
    if landed is None:
        await login.begin()
    else:
        await login.finish(landed)
    return Answer(to_json(show_login(login).model_dump()))


async def log_out(exchange: Exchange) -> Answer:
    """Make a module delete its log-in."""
    login = _find_login(exchange)
    await login.log_out()
    return Answer(to_json(show_login(login).model_dump()))


def _find_login(exchange: Exchange) -> ModuleLogin:
    name = exchange.path_values["name"]
    login = exchange.core.modules.get_record(name).login
    if login is None:
        raise ToolError("no_login", f"module {name!r} has nothing to log in to, or does not run", module=name)
    return login


async def enable_module(exchange: Exchange) -> Answer:
    """List a module in app.json and start it.

    A module runs with the user's rights, and a model may have written scripts that run in the page. Therefore requests
    of the page to enable, disable or reload a module may need confirmation.
    """
    switch = exchange.parts.switch
    name = exchange.path_values["name"]
    if await switch.must_confirm(exchange.principal, name, "enable"):
        diff = await switch.preview_change(name, is_on=True)
        found = await switch.sole_candidate(name)
        apply: Apply = partial(switch.enable, name)
        if found is not None:
            # the user sees what it is, and confirms exactly that
            diff = (*diff, *exchange.core.sources.describe_difference(name, found))
            apply = partial(_enable_shown, exchange, name, found)
        apply = await switch.only_if_code_unchanged([name], apply)
        raise propose_change(
            exchange.core.policy_changes, exchange.principal, Proposal("module", name, ("/modules",), diff), apply
        )
    await switch.enable(name)
    return await get_module(exchange)


async def _enable_shown(exchange: Exchange, name: str, found: Found) -> None:
    await exchange.core.sources.choose_source(name, found, "person", runs=False)
    await exchange.parts.switch.enable(name)


async def disable_module(exchange: Exchange) -> Answer:
    """Stop a module and those that require it, and remove it from app.json."""
    switch = exchange.parts.switch
    name = exchange.path_values["name"]
    if await switch.must_confirm(exchange.principal, name, "disable"):
        proposal = Proposal("module_disable", name, ("/modules",), await switch.preview_change(name, is_on=False))
        raise propose_change(exchange.core.policy_changes, exchange.principal, proposal, partial(switch.disable, name))
    await switch.disable(name)
    return await get_module(exchange)


async def reload_module(exchange: Exchange) -> Answer:
    """Stop the modules of one distribution, import their code again, and start them."""
    modules = exchange.core.modules
    switch = exchange.parts.switch
    name = exchange.path_values["name"]
    if await switch.must_confirm(exchange.principal, name, "reload"):
        apply = await switch.only_if_code_unchanged([name], partial(modules.reload, name))
        proposal = Proposal("module_reload", name, (), await switch.block_diff(name))
        raise propose_change(exchange.core.policy_changes, exchange.principal, proposal, apply)
    await modules.reload(name)
    return await get_module(exchange)


async def choose_source(exchange: Exchange) -> Answer:
    """Choose the distribution, or the folder of local modules, that provides a module's name."""
    core = exchange.core
    name = exchange.path_values["name"]
    proposal, found = await core.sources.make_proposal(name, exchange.body.source)
    await change_policy(
        exchange.core.policy_changes,
        exchange.principal,
        proposal,
        partial(core.sources.choose_source, name, found, exchange.principal.name),
    )
    return await get_module(exchange)


class ChosenSource(StrictModel):
    """The source that is to stand behind a module's name, as its `others` name it."""

    source: Annotated[str, Field(min_length=1, max_length=4096)]


class LoginBody(StrictModel):
    """A log-in that begins; or, with `landed`, ends by the address at which the person's browser ended."""

    landed: Annotated[str, Field(min_length=1, max_length=16_384)] | None = None


_BASE = "/api/modules/{name}"

ROUTES = (
    ServerRoute("GET", "/api/modules", get_modules, "All modules, listed and installed.", answer=ModuleList),
    ServerRoute("GET", _BASE, get_module, "One module.", answer=ModuleView),
    ServerRoute(
        "GET",
        f"{_BASE}/report",
        get_report,
        "How a module is just now: facts, the end of its log, and its tools with original names, fingerprints and what "
        "a person has said of each.",
        answer=ReportView,
    ),
    ServerRoute(
        "POST",
        f"{_BASE}/login",
        log_in,
        "Log in at the service that a module needs: the answer's `address` is for the person's browser, and the report "
        "says how it ended. With `landed`, the address at which that browser ended, where it could not reach this "
        "machine. The error is `no_login` where there is nothing to log in to.",
        action="manage_modules",
        body=LoginBody,
        answer=LoginView,
    ),
    ServerRoute(
        "DELETE",
        f"{_BASE}/login",
        log_out,
        "Have a module forget what its log-in gave.",
        action="manage_modules",
        answer=LoginView,
    ),
    ServerRoute(
        "POST",
        f"{_BASE}/enable",
        enable_module,
        "List a module in app.json and start it; its state says whether it is ready. Asked for by the page, it waits "
        "for a person, in the approval view: the answer is `confirmation_required`.",
        action="manage_modules",
        answer=ModuleView,
    ),
    ServerRoute(
        "POST",
        f"{_BASE}/disable",
        disable_module,
        "Stop a module, and those that require it, and take it out of app.json. Where it runs scripts in the page, and "
        "the page asks for it, it waits for a person.",
        action="manage_modules",
        answer=ModuleView,
    ),
    ServerRoute(
        "POST",
        f"{_BASE}/reload",
        reload_module,
        "Import a module's code afresh, with the other modules of its distribution. Asked for by the page, code "
        "that changed since it was loaded, or that runs scripts in the page, waits for a person. Code that does not "
        "load leaves what runs as it is, and `reloadError` says why.",
        action="manage_modules",
        answer=ModuleView,
    ),
    ServerRoute(
        "POST",
        f"{_BASE}/choose",
        choose_source,
        "Choose what stands behind a module's name, where it is another than before or one of several. It waits for a "
        "person, in the approval view or at a terminal: the answer is `confirmation_required`.",
        action="manage_modules",
        body=ChosenSource,
        answer=ModuleView,
    ),
)
