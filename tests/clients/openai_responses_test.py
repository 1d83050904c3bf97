# The official openai client: responses.
import asyncio

import openai
import pytest
from scripted_model import ANSWER, ANSWER_TEXT, REASONING, REASONING_TEXT

PLAIN = {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}


@pytest.fixture(scope="module")
def client(script):
    return openai.OpenAI(base_url=f"{script.url}/v1", api_key="none", max_retries=0, timeout=60)


def respond(client, **fields):
    return client.responses.create(**({"model": "any", "input": "hello", "temperature": 0} | fields))


def test_a_response_has_text_reasoning_and_usage(client):
    reply = respond(client)
    assert (reply.object, reply.status, reply.output_text) == ("response", "completed", ANSWER_TEXT)
    assert reply.id.startswith("resp_")
    message = [item for item in reply.output if item.type == "message"][0]
    assert (message.role, message.status, message.content[0].type) == ("assistant", "completed", "output_text")
    reasoning = [item for item in reply.output if item.type == "reasoning"][0]
    assert REASONING_TEXT in reasoning.model_dump_json()
    assert reply.usage.output_tokens == len(ANSWER) + len(REASONING) + 2
    assert reply.usage.total_tokens == reply.usage.input_tokens + reply.usage.output_tokens
    assert reply.error is None and reply.incomplete_details is None


def test_a_stream_tells_each_part_in_order(client):
    events = list(respond(client, stream=True, **PLAIN))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type for event in events]
    wanted = ["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
              "response.output_text.delta", "response.output_text.done", "response.content_part.done", "response.output_item.done",
              "response.completed"]
    once = [kind for i, kind in enumerate(kinds) if i == 0 or kinds[i - 1] != kind]
    assert once == wanted
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == ANSWER_TEXT
    final = events[-1].response
    assert (final.status, final.output_text, final.usage.output_tokens) == ("completed", ANSWER_TEXT, len(ANSWER))
    assert final.id == events[0].response.id


def test_the_clients_stream_helper_puts_the_response_together(client):
    with client.responses.stream(model="any", input="hello", temperature=0) as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        final = stream.get_final_response()
    assert text == final.output_text == ANSWER_TEXT


def test_a_response_continues_another(client):
    first = respond(client, **PLAIN)
    second = respond(client, input="more", previous_response_id=first.id, **PLAIN)
    assert second.previous_response_id == first.id
    assert second.usage.input_tokens > first.usage.input_tokens + first.usage.output_tokens
    streamed = list(respond(client, stream=True, **PLAIN))[-1].response
    third = respond(client, input="more", previous_response_id=streamed.id, **PLAIN)
    assert third.usage.input_tokens == second.usage.input_tokens


def test_a_response_is_kept_and_can_be_deleted(client):
    made = respond(client)
    assert client.responses.retrieve(made.id).output_text == ANSWER_TEXT
    client.responses.delete(made.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(made.id)


def test_what_is_not_stored_cannot_be_continued(client):
    unkept = respond(client, store=False)
    for unknown in (unkept.id, "resp_nothing"):
        with pytest.raises(openai.APIStatusError) as caught:
            respond(client, previous_response_id=unknown)
        assert caught.value.status_code in (400, 404)
        assert caught.value.param == "previous_response_id"


def test_instructions_and_messages_are_input(client):
    plain = respond(client).usage.input_tokens
    assert respond(client, instructions="be brief").usage.input_tokens > plain
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"},
                {"role": "user", "content": [{"type": "input_text", "text": "hello"}]}]
    assert respond(client, input=messages).output_text == ANSWER_TEXT


def test_a_bound_leaves_the_response_incomplete(client):
    reply = respond(client, max_output_tokens=2, **PLAIN)
    assert (reply.status, reply.incomplete_details.reason, reply.output_text) == ("incomplete", "max_output_tokens", "Hello there")
    last = list(respond(client, max_output_tokens=2, stream=True, **PLAIN))[-1]
    assert (last.type, last.response.status) == ("response.incomplete", "incomplete")


def test_32_at_once(random):
    async def ask(together, number):
        if number % 2 == 0:
            return (await together.responses.create(model="any", input="hello", max_output_tokens=16, temperature=0)).output_text
        stream = await together.responses.create(model="any", input="hello", max_output_tokens=16, temperature=0, stream=True)
        return "".join([event.delta async for event in stream if event.type == "response.output_text.delta"])

    async def ask_all():
        async with openai.AsyncOpenAI(base_url=f"{random.url}/v1", api_key="none", max_retries=0, timeout=60) as together:
            return await asyncio.gather(*(ask(together, number) for number in range(32)))

    texts = asyncio.run(ask_all())
    assert len(set(texts)) == 1


def test_tools_are_refused_by_name(client):
    with pytest.raises(openai.BadRequestError) as caught:
        respond(client, tools=[{"type": "web_search"}])
    assert caught.value.param == "tools"
