"""The functions with which users run, check, measure and compare variants.

Knows variants and backends. Does not know the panel.
"""
