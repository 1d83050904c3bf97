"""Markdown, hostile text, keyboard, screen readers, a phone's width, colours."""
import checks
from case import PageTest

MARKDOWN = """say # Title *one*

A paragraph with **strong**, *emphasis*, ***both***, ~~gone~~, `code <b>`, snake_case_name and 2 * 3 * 4.
Second line, https://example.org/a_b(c), and [a link](https://example.org/ "Its title").

- first
- second with `code`
  1. inner one
  2. inner two

3. three
4. four

> A quote
> with **weight**

| left | right |
|:-----|------:|
| a\\|b | 1 |
| `c` | 2 |

---

```cpp
int main() { return 1 < 2; }
```

- [ ] open
- [x] done

Last."""

# What would run if any of it became markup, an address or a handler.
HOSTILE = [
    "<script>window.ran = 1</script>",
    "<img src=x onerror=\"window.ran = 1\">",
    "<svg onload=\"window.ran = 1\"><script>window.ran = 1</script></svg>",
    "<iframe srcdoc=\"<script>parent.ran = 1</script>\"></iframe>",
    "<a href=\"javascript:window.ran = 1\" onclick=\"window.ran = 1\">here</a>",
    "<style>body { display: none }</style><base href=\"https://evil.example/\"><meta http-equiv=refresh content=0>",
    "[here](javascript:window.ran=1)",
    "[here](JaVaScRiPt:window.ran=1)",
    "[here](java\tscript:window.ran=1)",
    "[here](<javascript:window.ran=1>)",
    "[here](&#106;avascript:window.ran=1)",
    "[here](data:text/html,<script>window.ran=1</script>)",
    "[here](vbscript:x) [there](file:///etc/passwd) [else](blob:x) [and](//evil.example/x) [or](/v1/models)",
    "![picture](javascript:window.ran=1)",
    "![picture](https://evil.example/x.png\" onerror=\"window.ran=1)",
    "<javascript:window.ran=1> <https://evil.example/\"onmouseover=window.ran=1>",
    "https://evil.example/\"onmouseover=\"window.ran=1",
    "[a](https://evil.example/\"onclick=\"window.ran=1 \"t\\\" onclick=window.ran=1\")",
    "```html\n<script>window.ran = 1</script><img src=x onerror=\"window.ran=1\">\n```",
    "```\"><img src=x onerror=window.ran=1>\nx\n```",
    "| <img src=x onerror=window.ran=1> | b |\n|--|--|\n| <script>window.ran=1</script> | [x](javascript:window.ran=1) |",
    "# <img src=x onerror=window.ran=1>\n> <svg onload=window.ran=1>\n\n- <script>window.ran=1</script>",
    "`<img src=x onerror=window.ran=1>` **<img src=x onerror=window.ran=1>**",
    "<!--><img src=x onerror=window.ran=1>--> ]]> <![CDATA[<img src=x onerror=window.ran=1>]]>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=x onerror=window.ran=1&gt;\">",
]

# Text that grows beyond all bounds if a reader of Markdown is careless.
HEAVY = ["*a " * 8000, "[" * 8000, "[a](" * 4000, "> " * 4000 + "x", "`" * 3000 + "a" + "``" * 3000, "**_~~" * 4000,
         "- " * 3000 + "x", "|" * 4000 + "\n" + "|-" * 4000, "*a **b " * 3000 + "c** d*" * 3000,
         "\n".join("  " * i + "- x" for i in range(300)), "#" * 9000, "https://" * 3000, "\\" * 9000, "~" * 9000, "1. " * 3000]


