"""Programs as text: infix equations, listings, ranges, units, and the text behind keys.

Writes text from values. Nothing reads it back.
"""
