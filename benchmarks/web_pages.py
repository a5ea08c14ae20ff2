"""`web_fetch` on real pages: how much of what each says is kept, its code as code, its links.

The pages are those of Debian's `-doc` packages, made by some twenty different generators over thirty years. They are
downloaded with `apt-get download` into a cache folder (`AGENTCORE_BENCH_CACHE`, else the user's cache), nothing is
installed, and served on loopback. What counts as a page's frame is named below by hand, per generator, apart from the
rules by which the tool finds it.
"""

import asyncio
import functools
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from lxml import html

from benchmarks.measure import Row
from benchmarks.own_host import calling

_MEDIAN_SHARE, _LEAST_SHARE = 0.99, 0.9

_DOCBOOK = ".navheader .navfooter .nav"
_SPHINX = (
    ".sphinxsidebar .related .headerlink .footer #searchbox .contents .wy-nav-side .wy-nav-top .wy-breadcrumbs "
    ".rst-footer-buttons footer"
)
_GTK = ".navigation .footer"
_TEXINFO = ".header .nav-panel .contents"
_DOXYGEN = "#top #main-nav #nav-path .navpath #MSearchSelectWindow #MSearchResultsWindow .summary .footer #side-nav"

PAGES: Mapping[str, Mapping[str, Iterable[str]]] = {
    # package: {what frames its pages: their paths below /usr/share}
    "apache2-doc": {
        "#page-header #footer #path #quickview .toplang .bottomlang .up": (
            "doc/apache2-doc/manual/en/developer/filters.html",
            "doc/apache2-doc/manual/en/mod/core.html",
        )
    },
    "aptitude-doc-en": {_DOCBOOK: ("doc/aptitude/html/en/ch02s03s02.html",)},
    "apt-doc": {_SPHINX: ("doc/apt-doc/guide.html/ch2.html",)},
    "bash-doc": {_TEXINFO: ("doc/bash/bashref.html",), "": ("doc/bash/bash.html",)},
    "bind9-doc": {_SPHINX: ("doc/bind9-doc/arm/chapter3.html",)},
    "bzip2-doc": {f"{_DOCBOOK} .toc": ("doc/bzip2/manual.html",)},
    "cmake-doc": {_SPHINX: ("doc/cmake-data/html/manual/cmake-buildsystem.7.html",)},
    "debian-faq": {_DOCBOOK: ("doc/debian/FAQ/basic-defs.en.html",)},
    "debian-policy": {_SPHINX: ("doc/debian-policy/policy.html/ch-maintainerscripts.html",)},
    "developers-reference": {_SPHINX: ("developers-reference/pkgs.html",)},
    "docbook-xsl-doc-html": {_DOCBOOK: ("doc/docbook-xsl-doc-html/doc/html/glossary.collection.html",)},
    "exim4-doc-html": {"#header #footer .nav": ("doc/exim4-doc-html/spec_html/ch-generic_options_for_routers.html",)},
    "ffmpeg-doc": {
        _DOXYGEN: ("doc/ffmpeg/api/film__grain__params_8h_source.html",),
        ".contents": ("doc/ffmpeg/manual/ffmpeg.html",),
    },
    "ghc-doc": {
        "#package-header #footer #table-of-contents #synopsis": (
            "doc/ghc-doc/html/libraries/base-4.15.1.0/GHC-Exception-Type.html",
        ),
        _SPHINX: ("doc/ghc-doc/html/users_guide/exts/gadt.html",),
    },
    "ghostscript-doc": {
        ".banner .header .footer .sidebar #sidebar .title nav footer .index .wy-nav-side .wy-nav-top .col-lft": (
            "doc/ghostscript/html/API.html",
            "doc/ghostscript/html/LanguageBindingsPython.html",
        )
    },
    "git-doc": {"#toc #footer": ("doc/git-doc/git-rebase.html", "doc/git-doc/gitworkflows.html")},
    "gnuplot-doc": {".navigation": ("doc/gnuplot/htmldocs/node272.html",)},
    "graphviz-doc": {"": ("doc/graphviz/html/info/colors.html", "doc/graphviz/html/info/lang.html")},
    "imagemagick-6-doc": {
        f"{_DOXYGEN} nav footer .navbar": ("doc/imagemagick-6-common/html/www/api/MagickWand/wand_8h_source.html",)
    },
    "libboost1.74-doc": {
        ".spirit-nav .copyright-footer": ("doc/libboost1.74-doc/doc/html/boost/interprocess/allocator.html",)
    },
    "libcairo2-doc": {_GTK: ("gtk-doc/html/cairo/cairo-Recording-Surfaces.html",)},
    "libcurl4-doc": {"": ("doc/libcurl4-doc/html/libcurl-tutorial.html",)},
    "libeigen3-doc": {_DOXYGEN: ("doc/libeigen3-dev/html/TopicClassHierarchy.html",)},
    "libfftw3-doc": {_TEXINFO: ("doc/libfftw3-dev/html/Guru-Complex-DFTs.html",)},
    "libglib2.0-doc": {
        _GTK: (
            "gtk-doc/html/glib/glib-Byte-Order-Macros.html",
            "gtk-doc/html/glib/glib-Thread-Pools.html",
            "gtk-doc/html/gobject/pt01.html",
            "gtk-doc/html/gobject/howto-gobject-destruction.html",
        )
    },
    "libgtk-3-doc": {_GTK: ("gtk-doc/html/gtk3/chap-css-properties.html", "gtk-doc/html/gtk3/GtkLevelBar.html")},
    "libhdf5-doc": {_DOXYGEN: ("doc/libhdf5-doc/html/cpplus_RM/_h5_comp_type_8h_source.html",)},
    "libpango1.0-doc": {
        ".sidebar nav footer #footer .sections #toc": (
            "doc/libpango1.0-doc/reference/Pango/method.GlyphString.extents_range.html",
        )
    },
    "libtiff-doc": {_SPHINX: ("doc/libtiff-doc/manual/functions/TIFFWarning.html",)},
    "libxml2-doc": {_GTK: ("gtk-doc/html/libxml2/libxml2-xmlschemas.html",)},
    "libxslt1-dev": {
        "": ("doc/libxslt1-dev/html/html/libxslt-lib.html", "doc/libxslt1-dev/html/html/libxslt-xslt.html")
    },
    "maint-guide": {_DOCBOOK: ("doc/maint-guide/html/update.en.html", "doc/maint-guide/html/index.en.html")},
    "nodejs-doc": {
        "#column2 #toc .mark .header-container .picker-header #gtoc .api_stability_link header .toc": (
            "doc/nodejs/api/policy.html",
            "doc/nodejs/api/addons.html",
        )
    },
    "octave-doc": {_TEXINFO: ("doc/octave/octave.html/Multi_002ddimensional-Interpolation.html",)},
    "postfix-doc": {"": ("doc/postfix/html/XCLIENT_README.html", "doc/postfix/html/TLS_LEGACY_README.html")},
    "postgresql-doc-15": {
        _DOCBOOK: (
            "doc/postgresql-doc-15/html/sql-altercollation.html",
            "doc/postgresql-doc-15/html/runtime.html",
            "doc/postgresql-doc-15/html/mvcc-intro.html",
        )
    },
    "python-django-doc": {
        f"{_SPHINX} #hd #ft #global-nav .nav": (
            "doc/python-django-doc/html/ref/models/meta.html",
            "doc/python-django-doc/html/index.html",
        )
    },
    "python-flask-doc": {_SPHINX: ("doc/python-flask-doc/html/tutorial/install.html",)},
    "python-jinja2-doc": {_SPHINX: ("doc/python-jinja2-doc/html/templates.html",)},
    "python-requests-doc": {_SPHINX: ("doc/python-requests-doc/html/_modules/requests/api.html",)},
    "python-sqlalchemy-doc": {
        f"{_SPHINX} #docs-top-navigation-container #docs-narrow-top-navigation #docs-bottom-navigation #fixed-sidebar "
        "#docs-copyright": ("doc/python-sqlalchemy-doc/html/orm/session_transaction.html",)
    },
    "python3.11-doc": {
        f"{_SPHINX} .mobile-nav .menu-wrapper": (
            "doc/python3.11/html/library/select.html",
            "doc/python3.11/html/library/asyncio.html",
            "doc/python3.11/html/faq/index.html",
        )
    },
    "r-doc-html": {f"{_TEXINFO} #SEC_Contents": ("R/doc/manual/R-data.html",)},
    "rsyslog-doc": {_SPHINX: ("doc/rsyslog-doc/html/concepts/janitor.html",)},
    "sbcl-doc": {_TEXINFO: ("doc/sbcl/sbcl-internals/Type-tags.html",)},
    "sqlite3-doc": {
        ".nosearch .menu .searchmenu #toc_sub .yyterm": ("doc/sqlite3/lang_naming.html", "doc/sqlite3/lockingv3.html")
    },
    "swi-prolog-doc": {".navigate .navigation": ("swi-prolog/doc/Manual/xref.html",)},
    "valgrind": {
        _DOCBOOK: (
            "doc/valgrind/html/mc-manual.html",
            "doc/valgrind/html/manual.html",
            "doc/valgrind/html/bbv-manual.html",
        )
    },
    "zlib1g-dev": {"": ("doc/zlib1g-dev/examples/zlib_how.html",)},
    "zsh-doc": {_TEXINFO: ("doc/zsh-common/html/FAQ01.html", "doc/zsh-common/html/Command-Execution.html")},
}

