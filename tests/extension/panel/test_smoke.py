"""The panel is paired by a code, and chats."""


async def test_panel_pairs_by_a_code_and_streams_an_answer(extension, start_server):
    server = await start_server()
    server.provider.say("Hello from the model.")
    panel = await extension.open_panel()
    await panel.get_by_label("Address of agentcore").fill(server.address)
    await panel.get_by_label("Code", exact=True).fill(await server.code())
    await panel.get_by_role("button", name="Pair").click()
    await panel.get_by_role("heading", name="Confirm it in the approval view").wait_for()
    await server.decide_pairing()
    await panel.get_by_role("textbox", name="Message").fill("Hello")
    await panel.get_by_role("button", name="Send").click()
    await panel.get_by_role("region", name="Messages").get_by_text("Hello from the model.").wait_for()
