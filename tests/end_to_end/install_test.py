"""What ./run and ./test do about missing packages, with an apt-get, sudo and id that only take notes."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOLS = ("bash", "sh", "env", "awk", "sed", "cat", "printf", "nproc", "dirname", "true")


class InstallTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="plait-install-"))
        self.log = self.folder / "log"
        for tool in TOOLS:
            if path := shutil.which(tool):
                (self.folder / tool).symlink_to(path)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def fake(self, name, script):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def machine(self, user=0, sudo=False, apt='exit 0'):
        self.fake("id", f"echo {user}")
        if sudo:
            self.fake("sudo", f'echo "sudo $*" >> {self.log}; [ "$1" = -n ] && shift; exec "$@"')
        if apt is not None:
            self.fake("apt-get", f'echo "apt-get $*" >> {self.log}; {apt}')

    def install(self, needs):
        return subprocess.run(["bash", "-c", f"set -euo pipefail; . {ROOT}/tools/install.sh; {needs}; install_missing"],
                              env={"PATH": str(self.folder), "HOME": "/"}, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def logged(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def test_does_nothing_when_all_is_there(self):
        self.machine()
        result = self.install("need_program bash bash; need_file / base-files")
        self.assertEqual((result.returncode, result.stdout, result.stderr, self.logged()), (0, "", "", []))

    def test_says_what_it_installs_and_does_so_as_root(self):
        self.machine()
        result = self.install("need_program nosuch pack-a; need_program nosuch2 pack-a; need_file /no/such pack-b; need_header no/such.h pack-c")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "Installing these packages: pack-a pack-b pack-c\n")
        self.assertEqual(self.logged(), ["apt-get update", "apt-get install -y --no-install-recommends pack-a pack-b pack-c"])

    def test_goes_through_sudo_where_that_asks_nothing(self):
        self.machine(user=1000, sudo=True)
        result = self.install("need_program nosuch pack-a")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("sudo apt-get update", self.logged())
        self.assertIn("apt-get install -y --no-install-recommends pack-a", self.logged())

    def test_ends_with_the_command_where_it_may_not(self):
        self.machine(user=1000)
        result = self.install("need_program nosuch pack-a")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.splitlines()[-1].strip(),
                         "su -c 'apt-get update && apt-get install -y --no-install-recommends pack-a'")
        self.assertEqual(self.logged(), [])

    def test_ends_with_the_command_where_it_fails(self):
        self.machine(apt='[ "$1" = update ]')
        result = self.install("need_program nosuch pack-a")
        self.assertEqual(result.returncode, 1)
        self.assertIn("apt-get install -y --no-install-recommends pack-a", result.stderr.splitlines()[-1])

    def test_names_the_packages_on_other_systems(self):
        self.machine(apt=None)
        result = self.install("need_program nosuch pack-a")
        self.assertEqual(result.returncode, 1)
        self.assertIn("pack-a", result.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for flag in ("--program", "--golden", "--smollm2"):
        parser.add_argument(flag, default="")
    known, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
