"""Every method of a session."""

import asyncio
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from agents.sandbox.entries import (
    BaseEntry,
    Dir,
    File,
    GitRepo,
    InContainerMountStrategy,
    LocalDir,
    LocalFile,
    RcloneMountPattern,
    S3Mount,
)
from agents.sandbox.errors import (
    ConfigurationError,
    ExecNonZeroError,
    ExecTimeoutError,
    ExecTransportError,
    ExposedPortUnavailableError,
    GitCloneError,
    GitMissingInImageError,
    InvalidManifestPathError,
    MountToolMissingError,
    WorkspaceArchiveReadError,
    WorkspaceArchiveWriteError,
    WorkspaceReadNotFoundError,
    WorkspaceStartError,
    WorkspaceWriteTypeError,
)
from agents.sandbox.files import EntryKind
from agents.sandbox.manifest import Environment, Manifest
from agents.sandbox.session import SandboxSession
from agents.sandbox.types import Group, User
from agents.sandbox.workspace_paths import SandboxPathGrant

from conftest import stream
from tidebox import Limits, NetworkPolicy, Sandbox, SandboxOptions, ToolCall
from tidebox.integrations.openai_agents import TideboxSandboxClient, TideboxSandboxClientOptions


async def read(session: SandboxSession, path: str) -> bytes:
    with await session.read(Path(path)) as file:
        return bytes(file.read())


async def test_exec_returns_bytes_and_exit_code(session: SandboxSession) -> None:
    result = await session.exec("printf '\\377'; pwd; echo oops >&2; exit 3")
    assert (result.stdout, result.stderr, result.exit_code) == (b"\xff/workspace\n", b"oops\n", 3)
    assert not result.ok()


async def test_exec_without_a_shell_expands_nothing(session: SandboxSession) -> None:
    result = await session.exec("printf", "%s|", "$HOME", "it's", shell=False)
    assert result.stdout == b"$HOME|it's|"
    assert (await session.exec("nope", shell=False)).exit_code == 127
    assert (await session.exec("echo $0", shell=["bash", "-c"])).stdout == b"bash\n"


async def test_exec_raises_at_its_timeout_and_at_the_limit(client: TideboxSandboxClient) -> None:
    options = TideboxSandboxClientOptions(limits=Limits(wall_time=0.2))
    async with await client.create(options=options) as session:
        with pytest.raises(ExecTimeoutError) as raised:
            await session.exec("echo begun; sleep 60", timeout=0.1)
        assert raised.value.timeout_s == 0.1
        assert raised.value.context["stdout"] == "begun\n"
        with pytest.raises(ExecTimeoutError):
            await session.exec("sleep 60")
        with pytest.raises(ExecTransportError, match="not negative"):
            await session.exec("true", timeout=-1)


async def test_output_over_the_limit_is_marked(client: TideboxSandboxClient) -> None:
    async with await client.create(options=TideboxSandboxClientOptions(limits=Limits(output_bytes=1000))) as session:
        result = await session.exec("yes | head -c 5000")
    assert len(result.stdout) == 1000
    assert b"truncated" in result.stderr


async def test_other_users_are_rejected(session: SandboxSession) -> None:
    assert (await session.exec("id -un", user="tidebox")).stdout == b"tidebox\n"
    for call in (
        session.exec("true", user="root"),
        session.exec("true", user=User(name="root")),
        session.read(Path("a"), user="root"),
        session.write(Path("a"), stream(b""), user="root"),
        session.ls("/workspace", user="root"),
        session.rm("a", user="root"),
        session.mkdir("a", user="root"),
        session.mv("a", "b", user="root"),
    ):
        with pytest.raises(ConfigurationError, match="'root' is not supported"):
            await call


async def test_files_are_written_and_read(session: SandboxSession) -> None:
    await session.write(Path("a/b.bin"), stream(b"\0\xff"))
    await session.write(Path("/workspace/text"), stream("ä"))
    assert (await read(session, "a/b.bin"), await read(session, "text")) == (b"\0\xff", "ä".encode())
    await session.write(Path("text"), stream(b"new"))
    assert await read(session, "text") == b"new"
    assert await session.read_bounded(Path("text"), max_bytes=2) == b"ne"
    assert await session.read_bounded(Path("text"), max_bytes=9) == b"new"


async def test_file_errors_are_those_of_the_sdk(session: SandboxSession) -> None:
    await session.exec("mkdir d; echo x > f")
    with pytest.raises(WorkspaceReadNotFoundError):
        await session.read(Path("missing"))
    with pytest.raises(WorkspaceReadNotFoundError):
        await session.read_bounded(Path("missing"), max_bytes=1)
    with pytest.raises(WorkspaceArchiveReadError):
        await session.read(Path("d"))
    with pytest.raises(WorkspaceArchiveReadError):
        await session.read_bounded(Path("d"), max_bytes=1)
    with pytest.raises(WorkspaceArchiveWriteError):
        await session.write(Path("d"), stream(b""))
    with pytest.raises(WorkspaceArchiveWriteError):
        await session.write(Path("f/below"), stream(b""))

    class Numbers(io.IOBase):
        def read(self, size: int = -1) -> list[int]:
            return [1]

    with pytest.raises(WorkspaceWriteTypeError):
        await session.write(Path("f"), Numbers())


