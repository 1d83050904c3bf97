#!/usr/bin/env python3
"""The chat at a terminal: keys, interrupts, pastes, commands, what is shown. The terminal is a pty, the model is made."""
import argparse
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROGRAM = ""
SHAPE = {"vocab_size": 384, "context_length": 1 << 20, "embedding_length": 64, "block_count": 2, "feed_forward_length": 128,
         "attention.head_count": 4, "attention.head_count_kv": 2, "attention.layer_norm_rms_epsilon": 1e-5,
         "rope.freq_base": 10000.0}
PROMPT = "> "
PASTE, PASTE_END = "\x1b[200~", "\x1b[201~"
CTRL_C, CTRL_D, UP = "\x03", "\x04", "\x1b[A"
CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Chat:
    """The program at a terminal of its own. With `piped`, its standard output goes elsewhere and is kept."""

    def __init__(self, model, *flags, piped=False, term="xterm"):
        self.terminal, inner = pty.openpty()
        self.resize(24, 80)
        environment = {**os.environ, "TERM": term, "LC_ALL": "C", "HOME": "/nonexistent"}
        self.work = subprocess.Popen(
            [PROGRAM, "run", model, "-s", "1", "-t", "1", *flags], stdin=inner, stderr=inner, env=environment,
            stdout=subprocess.PIPE if piped else inner, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(inner)
        self.seen = ""  # All that the terminal was sent.
        self.taken = 0  # What a wait has matched.

    def resize(self, rows, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, text):
        data = text.encode()
        while data:
            if select.select([self.terminal], [], [], 0)[0]:  # Or both sides would wait to be read.
                self.read(0)
            data = data[os.write(self.terminal, data[:1024]):]

    def read(self, seconds):
        if not select.select([self.terminal], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.terminal, 1 << 16)
        except OSError:  # The other end is closed.
            return False
        self.seen += data.decode(errors="surrogateescape")
        return bool(data)

    def wait(self, wanted, seconds=20):
        """Returns what came up to and with the pattern `wanted`."""
        end = time.monotonic() + seconds
        while True:
            found = re.search(wanted, self.seen[self.taken:], re.DOTALL)
            if found:
                text = self.seen[self.taken:self.taken + found.end()]
                self.taken += found.end()
                return text
            if not self.read(0.1) or time.monotonic() > end:
                raise AssertionError(f"no {wanted!r} in {self.seen[self.taken:][-2000:]!r}")

    def wait_for_prompt(self):
        return self.wait(re.escape(PROMPT) + "$")

    def answer(self):
        """Waits for the end of an answer: what was shown of it, tokens of its prompt, tokens generated."""
        text = self.wait(r"\[prompt (\d+) tokens.*?generated (\d+) tokens[^\]]*\]")
        numbers = re.search(r"\[prompt (\d+) tokens.*?generated (\d+) tokens", text, re.DOTALL)
        self.wait_for_prompt()
        return text, int(numbers[1]), int(numbers[2])

    def ask(self, message):
        self.send(message + "\r")
        return self.answer()

    def leave(self):
        """Ctrl-D; returns the exit status."""
        self.send(CTRL_D)
        return self.end()

    def end(self):
        end = time.monotonic() + 20
        while self.work.poll() is None and time.monotonic() < end:
            self.read(0.05)
        while self.read(0.05) and select.select([self.terminal], [], [], 0)[0]:
            pass
        return self.work.poll()

    def echoes(self):
        """Whether the terminal is as a shell wants it: with echo, line by line."""
        flags = termios.tcgetattr(self.terminal)[3]
        return bool(flags & termios.ECHO) and bool(flags & termios.ICANON)

    def close(self):
        if self.work.poll() is None:
            self.work.kill()
        self.work.wait()
        if self.work.stdout:
            self.work.stdout.close()
        os.close(self.terminal)


class ChatTerminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        shape, cls.model = os.path.join(cls.folder.name, "shape.json"), os.path.join(cls.folder.name, "model.gguf")
        with open(shape, "w") as file:
            json.dump(SHAPE, file)
        made = subprocess.run([PROGRAM, "make", "--arch", "llama", "--shape", shape, "--seed", "1", "--out", cls.model],
                              capture_output=True, text=True, timeout=60)
        if made.returncode:
            raise AssertionError(made.stderr)

    def chat(self, *flags, **more):
        chat = Chat(self.model, *(flags or ("-n", "8")), **more)
        self.addCleanup(chat.close)
        chat.wait_for_prompt()
        return chat

    def prompt_tokens(self, *messages):
        """How many tokens a conversation is, by the other commands."""
        lines = json.dumps({"variables": {"messages": list(messages), "add_generation_prompt": True}}) + "\n"
        rendered = subprocess.run([PROGRAM, "render", self.model, "--lines"], input=lines, capture_output=True,
                                  text=True, timeout=60)
        text = json.loads(rendered.stdout)["text"]
        line = json.dumps({"text": text, "add_special": False, "parse_special": True}) + "\n"
        tokens = subprocess.run([PROGRAM, "tokenize", self.model, "--lines"], input=line, capture_output=True, text=True,
                                timeout=60)
        return len(json.loads(tokens.stdout))

    def asked(self, chat, message):
        """The message arrived as `message` in a chat of nothing else, by its number of tokens."""
        _, prompt, _ = chat.answer()
        self.assertEqual(prompt, self.prompt_tokens({"role": "user", "content": message}))

    def test_ctrl_c_ends_an_answer_and_keeps_what_came(self):
        chat = self.chat("-c", "200000", "--temp", "0")
        chat.send("a long story, please\r")
        chat.wait("story, please.*?[a-z].*?[a-z]")
        time.sleep(0.5)
        chat.send(CTRL_C)
        _, prompt, generated = chat.answer()
        self.assertGreater(generated, 0)
        self.assertIsNone(chat.work.poll())
        chat.send("and then?\r")
        chat.wait("then")
        time.sleep(0.5)
        chat.send(CTRL_C)
        _, second, _ = chat.answer()
        self.assertGreater(second, prompt + generated // 2)  # Its text is in the second prompt, perhaps in fewer tokens.
        self.assertEqual(chat.leave(), 0)

    def test_ctrl_c_at_the_prompt_drops_the_line_only(self):
        chat = self.chat()
        chat.send(CTRL_C)
        chat.wait("Ctrl-D or /bye leaves")
        chat.wait_for_prompt()
        chat.send("half a mess")
        chat.wait("mess")
        chat.send(CTRL_C)
        chat.wait_for_prompt()
        chat.send("whole\r")
        self.asked(chat, "whole")
        chat.send('"""several\rlines')
        chat.wait("lines")
        chat.send(CTRL_C)
        chat.wait_for_prompt()
        chat.send("/clear\r")
        chat.wait_for_prompt()
        chat.send("again\r")
        self.asked(chat, "again")
        self.assertEqual(chat.leave(), 0)

    def test_an_interrupt_from_elsewhere_is_as_ctrl_c(self):
        chat = self.chat()
        chat.work.send_signal(signal.SIGINT)
        chat.wait("Ctrl-D or /bye leaves")
        chat.wait_for_prompt()
        self.assertEqual(chat.leave(), 0)

    def test_ctrl_d_leaves_the_terminal_as_it_was(self):
        chat = self.chat()
        self.assertFalse(chat.echoes())
        self.assertEqual(chat.leave(), 0)
        self.assertTrue(chat.echoes())
        self.assertTrue(chat.seen.endswith("\n"), chat.seen[-20:])
        self.assertEqual(chat.seen.count("\x1b[?2004h"), chat.seen.count("\x1b[?2004l"))

    def test_the_arrow_up_brings_messages_back(self):
        chat = self.chat()
        chat.ask("first")
        chat.ask("second")
        chat.send("/clear\r")
        chat.wait_for_prompt()
        chat.send(UP + UP + UP + "\r")
        self.asked(chat, "first")

    def test_pasted_lines_are_one_message(self):
        text = "one line\nand another\n\n\tthe last, grün"
        for pasted in (PASTE + text + PASTE_END, PASTE + text.replace("\n", "\r") + PASTE_END,
                       PASTE + text.replace("\n", "\r\n") + PASTE_END, PASTE + "\x07\x1b[2J"[:1] + text + PASTE_END):
            with self.subTest(pasted=pasted):
                chat = self.chat()
                chat.send(pasted)
                time.sleep(0.3)
                chat.read(0.1)
                self.assertNotIn("[prompt", chat.seen)  # It waits for Enter.
                chat.send("\r")
                self.asked(chat, text)
                chat.send("/clear\r")
                chat.wait_for_prompt()
                chat.send(UP + UP + "!\r")  # And comes back as one.
                self.asked(chat, text + "!")

    def test_pasted_lines_are_one_message_where_pastes_are_not_marked(self):
        chat = self.chat(term="dumb")
        chat.send("one line\rand another\rthe last\r")
        self.asked(chat, "one line\nand another\nthe last")
        self.assertNotIn("\x1b", chat.seen[chat.seen.index("a chat with"):])

    def test_quotes_begin_and_end_a_message_of_several_lines(self):
        chat = self.chat()
        chat.send('"""one\r')
        chat.wait(r"\.\.\. $")
        chat.send('two"""\r')
        self.asked(chat, "one\ntwo")

    def test_input_beyond_ascii(self):
        for message in ("grün, ☃, 日本語, 🙂", "e\u0301"):
            chat = self.chat()
            chat.send(message + "\r")
            self.asked(chat, message)
        chat = self.chat()
        chat.send("日本🙂\x7f\x7f語\r")  # Backspace takes characters, not bytes.
        self.asked(chat, "日語")

    def test_very_long_lines(self):
        for length in (5000, 20000):
            chat = self.chat("-c", "100000", "-n", "8")
            message = "long " * (length // 5) + "end"
            chat.send(PASTE + message + PASTE_END + "\r")
            self.asked(chat, message)

    def test_the_window_may_change_its_size(self):
        chat = self.chat()
        chat.send("before ")
        chat.wait("before")
        chat.resize(10, 20)
        time.sleep(0.3)
        chat.send("and after")
        chat.wait("after")
        chat.resize(50, 200)
        time.sleep(0.3)
        chat.send(" that\r")
        self.asked(chat, "before and after that")

    def test_commands(self):
        chat = self.chat()
        chat.send("/help\r")
        help_text = chat.wait("Ctrl-C") + chat.wait_for_prompt()
        for name in ("/help", "/system TEXT", "/regen", "/clear", "/bye"):
            self.assertIn(name, help_text)
        chat.send("/regen\r")
        chat.wait("there is no message to answer yet")
        chat.wait_for_prompt()
        chat.send("/frobnicate now\r")
        chat.wait("there is no command /frobnicate; see /help")
        chat.wait_for_prompt()
        chat.send("   \r")  # Nothing is asked.
        chat.wait_for_prompt()
        first, alone, _ = chat.ask("a question")
        self.assertEqual(alone, self.prompt_tokens({"role": "user", "content": "a question"}))
        chat.send("/regen\r")
        second, prompt, _ = chat.answer()
        self.assertEqual(prompt, alone)
        self.assertNotEqual(first, second)
        self.assertGreater(chat.ask("another")[1], alone)
        chat.send("/system You are brief.\r")
        chat.wait_for_prompt()
        told = [{"role": "system", "content": "You are brief."}, {"role": "user", "content": "another"}]
        self.assertEqual(chat.ask("another")[1], self.prompt_tokens(*told))
        chat.send("/clear\r")  # Not the system prompt.
        chat.wait_for_prompt()
        self.assertEqual(chat.ask("another")[1], self.prompt_tokens(*told))
        chat.send("/system\r")
        chat.wait_for_prompt()
        self.assertEqual(chat.ask("another")[1], self.prompt_tokens(told[1]))
        chat.send("/bye\r")
        self.assertEqual(chat.end(), 0)

    def test_no_terminal_codes_come_from_the_model(self):
        chat = self.chat("-n", "400", "--temp", "5", "--top-k", "0", "--top-p", "1", "--min-p", "0")
        text, _, _ = chat.ask("hello")
        shown = text[text.index("\n", text.index("hello")):].replace("\x1b[?2004l", "")  # That is the editor's.
        self.assertNotRegex(shown, "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\udc80-\udcff]")
        self.assertNotRegex(shown, "\r(?!\n)")
        self.assertIn("\ufffd", shown)

    def test_a_pipe_gets_the_answers_and_nothing_else(self):
        chat = self.chat(piped=True)
        _, _, generated = chat.ask("hello")
        self.assertEqual(chat.leave(), 0)
        answer = chat.work.stdout.read()
        self.assertTrue(answer.endswith(b"\n"))
        self.assertNotIn(b"> ", answer)
        self.assertNotIn(b"[prompt", answer)
        self.assertNotIn(b"[?2004", answer)
        self.assertGreater(len(answer), generated // 2)
        self.assertIn("hello", CODE.sub("", chat.seen))

    def test_lines_from_a_pipe_are_messages(self):
        done = subprocess.run([PROGRAM, "run", self.model, "-s", "1", "-n", "4"], input=b"one\n\ntwo\nthree",
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count(b"[prompt"), 3)
        self.assertNotIn(b"\x1b", done.stderr)

    def test_ctrl_c_ends_a_chat_that_nobody_types(self):
        for sent in (b"", b"a long story\nanother\n"):
            work = subprocess.Popen([PROGRAM, "run", self.model, "-c", "200000"], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            work.stdin.write(sent)
            work.stdin.flush()
            time.sleep(1)
            work.send_signal(signal.SIGINT)
            work.communicate(timeout=30)
            self.assertEqual(work.returncode, 130)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--golden")
    parser.add_argument("--smollm2")
    given, names = parser.parse_known_args()
    PROGRAM = os.path.abspath(given.program)
    sys.exit(0 if unittest.main(argv=[sys.argv[0], *names], exit=False).result.wasSuccessful() else 1)
