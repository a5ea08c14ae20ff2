"""A chat session: what is kept, shown and streamed of it."""
