// The server's counters, read every few seconds while the page is looked at.
import {getText} from "./stream.js";

// Lines of Prometheus' text format to sums by name; labels are put together.
export function parseMetrics(text) {
  const values = new Map();
  for (const line of text.split("\n")) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{.*\})?\s+(\S+)/.exec(line);
    if (!match || !Number.isFinite(Number(match[2]))) continue;
    values.set(match[1], (values.get(match[1]) ?? 0) + Number(match[2]));
  }
  return values;
}

export class MetricsWatch {
  // `seen` is called with {at, cache, running, waiting, rate} (rate: tokens per second of all answers, or null), or
  // with null when the server has no counters for us. `busy` says whether an answer is being written.
  constructor(seen, busy) {
    this.seen = seen;
    this.busy = busy;
    this.last = null;
    this.timer = 0;
    document.addEventListener("visibilitychange", () => this.next(0));
    this.next(0);
  }

  next(wait) {
    clearTimeout(this.timer);
    if (!document.hidden) this.timer = setTimeout(() => this.look(), wait);
  }

  async look() {
    try {
      const values = parseMetrics(await getText("metrics"));
      const at = performance.now();
      const total = values.get("vllm:generation_tokens_total") ?? null;
      const span = this.last ? (at - this.last.at) / 1000 : 0;
      const rate = total !== null && span > 0.2 && total >= this.last.total ? (total - this.last.total) / span : null;
      this.last = total === null ? null : {at, total};
      this.seen({at, rate, cache: values.get("vllm:kv_cache_usage_perc") ?? null,
        running: values.get("vllm:num_requests_running") ?? null,
        waiting: values.get("vllm:num_requests_waiting") ?? null});
    } catch (error) {
      this.last = null;
      this.seen(null);
      if (error.status) return;  // There are none, or not without a key; a new one asks again.
    }
    this.next(this.busy() ? 1000 : 4000);
  }
}
