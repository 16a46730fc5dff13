"""What tests of every folder need, the notebooks' among them: homes of their own, quick schemas."""

pytest_plugins = ["tests.homes", "tests.quick_schemas"]
