"""Where arrays lie: which share memory, where it is asked for and given back, what is fetched.

Lifetimes decide which results take over an operand's memory, and where allocations stand. Does not
change what is computed.
"""
