"""A module for the screenshots: one of its tools is left out, and its words are long."""

from agentcore.api import Module, tool


class Almanac(Module):
    """Everything that an almanac holds: sunrise and sunset, the phases of the moon, the tides at a great many
    harbours, the feasts of several calendars, and, because it always did, remarks on sowing that nobody has checked.
    """

    title = "Almanac of the sun, the moon, the tides and the feasts, in a title that somebody found fitting"

    @tool(read_only=True)
    async def weather_now(self, place: str) -> str:
        """The weather as the almanac of that year foretold it."""
        return place

    @tool(read_only=True)
    async def tide_table_of_a_harbour_with_a_name_as_long_as_names_may_be_1(self, harbour: str) -> str:
        """High and low water at a harbour."""
        return harbour
