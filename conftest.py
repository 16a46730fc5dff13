"""What tests of every folder need, the notebooks' among them: homes of their own."""

pytest_plugins = ["tests.homes"]
