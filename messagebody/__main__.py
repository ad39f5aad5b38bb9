"""Run the command line: `python -m messagebody`."""

from messagebody.cli import main

if __name__ == "__main__":
    main()
