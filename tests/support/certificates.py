"""One certificate in place of the system's hundred and forty, which each process and each client of a model reads."""

from collections.abc import Iterator
from pathlib import Path

import pytest

ONE_CERTIFICATE = Path(__file__).parent / "one_certificate.pem"
"""An authority whose key was thrown away: it signs nothing."""


@pytest.fixture(scope="package", autouse=True)
def one_certificate() -> Iterator[None]:
    """Have TLS trust that authority alone: reading the system's takes 20 ms of processor time, each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(ONE_CERTIFICATE))
        yield
