"""What the page's tests and screenshots run on: Playwright in an environment below the build folder, and the system's
Chromium."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77  # As ctest counts it.


def skip(sentence):
    print(f"skipped: {sentence}")
    sys.exit(SKIPPED)


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        path = shutil.which(name)
        if path:
            return path
    return skip("there is no Chromium here (Debian's package chromium)")


def prepare(folder):
    """Makes the environment unless it is there as wanted: the last thing written is what it was made from."""
    requirements = HERE / "requirements.txt"
    stamp, wanted = folder / "made-from.txt", f"{sys.version}\n{requirements.read_text()}"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True)
    if made.returncode != 0:
        skip("this Python makes no virtual environments (Debian's package python3-venv does)")
    command = [folder / "bin/pip", "install", "--quiet", "--only-binary", ":all:", "-r", requirements]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout + done.stderr)
        if re.search(r"NewConnectionError|NameResolutionError|ConnectTimeout|from versions: none", done.stderr):
            skip("pip reaches no package index, so Playwright cannot be installed")
        sys.exit(1)
    stamp.write_text(wanted)


def enter(folder):
    """Goes on in the environment: returns once this program runs there."""
    chromium()
    folder = pathlib.Path(folder).absolute()
    if pathlib.Path(sys.prefix) == folder:
        return
    prepare(folder)
    python = folder / "bin/python"
    os.execve(python, [str(python), *sys.argv], os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})


def launch(playwright):
    # Without its sandbox, which root and many containers cannot have; what it loads is this page alone.
    return playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])
