"""What the tests of hosts share."""

from tests.store.conftest import small_disk
from tests.support.certificates import one_certificate

__all__ = ["one_certificate", "small_disk"]
