"""The run-time of generated C, as header files: vectors, their functions and draws, QR.

Each header says at its top what it knows. None knows programs or schedules, none allocates memory,
and all that is float32 has the same bits under every compiler and on every processor.
"""
