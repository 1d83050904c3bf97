"""Virtual environments of tests, made below the build folder."""
import re
import shutil
import subprocess
import sys

SKIPPED = 77  # As ctest counts it.


def skip(sentence):
    print(f"skipped: {sentence}")
    sys.exit(SKIPPED)


def prepare(folder, requirements, what, more=()):
    """Makes the environment unless it is there as wanted: the last thing written is what it was made from."""
    stamp, wanted = folder / "made-from.txt", f"{sys.version}\n{list(more)}\n{requirements.read_text()}"
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
            skip(f"pip reaches no package index, so {what} cannot be installed")
        sys.exit(1)
    stamp.write_text(wanted)
