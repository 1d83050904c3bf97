# Errors arrive as the clients' own exceptions, with the field's name.
import anthropic
import ollama
import openai
import pytest

HELLO = [{"role": "user", "content": "hello"}]


@pytest.fixture(scope="module")
def client(script):
    return openai.OpenAI(base_url=f"{script.url}/v1", api_key="none", max_retries=0, timeout=60)


CHAT_FAULTS = [
    ({"temperature": -1}, "temperature"),
    ({"top_p": 2}, "top_p"),
    ({"max_tokens": "many"}, "max_tokens"),
    ({"n": 0}, "n"),
    ({"n": 100000}, "n"),
    ({"seed": "x"}, "seed"),
    ({"stop": [1]}, "stop"),
    ({"logit_bias": {"9999999": 1}}, "logit_bias"),
    ({"top_logprobs": 3}, "top_logprobs"),
    ({"messages": []}, "messages"),
    ({"messages": "hello"}, "messages"),
    ({"messages": [{"role": "nobody", "content": "x"}]}, "messages[0].role"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}]}, "messages[0].content[0].type"),
    ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]}, "tools"),
    ({"response_format": {"type": "json_object"}}, "response_format"),
]


@pytest.mark.parametrize("fields, param", CHAT_FAULTS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_wrong_field_is_named(client, fields, param):
    messages = fields.get("messages", HELLO)
    more = {key: value for key, value in fields.items() if key != "messages"}
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError) as caught:
            client.chat.completions.create(model="any", messages=messages, stream=stream, extra_body=more)
        assert caught.value.param == param
        assert caught.value.type == "invalid_request_error"
        assert len(caught.value.body["message"]) > 10


def test_completions_name_their_fields_too(client):
    for fields, param in (({"prompt": {}}, "prompt"), ({"logprobs": 1000}, "logprobs"), ({"suffix": "x"}, "suffix"),
                          ({"prompt": [[1, -5]]}, "prompt"), ({"echo": "yes"}, "echo"), ({"best_of": 3}, "best_of")):
        with pytest.raises(openai.BadRequestError) as caught:
            client.completions.create(**({"model": "any", "prompt": "x"}), extra_body=fields)
        assert caught.value.param == param


def test_unknown_fields_are_ignored(client):
    assert client.chat.completions.create(model="any", messages=HELLO, max_tokens=1, extra_body={"no_such_field": {"a": 1}})


def test_a_prompt_beyond_the_context_is_refused(client):
    with pytest.raises(openai.BadRequestError) as caught:
        client.completions.create(model="any", prompt="x" * 5000)
    assert "5000" in caught.value.body["message"] and "4096" in caught.value.body["message"]


def test_a_body_that_is_too_large_is_refused(client):
    with pytest.raises(openai.APIStatusError) as caught:
        client.completions.create(model="any", prompt="x" * (5 << 20))
    assert caught.value.status_code == 413


def test_an_unknown_path_is_not_found(client):
    with pytest.raises(openai.NotFoundError):
        client.post("/no/such/path", cast_to=object, body={})


def test_a_wrong_key_is_refused_in_each_dialect(keyed):
    for key in ("wrong", "righ", "rightt"):
        with pytest.raises(openai.AuthenticationError) as caught:
            openai.OpenAI(base_url=f"{keyed.url}/v1", api_key=key, max_retries=0).models.list()
        assert caught.value.code == "invalid_api_key"
    with pytest.raises(anthropic.AuthenticationError) as caught:
        anthropic.Anthropic(base_url=keyed.url, api_key="wrong", max_retries=0).messages.create(model="any", max_tokens=4, messages=HELLO)
    assert caught.value.body["error"]["type"] == "authentication_error"
    with pytest.raises(ollama.ResponseError) as caught:
        ollama.Client(host=keyed.url).list()
    assert caught.value.status_code == 401


def test_the_right_key_opens_each_dialect(keyed):
    assert list(openai.OpenAI(base_url=f"{keyed.url}/v1", api_key="right", max_retries=0).models.list())
    assert anthropic.Anthropic(base_url=keyed.url, api_key="right", max_retries=0).messages.create(model="any", max_tokens=4, messages=HELLO)
    assert anthropic.Anthropic(base_url=keyed.url, auth_token="right", api_key=None, max_retries=0).messages.create(
        model="any", max_tokens=4, messages=HELLO)
    assert ollama.Client(host=keyed.url, headers={"Authorization": "Bearer right"}).list().models


def test_anthropic_says_what_is_wrong(script):
    client = anthropic.Anthropic(base_url=script.url, api_key="none", max_retries=0)
    cases = [({"messages": []}, "messages"), ({"extra_body": {"temperature": -3}}, "temperature"), ({"tools": [{"name": "f", "input_schema": {}}]}, "tools"),
             ({"messages": [{"role": "nobody", "content": "x"}]}, "messages[0].role"), ({"stop_sequences": [""]}, "stop_sequences"),
             ({"max_tokens": 0}, "max_tokens")]
    for fields, name in cases:
        for stream in (False, True):
            with pytest.raises(anthropic.BadRequestError) as caught:
                client.messages.create(**({"model": "any", "max_tokens": 4, "messages": HELLO} | fields), stream=stream)
            assert caught.value.body["type"] == "error"
            assert caught.value.body["error"]["type"] == "invalid_request_error"
            assert name in caught.value.body["error"]["message"]


def test_ollama_says_what_is_wrong(script):
    client = ollama.Client(host=script.url)
    cases = [({"options": {"temperature": -3}}, "options.temperature"), ({"format": "json"}, "format"), ({"options": {"num_ctx": 1 << 20}}, "num_ctx")]
    for fields, name in cases:
        with pytest.raises(ollama.ResponseError) as caught:
            client.chat(model="any", messages=HELLO, **fields)
        assert caught.value.status_code == 400
        assert name in caught.value.error
        with pytest.raises(ollama.ResponseError):
            list(client.chat(model="any", messages=HELLO, stream=True, **fields))
