"""A sandbox of `tidebox backend` as Deep Agents for Python wants it: the whole protocol over one JSON object per line."""

import base64
import itertools
import json
import subprocess
import threading
from concurrent.futures import Future
from datetime import datetime, timezone

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
    """One sandbox in a process of its own. Calls may come from many threads at once."""

    def __init__(self, command="tidebox", dialect="python", options=()):
        self._process = subprocess.Popen(
            [command, "backend", "--dialect", dialect, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._ids = itertools.count(1)
        self._waiting = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._read_answers, daemon=True).start()
        self._id = self._call("info")["id"]

    def _read_answers(self):
        for line in self._process.stdout:
            answer = json.loads(line)
            with self._lock:
                future = self._waiting.pop(answer["id"])
            if "error" in answer:
                error = answer["error"]
                future.set_exception(RuntimeError(f"{error['kind']}: {error['message']}"))
            else:
                future.set_result(answer["result"])
        with self._lock:
            waiting, self._waiting = self._waiting, None
        for future in waiting.values():
            future.set_exception(RuntimeError("tidebox has ended"))

    def _call(self, method, **params):
        future = Future()
        params = {name: value for name, value in params.items() if value is not None}
        with self._lock:
            if self._waiting is None:
                raise RuntimeError("tidebox has ended")
            number = next(self._ids)
            self._waiting[number] = future
            line = json.dumps({"id": number, "method": method, "params": params})
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        return future.result()

    def close(self):
        self._process.stdin.close()
        self._process.wait()

    @property
    def id(self) -> str:
        return self._id

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        # Deep Agents lets 0 mean no limit of its own; every command of a sandbox has one, and this is the longest it asks for.
        seconds = 3600 if timeout == 0 else timeout
        answer = self._call("execute", command=command, timeout_ms=None if seconds is None else seconds * 1000)
        if "error" in answer:
            return ExecuteResponse(output=answer["error"]["message"], exit_code=126)
        return ExecuteResponse(answer["output"], answer["exit_code"], answer["truncated"])

    def ls(self, path: str) -> LsResult:
        answer = self._call("ls", path=path)
        if "error" in answer:
            return LsResult(error=answer["error"]["message"])
        return LsResult(entries=[_info(entry) for entry in answer["entries"]])

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        answer = self._call("read", path=file_path, offset=max(offset, 0), limit=max(limit, 0))
        if "error" in answer:
            return ReadResult(error=answer["error"]["message"])
        file_data = {"content": answer["content"], "encoding": answer["encoding"]}
        if answer["modified"] is not None:
            file_data["modified_at"] = _time(answer["modified"])
        window = {name: answer[name] for name in ("total_lines", "start_line", "end_line", "next_offset")}
        return ReadResult(file_data=file_data, no_lines_requested=answer["no_lines_requested"], **window)

    def write(self, file_path: str, content: str) -> WriteResult:
        answer = self._call("write", path=file_path, content=content)
        if "error" in answer:
            return WriteResult(error=answer["error"]["message"])
        return WriteResult(path=file_path)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        answer = self._call("edit", path=file_path, old=old_string, new=new_string, replace_all=replace_all)
        if "error" in answer:
            # As the sandboxes of Deep Agents begin it.
            return EditResult(error=f"Error: {answer['error']['message']}")
        return EditResult(path=file_path, occurrences=answer["occurrences"])

    def delete(self, file_path: str) -> DeleteResult:
        answer = self._call("delete", path=file_path)
        if "error" in answer:
            return DeleteResult(error=answer["error"]["message"])
        return DeleteResult(path=file_path)

    def grep(self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None):
        answer = self._call("grep", pattern=pattern, path=path, glob=glob, max_count=max_count)
        if "error" in answer:
            return GrepResult(error=answer["error"]["message"])
        matches = [{"path": match["path"], "line": match["line"], "text": match["text"]} for match in answer["matches"]]
        return GrepResult(matches=matches, truncated=answer["truncated"] is not None)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        answer = self._call("glob", pattern=pattern, path="/" if path is None else path)
        if "error" in answer:
            return GlobResult(error=answer["error"]["message"])
        matches = [_info(file) for file in answer["files"]]
        truncated = answer["truncated"]
        return GlobResult(matches=matches, truncated=truncated is not None, truncation_reason=truncated)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        encoded = [{"path": path, "content_base64": base64.b64encode(content).decode()} for path, content in files]
        answer = self._call("upload_files", files=encoded)
        return [FileUploadResponse(path=file["path"], error=file["error"]) for file in answer["files"]]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        answer = self._call("download_files", paths=paths)
        return [_download(file) for file in answer["files"]]


def _download(file):
    content = file["content_base64"]
    return FileDownloadResponse(file["path"], None if content is None else base64.b64decode(content), file["error"])


def _time(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat()


def _info(entry):
    info = {"path": entry["path"], "is_dir": entry["is_dir"]}
    if entry["size"] is not None:
        info["size"] = entry["size"]
    if entry["modified"] is not None:
        info["modified_at"] = _time(entry["modified"])
    return info