@pytest.mark.parametrize("path", ["/etc/passwd", "../etc/passwd", "out/passwd", "secret"])
async def test_paths_out_of_the_root_are_rejected(session: SandboxSession, path: str) -> None:
    await session.exec("ln -s /etc out; ln -s /etc/passwd secret; mkdir in; ln -s in inner; echo x > in/f")
    for call in (session.read(Path(path)), session.write(Path(path), stream(b"")), session.ls(path), session.rm(path)):
        with pytest.raises(InvalidManifestPathError):
            await call
    assert await read(session, "inner/f") == b"x\n"


async def test_granted_paths_are_allowed(client: TideboxSandboxClient, tmp_path: Path) -> None:
    (tmp_path / "host.txt").write_text("host")
    grants = (
        SandboxPathGrant(path="/tmp/scratch"),
        SandboxPathGrant(path="/tmp/fixed", read_only=True),
        SandboxPathGrant(path="/mnt/host", read_only=True, host_path=str(tmp_path)),
    )
    async with await client.create(manifest=Manifest(extra_path_grants=grants)) as session:
        await session.write(Path("/tmp/scratch/a"), stream(b"1"))
        assert await read(session, "/tmp/scratch/a") == b"1"
        with pytest.raises(WorkspaceArchiveWriteError):
            await session.write(Path("/tmp/fixed/a"), stream(b"1"))
        await session.exec("ln -s /tmp/fixed link; mkdir -p /tmp/fixed")
        with pytest.raises(WorkspaceArchiveWriteError):
            await session.write(Path("link/a"), stream(b"1"))
        with pytest.raises(InvalidManifestPathError):
            await session.read(Path("/tmp/other"))
        assert await read(session, "/mnt/host/host.txt") == b"host"
        assert (await session.exec("echo x > /mnt/host/new")).exit_code != 0
    assert [path.name for path in tmp_path.iterdir()] == ["host.txt"]


async def test_ls_returns_kinds_and_permissions(session: SandboxSession) -> None:
    await session.exec("mkdir d; printf abc > f; chmod 640 f; ln -s f l; mkfifo p; touch $'new\\nline'")
    entries = {Path(entry.path).name: entry for entry in await session.ls("/workspace")}
    assert list(entries) == ["d", "f", "l", "new\nline", "p"]
    assert [entries[name].kind for name in "dflp"] == [
        EntryKind.DIRECTORY, EntryKind.FILE, EntryKind.SYMLINK, EntryKind.OTHER,
    ]  # fmt: skip
    file = entries["f"]
    assert (file.size, str(file.permissions), file.owner, file.group) == (3, "-rw-r-----", "tidebox", "tidebox")
    assert entries["d"].permissions.directory
    assert [entry.path for entry in await session.ls("f")] == ["/workspace/f"]
    with pytest.raises(ExecNonZeroError):
        await session.ls("missing")


async def test_mkdir_rm_and_mv_follow_their_options(session: SandboxSession) -> None:
    with pytest.raises(ExecNonZeroError):
        await session.mkdir("a/b")
    await session.mkdir("a/b", parents=True)
    await session.write(Path("a/b/f"), stream(b"1"))
    with pytest.raises(ExecNonZeroError):
        await session.rm("a")
    with pytest.raises(ExecNonZeroError):
        await session.rm("missing")
    await session.rm("missing", recursive=True)
    await session.mv("a/b/f", "g")
    assert await read(session, "g") == b"1"
    with pytest.raises(ExecNonZeroError):
        await session.mv("a", "c")
    with pytest.raises(ExecNonZeroError):
        await session.mv("g", "a")
    await session.rm("a", recursive=True)
    assert [Path(entry.path).name for entry in await session.ls(".")] == ["g"]


async def test_same_file_compares_inodes(session: SandboxSession) -> None:
    await session.exec("echo 1 > a; ln a hard; ln -s a soft; echo 1 > b")
    assert await session.same_file("a", "hard")
    assert await session.same_file("a", "soft")
    assert not await session.same_file("a", "soft", follow_symlinks=False)
    assert not await session.same_file("a", "b")


async def test_patches_create_change_move_and_delete(session: SandboxSession) -> None:
    await session.apply_patch({"type": "create_file", "path": "src/a.py", "diff": "+one\n+two\n"})
    assert await read(session, "src/a.py") == b"one\ntwo"
    with pytest.raises(Exception, match="already exists|exists"):
        await session.apply_patch({"type": "create_file", "path": "src/a.py", "diff": "+lost\n"})
    await session.apply_patch(
        {"type": "update_file", "path": "src/a.py", "move_to": "b.py", "diff": "@@\n one\n-two\n+2"}
    )
    assert await read(session, "b.py") == b"one\n2"
    await session.apply_patch({"type": "delete_file", "path": "b.py"})
    assert (await session.exec("find . -type f")).stdout == b""


