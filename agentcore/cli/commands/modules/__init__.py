"""`agentcore modules` and `agentcore hosts`: manage modules and the hosts in which they run."""
