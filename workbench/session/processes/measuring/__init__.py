"""Processes that measure, profile and calibrate: each for one order, and the clients of these."""
