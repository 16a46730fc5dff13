"""Compiled C: finds a compiler, compiles units side by side into a library, caches it by content,
loads it. It knows nothing of programs: the text of the units comes from elsewhere.
"""
