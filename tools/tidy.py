#!/usr/bin/env python3
"""The rules of the house that a machine can check.

usage: tidy.py [--root DIR] [--objects BUILD_DIR [--nm PROGRAM]]

Reads every C++ file of the project, and those of the page, and prints one line for each breach; exits 1 if there is any.
With --objects it also looks at the weak symbols of the instruction sets' object files of a release build; --nm names the
nm that can read them, where they are for another machine.
Where things live and what may use what: docs/architecture.md.
"""
import argparse
import pathlib
import re
import subprocess
import sys

MOST_FILE_LINES = 400
MOST_FUNCTION_LINES = 70
MOST_COLUMNS = 120

# Folder of src -> folders whose headers it may include, beside its own and base.
MAY_USE = {
    "base": [],
    "formats": [],
    "kernels": ["formats"],
    "isa": ["formats", "kernels"],
    "io": ["formats"],
    "text": [],
    "backend": ["formats", "kernels"],
    "cache": ["backend"],
    "mixers": ["backend"],
    "ffn": ["backend"],
    "models": ["io", "cache", "mixers", "ffn", "backend", "formats"],
    "decode": ["text", "cache", "models"],
    "engine": ["formats", "io", "text", "backend", "cache", "mixers", "ffn", "models", "decode"],
    "examine": ["formats", "io", "text", "backend", "cache", "mixers", "ffn", "models", "decode", "engine"],
    "server": [],
    "apps": ["examine", "server"],
}
# Single headers and folders that some may use besides: (who includes, what). Both are beginnings of paths.
MAY_ALSO_USE = [
    ("src/backend/cpu/", "isa/"),
    ("src/mixers/", "kernels/kernels.h"),   # mixers on their second rung
]
PUBLIC = "plait/"                           # include/plait: all may use it

# Libraries: beginning of the include -> where it may stand.
LIBRARIES = {
    "CLI/": ["apps/"],
    "curl/": ["apps/"],
    "openssl/": ["apps/"],
    "boost/": ["src/server/"],
    "pcre2.h": ["src/text/", "tests/text/"],
    "utf8proc.h": ["src/text/", "src/base/", "tests/"],
    "gtest/": ["tests/"],
    "gmock/": ["tests/"],
    "benchmark/": ["bench/"],
}

