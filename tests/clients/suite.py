#!/usr/bin/env python3
# Runs tests of this folder in a virtual environment of their own, made below the build folder.
"""usage: suite.py --program plait --venv DIR --requirements FILE [--no-deps] [--smollm2 FILE] TEST...

Ends with 77, which ctest counts as skipped, where Python cannot make environments or no package index can be reached.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def skip(sentence):
    print(f"skipped: {sentence}")
    sys.exit(SKIPPED)


def environment():
    """Nothing goes out, and nothing comes in from the user's own settings of the clients."""
    kept = {key: value for key, value in os.environ.items()
            if not key.upper().endswith("_PROXY") and not key.startswith(("OPENAI_", "ANTHROPIC_", "OLLAMA_", "PYTEST_"))}
    return kept | {"NO_PROXY": "*", "PYTHONDONTWRITEBYTECODE": "1"}


def prepare(folder, requirements, more):
    """Makes the environment unless it is there as wanted: the last thing written is what it was made from."""
    stamp, wanted = folder / "made-from.txt", f"{sys.version}\n{more}\n{requirements.read_text()}"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True)
    if made.returncode != 0:
        skip(f"this Python makes no virtual environments (Debian's package python3-venv does): {made.stdout.strip()[-200:]}")
    command = [folder / "bin/pip", "install", "--quiet", "--only-binary", ":all:", *more, "-r", requirements]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout + done.stderr)
        if re.search(r"NewConnectionError|NameResolutionError|ConnectTimeout|from versions: none", done.stderr):
            skip("pip reaches no package index, so the clients cannot be installed")
        sys.exit(1)
    stamp.write_text(wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    parser.add_argument("--requirements", required=True)
    parser.add_argument("--no-deps", action="store_true")
    parser.add_argument("--smollm2", default="")
    parser.add_argument("tests", nargs="+")
    options = parser.parse_args()
    prepare(options.venv.absolute(), HERE / options.requirements, ["--no-deps"] if options.no_deps else [])
    command = [options.venv.absolute() / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", f"--program={os.path.abspath(options.program)}",
               f"--smollm2={options.smollm2 and os.path.abspath(options.smollm2)}", *options.tests]
    sys.exit(subprocess.run(command, cwd=HERE, env=environment()).returncode)


if __name__ == "__main__":
    main()
