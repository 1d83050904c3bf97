#!/usr/bin/env python3
"""Takes the pictures of the page in docs/images, with a running server and a small model.

usage: screenshots.py --program build/plait --model smollm2.gguf --venv build/page-venv [--into docs/images]
"""
import argparse
import pathlib
import re
import subprocess
import sys

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
ASKED = ["What are the three primary colours, and what do they stand for?",
         "Write a Python program that prints the numbers from 1 to 10. Put it in a code block."]


class Served:
    """plait serve on a port that is free, until the block ends."""

    def __init__(self, program, model):
        self.process = subprocess.Popen([program, "serve", model, "--port", "0", "--alias", "SmolLM2-135M-Instruct"],
                                        stderr=subprocess.PIPE, text=True)
        self.url = next(match[0] for match in (re.search(r"http://\S+", line) for line in self.process.stderr) if match)

    def __enter__(self):
        return self.url

    def __exit__(self, *what):
        self.process.terminate()
        self.process.wait(30)


def wait_idle(page):
    page.wait_for_selector("#send:not(.stopping)", timeout=180_000)
    page.wait_for_timeout(300)


def chat(page, asked):
    for text in asked:
        page.fill("#message", text)
        page.keyboard.press("Enter")
        wait_idle(page)


def window(chromium, url, width, height, **options):
    context = chromium.new_context(viewport={"width": width, "height": height}, locale="en-GB", **options)
    page = context.new_page()
    page.goto(url)
    page.wait_for_timeout(800)
    # The same answers each time.
    for name, value in {"temperature": "0", "max_completion_tokens": "160", "seed": "1"}.items():
        page.evaluate("""([name, value]) => {
          const input = document.querySelector(`#set-${name}`);
          input.value = value;
          input.dispatchEvent(new Event('input'));
        }""", [name, value])
    return page


def desktop(chromium, url, into):
    page = window(chromium, url, 1280, 800, color_scheme="light")
    chat(page, ["Why is the sky blue?"])
    page.click("#new-conversation")
    chat(page, ASKED)
    page.screenshot(path=into / "page.png")
    page.context.close()


def dark(chromium, url, into):
    page = window(chromium, url, 1280, 800, color_scheme="dark")
    page.click("#toggle-tokens")
    chat(page, ASKED[:1])
    page.keyboard.press("Alt+KeyR")
    wait_idle(page)
    # Where the model was sure there is little to see: a token that had rivals.
    page.locator(".turn:last-child .token:is(.p2, .p3)").nth(2).hover()
    page.wait_for_timeout(300)
    page.screenshot(path=into / "page-dark.png")
    page.context.close()


def phone(chromium, url, into):
    page = window(chromium, url, 360, 740, color_scheme="light", device_scale_factor=2, is_mobile=True, has_touch=True)
    chat(page, ASKED[1:])
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=into / "page-phone.png")
    page.context.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--venv", required=True)
    parser.add_argument("--into", type=pathlib.Path, default=ROOT / "docs/images")
    options = parser.parse_args()
    browser.enter(options.venv)
    from playwright.sync_api import sync_playwright
    options.into.mkdir(parents=True, exist_ok=True)
    with Served(options.program, options.model) as url, sync_playwright() as playwright:
        chromium = browser.launch(playwright)
        for take in (desktop, dark, phone):
            take(chromium, url, options.into)
        chromium.close()
    for picture in sorted(options.into.glob("page*.png")):
        print(f"{picture}: {picture.stat().st_size // 1000} kB")
        if picture.stat().st_size > 250_000:
            sys.exit(f"{picture} is larger than 250 kB")


if __name__ == "__main__":
    main()
