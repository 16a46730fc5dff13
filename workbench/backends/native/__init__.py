"""Programs as compiled C on this machine's processor: their kernels, their memory, their runs."""