class Markdown(PageTest):
    def test_markdown_becomes_elements(self):
        self.send(MARKDOWN)
        body = self.answer().locator(".markdown")

        def count(selector):
            return body.locator(selector).count()
        self.assertEqual(body.locator("h3").inner_text(), "Title one")
        self.assertEqual(body.locator("> p strong").all_inner_texts(), ["strong", "both"])
        self.assertEqual(body.locator("p > em").all_inner_texts()[0], "emphasis")
        self.assertEqual(count("em strong, strong em"), 1)
        self.assertEqual(body.locator("del").inner_text(), "gone")
        self.assertEqual(body.locator("p code").inner_text(), "code <b>")
        self.assertIn("snake_case_name and 2 * 3 * 4.", body.inner_text())
        self.assertEqual(count("> p br"), 1)
        self.assertEqual(body.locator("a").evaluate_all("all => all.map((a) => [a.href, a.rel, a.target, a.title])"), [
            ["https://example.org/a_b(c)", "noopener noreferrer nofollow", "_blank", ""],
            ["https://example.org/", "noopener noreferrer nofollow", "_blank", "Its title"]])
        self.assertEqual(count("ul > li"), 4)
        self.assertEqual(body.locator("ul ol > li").all_inner_texts(), ["inner one", "inner two"])
        self.assertEqual(body.locator("ol[start='3'] > li").all_inner_texts(), ["three", "four"])
        self.assertEqual(body.locator("blockquote strong").inner_text(), "weight")
        self.assertEqual(body.locator("td").all_inner_texts(), ["a|b", "1", "c", "2"])
        self.assertEqual(body.locator("td.right").all_inner_texts(), ["1", "2"])
        self.assertEqual(count("hr"), 1)
        self.assertEqual(body.locator("pre").inner_text(), "int main() { return 1 < 2; }")
        self.assertEqual(body.locator(".code-head span").inner_text(), "cpp")
        self.assertEqual(body.locator(".task").all_inner_texts(), ["\u2610 ", "\u2611 "])
        self.assertEqual(body.locator("> p").last.inner_text(), "Last.")

    def test_code_is_copied_as_it_is(self):
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.send("say ```\n  <b>&amp;\n\n\tx\n```")
        self.answer().get_by_role("button", name="Copy this code").click()
        self.until("document.querySelector('#spoken').textContent === 'Copied'")
        self.assertEqual(self.page.evaluate("navigator.clipboard.readText()"), "  <b>&amp;\n\n    x")

    def test_a_growing_answer_keeps_the_blocks_that_stand(self):
        same = self.page.evaluate("""async () => {
          const {renderMarkdown} = await import('/page/markdown.js');
          const box = document.createElement('div');
          renderMarkdown(box, 'one\\n\\ntwo');
          const [first, second] = box.children;
          renderMarkdown(box, 'one\\n\\ntwo and\\n\\nthree');
          return [box.children[0] === first, box.children[1] === second, box.children.length];
        }""")
        self.assertEqual(same, [True, False, 3])

    def test_text_without_an_end_does_not_hold_up_the_page(self):
        for text in HEAVY:
            took = self.page.evaluate("""async (text) => {
              const {renderMarkdown} = await import('/page/markdown.js');
              const box = document.createElement('div');
              document.querySelector('#turns').append(box);
              const start = performance.now();
              renderMarkdown(box, text);
              box.getBoundingClientRect();
              const took = performance.now() - start;
              box.remove();
              return took;
            }""", text)
            self.assertLess(took, 3000, text[:40])


class Hostile(PageTest):
    def look(self):
        self.page.wait_for_timeout(150)
        self.assertEqual(self.page.evaluate("window.ran"), None)
        found = self.page.evaluate("""() => [...document.querySelectorAll('#turns *, #conversations *, #tip *')].flatMap((node) => {
          const bad = ['SCRIPT', 'IFRAME', 'IMG', 'STYLE', 'BASE', 'META', 'OBJECT', 'EMBED', 'FORM', 'LINK', 'MATH'];
          const faults = bad.includes(node.tagName.toUpperCase()) ? [node.tagName] : [];
          for (const {name, value} of node.attributes) {
            if (name.startsWith('on') || name === 'srcdoc') faults.push(`${name}=${value}`);
            if (['href', 'src', 'action'].includes(name) && !/^https?:/.test(value)) faults.push(`${name}=${value}`);
          }
          return faults;
        })""")
        self.assertEqual(found, [])

    def test_nothing_that_a_model_writes_runs(self):
        self.page.evaluate("delete window.ran")
        for text in HOSTILE:
            with self.subTest(text=text):
                self.page.click("#new-conversation")
                self.send(f"say {text}")
                self.look()
                for link in self.page.locator(".markdown a").all():
                    link.hover()
                self.look()

    def test_nothing_runs_in_reasoning_errors_titles_and_tokens(self):
        self.expected = ["status of 400"]
        hostile = "<img src=x onerror=window.ran=1>"
        self.send(f"think {hostile}\n[x](javascript:window.ran=1)|{hostile}")
        self.send(f"fail 400 {hostile}")
        self.page.locator("summary:visible").click()
        self.page.click("#toggle-tokens")
        for token in self.page.locator(".turn .token").all():
            token.hover()
        self.look()
        self.reload()
        self.look()
        self.assertIn(hostile, self.page.locator(".fault").inner_text())

    def test_the_policy_stops_what_the_page_would_not_make(self):
        self.expected = ["Content Security Policy", "violates"]
        self.page.evaluate("""() => {
          const node = document.createElement('div');
          document.body.append(node);
          node['inner' + 'HTML'] = '<img src=x onerror="window.ran = 1">';
          const script = document.createElement('script');
          script.textContent = 'window.ran = 2';
          document.body.append(script);
        }""")
        self.page.wait_for_timeout(200)
        self.assertEqual(self.page.evaluate("window.ran"), None)


