"""What views ask for beside the picture: each file is one part, its record and what makes it."""
