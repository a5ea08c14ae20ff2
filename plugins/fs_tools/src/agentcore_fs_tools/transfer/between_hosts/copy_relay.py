"""The server side of `copy_between_hosts`: query both machines, and relay chunks from one to the other."""

import asyncio
import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agentcore.api import CallPreview, HostInfo, ToolContext, ToolError, ToolResult
from agentcore_fs_tools.text.formatting import show_size
from agentcore_fs_tools.transfer.between_hosts.messages import (
    PIECE_BYTES,
    AskSource,
    AskTarget,
    ChunkDigest,
    Finish,
    M,
    Nothing,
    Question,
    ReadChunk,
    Receive,
    Received,
    SourceFacts,
    TargetFacts,
    WriteChunk,
    read_answer,
    wrong_answer,
)

_PIECE_SECONDS = 60.0
_RECEIVE_SECONDS = 3600.0
"""Time limit for the transfer of one file; the call has its own limit."""

_TEXTS = {
    "en": {
        "server": "the server",
        "host": "host {name}",
        "caution": "A file is carried from one machine to another: from {source} to {target}.",
        "replaces": "It replaces the file that is there.",
        "from": "copy the file {path} ({size}) of {machine}",
        "new": "to {machine}, as the new file {path}",
        "over": "to {machine}, in place of the file {path} ({size}), which is lost",
        "protected": "one of them decides what runs, or what is allowed",
    },
    "zh": {
        "server": "服务器",
        "host": "主机 {name}",
        "caution": "文件将从一台机器传到另一台：从{source}到{target}。",
        "replaces": "它会替换目标处已有的文件。",
        "from": "复制{machine}上的文件 {path}（{size}）",
        "new": "到{machine}，保存为新文件 {path}",
        "over": "到{machine}，替换文件 {path}（{size}），原文件将丢失",
        "protected": "其中一个文件决定运行什么或允许什么",
    },
}


