"""States of sessions: saving, resuming, archives."""

import io
import json
import tarfile
from pathlib import Path

import pytest
from agents.sandbox.entries import File
from agents.sandbox.errors import WorkspaceArchiveReadError, WorkspaceArchiveWriteError
from agents.sandbox.manifest import Manifest
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient
from agents.sandbox.session import SandboxSession, SandboxSessionState
from agents.sandbox.session.sandbox_client import BaseSandboxClientOptions
from agents.sandbox.snapshot import LocalSnapshotSpec

from conftest import stream
from tidebox import Limits
from tidebox.integrations.openai_agents import (
    TideboxSandboxClient,
    TideboxSandboxClientOptions,
    TideboxSandboxSessionState,
)

MANIFEST = Manifest(entries={"given": File(content=b"given"), "cache": File(content=b"cache", ephemeral=True)})


async def output(session: SandboxSession, command: str) -> str:
    return (await session.exec(command)).stdout.decode()


async def stored(client: TideboxSandboxClient, session: SandboxSession) -> SandboxSessionState:
    """Returns the state after it went through JSON."""
    payload = json.loads(json.dumps(client.serialize_session_state(session.state)))
    return client.deserialize_session_state(payload)


@pytest.mark.parametrize("persistence", ["tar", "snapshot"])
async def test_new_client_resumes_from_the_snapshot(tmp_path: Path, persistence: str) -> None:
    client = TideboxSandboxClient()
    options = TideboxSandboxClientOptions(workspace_persistence=persistence, limits=Limits(wall_time=33), seed=5)
    session = await client.create(snapshot=LocalSnapshotSpec(base_path=tmp_path), manifest=MANIFEST, options=options)
    async with session:
        await session.exec(
            "echo 1 > made; chmod 750 made; mkdir empty; ln made hard; ln -s /workspace/made link; rm given"
        )
        await session.exec("echo changed > cache; mkfifo pipe")
    await client.delete(session)

    other = TideboxSandboxClient()
    state = await stored(other, session)
    assert isinstance(state, TideboxSandboxSessionState)
    assert (state.limits, state.seed, state.workspace_persistence) == (Limits(wall_time=33), 5, persistence)
    resumed = await other.resume(state)
    assert not await resumed.running()
    async with resumed:
        assert resumed.state.sandbox_id != session.state.sandbox_id
        assert await output(
            resumed, "cat made hard link cache; stat -c %a made; test -d empty && echo dir; ls given"
        ) == ("1\n1\n1\ncache750\ndir\n")


async def test_snapshot_persistence_keeps_files_outside_of_the_workspace(tmp_path: Path) -> None:
    client = TideboxSandboxClient()
    options = TideboxSandboxClientOptions(workspace_persistence="snapshot")
    session = await client.create(snapshot=LocalSnapshotSpec(base_path=tmp_path), options=options)
    async with session:
        await session.exec("echo kept > /tmp/notes")
    await client.delete(session)
    [file] = tmp_path.iterdir()
    assert file.read_bytes().startswith(b"TIDESNAP")
    async with await TideboxSandboxClient().resume(session.state) as resumed:
        assert await output(resumed, "cat /tmp/notes") == "kept\n"


async def test_same_client_resumes_the_living_sandbox(tmp_path: Path) -> None:
    client = TideboxSandboxClient()
    session = await client.create(manifest=MANIFEST)
    async with session:
        await session.exec("echo 1 > made; echo 2 > /tmp/outside; rm given; echo changed > cache")
    state = await stored(client, session)
    async with await client.resume(state) as resumed:
        assert resumed.state.sandbox_id == session.state.sandbox_id
        assert await output(resumed, "cat made /tmp/outside cache; ls") == "1\n2\ncachecache\nmade\n"


