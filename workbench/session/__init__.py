"""The workbench in JupyterLab, as far as it is Python.

`panel` is what users call. Requests of views and answers to them pass through the rooms below.
"""
