"""What tests of every folder need: homes of their own, quick schemas."""

pytest_plugins = ["tests.homes", "tests.quick_schemas"]