async def test_new_files_do_not_replace_links(session: SandboxSession) -> None:
    await session.exec("ln -s nowhere dangling")
    with pytest.raises(FileExistsError):
        await session._inner._write_new_file(Path("dangling"), stream(b"x"))
    assert (await session.exec("ls")).stdout == b"dangling\n"


async def test_archives_are_extracted(session: SandboxSession) -> None:
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        member = tarfile.TarInfo("d/f")
        member.size = 1
        archive.addfile(member, io.BytesIO(b"t"))
    tar.seek(0)
    await session.extract("one/a.tar", tar)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("d/f", "z")
    packed.seek(0)
    await session.extract("two/a.zip", packed)
    assert (await read(session, "one/d/f"), await read(session, "two/d/f")) == (b"t", b"z")


async def test_manifests_create_files_and_environment(client: TideboxSandboxClient, tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir/x").write_text("x")
    (tmp_path / "file").write_text("y")
    grant = SandboxPathGrant(path=str(tmp_path), read_only=True)
    manifest = Manifest(
        root="/home/tidebox/project",
        entries={
            "run.sh": File(content=b"echo $NAME"),
            "d": Dir(children={"e": File(content=b"deep")}),
            "copy": LocalDir(src=tmp_path / "dir"),
            "file": LocalFile(src=tmp_path / "file"),
        },
        environment=Environment(value={"NAME": "tide"}),
        extra_path_grants=(grant,),
    )
    async with await client.create(manifest=manifest) as session:
        assert (
            await session.exec("./run.sh; pwd; cat d/e copy/x file")
        ).stdout == b"tide\n/home/tidebox/project\ndeepxy"


async def test_manifests_with_accounts_are_rejected(client: TideboxSandboxClient) -> None:
    alice = User(name="alice")
    for manifest in (Manifest(users=[alice]), Manifest(groups=[Group(name="g", users=[alice])])):
        with pytest.raises(ValueError, match="users and groups are not supported"):
            await client.create(manifest=manifest)


async def test_repositories_need_the_pack_git_and_the_network(client: TideboxSandboxClient) -> None:
    with Sandbox() as sandbox:
        has_git = sandbox.execute("command -v git").exit_code == 0
    entry = GitRepo(repo="a/b", ref="main")
    await assert_entry_is_rejected(client, entry, GitCloneError if has_git else GitMissingInImageError)


async def test_mounts_that_need_missing_tools_are_rejected(client: TideboxSandboxClient) -> None:
    entry = S3Mount(bucket="b", mount_strategy=InContainerMountStrategy(pattern=RcloneMountPattern()))
    await assert_entry_is_rejected(client, entry, MountToolMissingError)


async def assert_entry_is_rejected(client: TideboxSandboxClient, entry: BaseEntry, error: type[Exception]) -> None:
    session = await client.create(manifest=Manifest(entries={"r": entry}))
    with pytest.raises(error):
        await session.start()
    assert not await session.running()


async def test_cancelled_exec_stops_its_command(session: SandboxSession) -> None:
    task = asyncio.create_task(session.exec("sleep 0.3; touch late"))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.5)
    assert (await session.exec("ls")).stdout == b""


async def test_roots_that_only_root_can_create_are_rejected(client: TideboxSandboxClient) -> None:
    with pytest.raises(WorkspaceStartError, match="Permission denied"):
        await client.create(manifest=Manifest(root="/etc/project"))


async def test_options_of_the_client_are_those_of_its_sandboxes() -> None:
    def greet(call: ToolCall) -> str:
        return f"hello {call.arguments[0]}\n"

    client = TideboxSandboxClient(
        sandbox=SandboxOptions(files={"a": "1"}, network=NetworkPolicy(), env={"B": "2"}), tools={"greet": greet}
    )
    options = TideboxSandboxClientOptions(seed=7)
    async with await client.create(options=options) as first, await client.create(options=options) as second:
        assert (await first.exec("cat a; echo $B; greet tide")).stdout == b"12\nhello tide\n"
        random = [(await one.exec("echo $RANDOM; date +%N")).stdout for one in (first, second)]
        assert first.state.sandbox_id != second.state.sandbox_id
    assert random[0] == random[1]
    with pytest.raises(ValueError, match="cwd is not supported"):
        TideboxSandboxClient(sandbox=SandboxOptions(cwd="/tmp"))
    with pytest.raises(ValueError, match="seeds"):
        TideboxSandboxClientOptions(seeds=7)


async def test_sessions_run_between_start_and_shutdown(client: TideboxSandboxClient) -> None:
    session = await client.create()
    assert not await session.running()
    await session.start()
    assert await session.running()
    await session.aclose()
    assert not await session.running()
    await client.delete(session)
    await client.delete(session)
    with pytest.raises(ExecTransportError, match="closed"):
        await session.exec("true")
