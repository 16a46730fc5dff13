"""Values handed from one update to the next, and runs that go on where another stopped."""
