#!/usr/bin/env python3
# The server under load: plait serve and llama.cpp's llama-server on the same model, alternating, as a table and a plot.
"""usage: load.py PLAIT LLAMA_SERVER MODEL [--threads 2] [--clients 1,4,16,64] [--rounds 2] [--svg docs/load.svg]

Both servers are started with the same threads, the same number of sequences (the most clients of any level) and the
same context for each of them, and stay up; while one is asked the other is idle. At each level each client sends its
requests one after the other, each with a prompt of its own (none begins like another, so no server can reuse one), the
same for both servers: POST /v1/completions, streamed, greedy, max_tokens with ignore_eos. Each round runs all levels on
both, each server first in turn.

"per token" is the time between two events of a stream. "slowest" is the slowest client's tokens a second, first request
to last event, against the median client's. Latencies are pooled over the rounds, throughput is their median.
"""
import argparse
import asyncio
import contextlib
import json
import math
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

QUANTILES = (50, 90, 99)
CLIENT_REQUESTS = {1: 4}  # At other levels 2: with one client there would be too few latencies.
WORDS = ("river stone cloud garden winter copper lantern harbour meadow engine paper silver forest bridge morning window "
         "thunder island feather market canyon violin shadow marble orchard candle desert anchor pepper velvet").split()


def prompt(seed, words):
    draw = random.Random(seed)
    return f"Note {seed}. " + " ".join(draw.choice(WORDS) for _ in range(words)) + "."


class Exchange(asyncio.Protocol):
    """One request and its stream of events: notes when each came, and keeps the last ones for the usage."""

    def __init__(self, request):
        self.request, self.tail, self.times = request, b"", []
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport):
        self.transport, self.sent = transport, time.perf_counter()
        transport.write(self.request)

    def data_received(self, data):
        now = time.perf_counter()
        whole = self.tail + data
        # An event may be cut anywhere; what was counted in the tail is not counted again.
        self.times += [now] * (whole.count(b'"text":') - self.tail.count(b'"text":'))
        self.tail = whole[-2000:]
        if b"data: [DONE]" in self.tail:
            self.transport.close()
            self.finish()

    def connection_lost(self, error):
        self.finish()

    def finish(self):
        if not self.done.done():
            self.done.set_result(None)

    def tokens(self):
        for line in reversed(self.tail.decode(errors="replace").splitlines()):
            if line.startswith("data: {"):
                with contextlib.suppress(ValueError):
                    if usage := json.loads(line[6:]).get("usage"):
                        return usage["completion_tokens"]
        raise SystemExit(f"load: a stream ended without its usage: {self.tail[-600:].decode(errors='replace')}")


async def client(port, prompts, options):
    """Its requests, one after the other: (tokens, seconds, times to the first token, times between tokens)."""
    tokens, firsts, gaps, begin = 0, [], [], time.perf_counter()
    for text in prompts:
        body = json.dumps({"model": "m", "prompt": text, "max_tokens": options.max_tokens, "temperature": 0, "stream": True,
                           "ignore_eos": True, "stream_options": {"include_usage": True}}).encode()
        head = (f"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n").encode()
        _, exchange = await asyncio.get_running_loop().create_connection(lambda: Exchange(head + body), "127.0.0.1", port)
        await exchange.done
        if not exchange.times:
            raise SystemExit(f"load: no event came: {exchange.tail[:600].decode(errors='replace')}")
        count = exchange.tokens()
        if count != options.max_tokens:
            raise SystemExit(f"load: {count} tokens came, wanted {options.max_tokens}")
        tokens += count
        firsts.append(exchange.times[0] - exchange.sent)
        gaps += [b - a for a, b in zip(exchange.times, exchange.times[1:])]
    return tokens, exchange.times[-1] - begin, firsts, gaps


async def level(port, clients, seed, options):
    each = CLIENT_REQUESTS.get(clients, 2)
    begin = time.perf_counter()
    done = await asyncio.gather(*(client(port, [prompt(seed + 1000 * i + j, options.prompt_words) for j in range(each)], options)
                                  for i in range(clients)))
    seconds = time.perf_counter() - begin
    speeds = [tokens / taken for tokens, taken, _, _ in done]
    return {"throughput": sum(d[0] for d in done) / seconds, "firsts": [t for d in done for t in d[2]],
            "gaps": [t for d in done for t in d[3]], "slowest": min(speeds) / statistics.median(speeds)}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def server(name, command, port):
    environment = dict(os.environ)
    folder = str(pathlib.Path(command[0]).resolve().parent)  # llama-server's libraries lie beside it.
    environment["LD_LIBRARY_PATH"] = ":".join(filter(None, [folder, environment.get("LD_LIBRARY_PATH")]))
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        try:
            deadline = time.monotonic() + 120
            while True:
                with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
                    if urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).status == 200:
                        break
                if process.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    raise SystemExit(f"load: {name} did not start: {log.read()[-2000:].decode(errors='replace')}")
                time.sleep(0.1)
            yield
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def commands(options, most):
    ports = {"plait": free_port(), "llama-server": free_port()}
    threads, context = str(options.threads), options.context
    return ports, {
        "plait": [options.plait, "serve", options.model, "--port", str(ports["plait"]), "-t", threads, "-c", str(context), "--parallel", str(most),
                  *options.plait_flags.split()],
        "llama-server": [options.llama_server, "-m", options.model, "--host", "127.0.0.1", "--port", str(ports["llama-server"]),
                         "-t", threads, "-tb", threads, "-np", str(most), "-c", str(context * most), "--no-ui",
                         *options.llama_flags.split()]}


