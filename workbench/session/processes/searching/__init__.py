"""A process that looks for the automatic recipe, and its client. The worker stays free meanwhile,
and the search is ended with its process.
"""
