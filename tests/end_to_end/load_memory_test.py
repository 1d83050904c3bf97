#!/usr/bin/env python3
"""What the process holds while weights are loaded: at most them and five hundredths, in each way to load."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""


def plait(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300, check=True).stdout


# The most memory that a run of the program held, in bytes.
def peak(*arguments):
    child = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, arguments
    return usage.ru_maxrss * 1024


class LoadMemory(unittest.TestCase):
    def test_is_that_of_the_weights(self):
        with tempfile.TemporaryDirectory() as folder:
            small, large = os.path.join(folder, "small.gguf"), os.path.join(folder, "large.gguf")
            plait("make", "--arch", "llama", "--type", "q8_0", "--seed", "1", "--out", small)
            plait("make", "--arch", "llama", "--shape", "smollm2-135m", "--type", "q8_0", "--seed", "1", "--out", large)
            run = ("-p", "hi", "-n", "2", "-c", "64", "-t", "2")
            program = peak("run", small, *run)
            memory = json.loads(plait("inspect", large, "--json", "--plan", "-c", "64", "-t", "2"))["memory"]
            beside = memory["context_bytes"] + memory["scratch_bytes"]
            for flags in ((), ("--no-mmap",), ("--no-check",), ("--repack-cache",), ("--repack-cache",)):
                with self.subTest(flags=flags):
                    held = peak("run", large, *run, *flags) - program - beside
                    self.assertLess(held, 1.05 * memory["weight_bytes"], (program, beside))
                    self.assertGreater(held, 0.8 * memory["weight_bytes"])  # It was measured at all.


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--golden")
    parser.add_argument("--smollm2")
    options, rest = parser.parse_known_args()
    PROGRAM = options.program
    unittest.main(argv=[sys.argv[0], *rest])
