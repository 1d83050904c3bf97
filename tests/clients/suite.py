#!/usr/bin/env python3
# Runs tests of this folder in a virtual environment of their own, made below the build folder.
"""usage: suite.py --program plait --venv DIR --requirements FILE [--no-deps] [--smollm2 FILE] TEST...

Ends with 77, which ctest counts as skipped, where Python cannot make environments or no package index can be reached.
"""
import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from virtual_environment import prepare  # noqa: E402


def environment():
    """Nothing goes out, and nothing comes in from the user's own settings of the clients."""
    kept = {key: value for key, value in os.environ.items()
            if not key.upper().endswith("_PROXY") and not key.startswith(("OPENAI_", "ANTHROPIC_", "OLLAMA_", "PYTEST_"))}
    return kept | {"NO_PROXY": "*", "PYTHONDONTWRITEBYTECODE": "1"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    parser.add_argument("--requirements", required=True)
    parser.add_argument("--no-deps", action="store_true")
    parser.add_argument("--smollm2", default="")
    parser.add_argument("tests", nargs="+")
    options = parser.parse_args()
    prepare(options.venv.absolute(), HERE / options.requirements, "the clients", ["--no-deps"] if options.no_deps else [])
    command = [options.venv.absolute() / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", f"--program={os.path.abspath(options.program)}",
               f"--smollm2={options.smollm2 and os.path.abspath(options.smollm2)}", *options.tests]
    sys.exit(subprocess.run(command, cwd=HERE, env=environment()).returncode)


if __name__ == "__main__":
    main()
