"""Reasons of legal steps: the pairs that a step moves, what orders each, and a sentence of these.

Knows steps and programs. Judges nothing: the step has been found legal.
"""
