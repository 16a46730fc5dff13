"""Dependences between instances, and the legality of an order.

Finds dependences, cycles and the two instances that an illegal order turns round. Does not propose
orders.
"""
