"""What the package tests: the contract, on its method and on one of its settings."""

from workbench.testing import MethodContract


class TestOverlap(MethodContract):
    methods = ("overlap", "overlap[letters=5]")
