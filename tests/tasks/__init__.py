"""Nine tasks, done by models that saw only definitions and results; what they answered is replayed as tests."""
