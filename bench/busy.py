#!/usr/bin/env python3
"""How decode fares on a busy machine: tokens/s of builds in turn, beside 0, 1, ... endless loops of other processes.

usage: busy.py MODEL PROGRAM [PROGRAM ...] [--loops 0,1,2] [--threads 2] [--generate 64] [--rounds 3]

PROGRAM is a plait, perhaps with flags: "build/plait --no-pin". Prints the medians of the rounds.
"""
import argparse
import json
import shlex
import statistics
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("model")
parser.add_argument("programs", nargs="+")
parser.add_argument("--loops", default="0,1,2")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--generate", type=int, default=64)
parser.add_argument("--rounds", type=int, default=3)
args = parser.parse_args()


def decode(program):
    name, *flags = shlex.split(program)
    done = subprocess.run([name, "bench", args.model, "-t", str(args.threads), "-p", "0", "-n", str(args.generate),
                           "--json", *flags], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program}: {done.stderr}")
    return json.loads(done.stdout)["tests"][0]["median_tokens_per_s"]


for loops in map(int, args.loops.split(",")):
    rates = {program: [] for program in args.programs}
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        for _ in range(args.rounds):
            for program in args.programs:
                rates[program].append(decode(program))
    finally:
        for other in others:
            other.kill()
            other.wait()
    for program, values in rates.items():
        spread = f"{min(values):.1f} to {max(values):.1f}"
        print(f"beside {loops} loops  {statistics.median(values):8.1f} tokens/s  ({spread})  {program}", flush=True)
