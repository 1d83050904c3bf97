"""What the page's tests and screenshots run on: Playwright in an environment below the build folder, and the system's
Chromium."""
import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from virtual_environment import prepare, skip  # noqa: E402


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        path = shutil.which(name)
        if path:
            return path
    return skip("there is no Chromium here (Debian's package chromium)")


def enter(folder):
    """Goes on in the environment: returns once this program runs there."""
    chromium()
    folder = pathlib.Path(folder).absolute()
    if pathlib.Path(sys.prefix) == folder:
        return
    prepare(folder, HERE / "requirements.txt", "Playwright")
    python = folder / "bin/python"
    os.execve(python, [str(python), *sys.argv], os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})


def launch(playwright):
    # Without its sandbox, which root and many containers cannot have; what it loads is this page alone.
    return playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])
