"""Golden files: a program pinned as MIL text, for pytest, unittest or any other runner.

Under pytest, the fixture `mil_golden` does the same with files beside the test: `miltext.pytest_plugin`.
"""

from miltext.testing.golden import UPDATE_VARIABLE, Normalization, assert_matches_golden, compare, normalize

__all__ = ["UPDATE_VARIABLE", "Normalization", "assert_matches_golden", "compare", "normalize"]
