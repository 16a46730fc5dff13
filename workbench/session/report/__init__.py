"""A report: one page about two variants, to be read, printed and given away.

Static HTML. Knows what was measured and predicted of them; computes and measures nothing but
predictions. The workbench itself as a page is another thing (`outputs/page.py`).
"""
