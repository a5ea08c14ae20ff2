"""A desktop shell around agentcore: each browser page of a chat is a view of QtWebEngine, in a tab of its window.

It starts an agentcore of its own, hears from it which pages there are, and opens a view for each, whose first address
carries the page's resource id. By that mark agentcore finds the view at the remote debugging port, and works in it
also while another tab is in front. docs/embedding.md tells how such a shell is written, in Qt or elsewhere.
"""

import argparse
import json
import os
import secrets
import signal
import socket
import sys
from pathlib import Path

try:
    from PySide6 import QtCore, QtNetwork, QtWebEngineCore, QtWebEngineWidgets, QtWidgets
    from PySide6.QtCore import Signal
except ImportError:
    from PyQt6 import QtCore, QtNetwork, QtWebEngineCore, QtWebEngineWidgets, QtWidgets
    from PyQt6.QtCore import pyqtSignal as Signal

RETRY_MS = 500
NOT_ON_SCREEN = QtCore.Qt.WidgetAttribute.WA_DontShowOnScreen


class Agentcore(QtCore.QObject):
    """An agentcore that runs as long as the shell does, and what it tells (`told`), as events.

    With the address of a server elsewhere it is a host of that server, and tells on its stdout. Without one it is a
    server itself, and tells over HTTP.
    """

    told = Signal(dict)

    def __init__(self, program: str, config: Path, views: str, server: str | None) -> None:
        super().__init__()
        self.process = QtCore.QProcess(self)
        self.process.setProcessChannelMode(QtCore.QProcess.ProcessChannelMode.ForwardedErrorChannel)
        environment = QtCore.QProcessEnvironment.systemEnvironment()
        environment.insert("QT_SHELL_VIEWS", views)  # app.json refers to it
        if server is None:
            self._token = os.environ.get("AGENTCORE_TOKEN") or secrets.token_urlsafe(32)
            self._address = f"http://127.0.0.1:{free_port()}"
            self._http = QtNetwork.QNetworkAccessManager(self)
            environment.insert("AGENTCORE_SERVER__PORT", self._address.rpartition(":")[2])
            environment.insert("AGENTCORE_TOKEN", self._token)
            self._follow()
        else:
            self.process.readyReadStandardOutput.connect(lambda: self._read(self.process))
        command = ["serve"] if server is None else ["host", "--server", server, "--json"]
        self.process.setProcessEnvironment(environment)
        self.process.start(program, [*command, "--config", str(config)])

    def stop(self) -> None:
        """End agentcore, and wait for it."""
        self.process.terminate()
        self.process.waitForFinished(15_000)

    def _follow(self) -> None:
        """Follow a server's events; where they end, and until it has started, begin again."""
        stream = self._get("/api/events?types=resource.*")
        stream.metaDataChanged.connect(self._list)
        stream.readyRead.connect(lambda: self._read(stream))
        stream.finished.connect(lambda: QtCore.QTimer.singleShot(RETRY_MS, self._follow))

    def _list(self) -> None:
        """Tell all resources that there are: events tell only what changes from now on."""
        reply = self._get("/api/resources?resourceType=browser")
        reply.finished.connect(lambda: self._tell_all(reply.readAll().data() or b'{"resources": []}'))

    def _tell_all(self, listed: bytes) -> None:
        for resource in json.loads(listed).get("resources", ()):
            self.told.emit({"type": "resource.stateChanged", **resource})

    def _get(self, path: str) -> QtNetwork.QNetworkReply:
        request = QtNetwork.QNetworkRequest(QtCore.QUrl(self._address + path))
        request.setRawHeader(b"Authorization", f"Bearer {self._token}".encode())
        reply = self._http.get(request)
        reply.finished.connect(reply.deleteLater)
        return reply

    def _read(self, lines: QtCore.QIODevice) -> None:
        """Tell the events: a line of JSON each, after `data:` in a stream of HTTP."""
        while lines.canReadLine():
            line = bytes(lines.readLine().data()).removeprefix(b"data:").strip()
            if line.startswith(b"{"):
                event = json.loads(line)
                self.told.emit(event)
                if event["type"] == "events.reset":
                    self._list()


class Page(QtWebEngineCore.QWebEnginePage):
    """A page that dismisses its dialogs: those of Qt would hold every view until a person has answered."""

    def javaScriptConfirm(self, *_: object) -> bool:  # noqa: N802 - Qt's names
        """No."""
        return False

    def javaScriptPrompt(self, *_: object) -> tuple[bool, str]:  # noqa: N802
        """No."""
        return False, ""

    def javaScriptAlert(self, *_: object) -> None:  # noqa: N802
        """Nothing to say."""


