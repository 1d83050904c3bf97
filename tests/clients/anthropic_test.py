# The official anthropic client: messages and their tokens.
import asyncio

import anthropic
import pytest
from scripted_model import ANSWER, ANSWER_TEXT, REASONING, REASONING_TEXT

HELLO = [{"role": "user", "content": "hello"}]
GREEDY = {"temperature": 0}  # The client has no argument for it.
PLAIN = {"thinking": {"type": "disabled"}}


@pytest.fixture(scope="module")
def client(script):
    return anthropic.Anthropic(base_url=script.url, api_key="none", max_retries=0, timeout=60)


def ask(client, **fields):
    return client.messages.create(**({"model": "any", "max_tokens": 100, "messages": HELLO, "extra_body": GREEDY} | fields))


def all_input(usage):
    return usage.input_tokens + (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)


def test_a_message_has_its_thinking_apart(client):
    message = ask(client)
    assert (message.type, message.role, message.stop_reason, message.stop_sequence) == ("message", "assistant", "end_turn", None)
    assert message.id.startswith("msg_")
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert (message.content[0].thinking, message.content[1].text) == (REASONING_TEXT, ANSWER_TEXT)
    assert message.usage.output_tokens == len(ANSWER) + len(REASONING) + 2
    assert [block.type for block in ask(client, **PLAIN).content] == ["text"]


def test_a_stream_says_the_same_as_the_whole(client):
    whole = ask(client)
    events = list(ask(client, stream=True))
    kinds = [event.type for event in events if event.type != "ping"]
    assert (kinds[0], kinds[-2:]) == ("message_start", ["message_delta", "message_stop"])
    deltas = [event.delta for event in events if event.type == "content_block_delta"]
    assert "".join(delta.thinking for delta in deltas if delta.type == "thinking_delta") == REASONING_TEXT
    assert "".join(delta.text for delta in deltas if delta.type == "text_delta") == ANSWER_TEXT
    end = [event for event in events if event.type == "message_delta"][0]
    assert (end.delta.stop_reason, end.usage.output_tokens) == ("end_turn", whole.usage.output_tokens)


def test_the_clients_stream_helper_puts_the_message_together(client):
    with client.messages.stream(model="any", max_tokens=100, messages=HELLO, extra_body=GREEDY) as stream:
        text = "".join(stream.text_stream)
        message = stream.get_final_message()
    assert text == message.content[-1].text == ANSWER_TEXT
    assert message.stop_reason == "end_turn"
    assert all_input(message.usage) == all_input(ask(client).usage)


def test_what_ends_an_answer_is_told(client):
    short = ask(client, max_tokens=2, **PLAIN)
    assert (short.stop_reason, short.content[0].text, short.usage.output_tokens) == ("max_tokens", "Hello there", 2)
    stopped = ask(client, stop_sequences=["nothing", "of pl"], **PLAIN)
    assert (stopped.stop_reason, stopped.stop_sequence, stopped.content[0].text) == ("stop_sequence", "of pl", "Hello there café ")
    with client.messages.stream(model="any", max_tokens=100, messages=HELLO, extra_body=GREEDY, stop_sequences=["of pl"], **PLAIN) as stream:
        final = stream.get_final_message()
    assert (final.stop_reason, final.stop_sequence, final.content[0].text) == ("stop_sequence", "of pl", "Hello there café ")


def test_tokens_are_counted_as_they_are_used(client):
    fields = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}], "system": [{"type": "text", "text": "be brief"}]}
    count = client.messages.count_tokens(model="any", **fields).input_tokens
    assert count == all_input(ask(client, **fields).usage)
    assert count > client.messages.count_tokens(model="any", messages=HELLO).input_tokens


def test_an_assistants_last_words_are_continued(client):
    message = ask(client, messages=[*HELLO, {"role": "assistant", "content": "x"}], **PLAIN)
    assert message.content[-1].text == ANSWER_TEXT


def test_32_at_once(random):
    async def one(together, number):
        fields = {"model": "any", "max_tokens": 16, "messages": HELLO, "extra_body": GREEDY | {"ignore_eos": True}}
        if number % 2 == 0:
            return (await together.messages.create(**fields)).content[-1].text
        async with together.messages.stream(**fields) as stream:
            return "".join([text async for text in stream.text_stream])

    async def ask_all():
        async with anthropic.AsyncAnthropic(base_url=random.url, api_key="none", max_retries=0, timeout=60) as together:
            return await asyncio.gather(*(one(together, number) for number in range(32)))

    texts = asyncio.run(ask_all())
    assert len(set(texts)) == 1 and texts[0]


def test_the_default_model_answers(smollm2):
    client = anthropic.Anthropic(base_url=smollm2.url, api_key="none", max_retries=0, timeout=60)
    question = [{"role": "user", "content": "What is the capital of France? Answer with one word."}]
    assert "Paris" in ask(client, messages=question, max_tokens=16).content[0].text
