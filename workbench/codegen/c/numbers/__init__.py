"""Header files of one number: its operations, functions and draws, for processors and for GPUs.

The methods are templates that the headers of vectors include too, so that both have the same bits.
"""
