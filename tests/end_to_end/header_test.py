#!/usr/bin/env python3
"""plait inspect and plait values from outside: small, huge and broken files."""
import argparse, json, os, resource, struct, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("--program", required=True)
parser.add_argument("--golden")
parser.add_argument("--smollm2")
program = parser.parse_args().program


def text(value):
    return struct.pack("<Q", len(value)) + value


def gguf(tensors, version=3, keys=((b"general.architecture", b"to\x1b[2Jy"),)):
    """tensors: (name, extents, type, offset)."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys))
    for key, value in keys:
        out += text(key) + struct.pack("<I", 8) + text(value)
    for name, extents, kind, offset in tensors:
        out += text(name) + struct.pack("<I", len(extents)) + struct.pack(f"<{len(extents)}Q", *extents)
        out += struct.pack("<IQ", kind, offset)
    return out + b"\0" * (-len(out) % 32)


def plait(*arguments):
    start = time.monotonic()
    done = subprocess.run([program, *arguments], capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode(), time.monotonic() - start


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def one_sentence(status, error, *parts):
    check(status == 1, f"status 1, not {status}: {error}")
    check(error.count("\n") == 1 and "\x1b" not in error, f"one line without terminal codes: {error!r}")
    for part in parts:
        check(part in error, f"{part!r} in {error!r}")


with tempfile.TemporaryDirectory() as folder:
    path, out = f"{folder}/m.gguf", f"{folder}/out"

    values = struct.pack("<4f", 1.0, -2.5, 0.0, 1e30)
    with open(path, "wb") as file:
        file.write(gguf([(b"t", (2, 2), 0, 0), (b"n", (4,), 26, 32)]) + values + b"\0" * 32)
    status, shown, error, _ = plait("values", path, "t", "--out", out)
    check(status == 0 and shown == "[2, 2]\n", f"the shape of t: {shown!r} {error}")
    check(open(out, "rb").read() == values, "the values of t")
    status, shown, _, _ = plait("values", path, "t", "--out", out, "--json")
    check(json.loads(shown)["shape"] == [2, 2], "the shape of t as JSON")
    os.remove(out)
    status, _, error, _ = plait("values", path, "n", "--out", out)
    one_sentence(status, error, "i32")
    check(not os.path.exists(out), "no file is left")
    status, _, error, _ = plait("values", path, "x", "--out", out)
    one_sentence(status, error, "has no tensor 'x'")
    status, _, error, _ = plait("values", path, "t", "--out", f"{folder}/none/out")
    one_sentence(status, error, "none/out")
    status, _, error, _ = plait("values", path, "t")
    check(status == 2, "--out is required")
    if os.path.exists("/dev/full"):
        status, _, error, _ = plait("values", path, "t", "--out", "/dev/full")
        one_sentence(status, error, "No space left")

    status, shown, error, _ = plait("inspect", path, "--tensors")
    check(status == 0 and "cannot run" in shown and "\x1b" not in shown, f"inspect: {shown!r} {error}")
    status, shown, _, _ = plait("inspect", path, "--tensors", "--json")
    found = json.loads(shown)
    check(found["runs"] is False and len(found["tensors"]) == 2, "inspect as JSON")

    # A header over 64 GiB of holes: only the header is read.
    with open(path, "wb") as file:
        file.write(gguf([(b"big", (1 << 20, 1 << 14), 0, 0)]))
        file.truncate(file.tell() + (1 << 36))
    status, shown, error, seconds = plait("inspect", path)
    check(status == 0 and "64.0 GiB" in shown, f"inspect of a large file: {shown} {error}")
    check(seconds < 5, f"inspect of a large file took {seconds:.1f} s")

    broken = {
        "cut short": (gguf([(b"t", (1 << 10,), 0, 0)]) + b"\0" * 64, "cut short"),
        "version 1": (gguf([], version=1), "version 1"),
        "many tensors": (b"GGUF" + struct.pack("<IQQ", 3, 1 << 40, 0) + b"\0" * 64, "at most"),
        "a huge string": (gguf([])[:24] + text(b"k") + struct.pack("<IQ", 8, 1 << 62), "string"),
        "retired": (gguf([(b"t", (32,), 4, 0)]) + b"\0" * 64, "requantize"),
        "a name with codes": (gguf([(b"a\x1b[31mb", (1,), 0, 0)]) + b"\0" * 64, "\\x1b"),
        "text": (b"hello", "not a GGUF file"),
        "nothing": (b"", "empty"),
    }
    for name, (data, part) in broken.items():
        with open(path, "wb") as file:
            file.write(data)
        status, _, error, seconds = plait("inspect", path)
        one_sentence(status, error, "m.gguf: ", part)
        check(seconds < 5, f"{name}: {seconds:.1f} s")
    for command in ("run", "tokenize", "logits", "bench"):
        more = {"run": ["-p", "x"], "tokenize": ["x"], "logits": ["--ids", "1", "--out", out], "bench": []}[command]
        status, _, error, _ = plait(command, path, *more)
        one_sentence(status, error, "empty")

peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
check(peak < 100_000, f"the largest run took {peak} KiB")
