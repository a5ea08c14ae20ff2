"""The agent loop over a session: models, calls that wait for approval, tools that a client runs."""
