"""The dependence graph as data: boxes, arrows, scopes, DOT, sizes at which instances are drawn.

Knows programs. Lays nothing out: browsers and Graphviz do.
"""
