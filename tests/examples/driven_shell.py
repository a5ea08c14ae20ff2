"""The shell of examples/qt_shell with somebody at it: what is typed is done, and a line says how it looks then."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "qt_shell"))

import qt_shell


class Watched(qt_shell.Window):
    """The window, with its tabs by their number."""

    def __init__(self, agentcore):
        super().__init__(agentcore)
        self._typed = qt_shell.QtCore.QSocketNotifier(0, qt_shell.QtCore.QSocketNotifier.Type.Read, self)
        self._typed.activated.connect(lambda *_: self._do(*sys.stdin.readline().split()))

    def _do(self, action="", number="0"):
        if action == "front":
            self._tabs.setCurrentIndex(int(number))
        elif action == "close":
            self._tabs.tabCloseRequested.emit(int(number))
        picture = self.grab().toImage()
        middle = picture.pixelColor(picture.width() // 2, picture.height() // 2)
        tabs = [self._tabs.tabText(index) for index in range(self._tabs.count())]
        told = {"tabs": tabs, "middle": middle.name(), "status": self.statusBar().currentMessage()}
        print(json.dumps(told), flush=True)


qt_shell.Window = Watched
sys.exit(qt_shell.main())
