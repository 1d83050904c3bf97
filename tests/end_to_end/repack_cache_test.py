#!/usr/bin/env python3
"""--repack-cache from outside: the same bits with and without, and what becomes of a stale, damaged or unwritable cache."""
import argparse
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""


def plait(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120)


class RepackCache(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.model = os.path.join(self.folder.name, "a.gguf")
        self.cache = self.model + ".repack"

    def make(self, arch, seed="1"):
        done = plait("make", "--arch", arch, "--type", "q8_0", "--seed", seed, "--out", self.model)
        self.assertEqual(done.returncode, 0, done.stderr)

    # The logits of a few tokens, and the notes.
    def logits(self, *flags):
        out = os.path.join(self.folder.name, "out")
        done = plait("logits", self.model, "--ids", "72,101,108,108,111", "--out", out, "-v", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out, "rb") as file:
            return file.read(), done.stderr

    def test_gives_the_same_bits_for_every_architecture(self):
        for arch in ("llama", "qwen3", "qwen3moe", "qwen35", "qwen35moe", "lfm2moe"):
            with self.subTest(arch=arch):
                self.make(arch)
                plain, _ = self.logits()
                for _ in range(2):  # Made, then read.
                    cached, notes = self.logits("--repack-cache")
                    self.assertEqual(cached, plain)
                    self.assertNotIn("repack", notes)
                    self.assertTrue(os.path.exists(self.cache))
                scalar, _ = self.logits("--repack-cache", "--isa", "scalar")
                self.assertEqual(scalar, plain)
                os.remove(self.cache)

    def test_reads_the_cache_and_not_the_model(self):
        self.make("llama")
        plain, _ = self.logits("--repack-cache")
        times = os.stat(self.model)
        with open(self.model, "r+b") as file:  # Other weights behind the same size and time.
            file.seek(os.path.getsize(self.model) - 4000)
            file.write(bytes(2000))
        os.utime(self.model, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assertEqual(self.logits("--repack-cache")[0], plain)
        self.assertNotEqual(self.logits()[0], plain)

    def test_is_made_anew_when_the_model_changed(self):
        self.make("llama")
        self.logits("--repack-cache")
        self.make("llama", seed="2")
        plain, _ = self.logits()
        cached, notes = self.logits("--repack-cache")
        self.assertEqual(cached, plain)
        self.assertIn("was made from another model file, or an older one; it is made anew", notes)
        self.assertNotIn("repack", self.logits("--repack-cache")[1])

    def test_is_made_anew_when_it_is_damaged(self):
        self.make("qwen35")
        plain, _ = self.logits("--repack-cache")
        size = os.path.getsize(self.cache)
        for at, what in ((size - 5000, "its weights are damaged"), (3, "is no repack cache"), (None, "bytes, wanted")):
            with self.subTest(what=what):
                with open(self.cache, "r+b") as file:
                    if at is None:
                        file.truncate(size // 2)
                    else:
                        file.seek(at)
                        byte = file.read(1)
                        file.seek(at)
                        file.write(bytes([byte[0] ^ 1]))
                cached, notes = self.logits("--repack-cache")
                self.assertEqual(cached, plain)
                self.assertIn(what, notes)
                self.assertEqual(os.path.getsize(self.cache), size)

    def test_a_place_that_cannot_be_written_is_a_note(self):
        self.make("llama")
        plain, _ = self.logits()
        os.mkdir(self.cache)
        cached, notes = self.logits("--repack-cache")
        self.assertEqual(cached, plain)
        self.assertIn("the packed weights are not kept", notes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--golden")
    parser.add_argument("--smollm2")
    known, rest = parser.parse_known_args()
    PROGRAM = os.path.abspath(known.program)
    unittest.main(argv=[sys.argv[0], *rest])
