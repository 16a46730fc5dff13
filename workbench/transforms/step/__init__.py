"""Steps: their protocol, refusals, arguments and names, and the parts that several kinds share.

Knows programs. Knows no particular step.
"""
