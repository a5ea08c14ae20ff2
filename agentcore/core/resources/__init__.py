"""Resources, which survive calls, with their queues and their tabs."""
