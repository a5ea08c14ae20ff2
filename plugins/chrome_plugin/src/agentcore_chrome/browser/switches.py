"""The switches that a browser is launched with: a complete list, because Playwright's own defaults open an extra tab.

Source: `chromiumSwitches.ts` of Playwright 1.65, which explains each of them.
"""

import os
from collections.abc import Sequence
from pathlib import Path

_OFF = "--disable-features="
_FEATURES_OFF = (
    "AimEnabled",
    "AutofillServerCommunication",  # reports every form that a page shows
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "SpareRendererForSitePerProcess",  # a spare process for each page, which driven pages seldom use
    "ThirdPartyStoragePartitioning",
    "WebUIOmniboxAimPopup",  # two internal pages for each new window: more work than most opened pages
    "WebUIOmniboxPopup",
    "msEdgeUpdateLaunchServicesPreferredVersion",
    "msForceBrowserSignIn",
)
_FEATURES_ON = ("CDPScreenshotNewSurface", "SkipListAccountsWithoutGaiaCookies")
_FOR_DRIVING = (
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--allow-pre-commit-input",
    "--disable-back-forward-cache",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-dev-shm-usage",
    "--disable-field-trial-config",
    "--disable-hang-monitor",
    "--disable-infobars",
    "--disable-ipc-flooding-protection",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-renderer-backgrounding",
    "--disable-stack-profiler",
    "--edge-skip-compat-layer-relaunch",
    "--enable-unsafe-swiftshader",
    "--force-color-profile=srgb",
    "--unsafely-disable-devtools-self-xss-warnings",
)
_WITHOUT_COMPANY = (
    "--disable-breakpad",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-edgeupdater",
    "--disable-extensions",
    "--disable-search-engine-choice-screen",
    "--disable-updater-scheduler",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-pings",
)
_ONLY_BY_PROXY = (
    "--proxy-bypass-list=<-loopback>",
    # Block what does not go through the proxy.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
)
_HEADLESS = (
    "--headless",
    "--hide-scrollbars",
    "--mute-audio",
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
)


def build_switches(profile: Path, proxy: str, further: Sequence[str], *, headless: bool, sandbox: bool) -> list[str]:
    """Return the command line of a browser that is driven over a pipe, without its program.

    Args:
        profile: Its profile folder.
        proxy: The proxy for all its connections: `socks5://127.0.0.1:port`.
        further: Switches of the settings, which come last; features that they disable are added to ours.
        headless: Whether it has no window.
        sandbox: Whether to use its own sandbox; as root it has none.
    """
    off = [name for switch in further if switch.startswith(_OFF) for name in switch.removeprefix(_OFF).split(",")]
    return [
        *_FOR_DRIVING,
        *_WITHOUT_COMPANY,
        *_ONLY_BY_PROXY,
        *(_HEADLESS if headless else ()),
        *(() if sandbox and os.geteuid() != 0 else ("--no-sandbox",)),
        _OFF + ",".join([*_FEATURES_OFF, *off]),
        f"--enable-features={','.join(_FEATURES_ON)}",
        f"--proxy-server={proxy}",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        f"--user-data-dir={profile}",
        *(switch for switch in further if not switch.startswith(_OFF)),
    ]
