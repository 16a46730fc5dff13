"""Reinforcement-learning programs as recurrence equations: write, check, transform, run."""
