"""Sets and relations, as text and in isl: names, boxes, counting, scanning, ranges that move.

Knows isl and expressions. Does not know statements, dependences or schedule trees.
"""
