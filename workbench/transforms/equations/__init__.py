"""Steps that change equations and keep their meaning.

A file each, besides what `Recompute` needs: the readers of an array, its clones, bodies at other
elements, and what computing again costs.
"""
