// One script for every official JavaScript client: runs the same operations as `driver.py` with each API.
//
// `driver.cjs PROVIDER` runs each once and reports the next step to `$TIDEBOX_STEPS`, so that a proxy can assign the requests.

const assert = require("node:assert/strict");

const TTL_SECONDS = 1800;

const daytona = async () => {
  const { Daytona } = require("@daytona/sdk");
  const client = new Daytona();
  const sandbox = await client.create({ labels: { thread: "t 1" } });
  return {
    id: sandbox.id,
    home: "/home/daytona",
    run: async (command) => (await sandbox.process.executeCommand(command, undefined, undefined, 60)).exitCode,
    upload: (path, content) => sandbox.fs.uploadFile(content, path),
    download: (path) => sandbox.fs.downloadFile(path),
    lists: "labels",
    list: async () => {
      const ids = [];
      for await (const found of client.list({ labels: { thread: "t 1" } })) ids.push(found.id);
      return ids;
    },
    connect: () => client.get(sandbox.id),
    delete: () => client.delete(sandbox),
  };
};

const deno = async () => {
  const { Client, Sandbox } = require("@deno/sandbox");
  const client = new Client();
  const sandbox = await Sandbox.create({ labels: { thread: "t 1" }, timeout: "30m" });
  return {
    id: sandbox.id,
    home: "/home/app",
    run: async (command) => {
      const child = await sandbox.spawn("/bin/bash", { args: ["-c", command], stdout: "piped", stderr: "piped" });
      return (await child.output()).status.code;
    },
    upload: (path, content) => sandbox.fs.writeFile(path, new Uint8Array(content)),
    download: (path) => sandbox.fs.readFile(path),
    lists: "labels",
    list: async () => (await client.sandboxes.list({ labels: { thread: "t 1" } })).map((one) => one.id),
    connect: async () => (await Sandbox.connect(sandbox.id)).close(),
    delete: () => sandbox.kill(),
  };
};

const e2b = async () => {
  const { CommandExitError, Sandbox } = require("e2b");
  const timeoutMs = TTL_SECONDS * 1000;
  const sandbox = await Sandbox.create({ timeoutMs, metadata: { thread: "t 1" } });
  return {
    id: sandbox.sandboxId,
    home: "/home/user",
    run: async (command) => {
      try {
        return (await sandbox.commands.run(command, { timeoutMs: 60_000 })).exitCode;
      } catch (error) {
        if (error instanceof CommandExitError) return error.exitCode;
        throw error;
      }
    },
    upload: (path, content) => sandbox.files.write(path, new Uint8Array(content).buffer),
    download: (path) => sandbox.files.read(path, { format: "bytes" }),
    lists: "labels",
    list: async () => {
      const page = await Sandbox.list({ query: { metadata: { thread: "t 1" } } }).nextItems();
      return page.map((one) => one.sandboxId);
    },
    connect: () => Sandbox.connect(sandbox.sandboxId, { timeoutMs }),
    delete: () => sandbox.kill(),
  };
};

const langsmith = async () => {
  const { SandboxClient } = require("langsmith/sandbox");
  // By default it omits the first path segment, unlike its generated half and the Python client.
  const client = new SandboxClient({ apiEndpoint: `${process.env.LANGSMITH_ENDPOINT}/api/v2/sandboxes` });
  // It does not support labels.
  const sandbox = await client.createSandbox(undefined, { idleTtlSeconds: TTL_SECONDS });
  // Otherwise it uses a WebSocket, like the Python client.
  sandbox._wsAvailable = async () => false;
  return {
    id: sandbox.name,
    home: "/root",
    run: async (command) => (await sandbox.run(command, { timeout: 60 })).exit_code,
    upload: (path, content) => sandbox.write(path, new Uint8Array(content)),
    download: (path) => sandbox.read(path),
    lists: "list",
    list: async () => (await client.listSandboxes()).map((one) => one.name),
    connect: () => client.getSandbox(sandbox.name),
    delete: () => client.deleteSandbox(sandbox.name),
  };
};

const modal = async () => {
  const { ModalClient } = require("modal");
  const client = new ModalClient({ logLevel: "error" });
  const app = await client.apps.fromName("tidebox", { createIfMissing: true });
  const image = client.images.fromRegistry("python:3.12-slim");
  const tags = { thread: "t 1" };
  const sandbox = await client.sandboxes.create(app, image, { timeoutMs: TTL_SECONDS * 1000, tags });
  return {
    id: sandbox.sandboxId,
    home: "/workspace",
    run: async (command) => {
      const process = await sandbox.exec(["bash", "-c", command], { timeoutMs: 60_000 });
      await Promise.all([process.stdout.readText(), process.stderr.readText()]);
      return process.wait();
    },
    upload: (path, content) => sandbox.filesystem.writeBytes(new Uint8Array(content), path),
    download: (path) => sandbox.filesystem.readBytes(path),
    lists: "labels",
    list: async () => {
      const ids = [];
      for await (const found of client.sandboxes.list({ appId: app.appId, tags })) ids.push(found.sandboxId);
      return ids;
    },
    connect: async () => (await (await client.sandboxes.fromId(sandbox.sandboxId)).exec(["true"])).wait(),
    delete: () => sandbox.terminate(),
  };
};

const runloop = async () => {
  const { RunloopSDK, toFile } = require("@runloop/api-client");
  const sdk = new RunloopSDK();
  const devbox = await sdk.devbox.create({
    metadata: { thread: "t 1" },
    launch_parameters: { keep_alive_time_seconds: TTL_SECONDS },
  });
  return {
    id: devbox.id,
    home: "/home/user",
    run: async (command) => (await devbox.cmd.exec(command)).exitCode,
    upload: async (path, content) => devbox.file.upload({ path, file: await toFile(content, "upload") }),
    download: async (path) => (await devbox.file.download({ path })).arrayBuffer(),
    lists: "list",
    list: async () => (await sdk.devbox.list()).map((one) => one.id),
    connect: () => sdk.devbox.fromId(devbox.id).getInfo(),
    delete: () => devbox.shutdown(),
  };
};

const CLIENTS = { daytona, deno, e2b, langsmith, modal, runloop };

// Reports that the step above succeeded. The test compares this with its table, and the requests sent with the adapter's.
const proved = (feature) => console.log(`proved: ${feature}`);

const step = (name) => fetch(`${process.env.TIDEBOX_STEPS}/${name}`, { method: "POST" });

async function main() {
  await step("create");
  const client = await CLIENTS[process.argv[2]]();
  console.log("id", client.id);
  proved("make");
  await step("execute");
  assert.equal(await client.run("echo out; echo err >&2; exit 3"), 3);
  proved("run");
  const path = `${client.home}/file`;
  await step("upload");
  await client.upload(path, Buffer.from("content\n"));
  await step("download");
  assert.equal(Buffer.from(await client.download(path)).toString(), "content\n");
  proved("upload");
  proved("download");
  await step("list");
  assert.ok((await client.list()).includes(client.id));
  proved(client.lists);
  await step("connect");
  await client.connect();
  proved("find");
  await step("delete");
  await client.delete();
  proved("delete");
  await step("end");
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
