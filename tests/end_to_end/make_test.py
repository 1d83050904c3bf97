#!/usr/bin/env python3
"""plait make from outside: what it prints, the same bytes again, what it refuses, and what an interrupt leaves."""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""


def plait(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120)


class Make(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_prints_the_path_and_writes_the_same_bytes_again(self):
        first, second = self.path("a.gguf"), self.path("b.gguf")
        one = plait("make", "--arch", "llama", "--seed", "7", "--out", first)
        two = plait("make", "--arch", "llama", "--seed", "7", "--out", second, "--threads", "1", "--json")
        self.assertEqual((one.returncode, two.returncode), (0, 0), one.stderr + two.stderr)
        self.assertEqual(one.stdout.splitlines()[0], first)
        report = json.loads(two.stdout)
        self.assertEqual(report["path"], second)
        self.assertEqual(report["bytes"], os.path.getsize(second))
        with open(first, "rb") as a, open(second, "rb") as b:
            self.assertEqual(a.read(), b.read())
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.gguf", "b.gguf"])

    def test_the_model_runs(self):
        model = self.path("a.gguf")
        self.assertEqual(plait("make", "--arch", "qwen3", "--seed", "1", "--out", model).returncode, 0)
        done = plait("logits", model, "--ids", "72,101,108", "--top", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(abs(json.loads(done.stdout)["logits"][0]), 20)

    def test_stats_count_each_expert_of_each_layer(self):
        model = self.path("a.gguf")
        self.assertEqual(plait("make", "--arch", "qwen3moe", "--seed", "1", "--out", model).returncode, 0)
        done = plait("run", model, "-p", "hi", "-n", "8", "--temp", "0", "--stats", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        layers = re.findall(r"^plait: layer (\d+), how often each expert was chosen: ([\d ]+)$", done.stderr, re.M)
        self.assertEqual([layer for layer, _ in layers], ["0", "1"])
        tokens = report["prompt_tokens"] + report["generated_tokens"] - 1  # The last token is not put back in.
        for _, counts in layers:
            self.assertEqual(len(counts.split()), 8)
            self.assertEqual(sum(map(int, counts.split())), 2 * tokens)

    def test_fails_with_one_sentence(self):
        cases = [
            (["--type", "q4_k", "--out", self.path("a.gguf")], "token_embd.weight"),
            (["--type", "q4_k", "--out", self.path("a.gguf")], "width 64 is no multiple of 256"),
            (["--shape", "no-such-shape", "--out", self.path("a.gguf")], "no-such-shape"),
            (["--out", self.path("no/such/folder/a.gguf")], self.path("no/such/folder/a.gguf")),
        ]
        if os.path.exists("/dev/full"):
            cases.append((["--out", "/dev/full"], "/dev/full: cannot be written: No space left on device"))
        for arguments, wanted in cases:
            done = plait("make", "--arch", "llama", "--seed", "1", *arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(wanted, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertEqual(done.stdout, "")
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_a_wrong_command_line_is_status_2(self):
        self.assertEqual(plait("make", "--arch", "llama", "--out", self.path("a.gguf")).returncode, 2)
        done = plait("make", "--arch", "llama", "--sed", "1", "--out", self.path("a.gguf"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--seed", done.stderr)

    def test_an_interrupt_leaves_nothing(self):
        work = subprocess.Popen([PROGRAM, "make", "--arch", "qwen3", "--shape", "qwen3-0.6b", "--seed", "1", "--threads",
                                 "1", "--out", self.path("a.gguf")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        partial = self.path("a.gguf.partial")
        for _ in range(1000):
            if os.path.exists(partial):
                break
            time.sleep(0.01)
        self.assertTrue(os.path.exists(partial))
        work.send_signal(signal.SIGINT)
        work.communicate(timeout=60)
        self.assertEqual(work.returncode, 130)
        self.assertEqual(os.listdir(self.folder.name), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--golden")
    parser.add_argument("--smollm2")
    PROGRAM = parser.parse_args().program
    sys.exit(0 if unittest.main(argv=[sys.argv[0]], exit=False).result.wasSuccessful() else 1)
