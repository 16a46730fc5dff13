"""Programs whose runs tell where their time went: compiled C with stamps, generated source with
timers; and what the machine can do at most. It knows no statements' scopes and no tables.
"""