# Calls that no file may make, but those that begin with one of the paths.
EVERYWHERE = ["src/", "include/", "apps/", "tests/", "bench/", "fuzz/"]
BANNED = [
    (r"\b(secure_getenv|getenv|setenv|putenv)\s*\(", "reads the environment", ["apps/", "tests/", "bench/"]),
    (r"\bv?f?printf\s*\(|\b(puts|fputs|putchar|perror)\s*\(|\bstd::(cout|cerr|clog)\b|\bfmt::print\s*\(", "prints",
     ["apps/", "tests/", "bench/", "fuzz/", "src/base/check.h"]),
    (r"(?<![\w.>])(?:std::)?(_?exit|_Exit|quick_exit|abort|terminate)\s*\(", "ends the program",
     ["apps/", "tests/", "bench/", "fuzz/", "src/base/check.h"]),
    (r"\bthrow\b", "throws", ["tests/"]),
    (r"(?<![\w.>:])(?:std::)?s?rand\s*\(", "draws random numbers without a seed", []),
    (r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca|atoi|atol|atof)\s*\(", "uses a call that checks no bounds or errors", []),
    (r"(?<![\w.>:])(system|popen)\s*\(", "starts a shell", []),
    (r"\bshared_ptr\b", "has several owners (shared_ptr)", []),
    (r"(?<![\w_])assert\s*\(", "uses assert; check() stays on in release builds", []),
    (r"\busing\s+namespace\s+std\b", "opens namespace std", []),
]

# The page: what it may not say. Text becomes text nodes, and no address leads away from the server.
PAGE = "src/server/page/"
PAGE_BANNED = [
    (r"\b(innerHTML|outerHTML|insertAdjacentHTML|setHTMLUnsafe|createContextualFragment)\b|\bdocument\.write\b", "makes markup of text"),
    (r"\beval\s*\(|\bnew Function\b|\bimport\s*\(", "makes code of text"),
    (r"\b(src|href)\s*=\s*[\"'](https?:)?//|@import|url\(\s*[\"']?(https?:)?//", "leads away from the server"),
    (r"\slocalhost\b|\b127\.0\.0\.1\b", "knows where the server is"),
    (r"<[^>]*\s(on[a-z]+|style)\s*=", "has a script or a style in an attribute, which the policy forbids"),
]

STRINGS_AND_COMMENTS = re.compile(
    r'R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)


def code_only(text):
    """The text with strings, characters and comments blanked; lines stay where they are."""
    def blank(match):
        kept = '""' if match[0][0] in "\"R" else ""
        return kept + "".join(c if c == "\n" else " " for c in match[0][len(kept):])
    return STRINGS_AND_COMMENTS.sub(blank, text)


def folder_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]


def include_faults(path, text):
    folder = folder_of(path)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', line)
        if not match:
            continue
        name = match[1] or match[2]
        for library, places in LIBRARIES.items():
            if name.startswith(library) and not any(path.startswith(place) for place in places):
                yield number, f"includes <{name}>, which only {' and '.join(places)} may"
        target = name.split("/")[0] if "/" in name else None
        if name.startswith(PUBLIC) or target not in MAY_USE or path.startswith(("tests/", "bench/", "fuzz/")):
            continue
        allowed = target in ("base", folder) or target in MAY_USE.get(folder, [])
        allowed = allowed or any(path.startswith(who) and name.startswith(what) for who, what in MAY_ALSO_USE)
        if path.startswith("include/"):
            allowed = False
        if not allowed:
            yield number, f'includes "{name}", and {folder}/ may not use {target}/'


def call_faults(path, code):
    for number, line in enumerate(code.splitlines(), 1):
        for pattern, what, places in BANNED:
            if not any(path.startswith(place) for place in places) and re.search(pattern, line):
                yield number, what


def function_faults(code):
    """Outermost functions that are too long. Braces are told apart by the words before them."""
    scopes = []                  # one letter each: c container, f function, o other
    begin = head = 0             # where the words before the next brace begin; where the function does
    for match in re.finditer(r"[{};]", code):
        at = match.start()
        if match[0] == "{":
            words = code[begin:at]
            inside = all(s == "c" for s in scopes)
            if re.search(r"\b(namespace|class|struct|union|enum)\b[^()=]*$", words) or re.search(r'\bextern\s*""\s*$', words):
                scopes.append("c")
            elif inside and ")" in words and not re.search(r"[=(,]\s*$", words):
                scopes.append("f")
                head = begin + len(words) - len(words.lstrip())
            else:
                scopes.append("o")
        elif match[0] == "}" and scopes:
            if scopes.pop() == "f" and all(s == "c" for s in scopes):
                first, last = code.count("\n", 0, head) + 1, code.count("\n", 0, at) + 1
                if last - first + 1 > MOST_FUNCTION_LINES:
                    yield first, f"has a function of {last - first + 1} lines; at most {MOST_FUNCTION_LINES}"
        begin = at + 1


def layout_faults(path, text):
    lines = text.split("\n")
    if lines[0] == "<!doctype html>":
        lines = lines[1:]
    if not lines[0].startswith(("//", "/*", "<!--")):
        yield 1, "does not say in its first line what is here"
    if path.endswith(".h") and not re.search(r"^#pragma once$", text, re.M):
        yield 1, "has no #pragma once"
    top = []
    for line in lines:
        if not line.startswith("//"):
            break
        top.append(line)
    count = len(lines) - (lines[-1] == "")
    if count > MOST_FILE_LINES and not re.search(r"\b(long|lines|one file)\b", " ".join(top)):
        yield 1, f"has {count} lines; over {MOST_FILE_LINES} its top must say why it is so long"
    for number, line in enumerate(lines, 1):
        if len(line) > MOST_COLUMNS:
            yield number, f"has a line of {len(line)} columns; at most {MOST_COLUMNS}"
        if line != line.rstrip():
            yield number, "has blanks at the end of a line"
    if not text.endswith("\n"):
        yield len(lines), "does not end with a line break"


def page_faults(text):
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, what in PAGE_BANNED:
            if re.search(pattern, line):
                yield number, what


def check_file(path, text):
    if path.startswith(PAGE):
        yield from layout_faults(path, text)
        yield from page_faults(text)
        return
    code = code_only(text)
    yield from layout_faults(path, text)
    yield from include_faults(path, text)
    yield from call_faults(path, code)
    yield from function_faults(code)


def source_files(root):
    for top in EVERYWHERE:
        for path in sorted((root / top).rglob("*")):
            name = path.relative_to(root).as_posix()
            kinds = (".html", ".css", ".js") if name.startswith(PAGE) else (".h", ".cpp", ".c")
            if path.suffix in kinds and path.is_file():
                yield name, path


def weak_symbol_faults(listing, vocabularies):
    """`listing`: what nm -C prints. A weak symbol without a vocabulary's name may be kept for all machines."""
    for line in listing.splitlines():
        match = re.match(r"[0-9a-f]+\s+([WwVvu])\s+(.+)", line)
        if not match or match[2].startswith("DW.ref."):
            continue
        if not any(re.search(rf"\b{name}\b", match[2]) for name in vocabularies):
            yield f"weak symbol without a vocabulary ({', '.join(vocabularies)}): {match[2]}"


def object_faults(root, build, nm):
    """Only files with a region for an instruction set: what is compiled for all machines may be kept for all."""
    looked = 0
    for source in sorted((root / "src/isa").glob("*.cpp")):
        text = source.read_text()
        vocabularies = re.findall(r"make_kernels<\s*(\w+)\s*>", text)
        if not vocabularies or "target(" not in text:
            continue
        path = source.relative_to(root).as_posix()
        objects = list(build.glob(f"CMakeFiles/*.dir/{path}.o"))
        if not objects:
            yield path, 1, f"has no object file under {build}"
            continue
        looked += 1
        listing = subprocess.run([nm, "-C", "--defined-only", str(objects[0])], capture_output=True, text=True, check=True).stdout
        for fault in weak_symbol_faults(listing, vocabularies):
            yield path, 1, fault
    print(f"tidy: looked at the symbols of {looked} object files")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--objects", type=pathlib.Path)
    parser.add_argument("--nm", default="nm")
    options = parser.parse_args()
    faults, files = [], 0
    for name, path in source_files(options.root):
        files += 1
        faults += [(name, number, what) for number, what in check_file(name, path.read_text(encoding="utf-8"))]
    if options.objects:
        faults += object_faults(options.root, options.objects, options.nm)
    for name, number, what in faults:
        print(f"{name}:{number}: {what}")
    print(f"tidy: {files} files, {len(faults)} breaches")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
