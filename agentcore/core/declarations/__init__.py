"""What a module says of itself, read strictly and once: hooks, attributes, tools, its element in the page. Light."""