def quantile(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(len(ordered) * percent / 100) - 1)]


def summary(runs):
    firsts, gaps = [t for run in runs for t in run["firsts"]], [t for run in runs for t in run["gaps"]]
    return {"throughput": statistics.median(run["throughput"] for run in runs),
            "first": [quantile(firsts, q) for q in QUANTILES], "gap": [quantile(gaps, q) for q in QUANTILES],
            "slowest": statistics.median(run["slowest"] for run in runs)}


def measure(options, levels):
    ports, starts = commands(options, max(levels))
    runs = {(name, clients): [] for name in ports for clients in levels}
    with contextlib.ExitStack() as up:
        for name, command in starts.items():
            up.enter_context(server(name, command, ports[name]))
            asyncio.run(level(ports[name], 1, 10 ** 8, options))  # Weights into the caches, pages touched.
        for turn in range(options.rounds):
            for at, clients in enumerate(levels):
                names = list(ports) if (turn + at) % 2 == 0 else list(reversed(ports))
                for name in names:
                    run = asyncio.run(level(ports[name], clients, 10 ** 6 * (turn * len(levels) + at + 1), options))
                    runs[name, clients].append(run)
                    print(f"{name}, {clients} clients: {run['throughput']:.0f} tokens/s", file=sys.stderr, flush=True)
    return {key: summary(values) for key, values in runs.items()}


def table(results, levels):
    lines = ["| clients | server | tokens/s | ratio | first token, ms: 50 / 90 / 99 % | per token, ms: 50 / 90 / 99 % | slowest / median |",
             "|---|---|---|---|---|---|---|"]
    for clients in levels:
        for name in ("plait", "llama-server"):
            result = results[name, clients]
            ratio = f"{result['throughput'] / results['llama-server', clients]['throughput']:.2f}x" if name == "plait" else ""
            first, gap = (" / ".join(f"{1000 * t:.{digits}f}" for t in result[kind]) for kind, digits in (("first", 0), ("gap", 1)))
            lines.append(f"| {clients} | {name} | {result['throughput']:.0f} | {ratio} | {first} | {gap} | {result['slowest']:.2f} |")
    return "\n".join(lines)


WIDTH, HEIGHT, LEFT, TOP, BOTTOM, GAP = 900, 360, 60, 60, 50, 70
COLOURS = {"plait": "#3b6ea5", "llama-server": "#c0602b"}


def plot(results, levels, title):
    """Three charts side by side, all over the number of clients: throughput, first token and per token (50 and 99 %)."""
    wide = (WIDTH - LEFT - 20 - 2 * GAP) / 3
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="12" fill="#222">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="20" font-size="14">{title}</text>']
    for number, (name, colour) in enumerate(COLOURS.items()):
        out.append(f'<text x="{WIDTH - 20 - 110 * (1 - number)}" y="20" text-anchor="end" fill="{colour}">{name}</text>')
    charts = [("tokens/s", [lambda r: r["throughput"]]),
              ("first token, ms (50 %; dashed 99 %)", [lambda r: 1000 * r["first"][0], lambda r: 1000 * r["first"][2]]),
              ("per token, ms (50 %; dashed 99 %)", [lambda r: 1000 * r["gap"][0], lambda r: 1000 * r["gap"][2]])]
    for number, (heading, lines) in enumerate(charts):
        left = LEFT + number * (wide + GAP)
        values = [line(results[name, clients]) for line in lines for name in COLOURS for clients in levels]
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

        def y(value):
            return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(value) - low) / (high - low)

        out.append(f'<text x="{left:.0f}" y="{TOP - 12}">{heading}</text>')
        for power in range(low, high + 1):
            at = y(10 ** power)
            label = f"{10 ** power}" if power >= 0 else f"{10 ** power:.{-power}f}"
            out.append(f'<line x1="{left:.0f}" x2="{left + wide:.0f}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>'
                       f'<text x="{left - 6:.0f}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
        places = [left + wide * (i + 0.5) / len(levels) for i in range(len(levels))]
        out += [f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{clients}</text>' for x, clients in zip(places, levels)]
        out.append(f'<text x="{left + wide / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">clients</text>')
        for name, colour in COLOURS.items():
            for dashed, line in enumerate(lines):
                points = [(x, y(line(results[name, clients]))) for x, clients in zip(places, levels)]
                dashes = 'stroke-dasharray="5 4" ' if dashed else ""
                out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" {dashes}'
                           f'points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>')
                out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
    return "\n".join([*out, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plait")
    parser.add_argument("llama_server")
    parser.add_argument("model")
    parser.add_argument("--clients", default="1,4,16,64")
    parser.add_argument("--svg", type=pathlib.Path)
    for name, default in (("threads", 2), ("rounds", 2), ("prompt-words", 64), ("max-tokens", 64), ("context", 512)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name in ("plait", "llama"):
        parser.add_argument(f"--{name}-flags", default="", help="more flags for that server, between quotes")
    options = parser.parse_args()
    levels = [int(word) for word in options.clients.split(",")]
    results = measure(options, levels)
    print(table(results, levels))
    if options.svg:
        options.svg.write_text(plot(results, levels, f"{pathlib.Path(options.model).stem}, {options.threads} threads"))


if __name__ == "__main__":
    main()
