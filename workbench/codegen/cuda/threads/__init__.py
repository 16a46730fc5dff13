"""From kernel records to the code of a block's threads, with barriers, as text."""
