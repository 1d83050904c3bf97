#!/usr/bin/env python3
"""What bad input gets, from outside: broken metadata, hostile templates, closed and full outputs, little memory."""
import argparse
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
MODEL = ""
FORMATS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<B", 10: "<Q", 11: "<q", 12: "<d"}
U32, I32, F32, STRING, ARRAY = 4, 5, 6, 8, 9


class Gguf:
    """A model file taken apart: `keys` maps a name to (type, value), `tensors` are [name, extents, type, bytes]."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.at = 4
        self.version, tensors, keys = self.number("<I"), self.number("<Q"), self.number("<Q")
        self.keys = {}
        for _ in range(keys):
            name, kind = self.string().decode(), self.number("<I")
            self.keys[name] = (kind, self.value(kind))
        listing = []
        for _ in range(tensors):
            name = self.string()
            extents = [self.number("<Q") for _ in range(self.number("<I"))]
            listing.append((name, extents, self.number("<I"), self.number("<Q")))
        base = (self.at + 31) // 32 * 32
        ends = sorted(tensor[3] for tensor in listing) + [len(self.data) - base]
        self.tensors = []
        for name, extents, kind, offset in listing:
            end = min(end for end in ends if end > offset)
            self.tensors.append([name, extents, kind, self.data[base + offset:base + end]])

    def number(self, form):
        value = struct.unpack_from(form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def string(self):
        size = self.number("<Q")
        self.at += size
        return self.data[self.at - size:self.at]

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            element = self.number("<I")
            return element, [self.value(element) for _ in range(self.number("<Q"))]
        return self.number(FORMATS[kind])

    def tensor(self, name):
        return next(tensor for tensor in self.tensors if tensor[0] == name)

    def write(self, path):
        def text(value):
            return struct.pack("<Q", len(value)) + value

        def encoded(kind, value):
            if kind == STRING:
                return text(value)
            if kind == ARRAY:
                return struct.pack("<IQ", value[0], len(value[1])) + b"".join(encoded(value[0], v) for v in value[1])
            return struct.pack(FORMATS[kind], value)

        out = b"GGUF" + struct.pack("<IQQ", self.version, len(self.tensors), len(self.keys))
        for name, (kind, value) in self.keys.items():
            out += text(name.encode()) + struct.pack("<I", kind) + encoded(kind, value)
        data = b""
        for name, extents, kind, values in self.tensors:
            data += b"\0" * (-len(data) % 32)
            out += text(name) + struct.pack("<I", len(extents)) + b"".join(struct.pack("<Q", e) for e in extents)
            out += struct.pack("<IQ", kind, len(data))
            data += values
        with open(path, "wb") as file:
            file.write(out + b"\0" * (-len(out) % 32) + data)


def plait(*arguments, **more):
    more.setdefault("stdin", subprocess.DEVNULL if "input" not in more else None)
    return subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=60, **more)


def shell(line, *arguments):
    """`line` sees the program as $0 and the arguments as $1, $2, ..."""
    return subprocess.run(["bash", "-c", line, PROGRAM, *arguments], capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL)


class BadInput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = self.path("model.gguf")
        shutil.copyfile(MODEL, self.model)  # Never the golden file itself: some of these tests try to overwrite it.

    def path(self, name):
        return os.path.join(self.folder, name)

    def changed(self, change):
        gguf = Gguf(MODEL)
        change(gguf)
        path = self.path("changed.gguf")
        gguf.write(path)
        return path

    def refused(self, done, *wanted, status=1):
        error = done.stderr.decode()
        self.assertEqual(done.returncode, status, error)
        for text in wanted:
            self.assertIn(text, error)
        self.assertNotRegex(error, r"[\x00-\x09\x0b-\x1f\x7f]")  # No terminal codes.

    def test_absurd_metadata_is_refused_by_name(self):
        cases = [
            ("llama.attention.head_count", U32, 0, "head_count is 0"),
            ("llama.attention.head_count", U32, 3, "not a multiple"),
            ("llama.attention.head_count_kv", U32, 0, "head_count_kv is 0"),
            ("llama.attention.key_length", U32, 2**31, "key_length is 2147483648"),
            ("llama.block_count", U32, 0, "block_count is 0"),
            ("llama.block_count", U32, 513, "block_count is 513"),
            ("llama.block_count", U32, 2**31, "block_count is 2147483648"),
            ("llama.block_count", I32, -1, "block_count is -1"),
            ("llama.block_count", STRING, b"2", "block_count is not one whole number"),
            ("llama.embedding_length", U32, 63, "token_embd.weight"),
            ("llama.context_length", U32, 2**32 - 1, "context_length is 4294967295"),
            ("llama.attention.layer_norm_rms_epsilon", F32, float("nan"), "epsilon is not a finite number"),
            ("llama.rope.freq_base", F32, 0.0, "freq_base is 0"),
            ("llama.rope.dimension_count", U32, 15, "dimension_count is 15"),
            ("llama.rope.dimension_count", I32, -2, "dimension_count is -2"),
            ("tokenizer.ggml.eos_token_id", U32, 384, "eos_token_id is 384"),
            ("tokenizer.ggml.tokens", ARRAY, (STRING, [b"a"] * 384), "token 1"),
            ("tokenizer.ggml.pre", STRING, b"x\x1b]0;y\x07", "pre-tokenizer 'x\\x1b"),
            ("general.architecture", STRING, b"gptx\x1b[2J", "known are"),
            ("general.alignment", U32, 3, "general.alignment"),
        ]
        for key, kind, value, wanted in cases:
            with self.subTest(key=key, value=value):
                start = time.monotonic()
                path = self.changed(lambda gguf: gguf.keys.__setitem__(key, (kind, value)))
                self.refused(plait("run", path, "-p", "hi", "-n", "1"), wanted)
                self.assertLess(time.monotonic() - start, 20)

    def test_hostile_templates_end_with_line_and_cause(self):
        cases = [
            (b"{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", "steps"),
            (b"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "too deeply"),
            (b"{{ " + b"(" * 100000 + b"1" + b")" * 100000 + b" }}", "nested too deeply"),
            (b"{{ 'x' * 10000000000 }}", "too large"),
            (b"{{ raise_exception('no \x1b[31m') }}", "no \\x1b[31m"),
            (b"\n{% for \x1b[2J %}", "template line 2"),
        ]
        for source, wanted in cases:
            with self.subTest(source=source[:40]):
                path = self.changed(lambda gguf: gguf.keys.__setitem__("tokenizer.chat_template", (STRING, source)))
                self.refused(plait("run", path, "-p", "hi", "-n", "1"), "template line", wanted)

    def test_a_hostile_template_is_refused_in_little_memory(self):
        count = "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); " \
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024); sys.exit(done.returncode)"
        double = "{%% set ns = namespace(x=%s) %%}{%% for i in range(100) %%}{%% set ns.x = %s %%}{%% endfor %%}"
        cases = [
            (double % ("'x'", "ns.x + ns.x"), "a value of 16777216 bytes is too large"),
            (double % ("'x'", "ns.x ~ ns.x"), "too large"),
            (double % ("[1]", "ns.x + ns.x"), "too large"),
            (double % ("'x'", "ns.x ~ ns.x") + "{{ ns.x }}", "too large"),
            ("{{ ('x' * 8000000).split('x') }}", "too large"),
            ("{{ ('x,' * 4000000)|wordwrap(3) }}", "too large"),
            ("{{ ('x' * 8000000)|replace('x', 'yyyyyyyyy') }}", "too large"),
            ("{% for i in range(99999) %}{{ 'x' * 1000 }}{% endfor %}", "bytes of text"),
            ("x{{ 1 }}" * 4000000, "the source has 32000000 bytes, wanted at most 1048576"),
        ]
        template, messages = self.path("t.jinja"), self.path("m.json")
        with open(messages, "w") as file:
            json.dump([{"role": "user", "content": "hi"}], file)
        for source, wanted in cases:
            with self.subTest(source=source[:60]):
                with open(template, "w") as file:
                    file.write(source)
                done = subprocess.run([sys.executable, "-c", count, PROGRAM, "render", "--template", template,
                                       "--messages", messages], capture_output=True, timeout=60)
                self.refused(done, "template", wanted)
                self.assertLess(int(done.stdout), 100 + len(source) // 500000)

    def test_values_that_are_no_numbers_are_found_and_named(self):
        def spoil(gguf):
            gguf.tensor(b"blk.1.attn_norm.weight")[3] = struct.pack("<f", float("nan")) * 64

        path = self.changed(spoil)
        self.refused(plait("run", path, "-p", "hi", "-n", "1"), "blk.1.attn_norm.weight", "no number")
        self.refused(plait("run", path, "-p", "hi", "-n", "1", "--no-check"), "not a number to sample from")

    def test_the_model_is_never_overwritten(self):
        link = self.path("link")
        os.symlink(self.model, link)
        for out in (self.model, link):
            self.refused(plait("values", self.model, "token_embd.weight", "--out", out), "is the model itself")
            self.refused(plait("logits", self.model, "--ids", "1", "--out", out), "is the model itself")
            self.refused(plait("logits", self.model, "--ids", "1", "--top", "1", "--hidden", out), "is the model itself")
        with open(MODEL, "rb") as golden, open(self.model, "rb") as model:
            self.assertEqual(golden.read(), model.read())
        out = self.path("out")
        self.refused(plait("logits", self.model, "--ids", "1", "--out", out, "--hidden", out), "same file", status=2)

    def test_closed_and_full_outputs(self):
        run = '"$0" run "$1" -p hi -n 2 --temp 0 '
        self.assertEqual(shell(run + "2>&-", self.model).returncode, 0)
        self.refused(shell(run + ">&-", self.model), "standard output cannot be written")
        if os.path.exists("/dev/full"):
            self.refused(shell(run + ">/dev/full", self.model), "standard output cannot be written")
        # Messages do not land in a file that was opened in the place of a closed descriptor.
        made, clean = self.path("made.gguf"), self.path("clean.gguf")
        make = '"$0" make --arch llama --seed 1 --out "$1" '
        shell(make + ">&- 2>&-", made)
        self.assertEqual(shell(make, clean).returncode, 0)
        with open(made, "rb") as one, open(clean, "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_threads_that_cannot_start_are_an_error(self):
        if plait("--version").returncode or shell('ulimit -v 300000; "$0" --version').returncode:
            self.skipTest("the program does not start with so little address space")
        done = shell('ulimit -v 300000; "$0" run "$1" -p hi -n 2 -t 256', self.model)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(str(done.stderr), "256 threads|out of memory")  # The stacks of those that start take the rest.
        for kilobytes in range(20000, 60000, 2000):  # Wherever it fails, it says so.
            if shell(f'ulimit -v {kilobytes}; "$0" --version').returncode:
                continue  # It ends before main(), where libraries are loaded and make their own globals.
            done = shell(f'ulimit -v {kilobytes}; "$0" run "$1" -p hi -n 2', self.model)
            self.assertIn(done.returncode, (0, 1, 127), f"{kilobytes}: {done.stderr}")

    def test_numbers_on_the_command_line(self):
        for flags in (["-s", "18446744073709551616"], ["-s", "-1"], ["-s", "x"], ["-n", "-5"], ["-c", "-1"],
                      ["-b", "0"], ["--mem", "10X"], ["--top-k", "99999999999"], ["--threads", "0"], ["-n", "1", "-n", "2"]):
            with self.subTest(flags=flags):
                self.refused(plait("run", self.model, "-p", "hi", *flags), "plait", status=2)
        for flags in (["-t", "257"], ["-b", "65537"], ["--isa", ""], ["--activations", "12"]):
            with self.subTest(flags=flags):
                self.refused(plait("logits", self.model, "--ids", "1", "--top", "1", *flags), flags[0], status=2)
        most = plait("run", self.model, "-p", "hi", "-n", "1", "-t", "256", "-b", "65536")
        self.assertEqual(most.returncode, 0, most.stderr)
        self.refused(plait("bench", self.model, "-c", "10", "-p", "20", "-n", "5"), "-c is 10", "20 tokens", status=2)
        for ids, wanted in (("1,,2", "number 1 is ''"), (",1", "number 0 is ''"), ("1,", "last comma"), ("1,x", "'x'")):
            self.refused(plait("logits", self.model, "--ids", ids, "--top", "1"), "--ids", wanted)
        self.assertEqual(plait("logits", self.model, "--ids", " 1 , 2 3\n", "--top", "1").returncode, 0)
        self.refused(plait("run", self.model, "--promt", "hi"), "did you mean '--prompt'", status=2)

    def test_an_empty_prompt_is_no_chat(self):
        done = plait("run", self.model, "-p", "", "-n", "2", "--json", input=b"hello\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["generated_tokens"], 2)

    def test_a_prompt_far_too_long_is_refused_with_numbers(self):
        text = self.path("long.txt")
        with open(text, "w") as file:
            file.write("a" * 10_000_000)
        start = time.monotonic()
        done = plait("run", self.model, "-f", text, "-n", "1")
        self.refused(done, "at least", "2048")
        self.assertTrue(re.search(rb"1000\d{4} bytes", done.stderr), done.stderr)
        self.assertLess(time.monotonic() - start, 20)

    def test_odd_bytes_still_make_valid_json(self):
        done = plait("run", self.model, "-p", b"\xff\xfe\xc3(\xed\xa0\x80", "-n", "8", "-s", "1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout.decode())["tokens"]), 8)

    def test_a_named_pipe_is_not_waited_for(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        self.refused(plait("run", self.model, "-f", pipe, "-n", "1"), pipe, "is a named pipe")
        self.refused(plait("logits", self.model, "--ids-file", pipe, "--top", "1"), "is a named pipe")
        self.refused(plait("inspect", pipe), pipe)
        self.refused(plait("run", self.model, "-f", "/dev/null/x", "-n", "1"), "/dev/null/x")
        self.refused(plait("run", self.model, "-f", "/dev/zero", "-n", "1"), "is a device")
        for name in ("-", "/dev/stdin"):
            done = plait("run", self.model, "-f", name, "-n", "1", "--temp", "0", input=b"hi")
            self.assertEqual(done.returncode, 0, done.stderr)
        done = shell('"$0" run "$1" -n 1 -f <(echo hi)', self.model)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_results_appear_only_when_they_are_complete(self):
        out = self.path("out")
        with open(out, "w") as file:
            file.write("old")
        ids = ",".join(["1"] * 2000)
        arguments = ["logits", self.model, "--ids", ids, "--at", "all", "--chunk", "1", "--out", out]
        for number, status in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
            work = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not os.path.exists(out + ".partial") and work.poll() is None:
                time.sleep(0.001)
            work.send_signal(number)
            self.assertEqual(work.wait(60), status)
            with open(out) as file:
                self.assertEqual(file.read(), "old")
            if number == signal.SIGINT:
                self.assertFalse(os.path.exists(out + ".partial"))
        limited = shell('ulimit -f 1; "$0" values "$1" token_embd.weight --out "$2"', self.model, out)
        self.refused(limited, out, "cannot write")
        self.assertEqual(sorted(os.listdir(self.folder)), ["model.gguf", "out"])
        self.assertEqual(plait("logits", self.model, "--ids", "1", "--out", out).returncode, 0)
        self.assertEqual(os.path.getsize(out) % 4, 0)

    def test_signals(self):
        for command, number, wanted in ((["run", self.model], signal.SIGINT, 130),
                                        (["tokenize", self.model, "--lines"], signal.SIGINT, 130)):
            work = subprocess.Popen([PROGRAM, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
            time.sleep(1)
            work.send_signal(number)
            work.communicate(timeout=30)
            self.assertEqual(work.returncode, wanted, command)

    def test_a_killed_make_leaves_no_model(self):
        out = self.path("killed.gguf")
        work = subprocess.Popen([PROGRAM, "make", "--arch", "qwen3", "--shape", "qwen3-0.6b", "--seed", "1", "-t", "1",
                                 "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists(out + ".partial") and work.poll() is None:
            time.sleep(0.01)
        self.refused(plait("make", "--arch", "llama", "--seed", "1", "--out", out), "another program is writing it")
        work.kill()
        work.wait()
        self.assertFalse(os.path.exists(out))
        self.assertEqual(plait("make", "--arch", "llama", "--seed", "1", "--out", out).returncode, 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--golden", required=True)
    parser.add_argument("--smollm2")
    given = parser.parse_args()
    PROGRAM = os.path.abspath(given.program)
    MODEL = os.path.join(given.golden, "models", "llama", "model.gguf")
    if not os.path.exists(MODEL):
        print(f"skipped: {MODEL} is not there")
        sys.exit(77)
    sys.exit(0 if unittest.main(argv=[sys.argv[0]], exit=False).result.wasSuccessful() else 1)
