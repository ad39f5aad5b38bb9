"""Run the command line: `python -m messagebody`."""

from messagebody.cli import main

main()
