"""Episodes that end at a step that depends on data.

Does not know how values become statements (`template` does), nor how backends leave steps out.
"""
