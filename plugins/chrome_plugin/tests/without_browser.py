"""A machine without a browser, and a server from which Playwright's driver downloads one."""

import contextlib
import http.server
import io
import os
import re
import threading
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

BROWSERS = re.compile(r"chromium.*|google-chrome.*|chrome|microsoft-edge.*")


def bare_path(folder: Path, *, programs: Mapping[str, str] | None = None) -> str:
    """A PATH with all programs of this machine but browsers and apt-get.

    Args:
        folder: A new folder for it.
        programs: Scripts to put into it, by name.
    """
    folder.mkdir()
    for name, script in (programs or {}).items():
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            if BROWSERS.fullmatch(program.name) or program.name.startswith("apt"):
                continue
            with contextlib.suppress(FileExistsError):
                (folder / program.name).symlink_to(program)
    return str(folder)


def archive_with(program: str, script: str) -> bytes:
    """A zip file with a program that can be run."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        entry = zipfile.ZipInfo(program)
        entry.external_attr = 0o755 << 16
        archive.writestr(entry, script)
    return made.getvalue()


def real_browser(program: str) -> bytes:
    """What is downloaded: a launcher of this machine's browser, in the folder that Playwright expects."""
    return archive_with("chrome-linux64/chrome", f'#!/bin/sh\nexec {program} "$@"\n')


class DownloadServer:
    """Serves browsers to Playwright's driver.

    Attributes:
        archive: The zip with the browser.
        status: The status of its answers; 200 serves it.
        sent_bytes: How much of it is sent before the connection is closed; None: all.
        asked: The paths that were requested.
    """

    def __init__(self, archive: bytes) -> None:
        self.archive = archive
        self.status = 200
        self.sent_bytes: int | None = None
        self.asked: list[str] = []
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.asked.append(self.path)
                is_browser = "ffmpeg" not in self.path
                body = owner.archive if is_browser else archive_with("ffmpeg-linux", "#!/bin/sh\n")
                if owner.status != 200:
                    self.send_error(owner.status)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: owner.sent_bytes] if is_browser else body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    @contextlib.contextmanager
    def running(self) -> Iterator["DownloadServer"]:
        """Serve in a thread."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


def fake_apt(log: Path, program: Path, target: str, *, code: int = 0, error: str = "") -> str:
    """A script in place of `apt-get`: notes its arguments, and installs a launcher of a browser.

    Args:
        log: A file that gets a line for each call.
        program: Where it installs the launcher.
        target: What that runs.
        code: Its exit code; other than 0, it installs nothing.
        error: What it writes then.
    """
    return f"""#!/bin/sh
echo "$@" >> {log}
if [ {code} -ne 0 ]; then echo '{error}'; exit {code}; fi
[ "$1" = install ] || exit 0
echo 'dlstatus:1:50.0:Retrieving file 1 of 2'
echo 'pmstatus:chromium:50.0:Unpacking chromium'
cat > {program} <<'END'
#!/bin/sh
exec {target} "$@"
END
chmod 755 {program}
"""
