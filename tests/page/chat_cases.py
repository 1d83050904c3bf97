"""Chatting, what is kept, settings, tokens and plots."""
import json

from case import PageTest


class Chat(PageTest):
    def test_an_answer_comes_piece_by_piece(self):
        self.send("slow 30", wait=False)
        self.until("document.querySelector('.assistant .markdown').textContent.includes('word2')")
        self.assertNotIn("word29", self.answer().inner_text())
        self.assertEqual(self.page.locator("#send").inner_text().strip(), "Stop")
        self.wait_idle()
        self.assertIn("word29", self.answer().inner_text())
        self.assertEqual(self.page.locator("#send").inner_text().strip(), "Send")
        self.assertRegex(self.answer().locator(".summary").inner_text(), r"30 tokens .* prompt 10, 0 reused")

    def test_the_request_asks_for_a_stream_with_usage_and_probabilities(self):
        self.send("Hello")
        self.assertEqual(self.request(), {
            "messages": [{"role": "user", "content": "Hello"}], "stream": True, "stream_options": {"include_usage": True},
            "logprobs": True, "top_logprobs": 5, "return_progress": True})
        self.send("Again")
        self.assertEqual([(turn["role"], turn["content"]) for turn in self.request()["messages"]],
                         [("user", "Hello"), ("assistant", "You said: Hello"), ("user", "Again")])

    def test_the_prompts_progress_is_told(self):
        self.send("slow 3", wait=False)
        self.until("document.querySelector('.turn.writing .wait').textContent === 'Reading the prompt, 3 of 10 tokens'")
        self.wait_idle()
        self.assertEqual(self.texts(".markdown"), ["word0 word1 word2"])

    def test_what_was_written_outlives_a_reload_in_the_middle(self):
        self.send("slow 200", wait=False)
        self.until("document.querySelector('.assistant .markdown').textContent.includes('word3')")
        self.reload()
        self.assertIn("word3", self.answer().inner_text())
        self.assertEqual(self.page.locator(".turn.writing").count(), 0)
        self.send("next")
        self.assertIn("You said: next", self.answer().inner_text())

    def test_stopping_keeps_what_was_written_and_tells_the_server(self):
        self.send("slow 400", wait=False)
        self.until("document.querySelector('.assistant .markdown').textContent.includes('word3')")
        self.page.click("#send")
        self.wait_idle()
        self.assertIn("word3", self.answer().inner_text())
        self.assertIn("stopped by you", self.answer().locator(".summary").inner_text())
        for _ in range(50):
            if self.server.left == 1:
                break
            self.page.wait_for_timeout(100)
        self.assertEqual(self.server.left, 1)
        self.send("go on")
        self.assertIn("word3", self.request()["messages"][1]["content"])

    def test_answering_again_makes_a_branch(self):
        self.send("Hello")
        self.send("More")
        self.use("Answer again as a new branch", 0)
        self.wait_idle()
        self.assertEqual(self.texts(".turn.user .plain"), ["Hello"])
        self.assertEqual(self.request()["messages"], [{"role": "user", "content": "Hello"}])
        self.assertEqual(self.answer().locator(".branches .number").inner_text(), "2/2")
        self.assertTrue(self.answer().get_by_role("button", name="Branch after this one").is_disabled())
        self.use("Branch before this one")
        self.assertEqual(self.texts(".turn.user .plain"), ["Hello", "More"])

    def test_editing_a_question_makes_a_branch_and_keeps_the_other(self):
        self.send("say one")
        self.send("say two")
        self.use("Edit and send as a new branch", 0, "user")
        self.page.locator("textarea.edit").fill("say three")
        self.page.keyboard.press("Enter")
        self.wait_idle()
        self.assertEqual(self.texts(".markdown"), ["three"])
        self.use("Branch before this one", 0, "user")
        self.assertEqual(self.texts(".markdown"), ["one", "two"])
        self.reload()
        self.assertEqual(self.texts(".markdown"), ["one", "two"])
        self.use("Branch after this one", 0, "user")
        self.assertEqual(self.texts(".markdown"), ["three"])

    def test_editing_an_answer_makes_a_branch_without_a_request(self):
        self.send("say one")
        self.use("Edit as a new branch")
        self.page.locator("textarea.edit").fill("mine")
        self.page.get_by_role("button", name="Keep").click()
        self.assertEqual(self.texts(".markdown"), ["mine"])
        self.assertEqual(len(self.server.requests), 1)
        self.send("say next")
        self.assertEqual(self.request()["messages"][1]["content"], "mine")

    def test_escape_leaves_an_edit_as_it_was(self):
        self.send("say one")
        self.use("Edit and send as a new branch", 0, "user")
        self.page.locator("textarea.edit").fill("else")
        self.page.keyboard.press("Escape")
        self.assertEqual(self.texts(".turn.user .plain"), ["say one"])
        self.assertEqual(self.page.locator(".branches").count(), 0)

    def test_reasoning_is_folded_away(self):
        self.send("think Strands are counted.|There are three.")
        reasoning = self.answer().locator("details")
        self.assertFalse(reasoning.locator(".thoughts").is_visible())
        self.assertEqual(self.texts(".markdown"), ["There are three."])
        reasoning.locator("summary").click()
        self.assertEqual(reasoning.locator(".thoughts").inner_text(), "Strands are counted.")
        self.send("more")
        self.assertEqual(self.request()["messages"][1]["content"], "There are three.")

    def test_errors_are_told_in_the_servers_own_words(self):
        self.expected = ["status of 400", "status of 503", "ERR_INCOMPLETE", "Failed to load"]
        for asked, sentence in [("fail 400 temperature is -1, wanted a number from 0 to 2", "temperature is -1, wanted"),
                                ("late the memory is full", "the memory is full"),
                                ("break half an", "The connection ended before the answer did.")]:
            with self.subTest(asked=asked):
                self.send(asked)
                self.assertIn(sentence, self.answer().get_by_role("alert").inner_text())
        self.assertIn("half an", self.answer().inner_text())
        self.reload()
        self.assertIn("ended before", self.answer().get_by_role("alert").inner_text())
        self.answer().get_by_role("button", name="Try again").click()
        self.wait_idle()
        self.assertEqual(self.answer().locator(".branches .number").inner_text(), "2/2")

    def test_a_server_that_is_gone_is_told(self):
        self.expected = ["Failed to load resource"]
        self.page.route("**/v1/chat/completions", lambda route: route.abort("connectionrefused"))
        self.send("Hello")
        self.assertIn("The server cannot be reached.", self.answer().get_by_role("alert").inner_text())

    def test_a_key_is_asked_for_and_kept_until_the_tab_is_closed(self):
        self.expected = ["401"]
        self.server.key = "strand-3"
        self.send("Hello")
        self.assertIn("a valid API key is wanted", self.answer().get_by_role("alert").inner_text())
        self.assertEqual(self.page.evaluate("document.activeElement.id"), "key")
        self.page.keyboard.type("strand-3")
        self.page.keyboard.press("Enter")
        self.answer().get_by_role("button", name="Try again").click()
        self.wait_idle()
        self.assertIn("You said: Hello", self.answer().inner_text())
        self.assertNotIn("strand-3", self.page.evaluate("JSON.stringify(localStorage)"))
        self.reload()
        self.assertEqual(self.page.input_value("#key"), "strand-3")
        other = self.open()
        self.assertEqual(other.input_value("#key"), "")

    def test_a_screen_reader_hears_the_answer_once(self):
        self.page.evaluate("""() => {
          window.heard = [];
          new MutationObserver(() => heard.push(document.querySelector('#spoken').textContent))
            .observe(document.querySelector('#spoken'), {childList: true, characterData: true, subtree: true});
        }""")
        self.send("slow 40")
        self.until("heard.some((words) => words.includes('word39'))")
        heard = [words for words in self.page.evaluate("heard") if words]
        self.assertEqual(heard[0], "The answer is being written")
        self.assertLessEqual(len(heard), 3)
        self.assertEqual(self.page.locator("#turns").evaluate("node => node.closest('[aria-live]')"), None)


