"""A session of Daytona's official Python client, against an emulator or the service."""

import asyncio
import time

from daytona import (
    CreateSandboxFromImageParams,
    CreateSandboxFromSnapshotParams,
    Daytona,
    DaytonaConflictError,
    DaytonaNotFoundError,
    DaytonaTimeoutError,
    FileDownloadRequest,
    FileUpload,
    ListSandboxesQuery,
    Resources,
    SessionExecuteRequest,
)

from session import GROWS, WAITS, nothing_grows, proved, raises, until

daytona = Daytona()
params = CreateSandboxFromSnapshotParams(
    name="one", labels={"thread_id": "t 1"}, env_vars={"A": "b"}, network_block_all=True, auto_stop_interval=7
)
sandbox = daytona.create(params)
assert (sandbox.state.value, sandbox.name, sandbox.auto_stop_interval) == ("started", "one", 7), sandbox
assert sandbox.network_block_all is True
raises(DaytonaConflictError, lambda: daytona.create(CreateSandboxFromSnapshotParams(name="one")))

# One-shot commands: both streams in one text, variables, directory, exit codes, time.
process = sandbox.process
done = process.exec("echo out; echo $A $X; pwd", env={"X": "1"}, cwd="/tmp")
assert (done.result, done.exit_code) == ("out\nb 1\n/tmp\n", 0), done
proved("make")
assert process.exec("echo both >&2; exit 3").exit_code == 3
proved("run")
assert process.exec("echo err >&2").result == "err\n"
raises(DaytonaTimeoutError, lambda: process.exec(GROWS, timeout=3))
proved("limit")
nothing_grows(lambda line: process.exec(line).result)
proved("killed")
assert process.exec("true", cwd="/nope").exit_code == -1
assert process.exec("seq 5 | sort -r | head -n 2 | tr '\\n' ' '").result == "5 4 "

# Sessions keep the shell state, separate the streams, and end with their shell.
process.create_session("s")
assert process.execute_session_command("s", SessionExecuteRequest(command="cd /tmp; B='x y'; f() { echo f; }")).exit_code == 0
said = process.execute_session_command("s", SessionExecuteRequest(command="pwd; echo $B; f; echo err >&2; (exit 3)"))
assert (said.stdout, said.stderr, said.exit_code) == ("/tmp\nx y\nf\n", "err\n", 3), said
proved("streams")
running = process.execute_session_command("s", SessionExecuteRequest(command=f"{WAITS}; printf two", run_async=True))
assert process.get_session_command("s", running.cmd_id).exit_code is None
out, err = [], []


async def see(piece):
    out.append(piece)
    if "first" in piece:
        await asyncio.to_thread(sandbox.fs.upload_file, b"", "/tmp/seen")


asyncio.run(process.get_session_command_logs_async("s", running.cmd_id, see, err.append))
assert "".join(out) == "first\nsecond\ntwo\n" and err == [], (out, err)
proved("live")
until(lambda: process.get_session_command("s", running.cmd_id).exit_code is not None)
logs = process.get_session_command_logs("s", running.cmd_id)
assert logs.stdout == "first\nsecond\ntwo\n" and logs.stderr == "", logs
assert len(process.get_session("s").commands) == 3 and [s.session_id for s in process.list_sessions()] == ["s"]
gone = process.execute_session_command("s", SessionExecuteRequest(command="exit 3", run_async=True))
time.sleep(1)
assert process.get_session_command("s", gone.cmd_id).exit_code is None
process.delete_session("s")
raises(DaytonaNotFoundError, lambda: process.get_session("s"))

# Files: text, bytes, many, lists, moves, searches.
files = sandbox.fs
assert sandbox.get_work_dir() == "/home/daytona" == sandbox.get_user_home_dir()
every_byte = bytes(range(256)) * 4096
files.upload_file(every_byte, "/home/daytona/a/bytes")
assert files.download_file("/home/daytona/a/bytes") == every_byte
proved("upload")
proved("download")
files.upload_files([FileUpload(source=str(n).encode(), destination=f"/home/daytona/many/{n}") for n in range(5)])
assert process.exec("cat many/*").result == "01234"
assert sorted(entry.name for entry in files.list_files("/home/daytona/many")) == ["0", "1", "2", "3", "4"]
some = files.download_files([FileDownloadRequest(source="/home/daytona/many/3"), FileDownloadRequest(source="/none")])
assert some[0].result == b"3" and some[0].error is None, some
assert some[1].error_details.code == "FILE_NOT_FOUND", some
raises(DaytonaNotFoundError, lambda: files.download_file("/none"))
files.create_folder("/home/daytona/new", "755")
files.move_files("/home/daytona/many/3", "/home/daytona/new/three")
info = files.get_file_info("/home/daytona/new/three")
assert (info.size, info.is_dir) == (1, False) and files.get_file_info("/home/daytona/new").is_dir
files.upload_file(b"alpha\nbeta\n", "/home/daytona/new/words.txt")
found = files.find_files("/home/daytona/new", "beta")
assert [(match.file, match.line, match.content) for match in found] == [("/home/daytona/new/words.txt", 2, "beta")]
assert files.search_files("/home/daytona", "*.txt").files == ["/home/daytona/new/words.txt"]
assert files.replace_in_files(["/home/daytona/new/words.txt"], "beta", "gamma")[0].success
assert process.exec("cat new/words.txt").result == "alpha\ngamma\n"
files.set_file_permissions("/home/daytona/new/words.txt", mode="700")
assert process.exec("stat -c %a new/words.txt").result == "700\n"
files.delete_file("/home/daytona/new", recursive=True)
raises(DaytonaNotFoundError, lambda: files.get_file_info("/home/daytona/new"))

# Lists and lifetimes.
image = CreateSandboxFromImageParams(image="debian:12", resources=Resources(cpu=2, memory=4), labels={"thread_id": "t 2"})
second = daytona.create(image)
assert (second.cpu, second.memory) == (2, 4)
listed = lambda labels: [found.id for found in daytona.list(ListSandboxesQuery(labels=labels, limit=1))]
assert listed({"thread_id": "t 1"}) == [sandbox.id] and sorted(listed({})) == sorted([sandbox.id, second.id])
proved("list")
sandbox.set_labels({"thread_id": "t 3"})
assert listed({"thread_id": "t 1"}) == [] and listed({"thread_id": "t 3"}) == [sandbox.id]
proved("labels")
assert daytona.get("one").id == sandbox.id
assert daytona.get(sandbox.id).process.exec("cat many/2").result == "2"
proved("find")
sandbox.set_autostop_interval(30)
sandbox.set_auto_delete_interval(60)
sandbox.stop()
assert sandbox.state.value == "stopped"
sandbox.start()
assert sandbox.process.exec("cat a/bytes | wc -c").result == f"{len(every_byte)}\n"
proved("wake")
sandbox.delete(wait=True)
raises(DaytonaNotFoundError, lambda: daytona.get("one"))
daytona.delete(second)
assert listed({}) == []
proved("delete")
print("the session is done")
