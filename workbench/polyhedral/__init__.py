"""The polyhedral model of a program: integer sets, dependences, orders and lifetimes.

The package's own files hold the shared values: expressions, conditions, accesses and schedule
trees. Only the rooms below use isl. Knows no operation, no array and no program.
"""
