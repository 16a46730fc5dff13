"""Where memory is asked for and given back, and where slices are fetched.

Places records in loops. Does not change what they compute.
"""
