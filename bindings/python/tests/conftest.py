"""The plugins that the tests use."""

pytest_plugins = ["pytester"]
