"""Commands, files and snapshots of a sandbox that waits."""

from __future__ import annotations

import errno
import io
import pathlib
import tarfile
from collections.abc import Callable

import pytest

from tidebox import (
    ExecuteResult,
    FileOperationError,
    Limits,
    Mount,
    Sandbox,
    SandboxError,
)


@pytest.fixture
def sandbox() -> Sandbox:
    return Sandbox()


def test_a_command_line_runs_in_bash(sandbox: Sandbox) -> None:
    result = sandbox.execute("echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 3)
    assert result.output == "out\nerr\n"
    assert not result.ok and result.stopped_by is None and not result.truncated
    assert result.duration > 0 and result.peak_memory_bytes > 0
    assert result.cpu_time is not None and result.cpu_time > 0


def test_a_list_of_arguments_needs_no_shell(sandbox: Sandbox) -> None:
    assert sandbox.execute(["printf", "[%s]", "$HOME", "a b", "it's"]).stdout == "[$HOME][a b][it's]"
    assert sandbox.execute(("no-such-program",)).exit_code == 127
    sandbox.write("script", "#!/bin/sh\necho script $1\n")
    assert sandbox.execute(["./script"]).exit_code == 126
    sandbox.execute("chmod +x script")
    assert sandbox.execute(["./script", "x"]).stdout == "script x\n"


def test_options_of_a_command(sandbox: Sandbox) -> None:
    assert sandbox.execute("cat", stdin=b"\x00\xff").stdout_bytes == b"\x00\xff"
    assert sandbox.execute("cat", stdin="ü").stdout == "ü"
    assert sandbox.execute("pwd", cwd="/tmp").stdout == "/tmp\n"
    assert sandbox.execute("echo $A$B", env={"A": "1", "B": "2"}).stdout == "12\n"
    stopped = sandbox.execute("echo first; sleep 60", timeout=0.2)
    assert (stopped.exit_code, stopped.stopped_by) == (124, "timeout")
    assert stopped.stdout == "first\n"


def test_output_beyond_the_limit_is_the_callers_choice() -> None:
    sandbox = Sandbox(limits=Limits(output_bytes=10))
    head = sandbox.execute("seq 100")
    tail = sandbox.execute("seq 100", on_overflow="tail")
    stopped = sandbox.execute("yes", on_overflow="stop")
    assert (head.stdout[:6], head.truncated, head.exit_code) == ("1\n2\n3\n", True, 0)
    assert tail.stdout_bytes.endswith(b"99\n100\n") and tail.truncated
    assert (stopped.exit_code, stopped.stopped_by) == (137, "output")
    with pytest.raises(ValueError, match="on_overflow"):
        sandbox.execute("true", on_overflow="drop")  # type: ignore[arg-type]


def test_files(sandbox: Sandbox) -> None:
    sandbox.write("a/b.txt", "one\ntwo\nthree\n")
    page = sandbox.read("a/b.txt", offset=1, limit=1)
    assert (page.content, page.start, page.end, page.total_lines, page.next_offset) == ("two", 2, 2, 3, 2)
    assert sandbox.edit("a/b.txt", "two", "2") == 1
    assert sandbox.execute("cat a/b.txt").stdout == "one\n2\nthree\n"
    sandbox.write(pathlib.PurePosixPath("/workspace/data.bin"), b"\x00\x01")
    assert sandbox.read("data.bin").content == b"\x00\x01"
    assert [(entry.path, entry.kind) for entry in sandbox.ls()] == [
        ("/workspace/a", "directory"),
        ("/workspace/data.bin", "file"),
    ]
    assert [file.path for file in sandbox.glob("**/*.txt").files] == ["/workspace/a/b.txt"]
    match = sandbox.grep("three").matches[0]
    assert (match.path, match.line, match.text) == ("/workspace/a/b.txt", 3, "three")
    sandbox.delete("a")
    assert sandbox.execute("ls").stdout == "data.bin\n"


def test_failed_file_operations_are_the_exceptions_of_python(sandbox: Sandbox) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        sandbox.read("missing")
    assert (missing.value.errno, missing.value.filename) == (errno.ENOENT, "/workspace/missing")
    with pytest.raises(IsADirectoryError):
        sandbox.read("/tmp")
    with pytest.raises(PermissionError):
        sandbox.write("/etc/passwd", "x")
    sandbox.write("file", "aa")
    with pytest.raises(NotADirectoryError):
        sandbox.ls("file")
    with pytest.raises(FileOperationError) as twice:
        sandbox.edit("file", "a", "b")
    assert (twice.value.kind, twice.value.filename) == ("string_not_unique", "/workspace/file")
    with pytest.raises(FileOperationError) as absent:
        sandbox.edit("file", "z", "b")
    assert absent.value.kind == "string_not_found"
    assert sandbox.edit("file", "a", "b", replace_all=True) == 2


def test_transfers_have_a_result_for_each_file(sandbox: Sandbox) -> None:
    uploaded = sandbox.upload_files([("/tmp/x", b"1"), ("/etc/passwd", b"2"), ("/tmp/y/z", "3"), ("relative", "")])
    assert [one.error for one in uploaded] == [None, "permission_denied", None, "invalid_path"]
    assert uploaded[0].path == "/tmp/x"
    downloaded = sandbox.download_files(["/tmp/x", "/tmp/missing", "/tmp/y/z"])
    assert [(one.content, one.error) for one in downloaded] == [(b"1", None), (None, "file_not_found"), (b"3", None)]


def test_snapshots_restore_and_fork(sandbox: Sandbox) -> None:
    sandbox.write("file", "before\n")
    snapshot = sandbox.snapshot()
    sandbox.write("file", "after\n")
    sandbox.write("new", "")
    fork = sandbox.fork()
    changes = sandbox.diff(snapshot)
    assert [(change.path, change.kind) for change in changes] == [
        ("/workspace/file", "modified"),
        ("/workspace/new", "added"),
    ]
    assert changes[0].hunks == "@@ -1 +1 @@\n-before\n+after\n"
    sandbox.restore(snapshot)
    assert sandbox.execute("cat file; ls").stdout == "before\nfile\n"
    assert fork.execute("cat file").stdout == "after\n"
    again = Sandbox(snapshot=Sandbox.load_snapshot(snapshot.to_bytes()))
    assert again.execute("cat file").stdout == "before\n"
    with tarfile.open(fileobj=io.BytesIO(snapshot.to_tar())) as tar:
        member = tar.extractfile("workspace/file")
        assert member is not None and member.read() == b"before\n"


def test_a_tar_and_a_directory_give_initial_files(tmp_path: pathlib.Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "file").write_text("seeded\n")
    assert Sandbox(seed_dir=tmp_path).execute("cat sub/file").stdout == "seeded\n"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.add(tmp_path / "sub" / "file", "workspace/unpacked")
    assert Sandbox(tar=buffer.getvalue()).execute("cat unpacked").stdout == "seeded\n"


def test_mounts_of_host_directories(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("host\n")
    sandbox = Sandbox(mounts=[Mount(tmp_path, "/data", "ro"), Mount(tmp_path, "/copy", "cow")])
    assert sandbox.execute("cat /data/file; echo x > /data/file").exit_code == 1
    assert sandbox.execute("echo changed > /copy/file; cat /copy/file").stdout == "changed\n"
    assert (tmp_path / "file").read_text() == "host\n"


def test_shell_sessions_keep_variables_and_directory() -> None:
    sandbox = Sandbox(shell="persistent")
    sandbox.execute("cd /tmp; x=1; f() { echo f$x; }")
    assert sandbox.execute("pwd; f").stdout == "/tmp\nf1\n"
    assert sandbox.execute("pwd", shell="fresh").stdout == "/workspace\n"


def test_deterministic_sandboxes_repeat() -> None:
    command = "date +%s; echo $RANDOM; head -c 4 /dev/urandom | od -An -tx1"
    first, second = (Sandbox(seed=7, time=1_700_000_000).execute(command) for _ in range(2))
    assert first.stdout == second.stdout
    assert first.stdout.startswith("1700000000\n")
    assert first.cpu_time is None


def test_limits_stop_what_exceeds_them() -> None:
    sandbox = Sandbox(limits=Limits(file_bytes=65536, cpu_time=0.2, wall_time=20))
    assert sandbox.execute("head -c 1000000 /dev/zero > big").stopped_by == "files"
    spinning = sandbox.execute("while :; do :; done")
    assert (spinning.exit_code, spinning.stopped_by) == (152, "cpu_time")


def test_without_a_policy_there_is_no_network(sandbox: Sandbox) -> None:
    result = sandbox.execute("curl -sS https://example.com/")
    assert result.exit_code != 0 and result.stderr != ""


def test_bad_arguments_are_named(sandbox: Sandbox) -> None:
    cases: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: sandbox.execute(b"ls"), TypeError, "command"),  # type: ignore[arg-type]
        (lambda: sandbox.execute(["ls", 1]), TypeError, "arguments of command"),  # type: ignore[list-item]
        (lambda: sandbox.execute(1), TypeError, "command"),  # type: ignore[arg-type]
        (lambda: sandbox.execute(["ls", "\udcff"]), ValueError, "command"),
        (lambda: sandbox.execute([]), ValueError, "arguments"),
        (lambda: sandbox.execute(["a\0b"]), ValueError, "NUL"),
        (lambda: sandbox.execute("true", timeout=-1), ValueError, "timeout"),
        (lambda: sandbox.execute("true", timeout=float("nan")), ValueError, "timeout"),
        (lambda: sandbox.execute("true", env={"A=B": "x"}), ValueError, "A=B"),
        (lambda: sandbox.execute("true", cwd="a\0"), ValueError, "cwd"),
        (lambda: sandbox.read("a\0"), ValueError, "path"),
        (lambda: sandbox.read("\ud800"), ValueError, "path"),
        (lambda: sandbox.read(1), TypeError, "path"),  # type: ignore[arg-type]
        (lambda: sandbox.read("a", offset=-1), OverflowError, "."),
        (lambda: sandbox.read("a", limit=2**70), OverflowError, "."),
        (lambda: sandbox.write("a", 1), TypeError, "str or bytes"),  # type: ignore[arg-type]
        (lambda: Sandbox(limits=Limits(processes="x")), TypeError, "processes"),  # type: ignore[arg-type]
        (lambda: Sandbox(limits=Limits(inodes=-1)), ValueError, "inodes"),
        (lambda: Sandbox(shell="zsh"), ValueError, "shell"),  # type: ignore[arg-type]
        (lambda: Sandbox(id=""), ValueError, "id"),
    ]
    for call, kind, message in cases:
        with pytest.raises(kind, match=message):
            call()
    assert sandbox.execute("a\0b").exit_code == 126
    assert sandbox.execute("true").ok