@dataclass(frozen=True, slots=True)
class Copying:
    """One requested copy.

    Args:
        from_host: Host of the source; empty: the server.
        from_path: Path of the source on `from_host`.
        to_host: Host of the destination; empty: the server.
        to_path: Path of the copy itself on `to_host`.
        overwrite: True to replace an existing file.
    """

    from_host: str
    from_path: str
    to_host: str
    to_path: str
    overwrite: bool

    def refuse_impossible(self, hosts: Sequence[HostInfo]) -> None:
        """Check that source and destination are different machines, and that both are available.

        Raises:
            ToolError: `same_host`, `host_not_found`, `host_away`, `host_draining`.
        """
        if self.from_host == self.to_host:
            message = (
                f"Both paths are on {_describe_host(self.from_host)}: `file_copy` copies on one machine. Name two "
                "different hosts, as `list_hosts` gives them; left out, one is the server."
            )
            raise ToolError("same_host", message, host=self.from_host)
        known = {each.name: each for each in hosts}
        for name in filter(None, (self.from_host, self.to_host)):
            if name not in known:
                message = f"There is no host {name!r}; there are {sorted(known)}. Left out, it is the server."
                raise ToolError("host_not_found", message, host=name, hosts=sorted(known))
            if not known[name].is_connected:
                message = f"Host {name!r} is not connected; nothing was copied. Try again once it is back."
                raise ToolError("host_away", message, retryable=True, host=name)
            if not known[name].takes_new:
                message = f"Host {name!r} takes nothing new at the moment, as a person wants it."
                raise ToolError("host_draining", message, host=name)

    async def request_facts(self, ctx: ToolContext) -> tuple[SourceFacts, TargetFacts]:
        """Query source and destination before anything is copied.

        Raises:
            ToolError: Why the copy is not possible.
        """
        source = await _ask_host(ctx, self.from_host, AskSource(path=self.from_path), SourceFacts)
        question = AskTarget(path=self.to_path, size_bytes=source.size_bytes, overwrite=self.overwrite)
        target = await _ask_host(ctx, self.to_host, question, TargetFacts)
        if target.replaced_bytes is not None and not self.overwrite:
            raise wrong_answer(_describe_host(self.to_host))
        return source, target

    def build_preview(self, source: SourceFacts, target: TargetFacts, locale: Literal["en", "zh"]) -> CallPreview:
        """Return the preview that is shown to the user before the copy."""
        texts = _TEXTS[locale]
        here, there = (
            texts["host"].format(name=name) if name else texts["server"] for name in (self.from_host, self.to_host)
        )
        replaced = target.replaced_bytes
        words = [
            texts["from"].format(path=_quote_path(source.path), size=show_size(source.size_bytes), machine=here),
            texts["new"].format(path=_quote_path(target.path), machine=there)
            if replaced is None
            else texts["over"].format(path=_quote_path(target.path), size=show_size(replaced), machine=there),
        ]
        is_protected = source.is_protected or target.is_protected
        caution = [texts["caution"].format(source=here, target=there)]
        return CallPreview(
            paths=(_path_on(self.from_host, source.path), _path_on(self.to_host, target.path)),
            words="\n".join([*words, *([texts["protected"]] if is_protected else [])]),
            is_protected=is_protected,
            # a decision about a new file must not apply to one that replaces another: the caution differs
            caution=" ".join([*caution, *([texts["replaces"]] if replaced is not None else [])]),
        )

    async def run(self, ctx: ToolContext) -> ToolResult:
        """Copy the file.

        Raises:
            ToolError: Why it was not copied; nothing of the copy remains.
        """
        source, target = await self.request_facts(ctx)
        receive = Receive(
            transfer=secrets.token_hex(16),
            path=self.to_path,
            size_bytes=source.size_bytes,
            mode=source.mode,
            overwrite=self.overwrite,
        )
        try:
            async with asyncio.TaskGroup() as group:
                # answered once the file is in place; cancelled with this call, it leaves nothing behind
                receiving = group.create_task(
                    _ask_host(ctx, self.to_host, receive, Received, timeout_s=_RECEIVE_SECONDS)
                )
                passing = group.create_task(self._transfer_chunks(ctx, source, receive.transfer))
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return self._build_result(source, target, passing.result(), is_new=receiving.result().is_new)

    async def _transfer_chunks(self, ctx: ToolContext, source: SourceFacts, transfer: str) -> str:
        """Relay all chunks and return the SHA-256 digest of the file."""
        size = source.size_bytes
        done = 0
        digest = hashlib.sha256()
        while done < size:
            chunk = await self._request_chunk(ctx, source, done)
            digest.update(chunk)
            await _ask_host(ctx, self.to_host, WriteChunk(transfer=transfer, offset=done), Nothing, chunk)
            done += len(chunk)
            ctx.progress(done / size, f"{show_size(done)} of {show_size(size)} ({done:,} of {size:,} bytes)")
        finish = Finish(transfer=transfer, sha256=digest.hexdigest())
        await _ask_host(ctx, self.to_host, finish, Nothing)
        return finish.sha256

    async def _request_chunk(self, ctx: ToolContext, source: SourceFacts, offset: int) -> bytes:
        limit = min(PIECE_BYTES, source.size_bytes - offset)
        asked = ReadChunk(path=self.from_path, version=source.version, offset=offset, limit_bytes=limit)
        machine = _describe_host(self.from_host)
        answer, chunk = await ctx.ask_host(self.from_host, asked.to_json(), timeout_s=_PIECE_SECONDS)
        read = read_answer(ChunkDigest, answer, machine)
        if chunk is None or len(chunk) != limit:
            raise wrong_answer(machine)
        if hashlib.sha256(chunk).hexdigest() != read.sha256:
            message = f"A piece of {self.from_path!r} came from {machine} as another one than was sent. Copy it again."
            raise ToolError("copy_corrupted", message, retryable=True, path=self.from_path)
        return chunk

    def _build_result(self, source: SourceFacts, target: TargetFacts, sha256: str, *, is_new: bool) -> ToolResult:
        facts = {
            "from_host": self.from_host,
            "from_path": source.path,
            "to_host": self.to_host,
            "to_path": target.path,
            "size_bytes": source.size_bytes,
            "sha256": sha256,
            "overwrote": not is_new,
        }
        text = (
            f"Copied {_quote_path(source.path)} of {_describe_host(self.from_host)} to {_quote_path(target.path)} of "
            f"{_describe_host(self.to_host)} ({show_size(source.size_bytes)}, sha256 {sha256})."
        )
        return ToolResult(text, facts)


async def _ask_host(
    ctx: ToolContext,
    host: str,
    question: Question,
    model: type[M],
    data: bytes | None = None,
    *,
    timeout_s: float = _PIECE_SECONDS,
) -> M:
    answer, _ = await ctx.ask_host(host, question.to_json(), data, timeout_s=timeout_s)
    return read_answer(model, answer, _describe_host(host))


def _describe_host(host: str) -> str:
    return f"host {host!r}" if host else "the server"


def _path_on(host: str, path: str) -> str:
    return f"{host}:{path}" if host else path


def _quote_path(path: str) -> str:
    return json.dumps(path, ensure_ascii=False)
