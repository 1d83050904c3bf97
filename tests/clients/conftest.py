# What the tests share: servers over three models, and their clients.
import json
import os
import subprocess

import pytest
import scripted_model
from serving import serve

# Large enough that an answer can be caught while it runs, small enough for two cores.
SHAPE = {"vocab_size": 384, "context_length": 4096, "embedding_length": 256, "block_count": 8, "attention.head_count": 4,
         "attention.head_count_kv": 2, "feed_forward_length": 512, "attention.layer_norm_rms_epsilon": 1e-5,
         "rope.dimension_count": 64, "rope.freq_base": 10000.0, "tied": True}


def pytest_addoption(parser):
    parser.addoption("--program", required=True)
    parser.addoption("--smollm2", default="")


def pytest_configure(config):
    """A reply that a client has no type for is a warning of pydantic's; here it is an error."""
    config.addinivalue_line("filterwarnings", "error:.*Pydantic serializer warnings")


@pytest.fixture(scope="session")
def program(request):
    return request.config.getoption("--program")


@pytest.fixture(scope="session")
def script_model(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("models") / "script.gguf")
    scripted_model.write(path)
    return path


@pytest.fixture(scope="session")
def random_model(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    (folder / "shape.json").write_text(json.dumps(SHAPE))
    path = str(folder / "random.gguf")
    subprocess.run([program, "make", "--arch", "llama", "--shape", str(folder / "shape.json"), "--seed", "1", "--out", path],
                   check=True, capture_output=True)
    return path


@pytest.fixture(scope="session")
def script(program, script_model):
    """Says what scripted_model.py has, to everybody."""
    with serve(program, script_model) as server:
        yield server


@pytest.fixture(scope="session")
def random(program, random_model):
    """Says something else for each seed, and for as long as it is asked to."""
    with serve(program, random_model) as server:
        yield server


@pytest.fixture(scope="session")
def keyed(program, script_model):
    with serve(program, script_model, "--api-key", "right") as server:
        yield server


@pytest.fixture(scope="session")
def smollm2(program, request):
    path = request.config.getoption("--smollm2")
    if not path or not os.path.exists(path):
        pytest.skip("SmolLM2 is not here (PLAIT_SMOLLM2)")
    with serve(program, path) as server:
        yield server
