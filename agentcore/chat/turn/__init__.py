"""One turn: what the model is sent, the calls that it wants, what it is told of them."""
