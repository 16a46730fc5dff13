"""Integer sets, and what can be known of a program from them: dependences, orders, lifetimes.

Here lie the values that everybody uses: expressions, conditions, accesses and schedule trees. The
rooms below are the only place that uses isl. Knows no operation, no array and no program.
"""
