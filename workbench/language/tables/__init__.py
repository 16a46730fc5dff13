"""Tables: inner axes that are looked up and changed at indices that depend on data.

Knows `tracing`. Lookups are reads (`tracing/indexing.py`).
"""
