"""The only room that knows Jupyter: comms, outputs, events of cells, ipywidgets.

Everything else of the session runs without it.
"""
