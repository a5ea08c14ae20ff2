"""Names of arguments that models know from other products."""

from typing import Any

from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest, ModelReader


async def test_names_of_other_products_are_understood_and_the_right_ones_reported(start, text, root) -> None:
    (root / "sub").mkdir()
    host = await start()
    host.answer_approvals(approve=True)

    async def call(tool: str, /, **arguments: Any) -> Any:
        principal = Principal("chat", "s1")
        return await host.host.run_call(CallRequest(tool, arguments, principal, session_id="s1", reader=ModelReader()))

    done = (await call("bash", cmd="pwd", timeout=60_000, workdir="sub")).unwrap()
    told = text(done)
    assert f"{root}/sub\n" in told
    for names in ("`cmd` is `command`", "`timeout` is `timeoutMs`", "`workdir` is `cwd`"):
        assert names in told
    started = (await call("bash", command="cat", run_in_background=True)).unwrap()
    process_id = started.data["process_id"]
    shown = (await call("bash_output", bash_id=process_id, timeout_ms=5)).unwrap()
    assert "`bash_id` is `process_id`" in text(shown)
    assert (await call("bash_kill", shell_id=process_id)).unwrap().data["was_running"]
    both = await call("bash", command="true", cmd="true")
    assert both.error.type == "invalid_arguments"
