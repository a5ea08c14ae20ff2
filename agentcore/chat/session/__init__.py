"""A chat session: what is stored, shown and streamed of it."""
