// The client and its sessions against the interface of the SDK.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { InMemoryRemoteSnapshotStore, Manifest, NoopSnapshotSpec, SandboxError } from "@openai/agents-core/sandbox";
import { Sandbox } from "tidebox";
import { sandboxSession, TideboxSandboxClient } from "tidebox/openai-agents";

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 255]);
const decode = (bytes) => new TextDecoder().decode(bytes);

/** Checks for an error class of the SDK, its code and its message. */
const error = (code, message) => (thrown) => {
  assert.ok(thrown instanceof SandboxError, String(thrown));
  assert.equal(thrown.code, code);
  assert.match(thrown.message, message);
  return true;
};

describe("a session of an own sandbox", () => {
  let sandbox;
  let session;
  before(async () => {
    sandbox = await Sandbox.create({ files: { "a.txt": "one\ntwo\nthree\n" } });
    session = await sandboxSession(sandbox, { manifest: { environment: { COLOR: "blue" } }, timeoutMs: 5000 });
  });
  after(() => sandbox.close());

  test("runs commands in the workspace with the environment of the manifest", async () => {
    const { wallTimeSeconds, ...result } = await session.exec({ cmd: "pwd; echo $COLOR; echo no >&2; exit 3" });
    assert.deepEqual(result, {
      output: "/workspace\nblue\nno\n", stdout: "/workspace\nblue\n", stderr: "no\n", exitCode: 3, originalTokenCount: undefined,
    });
    assert.ok(wallTimeSeconds >= 0 && wallTimeSeconds < 5);
    await session.exec({ cmd: "mkdir -p sub; cd sub" });
    assert.equal((await session.exec({ cmd: "pwd", workdir: "sub" })).output, "/workspace/sub\n");
    assert.match(await session.execCommand({ cmd: "echo hi" }), /^Chunk ID: \w+\nWall time: [\d.]+ seconds\nProcess exited with code 0\nOutput:\nhi\n$/);
  });

  test("starts the shell that is named, as login shell or not", async () => {
    const login = "shopt -q login_shell && echo login || echo plain";
    assert.equal((await session.exec({ cmd: login })).output, "login\n");
    assert.equal((await session.exec({ cmd: login, login: false, shell: "/bin/bash" })).output, "plain\n");
    assert.equal((await session.exec({ cmd: "echo hi", shell: "zsh" })).exitCode, 127);
  });

  test("runs a command to its end or its timeout", async () => {
    assert.equal((await session.exec({ cmd: "sleep 0.3; echo end", yieldTimeMs: 1 })).output, "end\n");
    const short = await sandboxSession(sandbox, { timeoutMs: 1000 });
    const { exitCode, output } = await short.exec({ cmd: "echo start; sleep 60" });
    assert.equal(exitCode, 124);
    assert.match(output, /^start\n.*1s/);
  });

  test("truncates output to the number of tokens", async () => {
    const { output, originalTokenCount } = await session.exec({ cmd: "seq 1 10000", maxOutputTokens: 50 });
    assert.ok(output.length <= 200, `${output.length} characters`);
    assert.match(output, /tokens truncated/);
    assert.ok(originalTokenCount > 10_000);
  });

  test("returns the address of a server in the sandbox", async () => {
    const serve = "printf 'HTTP/1.0 200 OK\\r\\nContent-Length: 6\\r\\n\\r\\nserved' | nc -lN 8000 >/dev/null";
    const server = await sandbox.spawn(`while :; do ${serve}; done`);
    await sandbox.waitForPort(8000);
    const endpoint = await session.resolveExposedPort(8000);
    assert.deepEqual(endpoint, { host: "127.0.0.1", port: endpoint.port, tls: false, url: `http://127.0.0.1:${endpoint.port}` });
    assert.deepEqual(await session.resolveExposedPort(8000), endpoint);
    assert.equal(await (await fetch(`http://${endpoint.host}:${endpoint.port}/`)).text(), "served");
    await server.kill();
  });

  test("rejects what a sandbox lacks with errors of the SDK", async () => {
    await assert.rejects(session.exec({ cmd: "true", tty: true }), error("unsupported_feature", /pseudo-terminals.*without tty/));
    await assert.rejects(session.exec({ cmd: "true", runAs: "root" }), error("unsupported_feature", /'root'.*omit runAs/));
    await assert.rejects(session.resolveExposedPort(0), error("exposed_port_unavailable", /port 0 .*from 1 to 65535/));
    assert.throws(() => session.createEditor("root"), error("unsupported_feature", /root/));
    assert.equal((await session.exec({ cmd: "id -un", runAs: "tidebox" })).output, "tidebox\n");
    assert.equal(session.supportsPty(), false);
    assert.equal(session.writeStdin, undefined);
    const entry = { type: "git_repo", repo: "a/b" };
    await assert.rejects(session.materializeEntry({ path: "repo", entry }), error("unsupported_feature", /git_repo/));
    const mount = { type: "s3_mount", bucket: "b", mountStrategy: { type: "in_container" } };
    await assert.rejects(session.materializeEntry({ path: "bucket", entry: mount }), error("unsupported_feature", /s3_mount/));
    const users = new Manifest({ users: [{ name: "eve" }] });
    await assert.rejects(session.applyManifest(users), error("unsupported_feature", /manifest\.users/));
  });

  test("reads files, directories and images", async () => {
    await sandbox.uploadFiles([["/workspace/pics/dot.png", PNG]]);
    assert.equal(decode(await session.readFile({ path: "a.txt" })), "one\ntwo\nthree\n");
    assert.equal(decode(await session.readFile({ path: "/workspace/a.txt", maxBytes: 3 })), "one");
    await assert.rejects(session.readFile({ path: "none" }), error("workspace_read_not_found", /none/));
    assert.deepEqual(await session.listDir({ path: "pics" }), [{ name: "dot.png", path: "pics/dot.png", type: "file" }]);
    await assert.rejects(session.listDir({ path: "none" }), error("workspace_read_not_found", /none/));
    assert.ok((await session.listDir({ path: "." })).some(({ path, type }) => path === "pics" && type === "dir"));
    assert.deepEqual([await session.pathExists("a.txt"), await session.pathExists("none")], [true, false]);
    assert.deepEqual([await session.directoryExists("pics"), await session.directoryExists("a.txt")], [true, false]);
    const { image } = await session.viewImage({ path: "pics/dot.png" });
    assert.deepEqual([image.mediaType, [...image.data]], ["image/png", [...PNG]]);
    await assert.rejects(session.viewImage({ path: "none" }), /not found/);
    await assert.rejects(session.viewImage({ path: "pics" }), /not a file/);
    await assert.rejects(session.viewImage({ path: "a.txt" }), /Unsupported image format/);
    await sandbox.execute("truncate -s 11M big.png");
    await assert.rejects(session.viewImage({ path: "big.png" }), /exceeds the 10 MB limit/);
    for (const path of ["/etc/passwd", "../etc"]) await assert.rejects(async () => session.readFile({ path }), /path|root/i, path);
  });

  test("applies patches", async () => {
    const editor = session.createEditor();
    await editor.createFile({ type: "create_file", path: "new/p.txt", diff: "+one\n+two\n" });
    assert.equal(decode(await session.readFile({ path: "new/p.txt" })), "one\ntwo");
    await editor.updateFile({ type: "update_file", path: "a.txt", diff: "@@\n one\n-two\n+2\n three\n" });
    assert.equal(decode(await session.readFile({ path: "a.txt" })), "one\n2\nthree\n");
    await editor.updateFile({ type: "update_file", path: "a.txt", diff: "@@\n-one\n+1\n", moveTo: "moved/b.txt" });
    assert.equal(decode(await session.readFile({ path: "moved/b.txt" })), "1\n2\nthree\n");
    assert.equal(await session.pathExists("a.txt"), false);
    await editor.deleteFile({ type: "delete_file", path: "moved/b.txt" });
    await assert.rejects(editor.deleteFile({ type: "delete_file", path: "moved/b.txt" }), error("apply_patch_file_not_found", /b\.txt/));
    await assert.rejects(editor.updateFile({ type: "update_file", path: "none", diff: "@@\n-a\n+b\n" }), error("apply_patch_file_not_found", /none/));
    await assert.rejects(editor.updateFile({ type: "update_file", path: "new/p.txt", diff: "@@\n-absent\n+b\n" }), error("apply_patch_invalid_diff", /p\.txt/));
    await assert.rejects(editor.updateFile({ type: "update_file", path: "pics/dot.png", diff: "@@\n-a\n+b\n" }), error("apply_patch_decode_error", /UTF-8/));
  });

  test("packs and unpacks the workspace", async (context) => {
    const other = await Sandbox.create();
    context.after(() => other.close());
    await session.materializeEntry({ path: "scratch", entry: { type: "dir", ephemeral: true, children: { t: { type: "file", content: "t" } } } });
    await session.exec({ cmd: "mkdir -p kept; echo kept > kept/k; chmod 750 kept/k; ln -s k kept/link; rm -f big.png" });
    const archive = await session.persistWorkspace();
    const target = await sandboxSession(other);
    await target.hydrateWorkspace(archive);
    const { output } = await target.exec({ cmd: "cat kept/link; stat -c %a kept/k; ls scratch" });
    assert.match(output, /^kept\n750\nls: cannot access 'scratch'/);
    for (const archiveLimits of [{ maxInputBytes: 100 }, { maxMembers: 2 }, { maxExtractedBytes: 3 }]) {
      await assert.rejects(target.hydrateWorkspace(archive, { archiveLimits }), error("archive_error", /more than the limit of/), JSON.stringify(archiveLimits));
    }
    target.setArchiveLimits({ maxMembers: 1 });
    await assert.rejects(target.hydrateWorkspace(archive), error("archive_error", /members/));
    await assert.rejects(target.hydrateWorkspace("no archive", { archiveLimits: null }), /tar/);
    assert.equal((await sandbox.execute("ls -A /tmp")).output, "");
  });

  test("leaves the sandbox open when it is closed", async () => {
    await (await sandboxSession(sandbox)).close();
    assert.equal(await session.running(), true);
  });

  test("reports a closed sandbox", async () => {
    const own = await Sandbox.create();
    const closed = await sandboxSession(own);
    await own.close();
    assert.equal(await closed.running(), false);
    await assert.rejects(closed.exec({ cmd: "true" }), error("exec_transport_error", /closed/));
    await assert.rejects(closed.readFile({ path: "x" }), /closed/);
  });
});

