"""Golden files: a program pinned as MIL text, or its outputs, for pytest, unittest or any other runner. A hypothesis
strategy for valid programs: `programs`.

Under pytest, the fixture `mil_golden` does the same with files beside the test: `miltext.pytest_plugin`.
"""

from miltext.testing.generated import programs
from miltext.testing.golden import UPDATE_VARIABLE, Normalization, assert_matches_golden, compare, normalize
from miltext.testing.numbers import ENDING, Running, assert_matches_numbers, assert_same_numbers, check_numbers

__all__ = [
    "ENDING",
    "UPDATE_VARIABLE",
    "Normalization",
    "Running",
    "assert_matches_golden",
    "assert_matches_numbers",
    "assert_same_numbers",
    "check_numbers",
    "compare",
    "normalize",
    "programs",
]
