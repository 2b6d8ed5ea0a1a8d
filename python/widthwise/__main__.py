"""python -m widthwise"""

import sys


def main() -> int:
    from .cli import main

    return main()


if __name__ == "__main__":
    sys.exit(main())
