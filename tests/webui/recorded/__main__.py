"""Record all answers again, or those that are named: `make record-answers ARGS=machines`."""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.programs import find
from tests.webui.recorded.scenarios import SCENARIOS

ANSWERS = Path(__file__).parent / "answers"


def main() -> int:
    """Write the recordings; 1: some could not be made."""
    missing = 0
    for name in sys.argv[1:] or SCENARIOS:
        if name == "pool" and find("nats-server") is None:
            print(f"{name}: not recorded, nats-server is missing (python3 -m scripts.install_programs)")
            missing = 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            recorder = asyncio.run(SCENARIOS[name](Path(folder)))
        recorder.write(ANSWERS / f"{name}.json")
        print(f"{name}: recorded")
    return missing


sys.exit(main())
