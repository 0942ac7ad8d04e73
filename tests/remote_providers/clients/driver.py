"""One script for every official client: runs the same operations with each API.

`driver.py PROVIDER wire` runs each once and reports the next step to `$TIDEBOX_STEPS`, so that a proxy can assign the requests;
`driver.py PROVIDER measure COUNT KIB` prints the wall time and CPU time, in seconds, of a command and of transfers of KIB.
"""

import os
import sys
import time
import urllib.request


class E2b:
    home = "/home/user"
    lists = "labels"

    def create(self):
        from e2b import Sandbox

        self.kind = Sandbox
        self.sandbox = Sandbox.create(timeout=1800, metadata={"thread": "t 1"})
        self.id = self.sandbox.sandbox_id

    def run(self, command):
        from e2b import CommandExitException

        try:
            return self.sandbox.commands.run(command, timeout=60).exit_code
        except CommandExitException as failed:
            return failed.exit_code

    def upload(self, path, content):
        self.sandbox.files.write(path, content)

    def download(self, path):
        return bytes(self.sandbox.files.read(path, format="bytes"))

    def list(self):
        from e2b import SandboxQuery

        return [one.sandbox_id for one in self.kind.list(query=SandboxQuery(metadata={"thread": "t 1"})).next_items()]

    def connect(self):
        self.kind.connect(self.id, timeout=1800)

    def delete(self):
        self.sandbox.kill()


class Daytona:
    home = "/home/daytona"
    lists = "labels"

    def create(self):
        from daytona import CreateSandboxFromSnapshotParams, Daytona

        self.client = Daytona()
        self.sandbox = self.client.create(CreateSandboxFromSnapshotParams(labels={"thread": "t 1"}))
        self.id = self.sandbox.id

    def run(self, command):
        return self.sandbox.process.exec(command, timeout=60).exit_code

    def upload(self, path, content):
        self.sandbox.fs.upload_file(content, path)

    def download(self, path):
        return self.sandbox.fs.download_file(path)

    def list(self):
        from daytona import ListSandboxesQuery

        return [one.id for one in self.client.list(ListSandboxesQuery(labels={"thread": "t 1"}))]

    def connect(self):
        self.client.get(self.id)

    def delete(self):
        self.client.delete(self.sandbox)


class Runloop:
    home = "/home/user"
    lists = "list"

    def create(self):
        from runloop_api_client import RunloopSDK

        self.client = RunloopSDK()
        self.sandbox = self.client.devbox.create(
            metadata={"thread": "t 1"}, launch_parameters={"keep_alive_time_seconds": 1800}
        )
        self.id = self.sandbox.id

    def run(self, command):
        return self.sandbox.cmd.exec(command).exit_code

    def upload(self, path, content):
        self.sandbox.file.upload(path=path, file=content)

    def download(self, path):
        return self.sandbox.file.download(path=path)

    def list(self):
        return [one.id for one in self.client.devbox.list()]

    def connect(self):
        self.client.devbox.from_id(self.id).get_info()

    def delete(self):
        self.sandbox.shutdown()


class Langsmith:
    home = "/root"
    lists = "labels"

    def create(self):
        import asyncio

        from langsmith import Client
        from langsmith.sandbox import SandboxClient

        # The stream that our adapter prefers; without this the client opens a WebSocket.
        os.environ["LANGSMITH_EXPERIMENTAL_FEATURES"] = "sandbox_sse_exec"
        self.client = SandboxClient()

        async def made():
            # Only the generated client of the same package knows labels.
            return await Client().sandboxes.boxes.create(labels={"thread": "t 1"}, idle_ttl_seconds=1800)

        self.id = asyncio.run(made()).name
        self.sandbox = self.client.get_sandbox(self.id)

    def run(self, command):
        return self.sandbox.run(command, timeout=60).exit_code

    def upload(self, path, content):
        self.sandbox.write(path, content)

    def download(self, path):
        return self.sandbox.read(path)

    def list(self):
        import asyncio

        from langsmith import Client

        async def names():
            return [one.name async for one in Client().sandboxes.boxes.list(label=["thread=t 1"])]

        return asyncio.run(names())

    def connect(self):
        self.client.get_sandbox(self.id)

    def delete(self):
        self.client.delete_sandbox(self.id)


