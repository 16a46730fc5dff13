"""The loop program as a value: its records, their text, and where bytes are asked for.

Made by the other rooms, read by backends and by planning.
"""
