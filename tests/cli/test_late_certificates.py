"""Certificates that are read late are read all the same."""

import subprocess
import sys

_CODE = """
import ssl
from agentcore.cli.late_certificates import certificates_later

genuine = ssl.SSLContext.set_default_verify_paths
with certificates_later() as load:
    import aiohttp.connector
contexts = [aiohttp.connector._SSL_CONTEXT_VERIFIED, aiohttp.connector._SSL_CONTEXT_UNVERIFIED]
before = [context.cert_store_stats()["x509_ca"] for context in contexts]
load()
after = [context.cert_store_stats()["x509_ca"] for context in contexts]
usual = len(ssl.create_default_context().get_ca_certs())
print(before, after == [usual, usual], contexts[0].verify_mode.name, ssl.SSLContext.set_default_verify_paths is genuine)
"""


def test_aiohttp_has_the_certificates_of_the_system_once_they_are_loaded():
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[0, 0] True CERT_REQUIRED True"