class Kept(PageTest):
    def test_conversations_outlive_the_page(self):
        self.send("say first")
        self.page.click("#new-conversation")
        self.send("say second")
        self.reload()
        self.assertEqual(self.texts(".markdown"), ["second"])
        self.assertEqual(self.texts(".conversation-title"), ["say second", "say first"])
        self.page.locator(".conversation").nth(1).click()
        self.assertEqual(self.texts(".markdown"), ["first"])

    def test_an_answer_goes_on_while_another_conversation_is_shown(self):
        self.send("slow 30", wait=False)
        self.page.wait_for_selector(".turn.writing")
        self.page.click("#new-conversation")
        self.assertEqual(self.page.locator(".turn").count(), 0)
        self.page.wait_for_selector("#send:not(.stopping)")
        self.page.locator(".conversation", has_text="slow 30").click()
        self.assertIn("word29", self.answer().inner_text())

    def test_a_conversation_is_renamed_exported_and_deleted(self):
        self.send("say <b>first</b>")
        row = self.page.locator("#conversations li").first
        row.hover()
        row.get_by_role("button", name="Rename").click()
        self.page.keyboard.type("A <i>name</i>")
        self.page.keyboard.press("Enter")
        self.assertEqual(self.texts(".conversation-title"), ["A <i>name</i>"])
        self.reload()
        self.assertEqual(self.texts(".conversation-title"), ["A <i>name</i>"])
        row.hover()
        with self.page.expect_download() as download:
            row.get_by_role("button", name="Export").click()
        self.assertEqual(download.value.suggested_filename, "a-i-name-i.json")
        with open(download.value.path(), encoding="utf-8") as file:
            kept = json.load(file)
        self.assertEqual([(m["role"], m["text"]) for m in kept["messages"]],
                         [("user", "say <b>first</b>"), ("assistant", "<b>first</b>")])
        row.get_by_role("button", name="Delete").click()
        self.assertEqual(len(self.texts(".conversation-title")), 1)
        row.get_by_role("button", name="Delete").click()
        self.assertEqual(self.page.locator(".turn").count(), 0)
        self.reload()
        self.assertEqual(self.page.locator(".turn").count(), 0)

    def test_damaged_storage_is_left_out(self):
        self.send("say whole")
        self.page.evaluate("""() => {
          const whole = Object.keys(localStorage).find((key) => key.startsWith('plait.conversation.'));
          const value = JSON.parse(localStorage[whole]);
          const id = value.messages[0].id;
          const put = (name, text) => localStorage.setItem(`plait.conversation.${name}`, text);
          put('a', '{"id": "a", "messages": [');
          put('b', 'null');
          put('c', JSON.stringify({id: 'other', messages: []}));
          put('d', JSON.stringify({id: 'd', messages: {length: 3}}));
          value.messages.push({id, parent: id, role: 'user', text: 'its own parent'},
            {id: 'x', parent: 'nowhere', role: 'user', text: 'no parent'},
            {id: 'y', parent: '', role: 'system', text: 'no role'},
            {id: 'z', parent: '', role: 'user', text: 7}, null);
          value.messages[1].tokens = [['a', 'b']];
          value.messages[1].usage = {prompt: 'many', cached: -3};
          value.chosen = {[id]: 'gone', '': 5};
          value.title = {};
          localStorage.setItem(whole, JSON.stringify(value));
          localStorage.setItem('plait.settings', '[1');
          localStorage.setItem('plait.view', '"x"');
          localStorage.setItem('plait.theme', '<svg>');
          localStorage.setItem('plait.current', '{"id": {}}');
        }""")
        self.reload()
        self.assertIn("4 kept conversations are damaged", self.page.locator("#notices").inner_text())
        self.page.locator(".conversation", has_text="say whole").click()
        self.assertEqual(self.texts(".markdown"), ["whole"])
        self.assertEqual(self.texts(".turn.user .plain"), ["say whole"])
        self.send("say goes on")
        self.assertEqual(self.texts(".markdown"), ["whole", "goes on"])

    def test_full_storage_gives_up_probabilities_and_says_so(self):
        self.send("say old words that are scored")
        self.page.click("#new-conversation")
        self.page.evaluate("""() => {
          let size = 1 << 20;
          for (let i = 0; size > 16;) {
            try { localStorage.setItem(`filler.${i++}`, 'x'.repeat(size)); } catch { size >>= 1; }
          }
        }""")
        self.send("say this is new")
        self.assertIn("storage is full", self.page.locator("#notices").inner_text())
        self.assertEqual(self.texts(".markdown"), ["this is new"])
        self.send("say and goes on")
        self.assertEqual(self.texts(".markdown"), ["this is new", "and goes on"])

    def test_a_browser_without_storage_still_chats(self):
        self.context.add_init_script("""for (const name of ['localStorage', 'sessionStorage'])
          Object.defineProperty(window, name, {get() { throw new DOMException('no', 'SecurityError'); }});""")
        self.reload()
        self.assertIn("keeps nothing", self.page.locator("#notices").inner_text())
        self.send("say words")
        self.assertEqual(self.texts(".markdown"), ["words"])

    def test_two_windows_see_each_others_conversations(self):
        other = self.open()
        self.send("say from the first")
        other.wait_for_selector(".conversation-title:text('say from the first')")


