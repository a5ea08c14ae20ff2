/** The service worker: it opens the panel, and has what has to live on while no panel is open. */

// a click on the icon opens the panel and grants the tab that it was made in, and so does the keyboard's shortcut
void chrome.sidePanel.setPanelBehavior({openPanelOnActionClick: true});
