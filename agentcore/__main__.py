"""`python -m agentcore`: the command line without the installed script."""

from agentcore.cli import main

if __name__ == "__main__":
    main()
