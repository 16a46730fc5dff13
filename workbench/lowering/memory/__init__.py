"""Memory of arrays: sharing, allocations, frees, and copies between host and device.

Lifetimes decide which results take over an operand's memory, and where allocations stand. Does not
change what is computed.
"""
