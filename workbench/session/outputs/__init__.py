"""What stays of a workbench without Python: outputs of cells, state files, exported pages.

Nothing in them says on which machine they were made.
"""