class Keyboard(PageTest):
    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def focused(self):
        return self.page.evaluate("""() => {
          const node = document.activeElement;
          return node.getAttribute('aria-label') || node.labels?.[0]?.textContent || node.textContent.trim();
        }""")

    def test_everything_can_be_done_with_the_keyboard(self):
        self.assertEqual(self.focused(), "Message")
        self.page.keyboard.type("line one")
        self.press("Shift+Enter")
        self.page.keyboard.type("line two")
        self.press("Enter")
        self.wait_idle()
        self.assertEqual(self.request()["messages"][0]["content"], "line one\nline two")
        self.press("Alt+KeyR")
        self.wait_idle()
        self.assertEqual(self.answer().locator(".branches .number").inner_text(), "2/2")
        self.press("Alt+KeyU")
        self.assertEqual(self.focused(), "Edit the message")
        self.press("Control+KeyA")
        self.page.keyboard.type("slow 200")
        self.press("Enter")
        self.page.wait_for_selector(".turn.writing .markdown p")
        self.press("Escape")
        self.wait_idle()
        self.assertIn("stopped by you", self.answer().inner_text())
        self.press("Alt+KeyN")
        self.assertEqual(self.page.locator(".turn").count(), 0)
        self.assertEqual(self.focused(), "Message")
        self.press("Alt+KeyI")
        self.assertFalse(self.page.locator("#panel").is_visible())
        self.press("Alt+KeyC")
        self.assertFalse(self.page.locator("#side").is_visible())
        self.press("Alt+KeyK")
        self.assertTrue(self.page.locator("#keys").is_visible())
        for words in ("Send the message", "Stop the answer", "New conversation", "Alt + R"):
            self.assertIn(words, self.page.locator("#keys").inner_text())
        self.press("Escape")
        self.assertFalse(self.page.locator("#keys").is_visible())

    def test_the_tab_key_reaches_all_and_shows_where_it_is(self):
        self.send("say [a](https://example.org/)\n\n```\ncode\n```")
        self.send("say more")
        wanted = self.page.evaluate("""() => [...document.querySelectorAll('button, a[href], input, textarea, select, summary')]
          .filter((node) => node.checkVisibility() && !node.disabled && !node.closest('dialog')).length""")
        self.page.evaluate("document.activeElement.blur(); window.reached = new Set()")
        for _ in range(wanted + 12):
            self.press("Tab")
            shown = self.page.evaluate("""() => {
              const node = document.activeElement;
              reached.add(node);
              const style = getComputedStyle(node);
              return node === document.body || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1 &&
                node.checkVisibility({opacityProperty: true})) ? '' : node.outerHTML;
            }""")
            self.assertEqual(shown, "")
        missed = self.page.evaluate("""() => [...document.querySelectorAll('button, a[href], input, textarea, select, summary')]
          .filter((node) => node.checkVisibility() && !node.disabled && !node.closest('dialog') && !reached.has(node))
          .map((node) => node.outerHTML)""")
        self.assertEqual(missed, [])

    def test_branches_are_walked_with_the_focus_on_their_arrows(self):
        self.send("say one")
        self.press("Alt+KeyR")
        self.wait_idle()
        self.answer().get_by_role("button", name="Branch before this one").focus()
        self.press("Enter")
        self.assertEqual(self.answer().locator(".branches .number").inner_text(), "1/2")
        self.assertEqual(self.focused(), "Branch after this one")


