"""Elements in frames: of the same page, of another site, and such that come late."""

import pytest

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B6")

TABS = """<body style="margin: 0"><style>div { cursor: pointer; display: inline-block; padding: 8px }</style>
    <div id=one onclick="out.textContent = 'QR tab'"><svg width=10 height=10></svg><span>Scan QR</span></div>
    <div id=two><svg width=10 height=10></svg><span>Bank transfer</span></div>
    <p id=out>none</p>
    <script>two.addEventListener('click', () => { out.textContent = 'Bank tab' })</script>"""


@pytest.fixture
def show_payment(act, site, site_module, monkeypatch):
    """Show a shop whose payment is in a frame of another site."""

    async def run():
        port = site.address.rpartition(":")[2]
        frame = f"<iframe width=500 height=200 src=http://localhost:{port}/tabs></iframe>"
        monkeypatch.setitem(site_module.PAGES, "/tabs", TABS)
        monkeypatch.setitem(site_module.PAGES, "/shop", f"<title>Shop</title><h1>Pay</h1>{frame}")
        await act("browser_navigate", url=site.url("/shop"))
        await act("browser_wait_for", text="Bank transfer")

    return run


@pytest.mark.more
async def test_clickable_parts_of_a_frame_of_another_site_have_references_and_are_clicked(act, show_payment, text):
    """Agent-browser was reported to give tabs of an embedded payment page no references, and not to find them."""
    await show_payment()
    shown = text(await act("browser_snapshot")).splitlines()
    for name, says in (("Scan QR", "QR tab"), ("Bank transfer", "Bank tab")):
        line = next(line for line in shown if name in line)
        await act("browser_click", selector=line.split("[ref=")[1].split("]")[0])
        await act("browser_wait_for", text=says)


async def test_selector_that_matches_only_in_a_frame_is_answered_with_its_references(act, fails, show_payment):
    await show_payment()
    error = await fails("browser_click", selector="text=Bank transfer", timeoutMs=300)
    assert error.type == "element_not_found"
    (match,) = error.context["matches"]
    assert "Bank transfer" in match
    await act("browser_click", selector=match.split("[ref=")[1].rstrip("]"))
    await act("browser_wait_for", text="Bank tab")


@pytest.mark.more
async def test_button_in_a_frame_far_from_the_corner_gets_real_events_of_the_mouse(act, show, ref_of, value):
    """Browser-use was reported to look for covers of an element in a frame at coordinates of the whole window."""
    inner = (
        "<body style='margin: 0'><button style='position: absolute; left: 200px; top: 150px'>Decoy</button>"
        "<button onmousedown='parent.document.title = `down ${event.isTrusted}`'>Go</button>"
    )
    await show(f'<iframe style="position: absolute; left: 200px; top: 150px" width=500 height=300 srcdoc="{inner}">')
    clicked = await act("browser_click", selector=await ref_of('"Go"'))
    assert clicked.data["element"] == 'button "Go"'
    assert await value("document.title") == "down true"


BANNERS = {
    "frame": """const frame = Object.assign(document.createElement('iframe'), {style, srcdoc: `<p>We value your privacy
        <button onclick="parent.document.title = 'accepted'; parent.document.querySelector('iframe').remove()">Accept
        </button>`}); document.body.append(frame)""",
    "shadow root": """const host = Object.assign(document.createElement('div'), {style});
        host.attachShadow({mode: 'open'}).innerHTML = '<div role=dialog><button>Accept</button></div>';
        host.shadowRoot.querySelector('button').onclick = () => { host.remove(); document.title = 'accepted' };
        document.body.append(host)""",
}


@pytest.mark.more
@pytest.mark.parametrize("banner", BANNERS.values(), ids=BANNERS)
async def test_banner_that_comes_late_is_seen_and_answered(act, fails, show, ref_of, value, banner):
    """Chrome DevTools MCP was reported to show pages without the consent banner that covers them."""
    await show("<h1>News</h1><button onclick=\"document.title = 'more'\">More</button>")
    style = "const style = 'position: fixed; inset: 0; width: 100%; height: 100%; background: white'"
    await act("browser_evaluate", script=f"setTimeout(() => {{ {style}; {banner} }}, 50); 1")
    await act("browser_wait_for", text="Accept")
    covered = await fails("browser_click", selector="text=More", timeoutMs=300)
    assert (covered.type, "covers it" in covered.message) == ("element_not_actionable", True)
    await act("browser_click", selector=await ref_of('button "Accept"'))
    assert await value("document.title") == "accepted"
    await act("browser_click", selector="text=More")
    assert await value("document.title") == "more"
