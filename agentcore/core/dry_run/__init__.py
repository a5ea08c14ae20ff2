"""Looking at a call without running it: edited arguments, explanations, rules that are tried."""
