"""The command `melicit` of an environment: the program that comes with the package."""
import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "melicit")


def main() -> None:
    os.execv(PROGRAM, ["melicit", *sys.argv[1:]])
