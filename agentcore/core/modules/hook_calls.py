"""Calls the hooks of modules: sync ones in threads, all contained and under a limit."""

import asyncio
import inspect
from typing import Any

from agentcore.api import Module
from agentcore.core.module_code.containment import run_contained
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.limits import HOOK_SECONDS


async def bind_runtime(record: ModuleRecord) -> None:
    """Pass the runtime to a module that is a `Module`, before its `init`."""
    if isinstance(record.plugin, Module):
        await run_contained(_call_bind(record), HOOK_SECONDS, f"bind:{record.name}", record.name)


async def _call_bind(record: ModuleRecord) -> None:
    record.plugin.bind(record.runtime)


async def call_hook(module: ModuleRecord, hook: str, limit_s: float, **values: Any) -> Any:
    """Call one hook of one module; None if it does not implement it."""
    impl = module.hooks.get(hook)
    if impl is None:
        return None
    return await run_contained(_run_hook(impl, values), limit_s, f"{hook}:{module.name}", module.name)


async def _run_hook(impl: Any, values: dict[str, Any]) -> Any:
    arguments = [values[name] for name in impl.argnames]
    if inspect.iscoroutinefunction(impl.function):
        return await impl.function(*arguments)
    result = await asyncio.to_thread(impl.function, *arguments)
    return await result if inspect.isawaitable(result) else result
