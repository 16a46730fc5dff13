"""Programs to measure against, written as users of other libraries would."""
