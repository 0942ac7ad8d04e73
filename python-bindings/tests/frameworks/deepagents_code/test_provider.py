"""The provider, as Deep Agents Code finds and uses it."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest
from deepagents_code.integrations import sandbox_factory
from deepagents_code.integrations.sandbox_config import SandboxConfig
from deepagents_code.integrations.sandbox_factory import create_sandbox, get_default_working_dir
from deepagents_code.integrations.sandbox_provider import SandboxError, SandboxNotFoundError
from deepagents_code.integrations.sandbox_registry import SandboxRegistry

import tidebox
from tidebox.integrations.deepagents import TideboxSandboxProvider


def saved(state_home: Path) -> list[str]:
    directory = state_home / "tidebox/sandboxes"
    return sorted(path.name for path in directory.iterdir()) if directory.exists() else []


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_missing_framework_is_reported_with_its_extra() -> None:
    code = """
import sys
sys.modules["deepagents"] = None
try:
    import tidebox.integrations.deepagents
except ImportError as error:
    print(error)
"""
    assert 'pip install "tidebox[deepagents]"' in python(code)


def test_missing_package_is_reported_with_its_extra() -> None:
    code = """
import sys
sys.modules["deepagents_code"] = None
from tidebox.integrations.deepagents import TideboxSandbox
try:
    from tidebox.integrations.deepagents import TideboxSandboxProvider
except ImportError as error:
    print(error)
"""
    assert 'pip install "tidebox[deepagents-code]"' in python(code)
    with pytest.raises(AttributeError):
        from tidebox.integrations import deepagents

        deepagents.TideboxNothing  # noqa: B018


def test_registry_finds_the_entry_point(state_home: Path) -> None:
    registry = SandboxRegistry(config=SandboxConfig())
    assert "tidebox" in registry.available_providers()
    metadata = registry.provider_metadata("tidebox")
    assert (metadata.name, metadata.working_dir, metadata.supports_sandbox_id) == ("tidebox", "/workspace", True)
    assert metadata.supports_snapshot_name is False
    assert isinstance(registry.create_provider("tidebox"), TideboxSandboxProvider)
    assert get_default_working_dir("tidebox") == "/workspace"
    assert saved(state_home) == []


def test_config_file_names_the_class_and_its_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "seed").mkdir()
    (tmp_path / "seed/a.txt").write_text("seed")
    (tmp_path / "shared").mkdir()
    config = tmp_path / "config.toml"
    config.write_text(
        f"""
[sandboxes]
default = "tidebox"
[sandboxes.providers.tidebox]
class_path = "tidebox.integrations.deepagents:TideboxSandboxProvider"
[sandboxes.providers.tidebox.params]
save_in = "{tmp_path}/saved"
seed_dir = "{tmp_path}/seed"
env = {{ NAME = "tide" }}
limits = {{ wall_time = 1 }}
mounts = [{{ host = "{tmp_path}/shared", path = "/mnt/shared", mode = "rw" }}]
"""
    )
    registry = SandboxRegistry.load(config)
    monkeypatch.setattr(sandbox_factory, "_get_registry", lambda: registry)
    with create_sandbox("tidebox") as backend:
        assert backend.execute("cat a.txt; echo $NAME; echo 1 > /mnt/shared/made").output == "seedtide\n"
        assert backend.execute("sleep 9").exit_code == 124
        assert [path.name for path in (tmp_path / "saved").iterdir()] == [backend.id]
    assert list((tmp_path / "saved").iterdir()) == []
    assert (tmp_path / "shared/made").read_text() == "1\n"


def test_created_sandbox_is_deleted_at_the_end(tmp_path: Path, state_home: Path) -> None:
    setup = tmp_path / "setup.sh"
    setup.write_text('mkdir project\necho "it\'s $((6 * 7))" > project/notes\n')
    with create_sandbox("tidebox", setup_script_path=str(setup)) as backend:
        assert saved(state_home) == [backend.id]
        assert backend.read("/workspace/project/notes").file_data["content"] == "it's 42\n"
    assert saved(state_home) == []
    with pytest.raises(tidebox.SandboxError, match="deleted"):
        backend.execute("true")


def test_failed_setup_keeps_the_sandbox_as_dcode_does(tmp_path: Path, state_home: Path) -> None:
    setup = tmp_path / "setup.sh"
    setup.write_text("exit 3\n")
    with pytest.raises(RuntimeError, match="Setup failed"), create_sandbox("tidebox", setup_script_path=str(setup)):
        pass
    [left] = saved(state_home)
    TideboxSandboxProvider().delete(sandbox_id=left)
    assert saved(state_home) == []


def test_another_process_attaches_by_id(state_home: Path) -> None:
    code = """