def test_a_path_that_is_not_utf8_has_surrogates(sandbox: Sandbox) -> None:
    sandbox.execute(r"touch $'\xff'")
    path = sandbox.ls()[0].path
    assert path.encode(errors="surrogateescape") == b"/workspace/\xff"
    assert sandbox.read(path.encode(errors="surrogateescape")).content == ""
    # A path that `ls` returned works as it is.
    sandbox.write(path, "new")
    assert sandbox.read(path).content == "new"
    sandbox.delete(path)
    with pytest.raises(FileNotFoundError) as error:
        sandbox.read(path)
    assert error.value.filename == path


def test_a_closed_sandbox_says_so() -> None:
    with Sandbox() as sandbox:
        snapshot = sandbox.snapshot()
    calls: list[Callable[[], object]] = [
        lambda: sandbox.execute("true"),
        lambda: sandbox.ls(),
        lambda: sandbox.snapshot(),
        lambda: sandbox.restore(snapshot),
    ]
    for call in calls:
        with pytest.raises(SandboxError, match="closed") as error:
            call()
        assert error.value.kind == "closed"
    sandbox.close()


def test_representations(sandbox: Sandbox) -> None:
    result: ExecuteResult = sandbox.execute("echo hi")
    assert repr(result) == r"ExecuteResult(exit_code=0, output='hi\n')"
    sandbox.write("f", "x\n")
    assert repr(sandbox.ls()[0]) == "FileInfo(path='/workspace/f', kind='file')"
    assert repr(sandbox.read("f")) == "ReadResult(lines 1-1 of 1)"
    assert repr(sandbox) == f"Sandbox(id='{sandbox.id}')"
