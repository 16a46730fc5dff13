"""What lifetimes make of storage: when arrays end, and which results take over an operand's memory.

Knows `polyhedral.lifetimes`. Decides, and leaves the placing to `allocation`.
"""
