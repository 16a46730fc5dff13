"""Running programs and measuring them."""