class Settings(PageTest):
    def test_settings_go_into_the_request_and_are_kept(self):
        values = {"temperature": "0.5", "top_p": "0.9", "top_k": "7", "min_p": "0.02", "max_completion_tokens": "33", "seed": "42"}
        for name, value in values.items():
            self.page.fill(f"#set-{name}", value)
        self.page.select_option("#reasoning", "off")
        self.page.fill("#system", "Be brief.")
        self.reload()
        self.page.fill("#system", "Be brief.")
        self.send("Hello")
        self.assertEqual(self.request()["messages"][0], {"role": "system", "content": "Be brief."})
        self.assertEqual({name: self.request()[name] for name in values},
                         {"temperature": 0.5, "top_p": 0.9, "top_k": 7, "min_p": 0.02, "max_completion_tokens": 33, "seed": 42})
        self.assertEqual(self.request()["chat_template_kwargs"], {"enable_thinking": False})
        self.reload()
        self.assertEqual(self.page.input_value("#system"), "Be brief.")
        self.page.click("#reset-sampling")
        self.send("Again")
        self.assertFalse(set(values) & set(self.request()))

    def test_a_setting_without_sense_is_named_and_not_sent(self):
        self.page.fill("#set-temperature", "-3")
        self.page.fill("#set-top_k", "1.5")
        self.assertEqual(self.page.get_attribute("#set-temperature", "aria-invalid"), "true")
        self.assertIn("Top-k is 1.5, wanted a whole number", self.page.locator("#panel").inner_text())
        self.send("Hello")
        self.assertIn("Temperature is -3, wanted a number from 0 to 2.", self.page.locator("#notices").inner_text())
        self.assertEqual(self.server.requests, [])
        self.assertEqual(self.page.input_value("#message"), "Hello")


