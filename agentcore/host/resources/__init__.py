"""What lives longer than a call: resources, their queues and their tabs."""
