"""`SystemTools`: the module with the tools `screenshot` and `open_in_folder`."""

import os
from pathlib import Path
from typing import Annotated, Any, ClassVar

from agentcore.api import (
    CallPreview,
    Field,
    Image,
    Module,
    Text,
    ToolContext,
    ToolResult,
    Workspace,
    known_to_models,
    tool,
)
from agentcore_system_tools.file_manager import show_in_folder
from agentcore_system_tools.results import ScreenshotResult, ShownFile
from agentcore_system_tools.screen import detect_desktop, take_screenshot
from agentcore_system_tools.screenshot import Region, Screenshot, ScreenshotOptions, fit_size
from agentcore_system_tools.translations import ZH

_TIMEOUT_S = 90.0
"""Time limit of `screenshot`: the desktop may ask the user at the screen first."""


class SystemTools(Module):
    """The desktop: pictures of the screen, and files shown in their folder."""

    title = "Desktop"
    translations: ClassVar = {"zh": ZH}
    instructions: ClassVar = {
        "en": ("`screenshot` shows the person's own screen: take it when they speak of what they see there."),
        "zh": ("`screenshot` 显示用户自己的屏幕：在用户谈到屏幕内容时使用。"),
    }

    def _preview_screenshot(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        detect_desktop()  # fail before approval if no screenshot can be taken
        path = arguments.get("path")
        if path is None:
            return CallPreview()
        target = ctx.workspace.locate(path)
        return CallPreview(
            effects=frozenset(("egress", "write")),
            paths=(ctx.workspace.real_path(target),),
            is_protected=ctx.workspace.is_protected(target),
        )

    @tool(
        rank=2,
        effects=("egress",),
        destructive=False,
        idempotent=False,
        open_world=True,
        timeout_s=_TIMEOUT_S,
        preview=_preview_screenshot,
    )
    def screenshot(
        self,
        ctx: ToolContext,
        *,
        path: Annotated[
            str | None,
            Field(
                pattern=r"\.[pP][nN][gG]$",
                max_length=4096,
                description="Where to save it: a path in the workspace that ends with .png; a file there is replaced.",
                json_schema_extra=known_to_models(),
            ),
        ] = None,
        display: Annotated[int | None, Field(ge=1, le=64, description="From 1; left out: all.")] = None,
        region: Annotated[
            Region | None,
            Field(description="Only this part of the display, in pixels.", json_schema_extra=known_to_models()),
        ] = None,
        inline: Annotated[
            bool | None,
            Field(
                description="Give the picture itself; left out, only if it is not saved.",
                json_schema_extra=known_to_models("Show it though it is saved."),
            ),
        ] = None,
    ) -> ToolResult[ScreenshotResult]:
        """Take a picture of the person's screen, to look at it or to save it."""
        image = take_screenshot(ScreenshotOptions(display, region))
        data: ScreenshotResult = {"width": image.width, "height": image.height, "size_bytes": len(image.png)}
        lines = [f"A picture of the screen, {image.width}×{image.height} pixels."]
        if path is not None:
            target = ctx.workspace.locate(path)
            ctx.workspace.write_file(target, image.png, create_parents=True)
            data["path"] = ctx.workspace.show(target)
            lines.append(f"Saved as {data['path']}.")
        blocks = _build_image_blocks(image, lines) if inline or (inline is None and path is None) else []
        return ToolResult([Text("\n".join(lines)), *blocks], data=data, untrusted=True)

    def _preview_open(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        real, _ = _locate_existing(ctx.workspace, arguments["path"])
        return CallPreview(paths=(_format_path(real),))

    @tool(rank=2, effects=("execute",), destructive=False, idempotent=True, open_world=False, preview=_preview_open)
    def open_in_folder(
        self,
        ctx: ToolContext,
        path: Annotated[
            str,
            Field(
                min_length=1,
                max_length=4096,
                description="A file or folder in the workspace.",
                json_schema_extra=known_to_models(),
            ),
        ],
    ) -> ToolResult[ShownFile]:
        """Show a file or folder in the person's file manager; opens no file."""
        real, is_folder = _locate_existing(ctx.workspace, path)
        way = show_in_folder(real, is_folder=is_folder)
        shown = real if is_folder else real.parent
        text = f"The folder {_format_path(shown)!r} is open in the file manager."
        return ToolResult(text, data={"path": _format_path(real), "folder": _format_path(shown), "shown_by": way})


def _build_image_blocks(picture: Screenshot, lines: list[str]) -> list[Image]:
    """Return the image as a content block; if it is scaled down, a line is added that says so."""
    small = fit_size(picture)
    if small is not picture:
        lines.append(f"Shown at {small.width}×{small.height}; name a region to see a part in full.")
    return [Image(small.png, "image/png")]


def _locate_existing(workspace: Workspace, path: str) -> tuple[Path, bool]:
    """Return the real path of a file or folder in the workspace, and True if it is a folder.

    Raises:
        ToolError: `path_not_found`, `path_outside_workspace`, …
    """
    target = workspace.find_place(path)
    kind = workspace.kind_of(workspace.stat(target))
    name = workspace.read_name(workspace.real_path(target))
    return Path(os.fsdecode(name)), kind == "directory"


def _format_path(path: Path) -> str:
    return Workspace.show_name(os.fsencode(path))
