"""From a program under a schedule to a loop program of array operations with explicit memory."""
