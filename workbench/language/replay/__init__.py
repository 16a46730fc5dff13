"""Elements read at random in a known range: the promise of the range, and replay."""
