"""One turn: the requests to the model, its calls, and their results."""
