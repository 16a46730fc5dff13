"""The loop program's records: their bytes, the statements they serve, and renaming.

Made by the other rooms, read by backends and by planning.
"""
