"""From functions as text to machine code of a GPU, and what of it they take. It needs no GPU."""
