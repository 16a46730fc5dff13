"""The protocol between Python and the views: messages, state, and their types in TypeScript.

`python -m workbench.session.protocol` writes those types. Knows no Jupyter.
"""
