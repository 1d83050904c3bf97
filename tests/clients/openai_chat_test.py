# The official openai client: chat completions and models.
import asyncio
import json

import openai
import pytest
from scripted_model import ANSWER, ANSWER_TEXT, REASONING, REASONING_TEXT, logprob, token_of

HELLO = [{"role": "user", "content": "hello"}]
PLAIN = {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}
TOKENS = len(ANSWER) + len(REASONING) + 2  # The two tags.


def client_of(server, **more):
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0, timeout=60, **more)


@pytest.fixture(scope="module")
def client(script):
    return client_of(script)


def chat(client, **fields):
    return client.chat.completions.create(**({"model": "any", "messages": HELLO, "temperature": 0} | fields))


def test_an_answer_has_its_reasoning_apart(client):
    reply = chat(client)
    message = reply.choices[0].message
    assert (message.role, message.content, message.reasoning_content) == ("assistant", ANSWER_TEXT, REASONING_TEXT)
    assert (reply.object, reply.choices[0].finish_reason, reply.choices[0].index) == ("chat.completion", "stop", 0)
    assert reply.id.startswith("chatcmpl-")
    usage = reply.usage
    assert usage.completion_tokens == TOKENS
    assert usage.total_tokens == usage.prompt_tokens + TOKENS
    assert 0 <= usage.prompt_tokens_details.cached_tokens <= usage.prompt_tokens
    assert usage.completion_tokens_details.reasoning_tokens == len(REASONING) + 2


def test_a_stream_says_the_same_as_the_whole(client):
    whole = chat(client)
    chunks = list(chat(client, stream=True, stream_options={"include_usage": True}))
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk.id for chunk in chunks}) == 1
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == ANSWER_TEXT
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == REASONING_TEXT
    reasons = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
    assert reasons[-1] == "stop" and set(reasons[:-1]) == {None}
    assert not chunks[-1].choices
    usage = chunks[-1].usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (whole.usage.prompt_tokens, TOKENS)
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_a_stream_comes_piece_by_piece_and_cuts_no_character(client):
    pieces = [chunk.choices[0].delta.content for chunk in chat(client, stream=True, **PLAIN)]
    said = [piece for piece in pieces if piece]
    assert len(said) == len(ANSWER) - 1  # The two bytes of one character come together.
    assert "".join(said) == ANSWER_TEXT


def test_the_clients_stream_helper_puts_the_answer_together(client):
    with client.chat.completions.stream(model="any", messages=HELLO, temperature=0, stream_options={"include_usage": True}) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_completion()
    assert "content.delta" in kinds and kinds[-1] == "content.done" or "chunk" in kinds
    assert final.choices[0].message.content == ANSWER_TEXT
    assert final.usage.completion_tokens == TOKENS


def test_template_variables_turn_reasoning_off_or_open_it(client):
    off = chat(client, **PLAIN).choices[0].message
    assert (off.content, getattr(off, "reasoning_content", None) or "") == (ANSWER_TEXT, "")
    opened = chat(client, extra_body={"chat_template_kwargs": {"open_think": True}}).choices[0].message
    assert (opened.content, opened.reasoning_content) == (ANSWER_TEXT, REASONING_TEXT)
    effort = chat(client, reasoning_effort="none").choices[0].message
    assert (effort.content, getattr(effort, "reasoning_content", None) or "") == (ANSWER_TEXT, "")


def test_an_answer_ends_before_a_stop_string_wherever_tokens_end(client):
    for stop in (" plait", ["nothing", "of pl"], "af"):
        word = stop if isinstance(stop, str) else stop[1]
        reply = chat(client, stop=stop, **PLAIN).choices[0]
        assert (reply.message.content, reply.finish_reason) == (ANSWER_TEXT[:ANSWER_TEXT.index(word)], "stop")
        chunks = [chunk.choices[0] for chunk in chat(client, stop=stop, stream=True, **PLAIN)]
        assert "".join(choice.delta.content or "" for choice in chunks) == reply.message.content


def test_the_number_of_tokens_is_bounded(client):
    for field in ("max_tokens", "max_completion_tokens"):
        reply = chat(client, **{field: 2}, **PLAIN)
        assert (reply.choices[0].message.content, reply.choices[0].finish_reason) == ("Hello there", "length")
        assert reply.usage.completion_tokens == 2


def test_several_choices_have_their_numbers(client):
    reply = chat(client, n=3, **PLAIN)
    assert [(choice.index, choice.message.content) for choice in reply.choices] == [(i, ANSWER_TEXT) for i in range(3)]
    assert reply.usage.completion_tokens == 3 * len(ANSWER)
    texts, reasons = {}, {}
    for chunk in chat(client, n=3, stream=True, **PLAIN):
        choice = chunk.choices[0]
        texts[choice.index] = texts.get(choice.index, "") + (choice.delta.content or "")
        reasons[choice.index] = choice.finish_reason or reasons.get(choice.index)
    assert texts == {i: ANSWER_TEXT for i in range(3)}
    assert reasons == {i: "stop" for i in range(3)}


