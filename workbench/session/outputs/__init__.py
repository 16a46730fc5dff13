"""Files and outputs that work without Python: cell outputs, state files, exported pages.

Nothing in them names the machine on which they were made.
"""
