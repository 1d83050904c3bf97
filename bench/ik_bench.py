#!/usr/bin/env python3
"""ik_llama.cpp's speed, through its PyPI package ik-llama-cpp-python, with the flags and the JSON of llama-bench that
compare.py uses: prefill and decode of random tokens, flash attention, weights as in the file or repacked at load.

usage: ik_bench.py -m MODEL [-p 512] [-n 64] [-t 2] [-d 0] [-r 2] [--repack] [-o json]

Run it with the Python that has the package. Which instruction set the package was built for is the package's affair:
its wheels use AVX2.
"""
import argparse
import json
import random
import statistics
import time

from ik_llama_cpp import _ctypes_api as api


def step(context, tokens, past):
    batch = api.llama_batch_init(len(tokens), 0, 1)
    batch.n_tokens = len(tokens)
    for i, token in enumerate(tokens):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0] = token, past + i, 1, 0
        batch.logits[i] = 1 if i + 1 == len(tokens) else 0
    status = api.llama_decode(context, batch)
    api.llama_batch_free(batch)
    if status != 0:
        raise SystemExit(f"ik_bench: llama_decode gives {status}")


def rate(context, vocabulary, depth, count, at_once):
    draw = random.Random(1)
    api.llama_kv_cache_clear(context)
    past = 0
    while past < depth:
        now = min(512, depth - past)
        step(context, [draw.randrange(vocabulary) for _ in range(now)], past)
        past += now
    start = time.perf_counter()
    for begin in range(0, count, at_once):
        now = min(at_once, count - begin)
        step(context, [draw.randrange(vocabulary) for _ in range(now)], depth + begin)
    api.llama_get_logits_ith(context, -1)
    return count / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", dest="model", required=True)
    for flag, name, default in (("-p", "prompt", 512), ("-n", "generate", 64), ("-t", "threads", 2), ("-d", "depth", 0),
                                ("-r", "rounds", 2)):
        parser.add_argument(flag, dest=name, type=int, default=default)
    parser.add_argument("--repack", action="store_true")
    parser.add_argument("-o", dest="output", choices=["json"], default="json")
    options = parser.parse_args()

    api.llama_backend_init()
    of_model = api.llama_model_default_params()
    of_model.n_gpu_layers, of_model.repack_tensors = 0, options.repack
    of_model.use_mmap = not options.repack
    model = api.llama_model_load_from_file(options.model.encode(), of_model)
    if not model:
        raise SystemExit(f"ik_bench: {options.model} cannot be loaded")
    of_context = api.llama_context_default_params()
    of_context.n_ctx = options.depth + max(options.prompt, options.generate) + 64
    of_context.n_batch = of_context.n_ubatch = 512
    of_context.n_threads = of_context.n_threads_batch = options.threads
    of_context.flash_attn = True
    context = api.llama_init_from_model(model, of_context)
    vocabulary = api.llama_vocab_n_tokens(api.llama_model_get_vocab(model))
    rows = []
    for prompt, generate in ((options.prompt, 0), (0, options.generate)):
        count = prompt + generate
        if count == 0:
            continue
        rates = [rate(context, vocabulary, options.depth, count, 512 if prompt else 1)
                 for _ in range(options.rounds + 1)][1:]
        rows.append({"n_prompt": prompt, "n_gen": generate, "avg_ts": statistics.mean(rates)})
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
