"""What the host takes over from a loaded module."""

from agentcore.api import Module


class Almanac(Module):
    """Everything that an almanac holds:
    sunrise and sunset.

    This paragraph is for authors.
    """


class Silent(Module):
    pass


async def test_description_of_a_module_is_the_first_paragraph_of_its_docstring(agentcore_host):
    running = await agentcore_host([Almanac, Silent])
    described = {name: record.manifest.description for name, record in running.host.modules.records.items()}
    assert described == {"almanac": "Everything that an almanac holds: sunrise and sunset.", "silent": ""}