describe("manifests", () => {
  test("files, directories and permissions are created", async (context) => {
    const client = new TideboxSandboxClient();
    const session = await client.create({
      manifest: {
        root: "/repo",
        entries: {
          "README.md": { type: "file", content: "# Read\n" },
          src: { type: "dir", children: { "run.sh": { type: "file", content: "echo $WHO", permissions: 0o755 }, empty: { type: "dir" } } },
        },
        environment: { WHO: { value: "", resolve: async () => "resolved" } },
      },
    });
    context.after(() => session.close());
    assert.equal((await session.exec({ cmd: "pwd; ls -R; ./src/run.sh" })).output, "/repo\n.:\nREADME.md\nsrc\n\n./src:\nempty\nrun.sh\n\n./src/empty:\nresolved\n");
  });

  test("host directories are copied if they are granted", async (context) => {
    const source = realpathSync(mkdtempSync(join(tmpdir(), "tidebox-openai-")));
    context.after(() => rmSync(source, { recursive: true }));
    mkdirSync(join(source, "deep"));
    writeFileSync(join(source, "deep/b.bin"), Uint8Array.of(0, 255));
    const client = new TideboxSandboxClient();
    const entries = { in: { type: "local_dir", src: source }, "one.bin": { type: "local_file", src: join(source, "deep/b.bin") } };
    await assert.rejects(client.create({ manifest: { entries } }), error("local_file_read_error", /extraPathGrants/));
    const manifest = { entries, extraPathGrants: [{ path: source }] };
    const session = await client.create({ manifest });
    context.after(() => session.close());
    assert.equal((await session.exec({ cmd: "od -An -tx1 in/deep/b.bin one.bin" })).output, " 00 ff 00 ff\n");
    symlinkSync("/etc/passwd", join(source, "link"));
    await assert.rejects(client.create({ manifest }), error("local_dir_read_error", /link/));
    const missing = { entries: { a: { type: "local_file", src: join(source, "none") } } };
    await assert.rejects(client.create({ manifest: missing }), error("local_file_read_error", /none/));
  });
});

