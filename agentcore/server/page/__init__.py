"""The documents, files and views that the server sends to the page and the approval view."""
