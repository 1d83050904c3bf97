# A client that leaves is seen, and its answer is not computed to the end.
import asyncio

import anthropic
import ollama
import openai
import pytest

HELLO = [{"role": "user", "content": "hello"}]
MANY = 3500  # Tokens that no client here waits for.
ENDLESS = {"ignore_eos": True}


def openai_chat(url):
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    stream = client.chat.completions.create(model="any", messages=HELLO, max_tokens=MANY, stream=True, extra_body=ENDLESS)
    return iter(stream), stream.close


def openai_completions(url):
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    stream = client.completions.create(model="any", prompt="hello", max_tokens=MANY, n=4, stream=True, extra_body=ENDLESS)
    return iter(stream), stream.close


def openai_responses(url):
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    stream = client.responses.create(model="any", input="hello", max_output_tokens=MANY, stream=True, extra_body=ENDLESS)
    return iter(stream), stream.close


def anthropic_messages(url):
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    stream = client.messages.create(model="any", messages=HELLO, max_tokens=MANY, stream=True, extra_body=ENDLESS)
    return iter(stream), stream.close


def ollama_chat(url):
    stream = ollama.Client(host=url).chat(model="any", messages=HELLO, stream=True, options={"num_predict": MANY, "ignore_eos": True})
    return stream, stream.close


STREAMS = [openai_chat, openai_completions, openai_responses, anthropic_messages, ollama_chat]


@pytest.mark.parametrize("open_stream", STREAMS, ids=lambda function: function.__name__)
def test_a_closed_stream_is_cancelled(random, open_stream):
    assert random.wait_until_idle()
    before, cancelled = random.metrics()["vllm:generation_tokens_total"], random.cancelled()
    events, close = open_stream(random.url)
    for _ in range(8):
        next(events)
    running = random.metrics()["vllm:num_requests_running"]
    assert running >= 1
    close()
    assert random.wait_until_idle(5)
    assert random.cancelled() - cancelled == running
    assert random.metrics()["vllm:generation_tokens_total"] - before < MANY / 2


def test_a_client_that_does_not_wait_for_a_whole_answer_is_cancelled(random):
    client = openai.OpenAI(base_url=f"{random.url}/v1", api_key="none", max_retries=0, timeout=0.1)
    before, cancelled = random.metrics()["vllm:generation_tokens_total"], random.cancelled()
    with pytest.raises(openai.APITimeoutError):
        client.completions.create(model="any", prompt="hello", max_tokens=MANY, n=8, extra_body=ENDLESS)
    assert random.wait_until_idle(5)
    assert random.cancelled() - cancelled == 8
    assert random.metrics()["vllm:generation_tokens_total"] - before < 8 * MANY / 2


def test_others_go_on_when_some_leave(random):
    async def stay(client):
        return (await client.completions.create(model="any", prompt="hello", max_tokens=200, temperature=0, extra_body=ENDLESS)).choices[0].text

    async def leave(client):
        stream = await client.completions.create(model="any", prompt="hello", max_tokens=MANY, stream=True, extra_body=ENDLESS)
        async for _ in stream:
            break
        await stream.close()

    async def both():
        async with openai.AsyncOpenAI(base_url=f"{random.url}/v1", api_key="none", max_retries=0, timeout=120) as client:
            alone = await stay(client)
            together = await asyncio.gather(*(stay(client) if i % 2 == 0 else leave(client) for i in range(32)))
            return alone, [text for text in together if text is not None]

    alone, texts = asyncio.run(both())
    assert texts == [alone] * 16
    assert random.wait_until_idle()
