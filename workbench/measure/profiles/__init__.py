"""Profiles: the time of a run by what it was spent on, as values, tables, figures and traces. It
knows how measured time is shared out, not how it is measured.
"""
