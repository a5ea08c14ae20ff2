"""Chats: sessions, messages, calls, and search."""
