"""What a step is: its protocol, its refusals, its arguments and their names, and what kinds of
steps share.

Knows programs. Knows no particular step.
"""
