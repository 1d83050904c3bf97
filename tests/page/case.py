"""A test of the page: a window and a server of its own, and what tests say most."""
import unittest

from fake_server import FakeServer


class PageTest(unittest.TestCase):
    """Each test has a window and a server of its own. Nothing may go wrong in the page meanwhile."""
    width, height = 1280, 800
    options = {}
    browser = None

    def setUp(self):
        self.server = FakeServer()
        self.context = PageTest.browser.new_context(viewport={"width": self.width, "height": self.height}, **self.options)
        self.context.set_default_timeout(60_000)
        self.faults, self.expected = [], []
        self.page = self.open()

    def tearDown(self):
        self.context.close()
        self.server.shutdown()
        self.server.server_close()
        faults = [fault for fault in self.faults if not any(words in fault for words in self.expected)]
        self.assertEqual(faults, [])

    def open(self):
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda line: self.faults.append(line.text) if line.type in ("error", "warning") else None)
        page.on("dialog", lambda dialog: (self.faults.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self.outside(request.url))
        page.goto(self.server.url)
        self.until("document.querySelector('#model').textContent.trim() !== ''", page)
        return page

    def until(self, condition, page=None):
        """Waits for an expression of JavaScript to hold. Playwright's own way evaluates text in the page, which the policy
        forbids."""
        for _ in range(1200):
            if (page or self.page).evaluate(condition):
                return
            (page or self.page).wait_for_timeout(50)
        self.fail(f"does not come: {condition}")

    def outside(self, url):
        if not url.startswith((self.server.url, "data:", "blob:")):
            self.faults.append(f"asked for {url}")

    def reload(self):
        self.page.reload()
        self.until("document.querySelector('#model').textContent.trim() !== ''")

    def send(self, text, wait=True):
        self.page.fill("#message", text)
        self.page.keyboard.press("Enter")
        if wait:
            self.wait_idle()

    def wait_idle(self):
        self.page.wait_for_selector("#send:not(.stopping)")
        self.until("!document.querySelector('.turn.writing')")

    def texts(self, selector):
        return self.page.locator(selector).all_inner_texts()

    def answer(self, number=-1):
        return self.page.locator(".turn.assistant").nth(number)

    def use(self, label, number=-1, role="assistant"):
        """A button of a message."""
        self.page.locator(f".turn.{role}").nth(number).get_by_role("button", name=label, exact=True).click()

    def request(self):
        return self.server.requests[-1]
