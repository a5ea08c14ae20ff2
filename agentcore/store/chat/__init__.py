"""Chats: sessions, messages, calls, and the search in them."""
