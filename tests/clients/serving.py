# A running plait serve: started on a free port, asked when it is ready, ended.
import contextlib
import re
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, url, process):
        self.url, self.process = url, process

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as reply:
            return reply.read().decode()

    def metrics(self):
        """Name -> value, summed over labels."""
        values = {}
        for line in self.get("/metrics").splitlines():
            if match := re.match(r"([a-zA-Z_:][\w:]*)(?:\{.*\})? ([-+\w.]+)$", line):
                values[match[1]] = values.get(match[1], 0) + float(match[2])
        return values

    def cancelled(self):
        """How many answers were given up."""
        return int(float(re.search(r'^vllm:request_success_total\{.*finished_reason="abort".*\} (.+)$', self.get("/metrics"), re.M)[1]))

    def wait_until_idle(self, seconds=10):
        """True once no request runs or waits."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            metrics = self.metrics()
            if metrics["vllm:num_requests_running"] + metrics["vllm:num_requests_waiting"] == 0:
                return True
            time.sleep(0.02)
        return False


@contextlib.contextmanager
def serve(program, model, *flags):
    port = free_port()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([program, "serve", model, "--port", str(port), *flags], stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log)
        server = Server(f"http://127.0.0.1:{port}", process)

        def fail(what):
            log.seek(0)
            raise RuntimeError(f"plait serve {what}: {log.read().decode(errors='replace')}")

        try:
            deadline = time.monotonic() + 60
            while True:
                if process.poll() is not None:
                    fail(f"ended with {process.returncode}")
                with contextlib.suppress(urllib.error.URLError, ConnectionError):
                    server.get("/health")
                    break
                if time.monotonic() > deadline:
                    fail("did not answer")
                time.sleep(0.05)
            yield server
            if process.poll() is not None:
                fail(f"ended with {process.returncode}")
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                fail("did not end within 30 s of SIGTERM")
