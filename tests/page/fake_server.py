"""A server that speaks the stream of plait serve and answers what the last message asks it to: for tests of the page.

A message "say TEXT" is answered by TEXT, "slow N" by N words with pauses, "think A|B" by reasoning A and answer B,
"fail CODE SENTENCE" by that error, "break TEXT" by TEXT and a closed connection, "late SENTENCE" by an error in the stream.
All other messages are answered by "You said: MESSAGE".
"""
import http.server
import json
import math
import pathlib
import re
import threading
import time

PAGE = pathlib.Path(__file__).resolve().parents[2] / "src/server/page"
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
          "form-action 'none'; frame-ancestors 'none'")
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}


def tokens_of(text):
    return re.findall(r"\s?[^\s]{1,6}|\s", text)


def scores_of(token, number):
    """Made-up probabilities that differ from token to token; the chosen one is not always the best."""
    own = [0.97, 0.7, 0.4, 0.15, 0.05, 0.01][number % 6]
    others = [(" other", (1 - own) * 0.5), (" more", (1 - own) * 0.3), ("\n", (1 - own) * 0.1), (" <b>", (1 - own) * 0.05)]
    best = sorted([(token, own)] + others, key=lambda pair: -pair[1])
    return {"token": token, "logprob": math.log(own), "bytes": list(token.encode()),
            "top_logprobs": [{"token": t, "logprob": math.log(p), "bytes": list(t.encode())} for t, p in best]}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def reply(self, status, kind, body, headers=()):
        self.send_response(status)
        for name, value in [("Content-Type", kind), ("Content-Length", str(len(body))), *headers]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def fail(self, status, sentence):
        body = {"error": {"message": sentence, "type": "invalid_request_error", "param": None, "code": None}}
        self.reply(status, "application/json", json.dumps(body).encode())

    def allowed(self):
        key = self.server.key
        if not key or self.headers.get("Authorization") == f"Bearer {key}":
            return True
        self.fail(401, "a valid API key is wanted")
        return False

    def do_GET(self):
        if self.path == "/" or self.path.startswith("/page/"):
            file = PAGE / (self.path[6:] if self.path != "/" else "index.html")
            if not file.is_file():
                return self.fail(404, f"there is no {self.path}")
            return self.reply(200, TYPES[file.suffix], file.read_bytes(), [("Content-Security-Policy", POLICY)])
        if not self.allowed():
            return None
        if self.path == "/v1/models":
            return self.reply(200, "application/json", b'{"object":"list","data":[{"id":"fake-model","object":"model"}]}')
        if self.path == "/metrics":
            text = (f'vllm:kv_cache_usage_perc{{model_name="fake"}} {self.server.cache}\n'
                    f'vllm:num_requests_running{{model_name="fake"}} {self.server.running}\n'
                    'vllm:num_requests_waiting{model_name="fake"} 0\n'
                    f'vllm:generation_tokens_total{{model_name="fake"}} {self.server.generated}\n')
            return self.reply(200, "text/plain; version=0.0.4", text.encode())
        return self.fail(404, f"there is no {self.path}")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/chat/completions":
            return self.fail(404, f"there is no {self.path}")
        if not self.allowed():
            return None
        request = json.loads(body)
        self.server.requests.append(request)
        asked = request["messages"][-1]["content"]
        word, _, rest = asked.partition(" ")
        if word == "fail":
            status, _, sentence = rest.partition(" ")
            return self.fail(int(status), sentence)
        self.server.running += 1
        try:
            self.stream(request, word, rest, asked)
        except (BrokenPipeError, ConnectionResetError):
            self.server.left += 1
        finally:
            self.server.running -= 1
        self.close_connection = True
        return None

    def stream(self, request, word, rest, asked):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b": keep-alive\r\n\r\n")
        self.event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]})
        thought, answer, pause = "", f"You said: {asked}", 0.0
        if word == "say":
            answer = rest
        elif word == "think":
            thought, _, answer = rest.partition("|")
        elif word == "slow":
            answer, pause = " ".join(f"word{i}" for i in range(int(rest))), 0.05
        elif word in ("break", "late"):
            answer = rest if word == "break" else "so far"
        if request.get("return_progress"):
            for done in (0, 3, 10):
                self.event({"choices": [], "prompt_progress": {"total": 10, "cache": 0, "processed": done, "time_ms": 1}})
                time.sleep(pause * 4)
        number = 0
        for field, text in (("reasoning_content", thought), ("content", answer)):
            for token in tokens_of(text):
                choice = {"index": 0, "delta": {field: token}, "finish_reason": None}
                if request.get("logprobs"):
                    choice["logprobs"] = {"content": [scores_of(token, number)]}
                self.event({"choices": [choice]})
                number += 1
                self.server.generated += 1
                time.sleep(pause)
        if word == "break":
            return
        if word == "late":
            return self.event({"error": {"message": rest, "type": "server_error"}})
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        prompt = 10 * len(request["messages"])
        self.event({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": number,
                                             "prompt_tokens_details": {"cached_tokens": prompt - 10}}})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, value):
        self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")
        self.wfile.flush()


class FakeServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.requests, self.key = [], ""
        self.cache, self.running, self.generated, self.left = 0.25, 0, 0, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/"


if __name__ == "__main__":
    print(FakeServer(8099).url)
    threading.Event().wait()
