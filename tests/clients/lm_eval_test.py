# lm-eval over a running server: a task of our own, a JSON file, by generation and by log-likelihood, to the end.
import json
import math
import struct
import subprocess
import urllib.request

import pytest
import scripted_model

# Made up here: what a small model can tell, and what it cannot.
QUESTIONS = [
    ("The sun rises in the", [" east", " cupboard", " seven"], 0),
    ("A triangle has three", [" oceans", " sides", " Tuesdays"], 1),
    ("Fish live in the", [" water", " typewriter", " alphabet"], 0),
    ("Two plus two is", [" window", " banana", " four"], 2),
    ("At night we can see the", [" stars", " subtraction", " of"], 0),
]


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        monkeypatch.setenv(name, "1")
    for name in ("HF_HOME", "HF_DATASETS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))


def write_tasks(folder):
    """Two tasks over one JSON file, as lm-eval's own files describe them."""
    questions = [{"text": text, "choices": choices, "answer": answer} for text, choices, answer in QUESTIONS]
    (folder / "questions.json").write_text("\n".join(map(json.dumps, questions)))
    shared = ["dataset_path: json", "dataset_kwargs:", "  data_files:", f"    test: {folder / 'questions.json'}", "test_split: test",
              "doc_to_text: '{{text}}'"]
    chosen = ["task: plait_choose", "output_type: multiple_choice", *shared, "doc_to_choice: choices", "doc_to_target: answer",
              "target_delimiter: ''", "metric_list:", "  - metric: acc"]
    written = ["task: plait_write", "output_type: generate_until", *shared, "doc_to_target: '{{choices[answer]}}'",
               "generation_kwargs:", "  until: [' plait']", "  max_gen_toks: 12", "  do_sample: false", "metric_list:",
               "  - metric: exact_match"]
    for lines in (chosen, written):
        (folder / f"{lines[0].split()[1]}.yaml").write_text("\n".join(lines) + "\n")


def evaluate(server, folder, concurrent):
    import lm_eval
    from lm_eval.tasks import TaskManager

    write_tasks(folder)
    arguments = {"model": "any", "base_url": f"{server.url}/v1/completions", "tokenizer_backend": "remote", "num_concurrent": concurrent,
                 "max_retries": 1, "batch_size": 2, "max_length": 1024}
    return lm_eval.simple_evaluate(model="local-completions", model_args=arguments, tasks=["plait_choose", "plait_write"],
                                   task_manager=TaskManager(include_path=str(folder), include_defaults=False), log_samples=True,
                                   bootstrap_iters=0)


def post(server, path, body):
    request = urllib.request.Request(server.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def log_likelihood(program, model, server, folder, text, choice):
    """The same number from plait logits: (sum over the choice's tokens, whether each was the likeliest)."""
    ids = [post(server, "/tokenize", {"content": part})["tokens"] for part in (text, choice)]
    rows_file, both = folder / "rows.f32", ids[0] + ids[1]
    subprocess.run([program, "logits", model, "--ids", ",".join(map(str, both)), "--at", "all", "--out", rows_file], check=True, capture_output=True)
    data = rows_file.read_bytes()
    width = len(data) // 4 // len(both)
    total, greedy = 0.0, True
    for at in range(len(ids[0]), len(both)):
        row = struct.unpack_from(f"<{width}f", data, 4 * width * (at - 1))
        best = max(row)
        total += row[both[at]] - best - math.log(sum(math.exp(value - best) for value in row))
        greedy = greedy and row[both[at]] == best
    return total, greedy


def check(program, model, server, folder, results):
    chosen = {sample["doc_id"]: sample for sample in results["samples"]["plait_choose"]}
    right = 0
    assert sorted(chosen) == list(range(len(QUESTIONS)))
    for number, (text, choices, answer) in enumerate(QUESTIONS):
        wanted = [log_likelihood(program, model, server, folder, text, choice) for choice in choices]
        found = [tuple(response) for response in chosen[number]["filtered_resps"]]
        for (value, greedy), (wanted_value, wanted_greedy) in zip(found, wanted, strict=True):
            assert float(value) == pytest.approx(wanted_value, abs=1e-4)
            assert str(greedy) == str(wanted_greedy)
        right += max(range(len(wanted)), key=lambda i: wanted[i][0]) == answer
    assert results["results"]["plait_choose"]["acc,none"] == pytest.approx(right / len(QUESTIONS))
    return right


def answers(results):
    return [sample["filtered_resps"][0] for sample in sorted(results["samples"]["plait_write"], key=lambda sample: sample["doc_id"])]


@pytest.mark.parametrize("concurrent", [1, 4])
def test_a_task_runs_to_the_end(program, script_model, script, tmp_path, concurrent):
    results = evaluate(script, tmp_path, concurrent)
    check(program, script_model, script, tmp_path, results)
    text = scripted_model.ANSWER_TEXT
    assert answers(results) == [text[:text.index(" plait")]] * len(QUESTIONS)


def test_a_task_over_the_default_model(program, request, smollm2, tmp_path):
    model = request.config.getoption("--smollm2")
    results = evaluate(smollm2, tmp_path, 4)
    assert check(program, model, smollm2, tmp_path, results) >= 4
    alone = [post(smollm2, "/v1/completions", {"prompt": text, "max_tokens": 12, "temperature": 0, "stop": [" plait"]})["choices"][0]["text"]
             for text, _, _ in QUESTIONS]
    assert answers(results) == alone
