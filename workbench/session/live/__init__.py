"""The state of the workbenches that are open: variants, parts, measurements, requests.

Everything that changes is here. Knows no Jupyter.
"""
