"""The record of calls: append-only, hash-chained, committed in groups; older rows are in compressed files."""
