"""Which instance needs which, and whether an order keeps to that.

Finds dependences, cycles and the two instances that an illegal order turns round. Does not propose
orders.
"""
