"""Browsers: started or attached to, guarded, counted, and ended with us."""
