# The official ollama client: chat, generate, embed, and what it asks about models.
import asyncio
import math

import ollama
import pytest
from scripted_model import ANSWER, ANSWER_TEXT, REASONING, REASONING_TEXT, logprob

HELLO = [{"role": "user", "content": "hello"}]
TOKENS = len(ANSWER) + len(REASONING) + 2


@pytest.fixture(scope="module")
def client(script):
    return ollama.Client(host=script.url, timeout=60)


def chat(client, **fields):
    options = {"temperature": 0} | fields.pop("options", {})
    return client.chat(model="any", messages=HELLO, options=options, **fields)


def test_a_chat_has_its_thinking_apart(client):
    reply = chat(client)
    assert (reply.message.role, reply.message.content, reply.message.thinking) == ("assistant", ANSWER_TEXT, REASONING_TEXT)
    assert (reply.model, reply.done, reply.done_reason, reply.eval_count) == ("any", True, "stop", TOKENS)
    assert reply.prompt_eval_count > 0 and reply.total_duration > 0
    off = chat(client, think=False)
    assert (off.message.content, off.message.thinking) == (ANSWER_TEXT, None)


def test_a_stream_says_the_same_as_the_whole(client):
    parts = list(chat(client, stream=True))
    assert "".join(part.message.content or "" for part in parts) == ANSWER_TEXT
    assert "".join(part.message.thinking or "" for part in parts) == REASONING_TEXT
    assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
    assert (parts[-1].done_reason, parts[-1].eval_count) == ("stop", TOKENS)
    assert len(parts) > len(ANSWER)


def test_generate(client):
    reply = client.generate(model="any", prompt="hello", options={"temperature": 0})
    assert (reply.response, reply.thinking, reply.done) == (ANSWER_TEXT, REASONING_TEXT, True)
    raw = client.generate(model="any", prompt="hello", raw=True, options={"temperature": 0})
    assert (raw.response, raw.prompt_eval_count) == (ANSWER_TEXT, 5)
    parts = list(client.generate(model="any", prompt="hello", system="be brief", stream=True, options={"temperature": 0}))
    assert "".join(part.response or "" for part in parts) == ANSWER_TEXT
    assert parts[-1].prompt_eval_count > reply.prompt_eval_count


def test_options(client, random):
    short = chat(client, think=False, options={"num_predict": 2})
    assert (short.message.content, short.done_reason, short.eval_count) == ("Hello there", "length", 2)
    assert chat(client, think=False, options={"stop": ["of pl"]}).message.content == "Hello there café "
    other = ollama.Client(host=random.url, timeout=60)
    texts = [chat(other, options={"temperature": 1, "seed": seed, "num_predict": 24}).message.content for seed in (5, 5, 6)]
    assert texts[0] == texts[1] != texts[2]


def test_log_probabilities(client):
    reply = chat(client, think=False, logprobs=True, top_logprobs=2)
    assert [entry.token for entry in reply.logprobs][:2] == ["Hello", " there"]
    assert reply.logprobs[1].logprob == pytest.approx(logprob(rival=True), abs=1e-5)
    assert [other.token for other in reply.logprobs[1].top_logprobs] == [" there", " friend"]


def test_the_model_is_listed_and_shown(client):
    models = client.list().models
    assert len(models) == 1 and models[0].size > 0
    shown = client.show(models[0].model)
    assert (shown.details.format, shown.details.family) == ("gguf", "llama")
    assert "completion" in shown.capabilities
    assert shown.modelinfo["general.architecture"] == "llama"
    assert shown.template
    running = client.ps().models
    assert [model.model for model in running] == [models[0].model]


def test_embed(random):
    client = ollama.Client(host=random.url, timeout=60)
    reply = client.embed(model="any", input=["one", "a longer text", "one"])
    vectors = [list(vector) for vector in reply.embeddings]
    assert all(len(vector) == 256 and math.hypot(*vector) == pytest.approx(1, abs=1e-5) for vector in vectors)
    assert vectors[0] == vectors[2] != vectors[1]
    assert list(client.embed(model="any", input="one").embeddings[0]) == vectors[0]
    assert list(client.embeddings(model="any", prompt="one").embedding) == vectors[0]


def test_32_at_once(random):
    async def one(together, number):
        fields = {"model": "any", "messages": HELLO, "options": {"temperature": 0, "num_predict": 16}}
        if number % 2 == 0:
            return (await together.chat(**fields)).message.content
        return "".join([part.message.content or "" async for part in await together.chat(**fields, stream=True)])

    async def ask_all():
        together = ollama.AsyncClient(host=random.url, timeout=60)
        return await asyncio.gather(*(one(together, number) for number in range(32)))

    assert len(set(asyncio.run(ask_all()))) == 1


def test_the_default_model_answers(smollm2):
    question = [{"role": "user", "content": "What is the capital of France? Answer with one word."}]
    reply = ollama.Client(host=smollm2.url, timeout=60).chat(model="any", messages=question, options={"temperature": 0, "num_predict": 16})
    assert "Paris" in reply.message.content