_WORD = re.compile(r"[^\W_]+")
_ESCAPE = re.compile(r"\\(?=[^\w\s])")
_FENCE = re.compile(r"^(`{3,})[^\n]*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_LINE_NUMBERS = ".linenos .lineno .listing_lines"
_UNSEEN = ("script", "style", "noscript", "template", "svg", "iframe", "head", "button", "select", "input", "textarea")


class Kept(NamedTuple):
    """What became of one page; shares from 0 to 1."""

    path: str
    words: float
    code: float
    links: float
    words_in_all: int


def run() -> list[Row]:
    """Fetch all pages, print what became of each, and give the rows."""
    root = _fetch_packages()
    paths = [path for frames in PAGES.values() for group in frames.values() for path in group]
    missing = [path for path in paths if not (root / path).is_file()]
    if missing:
        print(f"not in these versions of the packages: {', '.join(missing)}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder, _Site(root) as address:
        kept = asyncio.run(_measure(Path(folder), root, address))
    for page in sorted(kept, key=lambda page: page.words):
        print(f"{page.words:6.3f} {page.code:6.3f} {page.links:6.3f} {page.words_in_all:7,}  {page.path}")
    shares = (
        (
            f"median share of words kept, {len(kept)} pages",
            statistics.median(page.words for page in kept),
            _MEDIAN_SHARE,
        ),
        ("least share of words kept", min(page.words for page in kept), _LEAST_SHARE),
        ("least share of blocks of code kept as code", min(page.code for page in kept), _LEAST_SHARE),
        ("least share of links kept", min(page.links for page in kept), _LEAST_SHARE),
    )
    return [Row(f"web_fetch: {name}", share, 0, target, "", at_least=True) for name, share, target in shares]


def _fetch_packages() -> Path:
    cache = Path(os.environ.get("AGENTCORE_BENCH_CACHE") or Path.home() / ".cache" / "agentcore-bench") / "web-pages"
    for package in PAGES:
        folder = cache / package
        if folder.is_dir():
            continue
        with tempfile.TemporaryDirectory(dir=_made(cache)) as download:
            subprocess.run(
                ["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", package], cwd=download, check=True
            )
            (archive,) = Path(download).glob("*.deb")
            subprocess.run(["dpkg-deb", "-x", str(archive), f"{download}/files"], check=True)
            Path(download, "files").rename(folder)
    merged = cache / "merged"
    for package in PAGES:
        subprocess.run(["cp", "-asnT", str(cache / package / "usr" / "share"), str(_made(merged))], check=True)
    return merged


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """The table is what is looked at."""


class _Site:
    """The pages on loopback, at a free port."""

    def __init__(self, root: Path) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(root)))

    def __enter__(self) -> str:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


