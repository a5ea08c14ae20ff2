"""What the tests of hosts share."""

from tests.store.conftest import small_disk

__all__ = ["small_disk"]
