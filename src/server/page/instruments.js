// The three plots beside the chat: tokens per second, reused against computed prompt tokens, and the cache.
import {h} from "./dom.js";
import {BarPlot, TimePlot} from "./plots.js";

const rounded = (value) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));

export class Instruments {
  constructor(place) {
    this.speed = new TimePlot("Speed", "tokens/s", [["woad", "this answer"], ["soft", "whole server"]]);
    this.prompt = new BarPlot("Prompt", "tokens", [["woad", "reused"], ["weld", "computed"]]);
    this.cache = new TimePlot("Cache", "used", [["madder", "of its memory"]], 100);
    place.append(this.speed.node, this.prompt.node, this.cache.node);
    this.arrivals = [];
    this.whole = null;
    setInterval(() => this.tick(), 500);
    this.speed.draw();
    this.prompt.draw([]);
    this.cache.draw();
  }

  // Some tokens have come.
  count(tokens) {
    this.arrivals.push([performance.now(), tokens]);
    this.writing = true;
  }

  ended() {
    this.writing = false;
    this.arrivals = [];
    this.speed.add(0, null);
  }

  // The rate of the last second and a half, from the first token in it to the last.
  rate(now) {
    this.arrivals = this.arrivals.filter(([at]) => at > now - 1500);
    if (this.arrivals.length < 2) return null;
    const span = (this.arrivals.at(-1)[0] - this.arrivals[0][0]) / 1000;
    const tokens = this.arrivals.slice(1).reduce((sum, [, count]) => sum + count, 0);
    return span > 0.05 ? tokens / span : null;
  }

  tick() {
    if (document.hidden) return;
    const now = performance.now();
    const rate = this.writing ? this.rate(now) : null;
    if (rate !== null) {
      this.speed.add(0, rate, now);
      this.speed.value.textContent = rounded(rate);
    }
    this.speed.draw(now);
    this.cache.draw(now);
  }

  metrics(seen) {
    if (!seen) {
      this.cache.value.textContent = "\u2013";
      this.cache.words.replaceChildren("The server tells no counters.");
      return;
    }
    if (seen.rate !== null) this.speed.add(1, seen.rate, seen.at);
    if (seen.cache !== null) {
      this.cache.add(0, seen.cache * 100, seen.at);
      this.cache.value.textContent = `${rounded(seen.cache * 100)} %`;
    }
    const number = (value) => h("b", {}, value === null ? "?" : String(value));
    this.cache.words.replaceChildren(number(seen.running), " running, ", number(seen.waiting), " waiting");
  }

  // Of the answers that are shown.
  answers(messages) {
    const usages = messages.map((message) => message.usage).filter(Boolean);
    this.prompt.draw(usages.map(({cached, prompt}) => [Math.min(cached, prompt), Math.max(0, prompt - cached)]));
    const last = usages.at(-1);
    this.prompt.value.textContent = last ? String(last.prompt) : "\u2013";
    this.prompt.words.textContent = last
      ? `last: ${last.cached} reused, ${Math.max(0, last.prompt - last.cached)} computed` : "no answer yet";
    if (!this.writing) {
      const speed = last && last.seconds > 0 ? (last.generated - 1) / last.seconds : null;
      this.speed.value.textContent = speed > 0 ? rounded(speed) : "\u2013";
    }
  }
}
