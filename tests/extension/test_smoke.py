"""The extension loads, under the id that servers know."""

import base64
import hashlib
import json
from pathlib import Path

from tests.extension.driving import ID


async def test_extension_starts_with_its_own_id_and_opens_its_panel_beside_a_page(extension, site):
    site.show("/", "<title>Shop</title><h1>Shop</h1>")
    worker = await extension.worker()
    assert worker.url == f"chrome-extension://{ID}/worker/worker.js"
    page = await extension.context.new_page()
    await page.goto(site.url())
    panel = await extension.open_side_panel(page)
    assert await panel.evaluate("location.pathname") == "/panel/panel.html"
    assert (await panel.screenshot()).startswith(b"\x89PNG")


def test_id_is_made_of_the_key_in_the_manifest():
    manifest = json.loads((Path(__file__).parents[2] / "extension" / "manifest.json").read_text("utf-8"))
    digest = hashlib.sha256(base64.b64decode(manifest["key"])).hexdigest()[:32]
    assert "".join(chr(ord("a") + int(each, 16)) for each in digest) == ID
