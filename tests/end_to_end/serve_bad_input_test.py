#!/usr/bin/env python3
"""plait serve under 300 malformed requests: each is refused with a sentence or its connection closed within ten seconds,
memory does not grow, others are answered meanwhile; and what signals do to a server that is at work."""
import argparse
import concurrent.futures
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = ""
SHAPE = {"vocab_size": 384, "context_length": 1 << 20, "embedding_length": 64, "block_count": 2, "feed_forward_length": 128,
         "attention.head_count": 4, "attention.head_count_kv": 2, "attention.layer_norm_rms_epsilon": 1e-5,
         "rope.freq_base": 10000.0}
WITHIN_S = 10
GROWTH_BYTES = 20 << 20
ENDLESS = {"prompt": "on and on", "n_predict": -1, "ignore_eos": True, "stream": True}
HOST = b"Host: localhost\r\n"


def post(path, body, more=b""):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return b"POST %s HTTP/1.1\r\n%sContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s" % (
        path.encode(), HOST, more, len(body), body)


class Server:
    def __init__(self, model, *flags):
        self.work = subprocess.Popen([PROGRAM, "serve", model, "--port", "0", "-t", "1", *flags], stderr=subprocess.PIPE,
                                     env={**os.environ, "HOME": "/nonexistent"})
        self.lines = []
        for line in self.work.stderr:
            self.lines.append(line.decode())
            if match := re.search(r"served at http://127\.0\.0\.1:(\d+)", self.lines[-1]):
                self.port = int(match[1])
                return
        raise AssertionError(f"the server did not start: {self.lines}")

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=2 * WITHIN_S)

    def ask(self, data):
        """Status and body; status 0: closed without a word."""
        with self.connect() as client:
            client.sendall(data)
            return response(client)

    def resident_bytes(self):
        with open(f"/proc/{self.work.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1]) << 10

    def wait(self, seconds):
        try:
            return self.work.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def close(self):
        if self.work.poll() is None:
            self.work.kill()
        self.work.wait()
        self.work.stderr.close()


def response(client):
    """One response of a connection; what comes is read to the end of its body, or to the end."""
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            some = client.recv(1 << 16)
            if not some:
                return 0, b""
            data += some
        head, body = data.split(b"\r\n\r\n", 1)
        length = re.search(rb"Content-Length: (\d+)", head)
        while length is None or len(body) < int(length[1]):
            some = client.recv(1 << 16)
            if not some:
                break
            body += some
        return int(head.split()[1]), body
    except (ConnectionError, BrokenPipeError):
        return 0, b""


def sentence(body):
    """The message of an error in any dialect's shape."""
    error = json.loads(body)["error"]
    return error if isinstance(error, str) else error["message"]


# Each case: its name, and a function of a connected socket that does the harm and returns what `response` does.
def plain(data):
    def harm(client):
        try:
            client.sendall(data)
        except (ConnectionError, BrokenPipeError):
            pass
        return response(client)
    return harm


def half_closed(data):
    def harm(client):
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        return response(client)
    return harm


def reset(data):
    def harm(client):
        client.sendall(data)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return 0, b""
    return harm


def dripping(start, drip, pause):
    def harm(client):
        client.sendall(start)
        end = time.monotonic() + 2 * WITHIN_S
        client.settimeout(pause)
        while time.monotonic() < end:
            try:
                client.sendall(drip)
                if client.recv(1, socket.MSG_PEEK) == b"":
                    return 0, b""
                client.settimeout(2 * WITHIN_S)
                return response(client)
            except TimeoutError:
                continue
            except (ConnectionError, BrokenPipeError):
                return 0, b""
        raise AssertionError("was let drip on")
    return harm


def http_cases():
    bad = {
        "noise": b"\x00\xff\xfe nonsense \x80\r\n\r\n", "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64 +
        b"\r\n\r\n", "http2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "version": b"GET / HTTP/9.9\r\n" + HOST + b"\r\n",
        "no version": b"GET /\r\n\r\n", "no host": b"GET /health HTTP/1.1\r\n\r\n",
        "two hosts": b"GET /health HTTP/1.1\r\n" + HOST * 2 + b"\r\n", "bare newlines": b"GET /health HTTP/1.1\n" + HOST + b"\n\n",
        "space in name": b"GET /health HTTP/1.1\r\n" + HOST + b"a b: c\r\n\r\n",
        "no colon": b"GET /health HTTP/1.1\r\n" + HOST + b"abc\r\n\r\n",
        "control in value": b"GET /health HTTP/1.1\r\n" + HOST + b"a: \x01\r\n\r\n",
        "space in target": b"GET /hea lth HTTP/1.1\r\n" + HOST + b"\r\n", "connect": b"CONNECT a:1 HTTP/1.1\r\n" + HOST + b"\r\n",
        "another host": b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "another site": b"GET /health HTTP/1.1\r\n" + HOST + b"Origin: http://evil.example\r\n\r\n",
        "null origin": post("/completion", {"prompt": "a"}, b"Origin: null\r\n"),
        "no such path": post("/v1/nothing", {}), "wrong method": b"DELETE /completion HTTP/1.1\r\n" + HOST + b"\r\n",
        "made-up method": b"FROB /completion HTTP/1.1\r\n" + HOST + b"\r\n",
        "gzip": post("/completion", b"\x1f\x8b\x08", b"Content-Encoding: gzip\r\n"),
        "expect": post("/completion", {"prompt": "a"}, b"Expect: a-miracle\r\n")}
    lengths = {"negative": b"-5", "words": b"many", "hex": b"0x10", "huge": b"9" * 30, "10 GB": b"10000000000", "empty": b"",
               "two": b"3, 4", "point": b"2.0", "10 MB": b"10485760"}
    for name, length in lengths.items():
        bad["length " + name] = b"POST /completion HTTP/1.1\r\n" + HOST + b"Content-Length: " + length + b"\r\n\r\n{}"
    codings = {"gzip": b"gzip", "two": b"gzip, chunked", "swapped": b"chunked, identity", "twice": b"chunked\r\nTransfer-Encoding: chunked",
               "and length": b"chunked\r\nContent-Length: 2"}
    for name, coding in codings.items():
        bad["coding " + name] = b"POST /completion HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: " + coding + b"\r\n\r\n0\r\n\r\n"
    chunks = {"no size": b"\r\n{}\r\n", "bad size": b"xyz\r\n{}\r\n0\r\n\r\n", "long size": b"1" * 40 + b"\r\n", "huge size": b"7fffffffffffffff\r\n",
              "wrong size": b"1\r\n{}{}{}\r\n0\r\n\r\n", "long extension": b"2;" + b"x" * 50_000 + b"\r\n{}\r\n0\r\n\r\n",
              "5 MB": b"10000\r\n" + b"x" * 65536 + b"\r\n"}
    for name, chunk in chunks.items():
        if name == "5 MB":
            chunk *= 80
        bad["chunk " + name] = b"POST /completion HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + chunk
    floods = {"one header": b"a: " + b"x" * 1_000_000 + b"\r\n\r\n", "many headers": b"a: b\r\n" * 100_000 + b"\r\n",
              "headers without end": b"abc: def\r\n" * 50_000, "a header without end": b"x" * 200_000}
    for name, flood in floods.items():
        bad["flood " + name] = b"GET /health HTTP/1.1\r\n" + HOST + flood
    bad["flood target"] = b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n"
    bad["flood method"] = b"X" * 100_000
    cases = {name: plain(data) for name, data in bad.items()}

    header, body = b"POST /completion HTTP/1.1\r\nHost: loc", post("/completion", b"x" * 4000)[:-3990]
    chunked = b"POST /completion HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nfff\r\n{"
    for i, pause in enumerate((0.2, 0.5, 1.0, 3.0)):
        cases[f"drip header {i}"] = dripping(header, b"x", pause)
        cases[f"drip headers {i}"] = dripping(b"GET /health HTTP/1.1\r\n", b"a: b\r\n", pause)
        cases[f"drip body {i}"] = dripping(body, b"x", pause)
        cases[f"drip chunk {i}"] = dripping(chunked, b"x", pause)
        cases[f"silence {i}"] = plain(b"")
        cases[f"silence in header {i}"] = plain(header)
        cases[f"silence in body {i}"] = plain(body)
        cases[f"half-closed header {i}"] = half_closed(header[:5 + 10 * i])
        cases[f"half-closed body {i}"] = half_closed(body[:-i] if i else body)
        cases[f"half-closed chunk {i}"] = half_closed(chunked)
        cases[f"half-closed request {i}"] = half_closed(post("/completion", {"prompt": "a", "temperature": "hot"}))
        cases[f"reset {i}"] = reset((header, body, chunked, post("/completion", ENDLESS))[i])
    return cases


DIALECTS = {  # Path: a request that is well, but for the field that a case adds.
    "/completion": {"prompt": "hello", "n_predict": 2},
    "/v1/completions": {"model": "m", "prompt": "hello", "max_tokens": 2},
    "/v1/chat/completions": {"model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 2},
    "/v1/messages": {"model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 2},
    "/v1/responses": {"model": "m", "input": "hello", "max_output_tokens": 16},
    "/v1/embeddings": {"model": "m", "input": "hello"},
    "/api/chat": {"model": "m", "messages": [{"role": "user", "content": "hello"}], "stream": False},
    "/api/generate": {"model": "m", "prompt": "hello", "stream": False},
    "/tokenize": {"content": "hello"}, "/detokenize": {"tokens": [1]},
    "/apply-template": {"messages": [{"role": "user", "content": "hello"}]}}


def json_cases():
    broken = {
        "nothing": b"", "cut": b'{"prompt": "he', "a list": b"[]", "null": b"null", "a string": b'"x"', "a number": b"1e5",
        "no value": b'{"a":}', "a comma": b'{"a":1,}', "nan": b'{"a":NaN}', "single quotes": b"{'a':1}",
        "behind": b'{"a":1} x', "nul": b'{"a":"\x00"}', "not utf-8": b'{"prompt":"\xff\xfe","messages":"\xc0\x80"}',
        "half a pair": b'{"prompt":"\\ud800","messages":"\\udc00","input":"\\ud800","content":"\\ud800","tokens":"\\ud800"',
        "deep list": b'{"messages":' + b"[" * 100_000, "deep object": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        "deep both": b'{"prompt":' + b'[{"a":' * 500 + b"1" + b"}]" * 500 + b"}"}
    for path in DIALECTS:
        for name, body in broken.items():
            yield f"{path} {name}", plain(post(path, body))


def field_cases():
    def wrong(path, **fields):
        for name, value in fields.items():
            body = value if isinstance(value, bytes) else {**DIALECTS[path], name: value}
            yield f"{path} {name}={str(value)[:30]}", plain(post(path, body))

    chats = ("/v1/chat/completions", "/v1/messages", "/api/chat", "/apply-template")
    for path in chats:
        for messages in ("hello", 5, {}, [5], [{}], [{"role": 1, "content": "a"}], [{"role": "user", "content": 5}],
                         [{"role": "user", "content": {"type": "text"}}], [[]]):
            yield from wrong(path, messages=messages)
    many = ["s%d" % i for i in range(10_000)]
    for path in ("/completion", "/v1/completions", "/v1/chat/completions"):
        yield from wrong(path, temperature="hot", top_p=-1, seed=1.5, stream="yes", stop=many, presence_penalty=[1])
        yield from wrong(path, temperature=10**400, top_p={}, stop=5, frequency_penalty=1e308)
    for path in ("/v1/completions", "/v1/chat/completions", "/v1/messages"):
        yield from wrong(path, max_tokens="many", temperature=-1)
        yield from wrong(path, max_tokens=1.5)
        yield from wrong(path, max_tokens=10**30)
    yield from wrong("/completion", prompt=5, n_predict=10**20, logit_bias="x", grammar="root ::= 1")
    yield from wrong("/completion", prompt={}, n_predict="all", n_probs=10**6)
    yield from wrong("/completion", prompt="long " * 900_000, seed="x")  # More than any context, and over 4 MiB.
    yield from wrong("/completion", prompt="long " * 100_000)
    yield from wrong("/v1/completions", prompt="x" * 10_000_000, n=10**9, logprobs=10**9)
    yield from wrong("/v1/messages", stop_sequences=many, system=5, tools=[{"name": "f"}], top_k="x")
    yield from wrong("/v1/responses", input=5, max_output_tokens="x", temperature="x", previous_response_id="resp_none")
    yield from wrong("/v1/embeddings", input=5, encoding_format="x", dimensions="x")
    yield from wrong("/api/chat", options={"temperature": "hot"}, stream="x", tools=[{"type": "function"}], format="x")
    yield from wrong("/api/generate", prompt=5, options=5, stream=[])
    yield from wrong("/api/generate", options={"stop": many})
    yield from wrong("/tokenize", content=5)
    yield from wrong("/detokenize", tokens="x")
    yield from wrong("/detokenize", tokens=[10**9])
    yield from wrong("/tokenize", content=b'{"content":"' + b"x" * 2_000_000)  # Cut.
    for name, value in (("zeros", b"0,"), ("lists", b"[],"), ("objects", b"{},")):
        few, lots = value * 50_000 + b"0]}", value * (2_000_000 // len(value)) + b"0]}"
        yield f"few {name}", plain(post("/v1/messages", b'{"max_tokens":1,"messages":[' + few))
        yield f"lots of {name}", plain(post("/v1/messages", b'{"max_tokens":1,"messages":[' + lots))
    yield "lots of keys", plain(post("/completion", b'{"prompt":{' + b'"":0,' * 400_000 + b'"":0}}'))


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        shape, cls.model = os.path.join(cls.folder.name, "shape.json"), os.path.join(cls.folder.name, "made.gguf")
        with open(shape, "w") as file:
            json.dump(SHAPE, file)
        subprocess.run([PROGRAM, "make", "--arch", "llama", "--shape", shape, "--seed", "1", "--out", cls.model],
                       capture_output=True, check=True, timeout=60)

    def serve(self, *flags):
        server = Server(self.model, *flags)
        self.addCleanup(server.close)
        return server

    def test_malformed_requests_are_refused_and_harm_nobody(self):
        server = self.serve("--mem", "8M", "-c", "4096")
        good = post("/completion", {"prompt": "hello", "n_predict": 4})
        for _ in range(20):  # What a server takes once: threads, buffers.
            self.assertEqual(server.ask(good)[0], 200)
        cases = {**http_cases(), **dict(json_cases()), **dict(field_cases())}
        self.assertGreaterEqual(len(cases), 300)
        over, waits, sizes = threading.Event(), [], []

        def live_well():
            while not over.is_set():
                start = time.monotonic()
                status, _ = server.ask(good)
                waits.append((time.monotonic() - start, status))
                time.sleep(0.05)

        def watch():
            while not over.is_set():
                sizes.append(server.resident_bytes())
                time.sleep(0.01)

        def run(case):
            name, harm = case
            start = time.monotonic()
            with server.connect() as client:
                status, body = harm(client)
            return name, status, body, time.monotonic() - start

        before = server.resident_bytes()
        others = [threading.Thread(target=live_well), threading.Thread(target=watch)]
        for other in others:
            other.start()
        try:
            with concurrent.futures.ThreadPoolExecutor(32) as pool:
                results = list(pool.map(run, cases.items()))
        finally:
            over.set()
            for other in others:
                other.join()
        wrong, statuses = [], {}
        for name, status, body, seconds in results:
            statuses[status] = statuses.get(status, 0) + 1
            fine = seconds <= WITHIN_S and (status == 0 or (400 <= status < 500 and " " in sentence(body)))
            if not fine:
                wrong.append(f"{name}: {status} after {seconds:.1f} s: {body[:200]}")
        self.assertEqual(wrong, [], f"{len(wrong)} of {len(results)}")
        for status in (400, 403, 404, 405, 408, 413, 415, 431):
            self.assertIn(status, statuses)
        self.assertEqual({status for _, status in waits}, {200})
        self.assertGreater(len(waits), 20)
        self.assertLess(max(seconds for seconds, _ in waits), 5)
        grown = max(sizes) - before
        print(f"{len(results)} requests, {statuses}; memory grew by {grown / 2**20:.1f} MiB at most; a good client was "
              f"answered {len(waits)} times, within {max(seconds for seconds, _ in waits):.2f} s")
        self.assertLessEqual(grown, GROWTH_BYTES)
        self.assertIsNone(server.work.poll())

    def test_the_memory_of_an_answer_is_bounded_before_it_is_taken(self):
        server = self.serve("--mem", "64M", "-c", "4096")
        good = post("/completion", {"prompt": "hello", "n_predict": 4})
        for _ in range(20):
            self.assertEqual(server.ask(good)[0], 200)
        wish = {"prompt": "hello", "n_probs": 100, "ignore_eos": True}
        before, start = server.resident_bytes(), time.monotonic()
        status, body = server.ask(post("/completion", {**wish, "n_cmpl": 64, "n_predict": 4096}))
        self.assertEqual(status, 400)
        self.assertRegex(sentence(body), r"^n_probs is 100: 64 answers of up to \d+ tokens .* wanted at most")
        self.assertLess(time.monotonic() - start, 2)
        over, sizes = threading.Event(), [0]

        def watch():
            while not over.is_set():
                sizes.append(server.resident_bytes())
                time.sleep(0.01)

        watcher = threading.Thread(target=watch)
        watcher.start()
        with server.connect() as client:
            client.sendall(post("/completion", {**wish, "n_cmpl": 2, "n_predict": 2000}, b"Connection: close\r\n"))
            data = b""
            while some := client.recv(1 << 20):
                data += some
        over.set()
        watcher.join()
        self.assertGreater(len(data), 20_000_000)
        grown = max(sizes) - before
        print(f"an answer of {len(data) / 2**20:.1f} MiB took {grown / 2**20:.1f} MiB at most")
        self.assertLess(grown, 20 << 20)

    def test_sigterm_lets_a_stream_go_on_for_the_grace_and_then_ends_it(self):
        server = self.serve("-c", "60000", "--mem", "20M", "--grace", "1")
        with server.connect() as client:
            client.sendall(post("/completion", ENDLESS))
            self.assertTrue(client.recv(1 << 16).startswith(b"HTTP/1.1 200"))
            start = time.monotonic()
            server.work.send_signal(signal.SIGTERM)
            last = b""
            while some := client.recv(1 << 16):
                last = some
            self.assertGreater(time.monotonic() - start, 0.9)
            self.assertFalse(last.endswith(b"0\r\n\r\n"))  # Cut off, and the client can tell.
            self.assertEqual(server.wait(2), 0)
            self.assertLess(time.monotonic() - start, 3)

    def test_a_second_signal_ends_it_at_once(self):
        server = self.serve("-c", "60000", "--mem", "20M", "--grace", "60")
        with server.connect() as client:
            client.sendall(post("/completion", ENDLESS))
            client.recv(1 << 16)
            server.work.send_signal(signal.SIGINT)
            self.assertIsNone(server.wait(0.5))
            server.work.send_signal(signal.SIGINT)
            self.assertEqual(server.wait(2), 0)

    def test_a_port_that_is_taken_is_said_in_a_sentence(self):
        server = self.serve()
        second = subprocess.run([PROGRAM, "serve", self.model, "--port", str(server.port)], capture_output=True, text=True,
                                timeout=60)
        self.assertEqual(second.returncode, 1)
        self.assertEqual(second.stderr.strip(),
                         f"plait: 127.0.0.1:{server.port} is in use by another program; another --port is wanted")

    def test_flags_and_files_of_keys_are_read_or_refused(self):
        keys = os.path.join(self.folder.name, "keys.txt")
        with open(keys, "w") as file:
            file.write("# ours\n\nfrom-file\n")
        server = self.serve("--api-key", "from-flag", "--api-key-file", keys, "--alias", "named")
        for key, status in ((b"from-flag", 200), (b"from-file", 200), (b"neither", 401), (b"# ours", 401)):
            self.assertEqual(server.ask(post("/tokenize", {"content": "a"}, b"Authorization: Bearer " + key + b"\r\n"))[0], status)
        self.assertTrue(any("named is served at" in line for line in server.lines))
        os.truncate(keys, len("# ours\n"))
        for flags, said in ((("--api-key-file", keys), "has no API key"), (("--grace", "nan"), "--grace is not"), (("--host", ""), "host is empty")):
            refused = subprocess.run([PROGRAM, "serve", self.model, *flags], capture_output=True, text=True, timeout=60)
            self.assertEqual(refused.returncode, 1)
            self.assertIn(said, refused.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--golden")
    parser.add_argument("--smollm2")
    given, names = parser.parse_known_args()
    PROGRAM = os.path.abspath(given.program)
    sys.exit(0 if unittest.main(argv=[sys.argv[0], *names], exit=False).result.wasSuccessful() else 1)
