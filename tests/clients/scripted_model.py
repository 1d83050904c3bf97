# A GGUF model that always says the same: its next token depends on the last one alone, by a table.
"""One layer of zeros, embeddings that are unit vectors, and a head that for each token favours the next one of the
script, so that answers, log-probabilities and what is reasoning are known beforehand, through a real model file."""
import math
import struct

WIDTH = VOCABULARY = 320
FEED = 32
CONTEXT = 4096
EPSILON = 1e-6
FAVOUR, SECOND = 12.0, 11.0   # Logits of the next token and of its rival; all others have 0.

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"]
REASONING = ["Let", " me", " see", ": one", " moment"]
ANSWER = ["Hello", " there", " caf", "\xc3", "\xa9", " of", " plait", ", all", " is", " well"]  # é is cut into its two bytes.
RIVAL = " friend"             # What might have followed "Hello".
REASONING_TEXT = "".join(REASONING)
ANSWER_TEXT = "".join(ANSWER).encode("latin-1").decode("utf-8")

# enable_thinking false ends the prompt behind the reasoning; open_think ends it inside.
TEMPLATE = """{%- for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% if open_think %}<think>{% elif enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}
{%- endif -%}"""


def byte_alphabet():
    """GPT-2's letters for the 256 bytes."""
    plain = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {b: chr(b) if b in plain else chr(0x100 + others.index(b)) for b in range(256)}


def vocabulary():
    letters = byte_alphabet()
    tokens = [letters[b] for b in range(256)] + SPECIAL
    words = [word for word in [*REASONING, *ANSWER, RIVAL] if len(word) > 1]
    tokens += ["".join(letters[b] for b in word.encode("latin-1")) for word in words]
    tokens += [f"unused{i}" for i in range(VOCABULARY - len(tokens))]
    return tokens


TOKENS = vocabulary()


def token_of(word):
    if word in SPECIAL:
        return TOKENS.index(word)
    letters = byte_alphabet()
    return TOKENS.index("".join(letters[b] for b in word.encode("latin-1")))


def following():
    """Token -> the next one. A line's end starts with reasoning; all that is in no script starts with the answer."""
    script = ["<think>", *REASONING, "</think>", *ANSWER, "<|im_end|>"]
    nexts = {token: token_of(ANSWER[0]) for token in range(VOCABULARY)}
    nexts |= {token_of(a): token_of(b) for a, b in zip(script, script[1:])}
    nexts[token_of("\n")] = token_of("<think>")
    return nexts


def logprob(favoured=True, rival=False):
    """The log-probability of a token after one with, or without, a rival."""
    shrunk = 1 / math.sqrt(1 + EPSILON * WIDTH)  # By the norm's epsilon.
    favour, second = FAVOUR * shrunk, SECOND * shrunk
    total = math.exp(favour) + (math.exp(second) if rival else 0) + VOCABULARY - 1 - rival
    return (favour if favoured else second if rival else 0) - math.log(total)


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key, value):
    if isinstance(value, bool):
        return string(key) + struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return string(key) + struct.pack("<II", 4, value)
    if isinstance(value, float):
        return string(key) + struct.pack("<If", 6, value)
    if isinstance(value, str):
        return string(key) + struct.pack("<I", 8) + string(value)
    if value and isinstance(value[0], int):
        return string(key) + struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)
    return string(key) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(string, value))


def metadata():
    # Tokens that a user may see in the text, as those about reasoning are in models that have them, are of kind 4.
    kinds = [4 if "think" in token else 3 if token in SPECIAL else 1 for token in TOKENS]
    return {
        "general.architecture": "llama", "general.name": "a script", "llama.vocab_size": VOCABULARY, "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH, "llama.block_count": 1, "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 4, "llama.feed_forward_length": FEED, "llama.attention.layer_norm_rms_epsilon": EPSILON,
        "llama.rope.dimension_count": WIDTH // 4, "llama.rope.freq_base": 10000.0,
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.token_type": kinds, "tokenizer.ggml.merges": [], "tokenizer.ggml.bos_token_id": token_of("<|endoftext|>"),
        "tokenizer.ggml.eos_token_id": token_of("<|im_end|>"), "tokenizer.ggml.add_bos_token": False, "tokenizer.chat_template": TEMPLATE}


def unit_rows(rows):
    """Bytes of a matrix; `rows` has {column: value} for each row."""
    data = bytearray(4 * WIDTH * len(rows))
    for number, row in enumerate(rows):
        for column, value in row.items():
            struct.pack_into("<f", data, 4 * (number * WIDTH + column), value)
    return bytes(data)


def tensors():
    """Name -> (columns, rows, bytes)."""
    scale = 1 / math.sqrt(WIDTH)  # The norm makes a unit vector as long as the root of the width.
    head = [{} for _ in range(VOCABULARY)]
    for token, after in following().items():
        head[after][token] = FAVOUR * scale
    head[token_of(RIVAL)][token_of(ANSWER[0])] = SECOND * scale
    ones = struct.pack("<f", 1.0) * WIDTH
    made = {"token_embd.weight": (WIDTH, VOCABULARY, unit_rows([{token: 1.0} for token in range(VOCABULARY)]))}
    for name in ("attn_norm", "ffn_norm"):
        made[f"blk.0.{name}.weight"] = (WIDTH, None, ones)
    for name, columns, rows in (("attn_q", WIDTH, WIDTH), ("attn_k", WIDTH, WIDTH), ("attn_v", WIDTH, WIDTH), ("attn_output", WIDTH, WIDTH),
                                ("ffn_gate", WIDTH, FEED), ("ffn_up", WIDTH, FEED), ("ffn_down", FEED, WIDTH)):
        made[f"blk.0.{name}.weight"] = (columns, rows, bytes(4 * columns * rows))
    made["output_norm.weight"] = (WIDTH, None, ones)
    made["output.weight"] = (WIDTH, VOCABULARY, unit_rows(head))
    return made


def write(path):
    entries, parts, infos, offset = metadata(), tensors(), b"", 0
    for name, (columns, rows, data) in parts.items():
        shape = [columns] if rows is None else [columns, rows]
        infos += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset)
        offset += len(data)  # All are multiples of the alignment, 32.
    header = struct.pack("<4sIQQ", b"GGUF", 3, len(parts), len(entries)) + b"".join(entry(*pair) for pair in entries.items()) + infos
    with open(path, "wb") as file:
        file.write(header + bytes(-len(header) % 32) + b"".join(data for _, _, data in parts.values()))
