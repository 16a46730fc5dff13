"""Checks and benchmarks for a machine with a GPU: `make gpu`. Pytest rehearses them as fibres."""
