"""Certificates that are loaded late are loaded all the same."""

import subprocess
import sys

_CODE = """
import asyncio, ssl
from agentcore.cli.late_certificates import certificates_later

genuine = ssl.SSLContext.set_default_verify_paths
with certificates_later() as load:
    import aiohttp.connector
contexts = [aiohttp.connector._SSL_CONTEXT_VERIFIED, aiohttp.connector._SSL_CONTEXT_UNVERIFIED]
count = lambda: [context.cert_store_stats()["x509_ca"] for context in contexts]
usual = len(ssl.create_default_context().get_ca_certs())
assert usual > 0
{steps}
assert contexts[0].verify_mode is ssl.CERT_REQUIRED
assert ssl.SSLContext.set_default_verify_paths is genuine
"""


def _run(steps):
    subprocess.run([sys.executable, "-c", _CODE.replace("{steps}", steps)], check=True)


def test_aiohttp_has_the_certificates_of_the_system_once_they_are_loaded():
    _run("assert count() == [0, 0]; load(); assert count() == [usual, usual]; load()")


def test_a_context_loads_them_before_its_first_connection():
    _run(
        "contexts[0].wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname='example.org')\n"
        "assert count() == [usual, 0] and type(contexts[0]) is ssl.SSLContext\n"
        "load(); assert count() == [usual, usual]"
    )