async def test_changed_sandbox_is_reset_to_the_snapshot(tmp_path: Path) -> None:
    client = TideboxSandboxClient()
    session = await client.create(snapshot=LocalSnapshotSpec(base_path=tmp_path))
    async with session:
        await session.exec("echo 1 > made; touch -d 2001-01-01 old")
    [file] = tmp_path.iterdir()
    saved = file.read_bytes()
    state = await stored(client, session)
    file.write_bytes(b"damaged")  # An unchanged sandbox does not read its snapshot.
    async with await client.resume(state) as resumed:
        assert await output(resumed, "cat made; date -r old +%Y") == "1\n2001\n"
        state = await stored(client, resumed)
    file.write_bytes(saved)
    await session._inner.sandbox.execute("echo 2 > made; ln -s /etc out; mkdir -p deep/er")
    async with await client.resume(state) as resumed:
        assert await output(resumed, "cat made; ls") == "1\nmade\nold\n"


async def test_sandbox_without_snapshot_gets_its_manifest_again() -> None:
    client = TideboxSandboxClient()
    session = await client.create(manifest=MANIFEST)
    async with session:
        await session.exec("echo lost > made")
    await client.delete(session)
    async with await client.resume(session.state) as resumed:
        assert await output(resumed, "ls") == "cache\ngiven\n"


async def test_archive_has_relative_names_and_no_skipped_paths(session: SandboxSession) -> None:
    await session.exec(
        "mkdir -p a/b skip/me; echo 1 > a/b/f; ln -s /workspace/a/b/f a/l; touch skip/me/x; echo > /tmp/out"
    )
    session.register_persist_workspace_skip_path("skip/me")
    archive = await session.persist_workspace()
    with tarfile.open(fileobj=archive) as tar:
        members = {member.name: member for member in tar}
    assert list(members) == ["a", "a/b", "a/b/f", "a/l", "skip"]
    assert members["a/l"].linkname == "b/f"


@pytest.mark.parametrize("compression", ["", "gz", "bz2", "xz"])
async def test_archives_of_others_are_hydrated(session: SandboxSession, compression: str) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=f"w:{compression}") as tar:
        member = tarfile.TarInfo("./d/f")
        member.size = 2
        tar.addfile(member, io.BytesIO(b"hi"))
    await session.hydrate_workspace(stream(packed.getvalue()))
    assert await output(session, "cat d/f") == "hi"


@pytest.mark.parametrize(("name", "link"), [("../x", None), ("/x", None), ("l", "/etc"), ("l", "../../x")])
async def test_archives_that_escape_are_rejected(session: SandboxSession, name: str, link: str | None) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        member = tarfile.TarInfo(name)
        if link:
            member.type, member.linkname = tarfile.SYMTYPE, link
        tar.addfile(member)
    with pytest.raises(WorkspaceArchiveWriteError) as raised:
        await session.hydrate_workspace(stream(packed.getvalue()))
    assert "member" in raised.value.context
    assert await output(session, "ls") == ""


@pytest.mark.parametrize("archive", [b"no archive", b"TIDESNAP damaged"])
async def test_damaged_archives_are_rejected(session: SandboxSession, archive: bytes) -> None:
    await session.write(Path("kept"), stream(b""))
    with pytest.raises(WorkspaceArchiveWriteError):
        await session.hydrate_workspace(stream(archive))
    assert await output(session, "ls") == "kept\n"


async def test_closed_sandbox_cannot_be_persisted(client: TideboxSandboxClient) -> None:
    session = await client.create()
    await client.delete(session)
    with pytest.raises(WorkspaceArchiveReadError):
        await session.persist_workspace()


async def test_other_clients_are_rejected(client: TideboxSandboxClient) -> None:
    other = UnixLocalSandboxClient()
    session = await other.create()
    try:
        with pytest.raises(TypeError, match="TideboxSandboxClient"):
            await client.resume(session.state)
        with pytest.raises(TypeError, match="TideboxSandboxClient"):
            await client.delete(session)
    finally:
        await other.delete(session)


def test_options_and_states_are_registered() -> None:
    options = BaseSandboxClientOptions.parse({"type": "tidebox", "seed": 1, "limits": {"wall_time": 2}})
    assert options == TideboxSandboxClientOptions(Limits(wall_time=2), 1)
    assert BaseSandboxClientOptions.parse(json.loads(options.model_dump_json())) == options
    assert SandboxSessionState._subclass_registry["tidebox"] is TideboxSandboxSessionState
