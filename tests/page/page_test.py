#!/usr/bin/env python3
"""The page in Chromium, against a server of our own that answers what a test asks it to.

usage: page_test.py --venv DIR [TEST...]

Ends with 77, which ctest counts as skipped, where there is no Chromium or Playwright cannot be installed.
"""
import argparse
import sys
import unittest

import browser


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", required=True)
    parser.add_argument("tests", nargs="*", help="as unittest names them: chat_cases.Chat")
    options = parser.parse_args()
    browser.enter(options.venv)
    from playwright.sync_api import sync_playwright
    from case import PageTest
    with sync_playwright() as playwright:
        PageTest.browser = browser.launch(playwright)
        loader = unittest.defaultTestLoader
        suite = loader.loadTestsFromNames(options.tests or ["chat_cases", "content_cases"])
        done = unittest.TextTestRunner(verbosity=2).run(suite)
        PageTest.browser.close()
    sys.exit(0 if done.wasSuccessful() and done.testsRun else 1)


if __name__ == "__main__":
    main()
