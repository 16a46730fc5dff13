"""The constants of a machine: measured ones from a file, defaults where there are none.

Measuring them is done in `measure.calibration`.
"""