class Deno:
    home = "/home/app"
    lists = "labels"

    def create(self):
        from deno_sandbox import DenoDeploy

        self.client = DenoDeploy()
        self.made = self.client.sandbox.create(labels={"thread": "t 1"}, timeout="30m")
        self.sandbox = self.made.__enter__()
        self.id = self.sandbox.id

    def run(self, command):
        process = self.sandbox.spawn("/bin/bash", args=["-c", command], stdout="piped", stderr="piped")
        # It loses output that arrives right after the response, so waiting for its end may block forever.
        return process.wait()["code"]

    def upload(self, path, content):
        self.sandbox.fs.write_file(path, content)

    def download(self, path):
        return self.sandbox.fs.read_file(path)

    def list(self):
        return [one["id"] for one in self.client.sandbox.list(labels={"thread": "t 1"}).items]

    def connect(self):
        with self.client.sandbox.connect(self.id):
            pass

    def delete(self):
        self.sandbox.kill()
        self.made.__exit__(None, None, None)


class Modal:
    home = "/workspace"
    lists = "labels"

    def create(self):
        import modal

        self.modal = modal
        self.app = modal.App.lookup("tidebox", create_if_missing=True)
        self.sandbox = modal.Sandbox.create(
            app=self.app, image=modal.Image.from_registry("python:3.12-slim"), timeout=1800, tags={"thread": "t 1"}
        )
        self.id = self.sandbox.object_id

    def run(self, command):
        process = self.sandbox.exec("bash", "-c", command, timeout=60)
        process.stdout.read()
        process.stderr.read()
        return process.wait()

    def upload(self, path, content):
        self.sandbox.filesystem.write_bytes(content, path)

    def download(self, path):
        return self.sandbox.filesystem.read_bytes(path)

    def list(self):
        return [one.object_id for one in self.modal.Sandbox.list(app_id=self.app.app_id, tags={"thread": "t 1"})]

    def connect(self):
        self.modal.Sandbox.from_id(self.id).exec("true").wait()

    def delete(self):
        self.sandbox.terminate()


def proved(feature):
    """Reports that the step above succeeded. The test compares this with its table, and the requests sent with the adapter's."""
    print(f"proved: {feature}")


def step(name):
    urllib.request.urlopen(f"{os.environ['TIDEBOX_STEPS']}/{name}", data=b"").read()


def wire(client):
    step("create")
    client.create()
    print("id", client.id)
    proved("make")
    step("execute")
    assert client.run("echo out; echo err >&2; exit 3") == 3
    proved("run")
    path = f"{client.home}/file"
    step("upload")
    client.upload(path, b"content\n")
    step("download")
    assert client.download(path) == b"content\n"
    proved("upload")
    proved("download")
    step("list")
    assert client.id in client.list()
    proved(client.lists)
    step("connect")
    client.connect()
    proved("find")
    step("delete")
    client.delete()
    proved("delete")
    step("end")


def medians(count, call):
    """Returns the medians of a call's wall time and of this process's CPU time, including threads."""
    call()
    taken = []
    for _ in range(count):
        begun, worked = time.perf_counter(), time.process_time()
        call()
        taken.append((time.perf_counter() - begun, time.process_time() - worked))
    return " ".join(repr(sorted(figures)[count // 2]) for figures in zip(*taken))


def measure(client, count, kib):
    client.create()
    path = f"{client.home}/large"
    content = bytes(range(256)) * (4 * kib)
    print("execute", medians(count, lambda: client.run("echo hi")))
    print("upload", medians(max(count // 5, 1), lambda: client.upload(path, content)))
    got = [b""]

    def download():
        got[0] = client.download(path)

    print("download", medians(max(count // 5, 1), download))
    assert bytes(got[0]) == content
    client.delete()


if __name__ == "__main__":
    client = {"e2b": E2b, "daytona": Daytona, "runloop": Runloop, "langsmith": Langsmith, "deno": Deno, "modal": Modal}[
        sys.argv[1]
    ]()
    if sys.argv[2] == "wire":
        wire(client)
    else:
        measure(client, int(sys.argv[3]), int(sys.argv[4]))
    sys.stdout.flush()
    # Do not wait for the background threads of clients.
    os._exit(0)
