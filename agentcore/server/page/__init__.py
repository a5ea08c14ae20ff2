"""What the page and the approval view are given: documents, files, views."""
