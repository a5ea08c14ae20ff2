"""HTTP over the host: who comes in, what is read, how it is answered. It translates and decides nothing."""
