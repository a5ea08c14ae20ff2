"""Parsers of documents, each of which runs in the separate process that `document_text` starts in."""
