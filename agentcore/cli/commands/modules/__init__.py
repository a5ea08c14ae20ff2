"""`agentcore modules` and `agentcore hosts`: what there is, and where it runs."""
