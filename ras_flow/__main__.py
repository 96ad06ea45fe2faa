"""``python -m ras_flow``: the command ``ras-flow``, where its script is not on the path."""

from ras_flow.cli import main

if __name__ == "__main__":
    main()
