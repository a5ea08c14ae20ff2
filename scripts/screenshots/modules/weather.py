"""A module for the screenshots: two tools, a route, a page, settings."""

from pathlib import Path
from typing import Annotated, Any, Literal

from agentcore.api import (
    Field,
    Module,
    Request,
    Response,
    Runtime,
    SecretStr,
    ToolContext,
    ToolError,
    WebComponent,
    tool,
)

_CITIES = {"Bonn": 14, "Chengdu": 19, "Lima": 21, "Nairobi": 23, "Oslo": 4}


class Weather(Module):
    """Weather look-ups for cities around the world, with a page of its own."""

    title = "Weather"

    class Settings(Module.Settings):
        """Settings of the weather module."""

        units: Annotated[
            Literal["celsius", "fahrenheit"],
            Field(description="In what temperatures are given.", json_schema_extra={"x-harmless": True}),
        ] = "celsius"
        api_key: Annotated[SecretStr | None, Field(description="Key of the weather service.")] = None
        timeout_s: Annotated[
            float,
            Field(gt=0, le=60, description="How long a look-up may take.", json_schema_extra={"x-harmless": True}),
        ] = 10
        cities: Annotated[tuple[str, ...], Field(description="Cities that the page shows.")] = ("Bonn", "Chengdu")

    def init(self, runtime: Runtime) -> None:
        runtime.add_route("GET", "forecast", self.forecast)

    async def forecast(self, request: Request) -> Response:
        return Response([{"city": city, "celsius": celsius} for city, celsius in _CITIES.items()])

    @tool(read_only=True)
    async def weather_now(self, ctx: ToolContext, city: str, with_wind: bool = False) -> str:
        """Current weather in a city.

        Args:
            city: Name of the city, such as `Bonn`.
            with_wind: Whether the wind is told as well.
        """
        if city not in _CITIES:
            raise ToolError(
                "city_not_found",
                f"no city named {city!r}; known are {', '.join(_CITIES)}",
                city=city,
                known=list(_CITIES),
            )
        ctx.progress(0.5, "asking the station")
        return f"# {city}\n\n**{_CITIES[city]} °C**, clear{' , light wind from the west' if with_wind else ''}\n"

    @tool(read_only=True)
    async def weather_table(self, days: Annotated[int, Field(ge=1, le=14)] = 7) -> list[dict[str, Any]]:
        """The coming days in all cities, one row each.

        Args:
            days: How many days.
        """
        return [
            {"city": city, "day": day, "celsius": celsius + day % 3, "rain": round(0.07 * day * (celsius % 5), 2)}
            for city, celsius in _CITIES.items()
            for day in range(1, days + 1)
        ]

    def get_web_component(self) -> WebComponent:
        return WebComponent(
            "weather-panel",
            "panel.js",
            Path(__file__).parent / "weather_page",
            {"en": "Weather", "zh": "天气"},
            "cloud",
        )
