#!/usr/bin/env python3
"""The roofline of the linear kernels: operations a second against operations a byte of weights, under the machine's two
bounds, as an SVG. Runs peak_bench and linear_bench of a build.

usage: roofline.py BUILD_DIR [--isa avx512] [--shape 4096x4096] [--threads 2] [--formats q4_0,q4_k,q6_k,q8_0] > docs/roofline.svg
"""
import argparse
import json
import math
import pathlib
import re
import subprocess

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 440, 70, 40, 150, 55
COLOURS = ("#3b6ea5", "#c0602b", "#3f8f4f", "#8a4fa0", "#997a1a", "#444444")


def measure(options):
    bench = pathlib.Path(options.build) / "bench"
    peak = json.loads(subprocess.run([bench / "peak_bench", str(options.threads)], capture_output=True, text=True, check=True).stdout)
    pattern = f"^{options.isa}/({options.formats.replace(',', '|')})/{options.shape}/.*threads:{options.threads}/"
    out = subprocess.run([bench / "linear_bench", f"--benchmark_filter={pattern}", "--benchmark_format=json", "--benchmark_repetitions=3",
                          "--benchmark_min_time=0.1"], capture_output=True, text=True, check=True).stdout
    points = {}
    for run in json.loads(out)["benchmarks"]:
        if run["run_type"] != "aggregate" or run["aggregate_name"] != "median":
            continue
        kind, tokens = re.match(r"[^/]*/([^/]*)/[^/]*/tokens:(\d+)/", run["run_name"]).groups()
        points.setdefault(kind, []).append((int(tokens), run["GOPS"] / run["GB/s"], run["GOPS"]))
    return peak, points


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    for flag, default in (("isa", "avx512"), ("shape", "4096x4096"), ("threads", 2), ("formats", "q4_0,q4_k,q6_k,q8_0")):
        parser.add_argument("--" + flag, type=type(default), default=default)
    options = parser.parse_args()
    peak, points = measure(options)

    everything = [point for series in points.values() for point in series]
    x_low, x_high = min(p[1] for p in everything) / 1.5, max(p[1] for p in everything) * 1.5
    y_high = peak["int8_gops"] * 1.6
    y_low = min(min(p[2] for p in everything), peak["read_gbps"] * x_low) / 1.5

    def x(value):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(value / x_low) / math.log(x_high / x_low)

    def y(value):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(value / y_low) / math.log(y_high / y_low)

    def line(points_, style):
        return f'<polyline fill="none" {style} points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points_)}"/>'

    def text(a, b, words, more=""):
        return f'<text x="{a:.1f}" y="{b:.1f}" {more}>{words}</text>'

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="12" fill="#222">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           text(LEFT, 22, f"Products of {options.shape} weights, {options.isa}, {options.threads} threads: "
                f"{peak['read_gbps']:.0f} GB/s read, {peak['int8_gops'] / 1000:.2f} TOPS of 8 bits", 'font-size="14"')]
    for low, high, at, end in ((x_low, x_high, x, "x"), (y_low, y_high, y, "y")):
        for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1):
            value = at(10.0 ** power)
            ends = [(value, TOP), (value, HEIGHT - BOTTOM)] if end == "x" else [(LEFT, value), (WIDTH - RIGHT, value)]
            out.append(line(ends, 'stroke="#ddd"'))
            out.append(text(value, HEIGHT - BOTTOM + 18, f"{10 ** power}", 'text-anchor="middle"') if end == "x"
                       else text(LEFT - 8, value + 4, f"{10 ** power}", 'text-anchor="end"'))
    ridge = peak["int8_gops"] / peak["read_gbps"]
    out.append(line([(x(x_low), y(peak["read_gbps"] * x_low)), (x(ridge), y(peak["int8_gops"])), (x(x_high), y(peak["int8_gops"]))],
                    'stroke="#222" stroke-width="2"'))
    for colour, (kind, series) in zip(COLOURS, points.items()):
        series.sort()
        out.append(line([(x(p[1]), y(p[2])) for p in series], f'stroke="{colour}" stroke-width="1.5"'))
        out += [f'<circle cx="{x(p[1]):.1f}" cy="{y(p[2]):.1f}" r="3.5" fill="{colour}"><title>{kind}, {p[0]} tokens: '
                f'{p[2]:.0f} GOPS</title></circle>' for p in series]
        last = series[-1]
        out.append(text(WIDTH - RIGHT + 10, TOP + 20 + 18 * list(points).index(kind), f"{kind}: {last[2]:.0f} GOPS", f'fill="{colour}"'))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, "operations a byte of weights (1, 4, 8, 32, 128, 512 tokens)", 'text-anchor="middle"'))
    out.append(text(18, (TOP + HEIGHT - BOTTOM) / 2, "GOPS", f'text-anchor="middle" transform="rotate(-90 18 {(TOP + HEIGHT - BOTTOM) / 2})"'))
    print("\n".join([*out, "</svg>"]))


if __name__ == "__main__":
    main()
