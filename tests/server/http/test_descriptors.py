"""How many connections fit into the process's descriptors."""

import subprocess
import sys

import pytest

from agentcore.server.http.server_limits import CONNECTIONS, DESCRIPTORS_RESERVED

CODE = """
import resource, sys
soft, hard = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
from agentcore.server.http.descriptors import connection_limit, raise_descriptor_limit
before = connection_limit()
raise_descriptor_limit()
print(before, connection_limit(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.spec("S1")
@pytest.mark.parametrize(
    ("soft", "hard", "expected"),
    [
        (1024, 1024, (1024 - DESCRIPTORS_RESERVED, 1024 - DESCRIPTORS_RESERVED, 1024)),
        (1024, 2048, (1024 - DESCRIPTORS_RESERVED, 2048 - DESCRIPTORS_RESERVED, 2048)),
        (1024, 20_000, (1024 - DESCRIPTORS_RESERVED, CONNECTIONS, CONNECTIONS + DESCRIPTORS_RESERVED)),
        (10_000, 20_000, (CONNECTIONS, CONNECTIONS, 10_000)),
        (128, 128, (16, 16, 128)),
    ],
)
def test_connections_stay_below_the_limit_which_is_raised_as_far_as_needed(soft, hard, expected):
    command = [sys.executable, "-c", CODE, str(soft), str(hard)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert tuple(map(int, done.stdout.split())) == expected