from tidebox.integrations.deepagents import TideboxSandboxProvider
backend = TideboxSandboxProvider().get_or_create()
backend.write("/workspace/kept.txt", "kept")
print(backend.id)
"""
    id = python(code)
    with create_sandbox("tidebox", sandbox_id=id) as backend:
        assert backend.id == id
        assert backend.execute("cat kept.txt; echo more >> kept.txt").output == "kept"
    assert saved(state_home) == [id]
    attach = """
from tidebox.integrations.deepagents import TideboxSandboxProvider
provider = TideboxSandboxProvider()
"""
    del backend
    gc.collect()  # Frees the sandbox, which this process uses until then.
    output = python(attach + f"print(provider.get_or_create(sandbox_id={id!r}).execute('cat kept.txt').output)")
    assert output == "keptmore"
    python(attach + f"provider.delete(sandbox_id={id!r}); provider.delete(sandbox_id={id!r})")
    assert saved(state_home) == []


def test_used_sandbox_is_rejected_in_another_process(state_home: Path) -> None:
    provider = TideboxSandboxProvider()
    backend = provider.get_or_create()
    assert provider.get_or_create(sandbox_id=backend.id).execute("pwd").output == "/workspace\n"
    code = f"""
from tidebox.integrations.deepagents import TideboxSandboxProvider
for call in ("get_or_create", "delete"):
    try:
        getattr(TideboxSandboxProvider(), call)(sandbox_id={backend.id!r})
    except Exception as error:
        print(type(error).__name__, "used by another program" in str(error))
"""
    assert python(code).splitlines() == ["SandboxError True", "SandboxError True"]
    assert backend.execute("echo still here").output == "still here\n"
    provider.delete(sandbox_id=backend.id)


@pytest.mark.parametrize("id", ["tidebox-" + "0" * 32, "../../etc", "", "tidebox-x"])
def test_unknown_ids_are_not_found(id: str, state_home: Path) -> None:
    with pytest.raises(SandboxNotFoundError):
        TideboxSandboxProvider().get_or_create(sandbox_id=id)
    assert saved(state_home) == []


def test_empty_directory_is_not_found(state_home: Path) -> None:
    id = "tidebox-" + "1" * 32
    (state_home / "tidebox/sandboxes" / id).mkdir(parents=True)
    with pytest.raises(SandboxNotFoundError, match="has no saved sandbox"):
        TideboxSandboxProvider().get_or_create(sandbox_id=id)


def test_wrong_parameters_are_rejected(tmp_path: Path, state_home: Path) -> None:
    provider = TideboxSandboxProvider()
    with pytest.raises(TypeError, match="snapshot"):
        provider.get_or_create(snapshot="base")
    with pytest.raises(TypeError, match="wall_clock"):
        provider.get_or_create(limits={"wall_clock": 1})
    with pytest.raises(ValueError, match="must be 'ro' or 'rw'"):
        provider.get_or_create(mounts=[{"host": str(tmp_path), "path": "/mnt/x", "mode": "cow"}])
    with (
        pytest.raises(ValueError, match="snapshot_name is not supported"),
        create_sandbox("tidebox", snapshot_name="base"),
    ):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(SandboxError, match="cannot open the sandbox"):
        provider.get_or_create(save_in=tmp_path / "file")
    assert saved(state_home) == []


async def test_asynchronous_methods_do_the_same(state_home: Path) -> None:
    provider = TideboxSandboxProvider()
    backend = await provider.aget_or_create()
    assert (await backend.aexecute("echo hi")).output == "hi\n"
    await provider.adelete(sandbox_id=backend.id)
    await provider.adelete(sandbox_id=backend.id)
    assert saved(state_home) == []
