# The official openai client: completions and embeddings.
import math

import openai
import pytest
from scripted_model import ANSWER, ANSWER_TEXT, logprob, token_of


@pytest.fixture(scope="module")
def client(script):
    return openai.OpenAI(base_url=f"{script.url}/v1", api_key="none", max_retries=0, timeout=60)


@pytest.fixture(scope="module")
def random_client(random):
    return openai.OpenAI(base_url=f"{random.url}/v1", api_key="none", max_retries=0, timeout=60)


def complete(client, **fields):
    return client.completions.create(**({"model": "any", "prompt": "abc", "temperature": 0} | fields))


def test_a_prompt_is_continued(client):
    reply = complete(client)
    assert (reply.object, reply.choices[0].text, reply.choices[0].finish_reason) == ("text_completion", ANSWER_TEXT, "stop")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (3, len(ANSWER))


def test_a_stream_says_the_same_as_the_whole(client):
    chunks = list(complete(client, stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].text for chunk in chunks if chunk.choices) == ANSWER_TEXT
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage.completion_tokens == len(ANSWER)
    assert len([chunk for chunk in chunks if chunk.choices and chunk.choices[0].text]) >= len(ANSWER) - 1


def test_without_a_number_there_are_sixteen_tokens_at_most(random_client):
    reply = complete(random_client, extra_body={"ignore_eos": True})
    assert (reply.usage.completion_tokens, reply.choices[0].finish_reason) == (16, "length")


def test_prompts_may_be_ids_and_lists(client):
    ids = [token_of(letter) for letter in "abc"]
    assert complete(client, prompt=ids).choices[0].text == ANSWER_TEXT
    for prompts in (["abc", "xyz"], [ids, ids[:1]]):
        reply = complete(client, prompt=prompts, n=2)
        assert [(choice.index, choice.text) for choice in reply.choices] == [(i, ANSWER_TEXT) for i in range(4)]
        assert reply.usage.completion_tokens == 4 * len(ANSWER)


def test_log_probabilities_have_offsets_into_the_text(client):
    scores = complete(client, logprobs=2, max_tokens=3).choices[0].logprobs
    assert scores.tokens == ANSWER[:3]
    assert scores.text_offset == [0, 5, 11]
    assert scores.token_logprobs == pytest.approx([logprob(), logprob(rival=True), logprob()], abs=1e-5)
    assert set(scores.top_logprobs[1]) == {" there", " friend"}
    assert scores.top_logprobs[1][" friend"] == pytest.approx(logprob(False, rival=True), abs=1e-5)


def test_echo_scores_the_prompt(client):
    """What asks for log-likelihoods sends this."""
    reply = complete(client, prompt="a" + ANSWER[0] + "b", echo=True, logprobs=1, max_tokens=1).choices[0]
    assert reply.text == "aHellobHello"
    scores = reply.logprobs
    letters = ["a", *"Hello", "b"]  # There is no merge: the prompt is cut into bytes.
    assert scores.tokens == [*letters, "Hello"]
    assert scores.text_offset == list(range(len(letters) + 1))
    assert scores.token_logprobs[0] is None and scores.top_logprobs[0] is None
    # Behind a letter the script says "Hello", so that each next letter is as unlikely as any.
    assert scores.token_logprobs[1:] == pytest.approx([logprob(False)] * 6 + [logprob()], abs=1e-5)
    assert all(max(best.values()) == pytest.approx(logprob(), abs=1e-5) for best in scores.top_logprobs[1:])


def test_echo_without_new_tokens_scores_the_prompt_alone(client):
    ids = [token_of(word) for word in ("Hello", " there", " caf")]
    reply = complete(client, prompt=ids, echo=True, logprobs=0, max_tokens=0).choices[0]
    assert reply.text == "Hello there caf"
    assert reply.logprobs.token_logprobs[1:] == pytest.approx([logprob(rival=True), logprob()], abs=1e-5)


def test_echo_streams_too(client):
    text = "".join(chunk.choices[0].text for chunk in complete(client, echo=True, stream=True) if chunk.choices)
    assert text == "abc" + ANSWER_TEXT


def test_stop_and_seed(client, random_client):
    assert complete(client, stop=["of pl"]).choices[0].text == "Hello there café "
    texts = [complete(random_client, temperature=1, seed=seed).choices[0].text for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]


def length(vector):
    return math.sqrt(sum(value * value for value in vector))


def test_embeddings_have_length_one_and_come_in_order(random_client):
    texts = ["one", "a longer text about something else", "one"]
    reply = random_client.embeddings.create(model="any", input=texts)
    vectors = [entry.embedding for entry in reply.data]
    assert [entry.index for entry in reply.data] == [0, 1, 2]
    assert all(len(vector) == 256 and length(vector) == pytest.approx(1, abs=1e-5) for vector in vectors)
    assert vectors[0] == vectors[2] != vectors[1]
    assert reply.usage.prompt_tokens == reply.usage.total_tokens > 0


def test_embeddings_are_the_same_as_numbers_and_as_base64(random_client):
    as_text = random_client.embeddings.create(model="any", input="some words").data[0].embedding  # The client asks for base64.
    as_numbers = random_client.embeddings.create(model="any", input="some words", encoding_format="float").data[0].embedding
    assert as_text == pytest.approx(as_numbers, abs=1e-7)


def test_pooling_may_be_chosen(random_client):
    vectors = [random_client.embeddings.create(model="any", input="some words", extra_body={"pooling": pooling}).data[0].embedding
               for pooling in ("mean", "last")]
    assert vectors[0] != vectors[1]


def test_embeddings_of_like_texts_are_like(smollm2):
    client = openai.OpenAI(base_url=f"{smollm2.url}/v1", api_key="none", max_retries=0, timeout=60)
    texts = ["A cat sleeps on the sofa.", "A kitten naps on the couch.", "Interest rates rose by two percent."]
    a, b, c = (entry.embedding for entry in client.embeddings.create(model="any", input=texts).data)
    dot = lambda x, y: sum(p * q for p, q in zip(x, y))
    assert dot(a, b) > dot(a, c)
