#!/usr/bin/env python3
"""How a model runs here, as inspect --plan and --verbose tell it: additions to what is printed without them."""
import argparse, json, os, pathlib, re, subprocess, sys

parser = argparse.ArgumentParser()
parser.add_argument("--program", required=True)
parser.add_argument("--golden")
parser.add_argument("--smollm2")
args = parser.parse_args()
model = pathlib.Path(args.golden) / "models/llama/model.gguf"
if not model.exists():
    sys.exit(77)


def plait(*arguments):
    done = subprocess.run([args.program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"failed: {arguments}: {done.stderr}")
    return done.stdout, done.stderr


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


LINES = ("instruction set: scalar, activations of 8 bits\n", "kernels: f", "threads: 1 thread, ", "memory: ")

shown, _ = plait("inspect", model, "--plan", "--isa", "scalar", "-t", 1)
for line in LINES[:3]:
    check(line in shown, f"{line!r} in {shown}")
plan = json.loads(plait("inspect", model, "--plan", "--json", "--isa", "scalar", "-t", 1)[0])["plan"]
check(plan["isa"] == "scalar" and plan["threads"] == 1 and plan["kernels"][0]["kernel"] == "direct", f"the plan: {plan}")
check("plan" not in json.loads(plait("inspect", model, "--json")[0]), "no plan unless it is asked for")

# As many threads as asked; without -t no more than processors that may be used.
check(json.loads(plait("inspect", model, "--plan", "--json", "-t", 3)[0])["plan"]["threads"] == 3, "3 threads")
default = json.loads(plait("inspect", model, "--plan", "--json")[0])["plan"]
check(1 <= default["threads"] <= len(os.sched_getaffinity(0)), f"threads within the affinity mask: {default}")
check("free to run anywhere" in plait("inspect", model, "--plan", "--no-pin")[0], "--no-pin")
one = min(os.sched_getaffinity(0))
done = subprocess.run([args.program, "inspect", str(model), "--plan", "--json"], capture_output=True,
                      preexec_fn=lambda: os.sched_setaffinity(0, {one}))
places = json.loads(done.stdout)["plan"]["places"]
check(places == f"1 thread, pinned to core {one}", f"one processor allowed: {places}")

shown, notes = plait("bench", model, "-p", 4, "-n", 4, "-r", 1, "--json", "-v", "--isa", "scalar", "-t", 1)
check(list(json.loads(shown)["tests"][0])[:2] == ["kind", "tokens"], "bench prints its object alone")
for line in LINES:
    check(f"plait: {line}" in notes, f"{line!r} in {notes}")
_, notes = plait("bench", model, "-p", 4, "-n", 4, "-r", 1, "--json", "--isa", "scalar", "-t", 1)
check("instruction set" not in notes, "nothing of it without --verbose")

if args.smollm2 and os.path.exists(args.smollm2):
    shown, notes = plait("run", args.smollm2, "-p", "Hello", "-n", 8, "--temp", 0, "--json", "-v")
    check(json.loads(shown)["generated_tokens"] > 0, "run prints its object alone")
    check("plait: kernels: q4_1: direct" in notes, f"kernels in {notes}")
    check(re.search(r"GB/s of weights read in decode, \d+ % of the [\d.]+ GB/s", notes), f"the bound in {notes}")
print("passed")
