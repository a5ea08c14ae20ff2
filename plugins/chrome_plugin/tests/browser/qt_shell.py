"""A shell of QtWebEngine with one view for each address: it shows pages, and opens none when it is asked."""

import sys

try:
    from PySide6.QtCore import QUrl
    from PySide6.QtWebEngineWidgets import QWebEngineView
    from PySide6.QtWidgets import QApplication
except ImportError:
    from PyQt6.QtCore import QUrl
    from PyQt6.QtWebEngineWidgets import QWebEngineView
    from PyQt6.QtWidgets import QApplication

application = QApplication(sys.argv)
views = [QWebEngineView() for _ in sys.argv[1:]]
for view, address in zip(views, sys.argv[1:], strict=True):
    view.resize(800, 600)
    view.load(QUrl(address))
    view.show()
application.exec()
