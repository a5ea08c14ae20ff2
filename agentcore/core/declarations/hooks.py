"""pluggy, used for what it is good at: checking hook implementations and finding them."""

import inspect
from collections.abc import Iterable
from typing import Any

import pluggy

from agentcore import hookspecs
from agentcore.api.module import HOOKS, Module
from agentcore.core.module_code.module_error import type_name


class _HookManager(pluggy.PluginManager):
    """Methods of a `Module` named like a hook are that hook, undecorated."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> Any:
        if isinstance(plugin, Module):
            return {} if name in HOOKS else None
        return super().parse_hookimpl_opts(plugin, name)


def find_implementations(plugin: Any, name: str) -> dict[str, Any]:
    """Return a module's implementations by hook name, checked by a separate plugin manager; runs module code.

    Raises:
        TypeError: There are none, or one has a wrong signature or options; the message says what is expected.
    """
    manager = _HookManager("agentcore")
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(plugin, name=name)
    except pluggy.PluginValidationError as exc:
        raise TypeError(f"{exc}\n\n{_expected_signatures()}") from exc
    callers = manager.get_hookcallers(plugin) or []
    found = {caller.name: each for caller in callers for each in caller.get_hookimpls()}
    if not found:
        raise TypeError(f"{type_name(plugin)} implements none of the hooks; subclass Module, or mark with @hookimpl")
    _refuse_options(found.values())
    return found


def _refuse_options(implementations: Iterable[pluggy.HookImpl]) -> None:
    """Refuse ordering and wrappers, which have no meaning because the core calls each module's hooks separately."""
    for impl in implementations:
        options = [option for option in ("tryfirst", "trylast", "wrapper", "hookwrapper") if getattr(impl, option)]
        if options:
            raise TypeError(
                f"its {impl.function.__name__} asks for {', '.join(options)}; each module's hooks are called on their "
                "own, so that there is no order and nothing to wrap: use a plain @hookimpl"
            )


def _expected_signatures() -> str:
    lines = [f"  {hook}{inspect.signature(getattr(hookspecs, hook))}" for hook in HOOKS]
    return "expected signatures (fewer arguments are fine):\n" + "\n".join(lines)