class Names(PageTest):
    def fill(self):
        self.send("think Why|because\n\n## Two\n\n| a | b |\n|--|--|\n| c | d |\n\n```\nx\n```\n\n"
                  "[link](https://example.org/) `code`\n\n> quote")
        self.send("slow 3")
        self.page.keyboard.press("Alt+KeyR")
        self.wait_idle()
        self.page.locator("summary:visible").click()
        self.page.fill("#set-temperature", "9")

    def look(self, *wanted):
        for check in wanted:
            self.assertEqual(self.page.evaluate(check), [])

    def test_all_controls_have_names_and_all_text_has_contrast(self):
        self.look(checks.NAMES, checks.CONTRAST)
        self.fill()
        self.look(checks.NAMES, checks.CONTRAST)
        self.page.click("#toggle-tokens")
        self.page.locator(".turn .token").first.hover()
        self.look(checks.NAMES, checks.CONTRAST)
        self.page.click("#show-keys")
        self.look(checks.NAMES, checks.CONTRAST)

    def test_the_same_in_the_dark(self):
        self.page.emulate_media(color_scheme="dark")
        self.fill()
        self.look(checks.NAMES, checks.CONTRAST)
        self.page.click("#toggle-tokens")
        self.page.locator(".turn .token").first.hover()
        self.look(checks.CONTRAST)

    def test_the_checks_can_fail(self):
        self.page.evaluate("""() => {
          const add = (tag, set) => document.body.append(Object.assign(document.createElement(tag), set));
          add('button', {}), add('input', {}), add('h4', {textContent: 'x'}), add('p', {textContent: 'pale', id: 'top'});
          document.body.lastChild.className = 'pale';
          const sheet = new CSSStyleSheet();
          sheet.replaceSync('.pale { color: #ddd; width: 3000px }');
          document.adoptedStyleSheets = [sheet];
        }""")
        self.assertEqual(len(self.page.evaluate(checks.NAMES)), 4)
        self.assertEqual(len(self.page.evaluate(checks.CONTRAST)), 1)


class Phone(PageTest):
    width, height = 360, 640
    options = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2}

    def look(self):
        self.assertEqual(self.page.evaluate(checks.WIDTH), [])

    def test_nothing_is_wider_than_a_phone(self):
        self.look()
        wide = "x" * 300
        self.send(f"say {wide}\n\n```\n{wide}\n```\n\n| {' | '.join('abcdefghij')} |\n|{'--|' * 10}\n\n"
                  f"`{wide}` https://example.org/{wide}")
        self.look()
        self.assertTrue(self.page.locator(".code pre").evaluate("node => node.scrollWidth > node.clientWidth"))
        self.page.keyboard.press("Alt+KeyR")
        self.wait_idle()
        self.page.tap("#toggle-tokens")
        self.look()
        self.page.locator(".turn .token").last.tap()
        box = self.page.locator("#tip").bounding_box()
        self.assertTrue(box["x"] >= 0 and box["x"] + box["width"] <= 360 and box["y"] + box["height"] <= 640, box)
        self.use("Edit as a new branch")
        self.look()

    def test_panels_lie_over_the_chat_and_close(self):
        self.send("say words")
        for toggle, part in [("#toggle-side", "#side"), ("#toggle-panel", "#panel")]:
            self.assertFalse(self.page.locator(part).is_visible())
            self.page.tap(toggle)
            self.assertTrue(self.page.locator(part).is_visible())
            self.assertTrue(self.page.locator("#chat").evaluate("node => node.inert"))
            self.assertTrue(self.page.evaluate(f"document.querySelector('{part}').contains(document.activeElement)"))
            self.look()
            self.assertEqual(self.page.evaluate(checks.NAMES), [])
            self.page.keyboard.press("Escape")
            self.assertFalse(self.page.locator(part).is_visible())
            self.assertFalse(self.page.locator("#chat").evaluate("node => node.inert"))
        self.page.tap("#toggle-side")
        self.page.locator(".conversation").first.tap()
        self.assertFalse(self.page.locator("#side").is_visible())


class Colours(PageTest):
    def ground(self):
        return self.page.evaluate("getComputedStyle(document.body).backgroundColor")

    def test_the_theme_is_the_systems_until_one_is_chosen(self):
        light = self.ground()
        self.page.emulate_media(color_scheme="dark")
        dark = self.ground()
        self.assertNotEqual(light, dark)
        self.page.click("#theme")
        self.assertEqual(self.page.get_attribute("#theme", "aria-label"), "Theme: light")
        self.assertEqual(self.ground(), light)
        self.reload()
        self.assertEqual(self.ground(), light)
        self.page.emulate_media(color_scheme="light")
        self.page.click("#theme")
        self.assertEqual(self.ground(), dark)
        self.page.click("#theme")
        self.assertEqual(self.page.get_attribute("#theme", "aria-label"), "Theme: as the system")
        self.assertEqual(self.ground(), light)

    def test_nothing_moves_where_motion_is_not_wanted(self):
        self.page.emulate_media(reduced_motion="reduce")
        self.send("slow 40", wait=False)
        self.page.wait_for_selector(".turn.writing")
        moving = self.page.evaluate("""() => [...document.querySelectorAll('*')].filter((node) => {
          const style = getComputedStyle(node);
          return style.animationName !== 'none' || style.transitionDuration.split(', ').some((time) => parseFloat(time) > 0);
        }).map((node) => node.outerHTML.slice(0, 80))""")
        self.assertEqual(moving, [])
