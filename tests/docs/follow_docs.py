#!/usr/bin/env python3
"""Follows the how-to pages: does what a page says to a copy of the tree, builds, and runs the page's test.

usage: follow_docs.py [--keep] PAGE...

In a page, a code block whose info string has file=PATH becomes that file; one with edit=PATH is put into that file, on
the line behind the first that contains the text after="...". A block whose info string ends with `test` has one line,
PROGRAM --gtest_filter=FILTER: what is built and run. Every page must have at least one file, one edit and one test.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.M | re.S)


def fail(message):
    print(f"follow_docs: {message}", file=sys.stderr)
    sys.exit(1)


def read_page(page):
    """The page's steps in order: ("file", path, text), ("edit", path, text, after), and its test."""
    steps, test = [], None
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        info, body = block["info"], block["body"]
        if found := re.search(r"\bfile=(\S+)", info):
            steps.append(("file", found[1], body, None))
        elif found := re.search(r'\bedit=(\S+) after="(.+)"$', info):
            steps.append(("edit", found[1], body, found[2]))
        elif info.split()[-1:] == ["test"]:
            test = re.fullmatch(r"(\w+) --gtest_filter=(\S+)\n", body)
            if not test:
                fail(f"{page}: the test block is not one line: PROGRAM --gtest_filter=FILTER")
    if not test or {kind for kind, *_ in steps} != {"file", "edit"}:
        fail(f"{page}: a file, an edit and a test are wanted")
    return steps, test[1], test[2]


def copy_tree(target):
    """What git knows of, and what it would be told of."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                           capture_output=True).stdout.decode().split("\0")
    for name in filter(None, names):
        source = ROOT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def apply(step, tree, page):
    kind, name, text, after = step
    path = tree / name
    if not path.resolve().is_relative_to(tree.resolve()):
        fail(f"{page}: {name} lies outside the tree")
    if kind == "file":
        if path.exists():
            fail(f"{page}: {name} is already there")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    places = [number for number, line in enumerate(lines) if after in line]
    if not places:
        fail(f"{page}: {name} has no line with {after!r}")
    lines.insert(places[0] + 1, text)
    path.write_text("".join(lines), encoding="utf-8")


def run(command, tree, environment):
    print("+", " ".join(command), flush=True)
    if subprocess.run(command, cwd=tree, env=environment, check=False).returncode != 0:
        fail(f"failed: {' '.join(command)}")


def build_and_test(tree, program, gtest_filter):
    # The objects that the page leaves alone are those of ./test --all, in the same words: ccache is told not to look at
    # where the tree lies.
    environment = dict(os.environ, CCACHE_BASEDIR=str(tree), CCACHE_NOHASHDIR="1")
    launcher = []
    if shutil.which("ccache"):
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
    build = tree / "build"
    run(["cmake", "-S", str(tree), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DPLAIT_TESTS=ON",
         "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON", *launcher], tree, environment)
    run(["ninja", "-C", str(build), "-j", "2", program], tree, environment)
    found = next(build.rglob(program))
    listed = subprocess.run([str(found), f"--gtest_filter={gtest_filter}", "--gtest_list_tests"], capture_output=True,
                            text=True, check=True).stdout
    for pattern in gtest_filter.split(":"):
        suite = pattern.split(".")[0]
        if f"{suite}." not in listed:
            fail(f"{program} has no test {pattern}")
    run([str(found), f"--gtest_filter={gtest_filter}"], tree, environment)
    run([sys.executable, str(tree / "tools/tidy.py")], tree, environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--keep", action="store_true", help="leave the copies where they are")
    options = parser.parse_args()
    for page in options.pages:
        steps, program, gtest_filter = read_page(page)
        tree = pathlib.Path(tempfile.mkdtemp(prefix=f"plait-{page.stem}-"))
        try:
            copy_tree(tree)
            for step in steps:
                apply(step, tree, page)
            build_and_test(tree, program, gtest_filter)
        finally:
            if options.keep:
                print(f"kept: {tree}")
            else:
                shutil.rmtree(tree)
        print(f"followed: {page}", flush=True)


if __name__ == "__main__":
    main()