class Tokens(PageTest):
    def test_tokens_are_coloured_and_their_alternatives_shown_on_hover(self):
        self.send("say one two three four five six")
        self.assertEqual(self.page.locator(".turn .token").count(), 0)
        self.page.click("#toggle-tokens")
        tokens = self.page.locator(".turn .token")
        self.assertEqual(tokens.count(), 6)
        self.assertEqual("".join(self.texts(".turn .token")), "one two three four five six")
        self.assertEqual(len({tokens.nth(i).evaluate("node => getComputedStyle(node).backgroundColor") for i in range(6)}), 6)
        tokens.nth(2).hover()
        tip = self.page.locator("#tip").inner_text()
        self.assertIn("was chosen at 40 %", tip)
        for alternative in ("\u2423other", "\u2423more", "\u21b5", "<b>"):
            self.assertIn(alternative, tip)
        self.assertEqual(self.page.locator("#tip .chosen").count(), 1)
        self.page.mouse.move(5, 400)
        self.assertFalse(self.page.locator("#tip").is_visible())

    def test_alternatives_are_shown_on_keyboard_focus(self):
        self.send("say one two three")
        self.page.keyboard.press("Alt+KeyP")
        self.page.locator(".turn .token").first.focus()
        self.page.keyboard.press("ArrowRight")
        focused = self.page.locator(":focus")
        self.assertEqual(focused.get_attribute("aria-label"), "two, 70 %")
        self.assertEqual(focused.get_attribute("aria-describedby"), "tip")
        self.assertIn("was chosen at 70 %", self.page.locator("#tip").inner_text())
        self.page.keyboard.press("End")
        self.assertEqual(self.page.locator(":focus").get_attribute("aria-label"), "three, 40 %")
        self.page.keyboard.press("Tab")
        self.assertFalse(self.page.locator("#tip").is_visible())

    def test_tokens_are_kept_and_grow_while_they_come(self):
        self.page.click("#toggle-tokens")
        self.send("slow 30", wait=False)
        self.until("document.querySelectorAll('.turn .token').length > 3")
        self.wait_idle()
        self.assertEqual(self.page.locator(".turn .token").count(), 30)
        self.reload()
        self.assertEqual(self.page.locator(".turn .token").count(), 30)


class Instruments(PageTest):
    def test_the_plots_show_speed_reuse_and_the_cache(self):
        self.server.cache = 0.375
        self.send("one")
        self.send("slow 60", wait=False)
        self.until("document.querySelectorAll('#plots .stroke.woad').length === 1")
        self.until("document.querySelector('#plots').textContent.includes('37.5 %')")
        self.until("/1 running, 0 waiting/.test(document.querySelector('#plots').textContent)")
        speed = float(self.page.locator(".plot-value").first.inner_text())
        self.assertTrue(5 < speed < 40, speed)
        self.wait_idle()
        self.assertIn("last: 20 reused, 10 computed", self.page.locator("#plots").inner_text())
        self.assertEqual(self.page.locator("#plots rect.fill").count(), 4)

    def test_a_server_without_counters_is_told_of(self):
        self.expected = ["404"]
        self.page.route("**/metrics", lambda route: route.fulfill(status=404, body="{}"))
        self.reload()
        self.until("document.querySelector('#plots').textContent.includes('tells no counters')")