async def _measure(folder: Path, root: Path, address: str) -> list[Kept]:
    found = []
    async with calling(folder, "web_tools", {"allow_private": True}) as call:
        for frames in PAGES.values():
            for frame, paths in frames.items():
                for path in (path for path in paths if (root / path).is_file()):
                    url = f"{address}/{path}"
                    text = await _whole(call, url)
                    found.append(_kept(path, (root / path).read_bytes(), frame.split(), url, text))
    return found


async def _whole(call: Callable[..., Awaitable[Any]], url: str) -> str:
    """All of a page, part by part."""
    pieces: list[str] = []
    offset: int | None = 0
    while offset is not None:
        result = await call("web_fetch", url=url, maxChars=500_000, offset=offset)
        pieces.append(result.data["text"])
        offset = result.data["next_offset"]
    return "".join(pieces)


def _kept(path: str, page: bytes, frame: list[str], url: str, markdown: str) -> Kept:
    body = html.document_fromstring(page, parser=html.HTMLParser(remove_comments=True, remove_pis=True)).body
    unwanted = [element for each in (*frame, *_LINE_NUMBERS.split()) for element in body.xpath(_xpath(each))]
    for element in [*body.iter(*_UNSEEN), *unwanted]:
        if element.getparent() is not None:
            element.drop_tree()
    wanted = Counter(_WORD.findall(" ".join(body.itertext())))
    words = _share(wanted, Counter(_WORD.findall(_ESCAPE.sub("", markdown))))
    fenced = {_squeezed(code) for code in _code_in(markdown)}
    blocks = [_squeezed(block.text_content().replace("\xad", "")) for block in body.iter("pre")]
    blocks = [block for block in blocks if block and not block.isdigit()]
    code = sum(any(block in each for each in fenced) for block in blocks) / len(blocks) if blocks else 1.0
    # Markdown has no links in code
    texts = [link for link in body.iter("a") if link.get("href") and link.text_content().strip() and not _is_code(link)]
    targets = {urljoin(url, link.get("href").strip()) for link in texts}
    targets = {each for each in targets if urlsplit(each)._replace(fragment="").geturl() != url}
    found = sum(each.replace(" ", "%20") in markdown or each in markdown for each in targets)
    links = found / len(targets) if targets else 1.0
    return Kept(path, words, code, links, wanted.total())


def _is_code(link: html.HtmlElement) -> bool:
    return any(each.tag == "pre" or each.get("class") == "fragment" for each in link.iterancestors())


def _code_in(markdown: str) -> Iterable[str]:
    """Blocks of code, those in lists and quotations too."""
    plain = re.sub(r"^[ \t>]*(?:[-*+] |\d+\. |:   )?[ \t>]*(?=```)|^[ \t>]+", "", markdown, flags=re.MULTILINE)
    return (found.group(2) for found in _FENCE.finditer(plain))


def _squeezed(code: str) -> str:
    return "".join(code.split()).replace(">", "")


def _share(wanted: "Counter[str]", given: "Counter[str]") -> float:
    return (wanted & given).total() / wanted.total() if wanted else 1.0


def _xpath(selector: str) -> str:
    if selector.startswith("#"):
        return f".//*[@id='{selector[1:]}']"
    if selector.startswith("."):
        return f".//*[contains(concat(' ', normalize-space(@class), ' '), ' {selector[1:]} ')]"
    return f".//{selector}"
