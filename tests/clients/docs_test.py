# The examples of docs/server.md and of the README do what they say.
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ("docs/server.md", "README.md")
ADDRESS = "http://127.0.0.1:8080"


def blocks():
    """Indented blocks that are a Python program or calls of curl."""
    found = []
    for page in PAGES:
        for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", (ROOT / page).read_text(), re.M):
            text = "\n".join(line[4:] for line in block.strip("\n").splitlines())
            if text.startswith(("curl ", "from ")):
                found.append(pytest.param(text, id=f"{page}, {' '.join(text.split()[:3])}"))
    return found


def test_the_pages_have_examples():
    programs = [param.values[0] for param in blocks()]
    assert len([text for text in programs if text.startswith("from ")]) == 3
    assert len([text for text in programs if text.startswith("curl ")]) >= 5


@pytest.mark.parametrize("example", blocks())
def test_an_example_runs(script, example):
    text = example.replace(ADDRESS, script.url)
    if text.startswith("from "):
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    else:
        done = subprocess.run(["bash", "-euc", 'curl() { command curl -sS --fail-with-body "$@"; }\n' + text], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()