describe("a client", () => {
  test("resumes a running and a closed sandbox", async () => {
    const client = new TideboxSandboxClient({ files: { "in.txt": "given\n" } });
    const first = await client.create({ manifest: { environment: { NAME: "value" } } });
    await first.exec({ cmd: "cat in.txt > own.txt; rm in.txt" });
    const record = JSON.parse(JSON.stringify(await client.serializeSessionState(first.state)));
    const second = await client.resume(await client.deserializeSessionState(record));
    await second.exec({ cmd: "echo more >> own.txt" });
    assert.equal((await first.exec({ cmd: "cat own.txt" })).output, "given\nmore\n", "the same sandbox");
    await first.close();
    const third = await client.resume(await client.deserializeSessionState(record));
    assert.equal((await third.exec({ cmd: "cat own.txt; ls; echo $NAME" })).output, "given\nown.txt\nvalue\n", "the state of the snapshot");
    await client.delete(third.state);
    assert.equal(await third.running(), false);
    await assert.rejects(client.resume(third.state), error("snapshot_not_restorable", /remote store/));
  });

  test("stores snapshots for another client", async () => {
    const snapshotSpec = { type: "remote", store: new InMemoryRemoteSnapshotStore(), metadata: { owner: "test" } };
    const first = new TideboxSandboxClient({ snapshotSpec });
    const session = await first.create();
    await session.exec({ cmd: "echo kept > kept.txt" });
    const record = JSON.parse(JSON.stringify(await first.serializeSessionState(session.state)));
    assert.equal(record.snapshot.type, "remote");
    await session.close();
    const second = new TideboxSandboxClient({ snapshotSpec });
    const resumed = await second.resume(await second.deserializeSessionState(record));
    assert.equal((await resumed.exec({ cmd: "cat kept.txt" })).output, "kept\n");
    await second.delete(resumed.state);
    assert.equal(await snapshotSpec.store.exists({ id: record.snapshot.id }), false);
    const without = new TideboxSandboxClient();
    await assert.rejects(async () => without.resume(await without.deserializeSessionState(record)), error("snapshot_not_restorable", /closed/));
  });

  test("accepts the snapshots of the SDK and rejects others", async () => {
    const client = new TideboxSandboxClient();
    const none = await client.create({ snapshot: new NoopSnapshotSpec() });
    assert.equal((await client.serializeSessionState(none.state)).snapshot, null);
    await client.delete(none.state);
    const local = await client.create({ snapshot: { type: "local" } });
    assert.equal((await client.serializeSessionState(local.state)).snapshot.type, "local");
    await client.delete(local.state);
    await assert.rejects(client.create({ snapshot: { type: "moon" } }), error("unsupported_feature", /'moon'/));
  });
});
