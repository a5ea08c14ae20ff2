"""`FsTools`: the tools with their arguments and descriptions."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

from agentcore.api import (
    HIDDEN_FROM_MODELS,
    CallPreview,
    DisplayRole,
    Field,
    Module,
    Runtime,
    ToolContext,
    ToolDefinition,
    ToolError,
    ToolResult,
    also_called,
    known_to_models,
    tool,
)
from agentcore_fs_tools import results
from agentcore_fs_tools.edit.changes import plan_edit, plan_write
from agentcore_fs_tools.edit.diff_view import DIFF_VIEW
from agentcore_fs_tools.edit.editing import Edit
from agentcore_fs_tools.edit.known_files import KnownFiles
from agentcore_fs_tools.edit.line_numbers import refuse_line_numbers
from agentcore_fs_tools.edit.writing import edit_change, write_change
from agentcore_fs_tools.read.documents import Documents
from agentcore_fs_tools.read.listing import list_dir
from agentcore_fs_tools.read.reading import LINES_DEFAULT, ReadRequest, read_file
from agentcore_fs_tools.read.status import describe_path
from agentcore_fs_tools.search.glob_search import PATH_LIMIT, Order, find_files
from agentcore_fs_tools.search.grep_output import search_files
from agentcore_fs_tools.search.grep_search import MATCH_LIMIT, SearchRequest
from agentcore_fs_tools.search.ripgrep import find_ripgrep
from agentcore_fs_tools.settings import FsSettings
from agentcore_fs_tools.transfer.between_hosts.copy_relay import Copying
from agentcore_fs_tools.transfer.between_hosts.local_side import CopyingSide
from agentcore_fs_tools.transfer.copying import copy_path
from agentcore_fs_tools.transfer.deleting import delete_path
from agentcore_fs_tools.transfer.moving import move_path
from agentcore_fs_tools.transfer.previews import preview_delete, preview_transfer
from agentcore_fs_tools.transfer.targets import destination_for, locate_existing, locate_removable
from agentcore_fs_tools.translations import EXAMPLES, ZH

LONG_SECONDS = 300.0
"""Time limit of tools that may walk a whole tree."""

COPY_SECONDS = 600.0
"""Time limit of a copy between machines: the maximum that the server allows by default."""

MODEL_FILES = 100
"""Default number of files that `glob` returns to a model."""

MODEL_MATCHES = 100
"""Default number of lines, or files, that `grep` returns to a model."""

PATH_NAMES = ("file_path", "filePath", "filepath", "filename", "target_file", "absolute_path")
FOLDER_NAMES = ("directory", "dir", "dir_path", "folder", "target_directory")

Path = Annotated[
    str,
    Field(
        min_length=1,
        max_length=4096,
        description="Path relative to the first workspace root, or absolute inside any root.",
        json_schema_extra=known_to_models() | also_called(*PATH_NAMES),
    ),
]
SourcePath = Annotated[
    Path, Field(json_schema_extra=known_to_models() | also_called("src", "source_path", "from_path"))
]
TargetPath = Annotated[
    Path, Field(json_schema_extra=known_to_models() | also_called("dest", "dst", "destination_path", "to_path"))
]
FolderPath = Annotated[Path, Field(json_schema_extra=known_to_models() | also_called(*FOLDER_NAMES, *PATH_NAMES))]
Encoding = Annotated[
    str | None,
    Field(
        max_length=2000,
        description="Text encoding such as utf-8, gb18030, cp1252; left out, it is detected.",
        json_schema_extra=known_to_models(),
    ),
]
PathThere = Annotated[str, Field(min_length=1, max_length=4096)]
OnHost = Annotated[
    str | None,
    Field(
        max_length=100,
        description="Host, as `list_hosts` names it; left out, the server.",
        json_schema_extra=known_to_models("Left out: the server."),
    ),
]
Overwrite = Annotated[
    bool, Field(description="Replace a file that is there already.", json_schema_extra=known_to_models())
]
NoIgnore = Annotated[
    bool, Field(description="Take files that .gitignore leaves out, too.", json_schema_extra=known_to_models())
]

READING: Mapping[str, DisplayRole] = MappingProxyType(
    {
        "path": "path",
        "offset": "first_line",
        "limit": "line_count",
        "first_line": "first_line",
        "last_line": "last_line",
    }
)
"""Display roles of the arguments of `read_file`."""


class FsTools(Module[FsSettings]):
    """Files in the workspace: read, write, edit, find, search, move, copy and delete."""

    title = "Files"
    translations: ClassVar = {"zh": ZH}
    examples: ClassVar = EXAMPLES
    instructions: ClassVar = {
        "en": (
            "Find files with `glob` and text with `grep`, not with shell commands. Read a file before you change it "
            "with `edit`; `write_file` is for new files, and where nearly all changes."
        ),
        "zh": (
            "用 `glob` 查找文件，用 `grep` 查找文本，而不是用命令行。修改文件之前先读取，"
            "修改时用 `edit`，新建文件或几乎全部重写时才用 `write_file`。"
        ),
    }

    _ripgrep: str | None = None
    _side: CopyingSide | None = None
    _known_files: KnownFiles
    _documents: Documents | None = None

    async def init(self, runtime: Runtime) -> None:
        """Locate ripgrep and register the handler for copies from and to other hosts."""
        self._known_files = KnownFiles()
        self._documents = Documents(runtime.workspace)
        self._ripgrep = find_ripgrep()
        self._side = CopyingSide(
            runtime.workspace, lambda: self.settings.between_hosts_mb << 20, self._refuse_unless_writable
        )
        runtime.answer_hosts(self._side.answer_request)
        runtime.subscribe("hosts.changed", lambda event: runtime.tools_changed())

    async def shutdown(self) -> None:
        """Abort incoming copies, and stop reading documents."""
        if self._documents is not None:
            await self._documents.close()
        if self._side is not None:
            await self._side.close()
            self._side = None

    def get_tool_definitions(self) -> Sequence[ToolDefinition | dict[str, Any]]:
        """Return the tools, with `copy_between_hosts` only if there are hosts."""
        tools = super().get_tool_definitions()
        if self._side is not None and self.runtime.hosts():
            return tools
        return [each for each in tools if isinstance(each, ToolDefinition) and each.name != "copy_between_hosts"]

    @tool(rank=0, read_only=True, idempotent=True, open_world=False, display=READING)
    def read_file(
        self,
        ctx: ToolContext,
        path: Path,
        *,
        offset: Annotated[
            int,
            Field(
                ge=1,
                le=1_000_000_000,
                description="First line, from 1.",
                json_schema_extra=also_called("start_line", "line_offset"),
            ),
        ] = 1,
        limit: Annotated[
            int,
            Field(
                ge=1,
                le=1_000_000,
                description="How many lines to read.",
                json_schema_extra=known_to_models() | also_called("max_lines", "num_lines"),
            ),
        ] = LINES_DEFAULT,
        encoding: Encoding = None,
        raw: Annotated[bool, Field(description="Without numbers, and uncut.")] = False,
    ) -> ToolResult[results.ReadFile]:
        """Read a text file, document or image. The number and tab in front of each line are no part of it."""
        request = ReadRequest(path, offset, limit, encoding, raw, ctx.model_chars)
        result = read_file(ctx.workspace, request, lambda: ctx.is_cancelled, self._documents)
        self._known_files.add(ctx, path)
        return result

    def _preview_write(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        self._refuse_unless_writable()
        path = arguments["path"]
        content = arguments["content"]
        encoding = arguments.get("encoding")
        create_dirs = bool(arguments.get("create_dirs", True))
        self._refuse_line_numbers(ctx, (content, ""))
        change = plan_write(ctx.workspace, path, content, encoding, create_dirs=create_dirs)
        self._known_files.refuse_unknown(ctx, change, overwrite=bool(arguments.get("overwrite")))
        return change.build_preview(ctx.workspace, lambda: ctx.is_cancelled)

    @tool(
        rank=1,
        effects=("write",),
        destructive=True,
        idempotent=True,
        open_world=False,
        preview=_preview_write,
        display={"path": "path", "content": "content"},
        view=DIFF_VIEW,
    )
    def write_file(
        self,
        ctx: ToolContext,
        path: Path,
        content: Annotated[
            str,
            Field(
                description="The whole new content.",
                json_schema_extra=known_to_models() | also_called("contents", "file_text", "text", "new_content"),
            ),
        ],
        *,
        create_dirs: Annotated[
            bool, Field(description="Make missing folders above the file.", json_schema_extra=HIDDEN_FROM_MODELS)
        ] = True,
        encoding: Encoding = None,
        overwrite: Annotated[
            bool,
            Field(
                description="Replace a file also if this session has not read it.", json_schema_extra=known_to_models()
            ),
        ] = False,
    ) -> ToolResult[results.WrittenFile]:
        """Create a text file, or replace all of one, which keeps encoding and line ends; `edit` changes a part."""
        self._refuse_unless_writable()
        self._refuse_line_numbers(ctx, (content, ""))
        change = plan_write(ctx.workspace, path, content, encoding, create_dirs=create_dirs)
        self._known_files.refuse_unknown(ctx, change, overwrite=overwrite)
        result = write_change(ctx.workspace, change, lambda: ctx.is_cancelled, create_dirs=create_dirs)
        self._known_files.add(ctx, path)
        return result

    def _preview_edit(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        if arguments.get("dry_run"):
            return CallPreview(effects=frozenset(("read",)))
        self._refuse_unless_writable()
        change = plan_edit(
            ctx.workspace,
            arguments["path"],
            arguments.get("edits"),
            arguments.get("diff"),
            arguments.get("encoding"),
            is_cancelled=lambda: ctx.is_cancelled,
        )
        self._refuse_line_numbers(ctx, *((edit.new, edit.old) for edit in arguments.get("edits") or ()))
        return change.build_preview(ctx.workspace, lambda: ctx.is_cancelled)

    @tool(
        rank=0,
        effects=("write",),
        destructive=True,
        idempotent=False,
        open_world=False,
        preview=_preview_edit,
        display={"path": "path", "edits": "edits"},
        view=DIFF_VIEW,
    )
    def edit(
        self,
        ctx: ToolContext,
        path: Path,
        *,
        edits: Annotated[
            list[Edit] | None,
            Field(
                max_length=2000,
                description="Replacements, made one after the other.",
                json_schema_extra=known_to_models() | also_called(flat=True),
            ),
        ] = None,
        diff: Annotated[
            str | None,
            Field(
                description="A unified diff of this one file, instead of `edits`.",
                json_schema_extra=known_to_models() | also_called("patch"),
            ),
        ] = None,
        dry_run: Annotated[
            bool, Field(description="Only show what would change.", json_schema_extra=HIDDEN_FROM_MODELS)
        ] = False,
        encoding: Encoding = None,
    ) -> ToolResult[results.EditedFile]:
        """Change parts of a text file: replace exact texts, or apply a unified diff; shows the difference.

        `old` has to occur once, with its indentation, unless `all` is set; else nothing is changed.
        """
        if not dry_run:
            self._refuse_unless_writable()
        change = plan_edit(ctx.workspace, path, edits, diff, encoding, is_cancelled=lambda: ctx.is_cancelled)
        self._refuse_line_numbers(ctx, *((edit.new, edit.old) for edit in edits or ()))
        result = edit_change(ctx.workspace, change, lambda: ctx.is_cancelled, dry_run=dry_run)
        self._known_files.add(ctx, path)
        return result

    @tool(rank=1, read_only=True, idempotent=True, open_world=False, display={"pattern": "subject"})
    def glob(
        self,
        ctx: ToolContext,
        pattern: Annotated[
            str,
            Field(
                min_length=1,
                max_length=2000,
                description="Such as `src/**/test_*.{js,ts}`; `*` stays within a name, `**` spans folders.",
                json_schema_extra=known_to_models("Such as `src/**/test_*.{js,ts}`.") | also_called("glob_pattern"),
            ),
        ],
        *,
        path: Annotated[
            str,
            Field(
                description="Folder to look in; left out, the first workspace root.",
                json_schema_extra=known_to_models() | also_called(*FOLDER_NAMES),
            ),
        ] = ".",
        sort: Annotated[
            Order, Field(description="`modified` gives the newest first.", json_schema_extra=HIDDEN_FROM_MODELS)
        ] = "modified",
        no_ignore: NoIgnore = False,
        limit: Annotated[
            int | None,
            Field(
                ge=1,
                le=PATH_LIMIT,
                description="How many files to give; left out, 100 for models and 1,000 for programs.",
                json_schema_extra=known_to_models() | also_called("head_limit", "max_results"),
            ),
        ] = None,
    ) -> ToolResult[results.FoundPaths]:
        """Find files by their path below `path`, newest first; what .gitignore names is left out."""
        return find_files(
            ctx.workspace,
            pattern,
            path,
            order=sort,
            no_ignore=no_ignore,
            program=self._ripgrep,
            is_cancelled=lambda: ctx.is_cancelled,
            limit_chars=ctx.model_chars,
            limit=limit or (PATH_LIMIT if ctx.model_chars is None else MODEL_FILES),
        )

    @tool(
        rank=1,
        read_only=True,
        idempotent=True,
        open_world=False,
        timeout_s=LONG_SECONDS,
        display={"pattern": "subject"},
    )
    def grep(
        self,
        ctx: ToolContext,
        pattern: Annotated[
            str,
            Field(
                min_length=1,
                max_length=10_000,
                description="Regular expression in ripgrep's dialect.",
                json_schema_extra=known_to_models() | also_called("regex", "query"),
            ),
        ],
        *,
        path: Annotated[
            str,
            Field(
                description="File or folder; left out, the first workspace root.",
                json_schema_extra=known_to_models() | also_called(*FOLDER_NAMES, *PATH_NAMES),
            ),
        ] = ".",
        glob: Annotated[
            str | None,
            Field(
                max_length=2000,
                description="Only files like this, such as `*.py` or `src/**`; `!…` leaves out.",
                json_schema_extra=known_to_models("Only files like `*.py`; `!…` leaves out.")
                | also_called("include", "include_pattern", "file_pattern"),
            ),
        ] = None,
        context: Annotated[
            int,
            Field(
                ge=0,
                le=50,
                description="Lines around each match.",
                json_schema_extra=known_to_models() | also_called("-C", "context_lines"),
            ),
        ] = 0,
        ignore_case: Annotated[
            bool,
            Field(
                description="Capitals and small letters are the same.",
                json_schema_extra=known_to_models() | also_called("-i", "case_insensitive"),
            ),
        ] = False,
        files_only: Annotated[
            bool, Field(description="Give only the paths of files with a match.", json_schema_extra=known_to_models())
        ] = False,
        multiline: Annotated[
            bool, Field(description="Let a match span lines.", json_schema_extra=known_to_models())
        ] = False,
        no_ignore: NoIgnore = False,
        binary: Annotated[
            bool, Field(description="Search files with a NUL, too.", json_schema_extra=HIDDEN_FROM_MODELS)
        ] = False,
        limit: Annotated[
            int | None,
            Field(
                ge=1,
                le=MATCH_LIMIT,
                description="How many lines, or files, to give; left out, 100 for models and 1,000 for programs.",
                json_schema_extra=known_to_models() | also_called("head_limit", "max_results"),
            ),
        ] = None,
    ) -> ToolResult[results.FoundMatches]:
        """Search files for a regular expression of ripgrep; what .gitignore names is left out."""
        if limit is None and ctx.model_chars is not None:
            limit = MODEL_MATCHES
        request = SearchRequest(pattern, path, glob, ignore_case, files_only, multiline, no_ignore, binary, limit)
        return search_files(
            ctx.workspace,
            request,
            context,
            self._ripgrep,
            lambda: ctx.is_cancelled,
            limit_chars=ctx.model_chars,
        )

    @tool(rank=1, read_only=True, idempotent=True, open_world=False)
    def list_dir(
        self,
        ctx: ToolContext,
        path: FolderPath = ".",
        depth: Annotated[
            int,
            Field(ge=1, le=20, description="How many levels of folders to list.", json_schema_extra=known_to_models()),
        ] = 1,
    ) -> ToolResult[results.Listing]:
        """List a folder, with sizes of files and targets of links."""
        return list_dir(ctx.workspace, path, depth, lambda: ctx.is_cancelled, limit_chars=ctx.model_chars)

    @tool(rank=2, read_only=True, idempotent=True, open_world=False)
    def file_stat(self, ctx: ToolContext, path: Path) -> ToolResult[results.FileStatus]:
        """Tell type, size, time of the last change and permissions of a path; of a text its encoding and lines."""
        return describe_path(ctx.workspace, path, lambda: ctx.is_cancelled)

    def _preview_delete(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        self._refuse_unless_writable()
        target = locate_removable(ctx.workspace, arguments["path"])
        return preview_delete(ctx.workspace, target, recursive=bool(arguments.get("recursive")))

    @tool(
        rank=2,
        effects=("write",),
        destructive=True,
        idempotent=False,
        open_world=False,
        timeout_s=LONG_SECONDS,
        preview=_preview_delete,
    )
    def file_delete(
        self,
        ctx: ToolContext,
        path: Path,
        recursive: Annotated[
            bool, Field(description="With all that is in a folder.", json_schema_extra=known_to_models())
        ] = False,
    ) -> ToolResult[results.RemovedPath]:
        """Delete a file, a link (not what it points to), or a folder, with `recursive` all that is in it."""
        self._refuse_unless_writable()
        target = locate_removable(ctx.workspace, path)
        return delete_path(
            ctx.workspace,
            target,
            recursive=recursive,
            trash=self.settings.trash,
            is_cancelled=lambda: ctx.is_cancelled,
        )

    def _preview_move(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        self._refuse_unless_writable()
        source = locate_removable(ctx.workspace, arguments["source"])
        target = destination_for(
            ctx.workspace, source, arguments["destination"], overwrite=bool(arguments.get("overwrite"))
        )
        return preview_transfer(ctx.workspace, source, target, is_move=True)

    @tool(
        rank=2,
        effects=("write",),
        destructive=True,
        idempotent=False,
        open_world=False,
        timeout_s=LONG_SECONDS,
        preview=_preview_move,
    )
    def file_move(
        self,
        ctx: ToolContext,
        source: SourcePath,
        destination: TargetPath,
        overwrite: Overwrite = False,
    ) -> ToolResult[results.MovedPath]:
        """Move or rename a file or folder. `destination` is the new path itself; missing folders above are made."""
        self._refuse_unless_writable()
        origin = locate_removable(ctx.workspace, source)
        target = destination_for(ctx.workspace, origin, destination, overwrite=overwrite)
        is_known = self._known_files.is_known(ctx, source)
        result = move_path(ctx.workspace, origin, target, overwrite=overwrite, is_cancelled=lambda: ctx.is_cancelled)
        if is_known:
            self._known_files.add(ctx, destination)
        return result

    def _preview_copy(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        self._refuse_unless_writable()
        source = locate_existing(ctx.workspace, arguments["source"])
        target = destination_for(
            ctx.workspace, source, arguments["destination"], overwrite=bool(arguments.get("overwrite"))
        )
        return preview_transfer(ctx.workspace, source, target, is_move=False)

    @tool(
        rank=2,
        effects=("write",),
        destructive=True,
        idempotent=False,
        open_world=False,
        timeout_s=LONG_SECONDS,
        preview=_preview_copy,
    )
    def file_copy(
        self,
        ctx: ToolContext,
        source: SourcePath,
        destination: TargetPath,
        overwrite: Overwrite = False,
    ) -> ToolResult[results.CopiedPath]:
        """Copy a file or folder. `destination` is the path of the copy itself; missing folders above are made."""
        self._refuse_unless_writable()
        origin = locate_existing(ctx.workspace, source)
        target = destination_for(ctx.workspace, origin, destination, overwrite=overwrite)
        is_known = self._known_files.is_known(ctx, source)
        result = copy_path(ctx.workspace, origin, target, overwrite=overwrite, is_cancelled=lambda: ctx.is_cancelled)
        if is_known:
            self._known_files.add(ctx, destination)
        return result

    async def _preview_between_hosts(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        copying = Copying(
            arguments.get("from_host") or "",
            arguments["from_path"],
            arguments.get("to_host") or "",
            arguments["to_path"],
            bool(arguments.get("overwrite")),
        )
        copying.refuse_impossible(self.runtime.hosts())
        return copying.build_preview(*await copying.request_facts(ctx), self.runtime.locale)

    @tool(
        rank=3,
        effects=("read", "write", "egress"),
        destructive=True,
        idempotent=True,
        open_world=False,
        timeout_s=COPY_SECONDS,
        preview=_preview_between_hosts,
        display={"from_path": "subject"},
    )
    async def copy_between_hosts(
        self,
        ctx: ToolContext,
        from_path: PathThere,
        to_path: PathThere,
        *,
        from_host: OnHost = None,
        to_host: OnHost = None,
        overwrite: Overwrite = False,
    ) -> ToolResult[results.CarriedFile]:
        """Copy one file from a machine to another. The person is asked each time. Folders: pack them first.

        Args:
            from_path: Path on `from_host`: relative to its first workspace root, or absolute inside any of its roots.
            to_path: Path of the copy itself on `to_host`; missing folders above are made.
        """
        copying = Copying(from_host or "", from_path, to_host or "", to_path, overwrite)
        copying.refuse_impossible(self.runtime.hosts())
        return await copying.run(ctx)

    def _refuse_line_numbers(self, ctx: ToolContext, *texts: tuple[str, str]) -> None:
        """Refuse new texts of a model, each with the old one, that have the line numbers of `read_file`."""
        for new, old in texts if self._known_files.is_of_model(ctx) else ():
            refuse_line_numbers(new, old)

    def _refuse_unless_writable(self) -> None:
        if not self.settings.writable:
            message = "The workspace is read-only here (setting `writable` of fs_tools); nothing was changed."
            raise ToolError("workspace_read_only", message)
