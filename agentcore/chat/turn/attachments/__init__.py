"""Files that users attach to messages, as models get them; stored in the history by reference."""
