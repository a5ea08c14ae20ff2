"""From what was fetched to what a model reads: pages, PDFs, words found in them."""
