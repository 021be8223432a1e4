"""`python -m miltext`."""

from miltext.cli import main

main()