class View(QtWebEngineWidgets.QWebEngineView):
    """The view of one resource. Agentcore works in it whether it is in the window or not."""

    def __init__(self, resource_id: str) -> None:
        super().__init__()
        page = Page(self)
        self.setPage(page)
        page.newWindowRequested.connect(lambda request: self.load(request.requestedUrl()))  # windows open in their tab
        self.load(QtCore.QUrl(f"about:blank#{resource_id}"))  # the mark

    def attach(self, place: QtWidgets.QLayout) -> None:
        """Put it into the window."""
        self.hide()
        self.setAttribute(NOT_ON_SCREEN, False)
        place.addWidget(self)
        self.show()

    def detach(self, size: QtCore.QSize) -> None:
        """Take it out of the window. It is still laid out and painted, for which what is done to a page waits."""
        self.setParent(None)
        self.setAttribute(NOT_ON_SCREEN, True)
        self.resize(size)
        self.show()


class Window(QtWidgets.QMainWindow):
    """A tab for each view, of which the one in front is attached, and what agentcore did last."""

    def __init__(self, agentcore: Agentcore) -> None:
        super().__init__()
        self._views: dict[str, View] = {}
        self._front: View | None = None
        self._tabs = QtWidgets.QTabBar(tabsClosable=True, movable=True, expanding=False)
        self._tabs.currentChanged.connect(self._switch)
        self._tabs.tabCloseRequested.connect(lambda index: self._close(self._tabs.tabData(index)))
        toolbar = self.addToolBar("Tabs")
        toolbar.addWidget(self._tabs)
        content = QtWidgets.QWidget()
        self._place = QtWidgets.QVBoxLayout(content)
        self._place.setContentsMargins(0, 0, 0, 0)
        self.setCentralWidget(content)
        self.resize(1280, 800)
        self.statusBar().showMessage("agentcore starts …")
        agentcore.told.connect(self._take)

    def _take(self, event: dict) -> None:
        if event["type"] == "resource.stateChanged" and event["resourceType"] == "browser":
            self._show(event)
        elif event["type"] == "resource.log":
            self.statusBar().showMessage(f"{event['resourceId']}: {event.get('tool')} {event.get('outcome')}")
        elif event["type"] in ("agent.code", "agent.state"):
            self.statusBar().showMessage(event.get("state") or f"To let this shell in, type {event['code']} there")

    def _show(self, resource: dict) -> None:
        """Have a view for a resource as long as it lives."""
        resource_id, status = resource["resourceId"], resource["status"]
        if status in ("closed", "failed"):
            self._close(resource_id)
        if status in ("starting", "failed") and resource_id not in self._views:  # the next call on it wants its view
            view = self._views[resource_id] = View(resource_id)
            view.detach(self.centralWidget().size())
            self._tabs.setTabData(self._tabs.addTab(resource_id), resource_id)
            view.titleChanged.connect(lambda title: self._tabs.setTabText(self._index(resource_id), title[:40]))
            self._switch()

    def _close(self, resource_id: str) -> None:
        """Close a view: its resource ended, or ends by that."""
        view = self._views.pop(resource_id, None)
        if view is not None:
            self._tabs.removeTab(self._index(resource_id))
            view.deleteLater()

    def _switch(self, *_: object) -> None:
        """Attach the view of the tab in front and detach the one before, which is all that switching does."""
        front = self._views.get(self._tabs.tabData(self._tabs.currentIndex()))
        before, self._front = self._front, front
        if front is before:
            return
        if before in self._views.values():
            before.detach(self.centralWidget().size())
        if front is not None:
            front.attach(self._place)

    def _index(self, resource_id: str) -> int:
        return next((index for index in range(self._tabs.count()) if self._tabs.tabData(index) == resource_id), -1)


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def main() -> int:
    """Show the window until it is closed, or agentcore ends."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--agentcore", default="agentcore", help="the program, where it is not on PATH")
    parser.add_argument("--config", type=Path, default=Path(__file__).with_name("app.json"), help="its app.json")
    parser.add_argument("--server", metavar="URL", help="be a host of this server, in place of a server")
    options = parser.parse_args()
    views = f"127.0.0.1:{free_port()}"
    os.environ["QTWEBENGINE_REMOTE_DEBUGGING"] = views  # read when the first view is made
    application = QtWidgets.QApplication(sys.argv[:1])
    agentcore = Agentcore(options.agentcore, options.config, f"http://{views}", options.server)
    agentcore.process.finished.connect(application.exit)
    agentcore.process.errorOccurred.connect(lambda _: application.exit(1))
    window = Window(agentcore)
    window.show()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: application.quit())
    waking = QtCore.QTimer(application, interval=200)  # Python sees signals when it runs
    waking.timeout.connect(lambda: None)
    waking.start()
    code = application.exec()
    agentcore.stop()
    return code


if __name__ == "__main__":
    sys.exit(main())
