"""A local server that plays the model hub for pull_test.py: redirects, ranges, and every way to fail."""
import hashlib
import http.server
import re
import threading


class FakeHub:
    """Serves /OWNER/REPO/resolve/main/FILE on 127.0.0.1, with the bytes on 127.0.0.2 ("the storage")."""

    def __init__(self):
        self.files = {}           # "owner/repo/file" -> bytes
        self.status = {}          # the same -> status to refuse with
        self.breaks = {}          # the same -> list of bytes after which a connection is cut, one for each request
        self.need_token = None    # refuse with 401 what does not bring it
        self.linked = True        # name size and SHA-256 of stored files, as the hub does
        self.linked_sha = {}      # the same -> a SHA-256 that the hub claims
        self.etag = {}            # the same -> mark of the content; None: none is sent
        self.ranges = True        # the storage understands Range
        self.slow = 0             # seconds between two pieces of a body
        self.log = []             # (who, method, path, headers) of every request
        self.lock = threading.Lock()
        self.hub = self._serve("127.0.0.1", self._answer_hub)
        self.storage = self._serve("127.0.0.2", self._answer_storage)

    def url(self):
        return f"http://127.0.0.1:{self.hub.server_address[1]}"

    def requests(self, who):
        with self.lock:
            return [entry for entry in self.log if entry[0] == who]

    def close(self):
        for server in (self.hub, self.storage):
            server.shutdown()
            server.server_close()

    def _serve(self, address, answer):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                with outer.lock:
                    outer.log.append((answer.__name__[len("_answer_"):], "GET", self.path, dict(self.headers)))
                try:
                    answer(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *arguments):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                pass  # A client that goes away in the middle is part of the game.

        server = Server((address, 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return server

    def _refuse(self, request, status, message=None):
        request.send_response(status)
        if message:
            request.send_header("X-Error-Message", message)
        request.send_header("Content-Length", "6")
        request.end_headers()
        request.wfile.write(b"no way")

    def _answer_hub(self, request):
        match = re.fullmatch(r"/([^/]+/[^/]+)/resolve/main/(.+)", request.path)
        name = f"{match[1]}/{match[2]}" if match else request.path
        if name in self.status:
            return self._refuse(request, self.status[name], "as the test wants it")
        if self.need_token and request.headers.get("Authorization") != f"Bearer {self.need_token}":
            return self._refuse(request, 401, "who are you")
        if name not in self.files:
            return self._refuse(request, 404, "Entry not found")
        request.send_response(302)
        if self.linked:
            digest = self.linked_sha.get(name, hashlib.sha256(self.files[name]).hexdigest())
            request.send_header("X-Linked-Etag", f'"{digest}"')
            request.send_header("X-Linked-Size", str(len(self.files[name])))
        request.send_header("Location", f"http://127.0.0.2:{self.storage.server_address[1]}/{name}")
        request.send_header("Content-Length", "0")
        request.end_headers()

    def _answer_storage(self, request):
        name = request.path[1:]
        content = self.files[name]
        etag = self.etag.get(name, f'"{hashlib.md5(content).hexdigest()}"')
        begin = 0
        asked = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
        condition = request.headers.get("If-Range")
        if asked and self.ranges and (condition is None or condition == etag):
            begin = int(asked[1])
            if begin >= len(content):
                return self._refuse(request, 416)
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        else:
            request.send_response(200)
        if etag:
            request.send_header("ETag", etag)
        request.send_header("Content-Length", str(len(content) - begin))
        request.end_headers()
        self._send_body(request, name, content[begin:])

    def _send_body(self, request, name, body):
        breaks = self.breaks.get(name, [])
        cut = breaks.pop(0) if breaks else None
        end = len(body) if cut is None else min(cut, len(body))
        for at in range(0, end, 65536):
            request.wfile.write(body[at:min(at + 65536, end)])
            if self.slow:
                request.wfile.flush()
                threading.Event().wait(self.slow)
        if cut is not None:
            request.wfile.flush()
            request.close_connection = True
            request.connection.close()
