"""Kernel records as C, and the loops of a whole program around them. It does not know how records
came about, nor how their text is compiled.
"""