def check_logprobs(content):
    assert b"".join(bytes(token.bytes) for token in content) == ANSWER_TEXT.encode()
    assert [token.token for token in content][:2] == ["Hello", " there"]
    for number, token in enumerate(content):
        wanted = logprob(rival=True) if number == 1 else logprob()
        assert token.logprob == pytest.approx(wanted, abs=1e-5)
        assert len(token.top_logprobs) == 2
        assert token.top_logprobs[0].token == token.token
        assert token.top_logprobs[0].logprob == token.logprob
    rival = content[1].top_logprobs[1]
    assert (rival.token, bytes(rival.bytes)) == (" friend", b" friend")
    assert rival.logprob == pytest.approx(logprob(False, rival=True), abs=1e-5)


def test_log_probabilities_are_those_of_the_model(client):
    check_logprobs(chat(client, logprobs=True, top_logprobs=2, **PLAIN).choices[0].logprobs.content)
    content = []
    for chunk in chat(client, logprobs=True, top_logprobs=2, stream=True, **PLAIN):
        if chunk.choices[0].logprobs:
            content += chunk.choices[0].logprobs.content or []
    check_logprobs(content)
    assert chat(client, logprobs=True, **PLAIN).choices[0].logprobs.content[0].top_logprobs == []
    assert chat(client).choices[0].logprobs is None


def test_a_bias_turns_the_choice(client):
    there = {str(token_of(" there")): -100}
    reply = chat(client, logit_bias=there, max_tokens=3, **PLAIN)
    assert reply.choices[0].message.content == "Hello friendHello"
    favoured = {str(token_of(" well")): 50}
    assert chat(client, logit_bias=favoured, max_tokens=2, **PLAIN).choices[0].message.content == " well well"


def test_messages_may_be_parts_and_have_any_of_the_roles(client):
    parts = [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]
    messages = [{"role": "system", "content": "be"}, {"role": "user", "content": parts}, {"role": "assistant", "content": "yes"},
                {"role": "developer", "content": "do"}, {"role": "user", "content": "hello"}]
    assert chat(client, messages=messages).choices[0].message.content == ANSWER_TEXT


def test_the_same_seed_gives_the_same_answer(random):
    client = client_of(random)
    texts = [chat(client, temperature=1, seed=seed, max_tokens=24).choices[0].message.content for seed in (7, 7, 8)]
    assert texts[0] == texts[1] != texts[2]


def test_without_a_seed_answers_differ(random):
    client = client_of(random)
    texts = {chat(client, temperature=1, max_tokens=24).choices[0].message.content for _ in range(4)}
    assert len(texts) > 1


def test_32_at_once_say_what_each_says_alone(random):
    client = client_of(random)
    seeds = range(32)
    alone = [chat(client, temperature=1, seed=seed, max_tokens=24).choices[0].message.content for seed in seeds]

    async def ask(together, seed):
        fields = {"model": "any", "messages": HELLO, "temperature": 1, "seed": seed, "max_tokens": 24}
        if seed % 2 == 0:
            return (await together.chat.completions.create(**fields)).choices[0].message.content
        stream = await together.chat.completions.create(**fields, stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    async def ask_all():
        async with openai.AsyncOpenAI(base_url=f"{random.url}/v1", api_key="none", max_retries=0, timeout=60) as together:
            return await asyncio.gather(*(ask(together, seed) for seed in seeds))

    assert asyncio.run(ask_all()) == alone
    assert random.wait_until_idle()


def test_raw_replies_have_the_types_that_clients_ask_for(client):
    raw = client.chat.completions.with_raw_response.create(model="any", messages=HELLO, temperature=0)
    assert raw.headers["content-type"].startswith("application/json")
    body = json.loads(raw.text if isinstance(raw.text, str) else raw.text())
    assert body["choices"][0]["message"]["content"] == ANSWER_TEXT
    streamed = client.chat.completions.with_raw_response.create(model="any", messages=HELLO, temperature=0, stream=True)
    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert "".join(chunk.choices[0].delta.content or "" for chunk in streamed.parse()) == ANSWER_TEXT


def test_models_are_listed(client):
    models = list(client.models.list())
    assert len(models) == 1 and models[0].object == "model"
    assert client.models.retrieve(models[0].id).id == models[0].id
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("no-such-model")


def test_the_default_model_answers(smollm2):
    client = client_of(smollm2)
    question = [{"role": "user", "content": "What is the capital of France? Answer with one word."}]
    reply = chat(client, messages=question, max_tokens=16)
    assert "Paris" in reply.choices[0].message.content
    chunks = chat(client, messages=question, max_tokens=16, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == reply.choices[0].message.content
