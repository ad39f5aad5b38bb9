"""Run the command line: `python -m messagebody`."""

from messagebody._cli import main

if __name__ == "__main__":
    main()
