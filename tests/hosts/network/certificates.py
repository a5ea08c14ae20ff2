"""Certificates of an authority that nobody knows but a test."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificates:
    """Files of one authority, and of a server that it vouches for.

    Attributes:
        authority: What a client has to trust.
        chain: The server's certificate.
        key: Its private key.
    """

    authority: Path
    chain: Path
    key: Path


def make_certificates(folder: Path, *names: str) -> Certificates:
    """Make an authority and a certificate with `openssl`.

    Args:
        folder: A new folder for the files.
        names: Names that the certificate is for.
    """
    folder.mkdir()
    authority, chain, key = folder / "ca.pem", folder / "server.pem", folder / "server.key"
    new = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    _run(*new, "-keyout", folder / "ca.key", "-out", authority, "-subj", "/CN=Authority of a test")
    alternatives = ",".join(f"DNS:{name}" for name in names)
    _run(
        *(
            *new,
            "-keyout",
            key,
            "-out",
            chain,
            "-subj",
            f"/CN={names[0]}",
            "-CA",
            authority,
            "-CAkey",
            folder / "ca.key",
        ),
        *("-addext", f"subjectAltName={alternatives}", "-addext", "basicConstraints=critical,CA:FALSE"),
    )
    return Certificates(authority, chain, key)


def _run(*words: str | Path) -> None:
    done = subprocess.run(words, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
