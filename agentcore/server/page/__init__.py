"""What the server sends to the page and the approval view: documents, files, views."""
