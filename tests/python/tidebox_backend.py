"""A sandbox of `examples/json_lines.rs` as a backend of Deep Agents.

The native package has its own binding; this one proves the contract, because nothing but JSON is between the two.
"""

import base64
import itertools
import json
import subprocess
import threading

from deepagents.backends.protocol import (
    DeleteResult,
    EditResult,
    ExecuteResponse,
    FileDownloadResponse,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    SandboxBackendProtocol,
    WriteResult,
)


class TideboxSandbox(SandboxBackendProtocol):
    def __init__(self, server: str, dialect: str = "python") -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([server, dialect], stdin=pipe, stdout=pipe)
        self._numbers = itertools.count()
        self._waiting: dict[int, tuple[threading.Event, list]] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()
        self._id = self._call("id")["value"]

    def _listen(self) -> None:
        for line in self._process.stdout:
            answer = json.loads(line)
            event, kept = self._waiting.pop(answer.pop("id"))
            kept.append(answer)
            event.set()
        for event, _ in list(self._waiting.values()):
            event.set()

    def _call(self, method: str, **arguments) -> dict:
        number = next(self._numbers)
        event, kept = threading.Event(), []
        self._waiting[number] = event, kept
        line = json.dumps({"id": number, "method": method, **arguments}) + "\n"
        with self._lock:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        if not event.wait(300) or not kept:
            raise RuntimeError(f"the sandbox did not answer {method}")
        return kept[0]

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(60)

    @property
    def id(self) -> str:
        return self._id

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        return ExecuteResponse(**self._call("execute", command=command, timeout=timeout))

    def ls(self, path: str) -> LsResult:
        return LsResult(**self._call("ls", path=path))

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        answer = self._call("read", path=file_path, offset=offset, limit=limit)
        if "content" in answer:
            answer["file_data"] = {"content": answer.pop("content"), "encoding": answer.pop("encoding")}
        return ReadResult(**answer)

    def write(self, file_path: str, content: str) -> WriteResult:
        answer = self._call("write", path=file_path, content=content)
        return WriteResult(**answer, path=None if "error" in answer else file_path)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        answer = self._call("edit", path=file_path, old=old_string, new=new_string, replace_all=replace_all)
        return EditResult(**answer, path=None if "error" in answer else file_path)

    def delete(self, file_path: str) -> DeleteResult:
        answer = self._call("delete", path=file_path)
        return DeleteResult(**answer, path=None if "error" in answer else file_path)

    def grep(self, pattern, path=None, glob=None, *, max_count=None) -> GrepResult:
        return GrepResult(**self._call("grep", pattern=pattern, path=path or ".", glob=glob, max_count=max_count))

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        return GlobResult(**self._call("glob", pattern=pattern, path=path or "/"))

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        sent = [{"path": path, "content": base64.b64encode(content).decode()} for path, content in files]
        errors = self._call("upload", files=sent)["errors"]
        return [FileUploadResponse(path=path, error=error) for (path, _), error in zip(files, errors, strict=True)]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        files = self._call("download", paths=paths)["files"]
        content = lambda file: base64.b64decode(file["content"]) if "content" in file else None
        return [
            FileDownloadResponse(path=path, content=content(file), error=file.get("error"))
            for path, file in zip(paths, files, strict=True)
        ]
