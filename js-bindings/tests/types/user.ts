// A program as users write it: compiled with all strict options, never run.

import type { ExecuteResult, ExposedPort, HostTool, PortConnection, ProcessInfo, ProviderName, PythonResult, SandboxOptions } from "tidebox";
import { AgentBackend, createSandbox, Process, RemoteProvider, Sandbox, SandboxError, Snapshot } from "tidebox";
import { createTideboxSandbox, sandboxSession } from "tidebox/ai-sdk";
import { bashToolSandbox } from "tidebox/bash-tool";
import { addPack, exportPack, listPacks, removePack } from "tidebox/packs";

const weather: HostTool = async ({ argv, stdout }) => {
  await stdout.write(`sunny in ${argv[1] ?? "the sandbox"}\n`);
};

const options: SandboxOptions = {
  files: { "a.txt": "b", "c.bin": new Uint8Array(2) },
  tools: { weather },
  packs: ["python", { name: "python", from: "/python/", sha256: "0".repeat(64) }],
  limits: { wallTimeMs: 1000 },
  network: { allow: ["api.example.com"], inject: [{ host: "api.example.com", header: "authorization", value: "x" }] },
  mounts: { "/repo": { folder: "./repo", mode: "copyOnWrite" } },
  deterministic: { seed: 1 },
};

export async function local(said: string[]): Promise<number | null> {
  await using sandbox = await Sandbox.create(options);
  const result: ExecuteResult = await sandbox.execute("weather here", { timeoutMs: 1000, signal: AbortSignal.timeout(5) });
  for await (const { stream, text } of sandbox.executeStream("ls")) said.push(stream, text);
  const snapshot: Snapshot = await sandbox.snapshot();
  said.push((await sandbox.diff(Snapshot.fromBytes(snapshot.bytes))).patch);
  await using python = await sandbox.pythonSession();
  const answer: PythonResult = await python.run("1 + 1");
  if (answer.error !== undefined) throw new Error(answer.error.traceback);
  const cat: Process = await sandbox.spawn(["cat"], { stdin: true, tag: "cat", env: { A: "b" } });
  await cat.write("x");
  await cat.signal("SIGTERM");
  for await (const { stream, text } of cat.output({ after: 1 })) said.push(stream, text);
  const listed: ProcessInfo[] = await sandbox.processes();
  said.push(...listed.map(({ command, stoppedBy }) => `${command} ${stoppedBy}`));
  // @ts-expect-error Unknown signal.
  await cat.signal("WINCH");
  await sandbox.waitForPort(8000, { timeoutMs: 1000 });
  await using exposed: ExposedPort = await sandbox.expose(8000, { hostPort: 3000 });
  await using connection: PortConnection = await sandbox.connect(8000);
  await connection.readable.pipeTo(connection.writable);
  said.push(exposed.url, String(exposed.port + exposed.sandboxPort + (await sandbox.ports()).length));
  const read = await sandbox.read("a.txt");
  // @ts-expect-error A text may be absent.
  const content: string = read.content;
  said.push(content, answer.value ?? "");
  const backend: AgentBackend = await sandbox.fork();
  await backend.close();
  return result.exitCode;
}

export async function adapters(backend: AgentBackend): Promise<number> {
  const { exitCode } = await sandboxSession(backend, { timeoutMs: 1000 }).run({ command: "ls" });
  const { stdout } = await bashToolSandbox(backend).executeCommand("ls");
  await (await createTideboxSandbox({ limits: { wallTimeMs: 1000 } }).createSession()).destroy();
  return exitCode + stdout.length;
}

export async function remote(name: ProviderName): Promise<string> {
  const sandbox = await createSandbox(name, { apiUrl: "/proxy", network: { only: ["example.com"] } }).catch((error: unknown) => {
    if (SandboxError.isInstance(error) && error.code === "UNAUTHENTICATED") return undefined;
    throw error;
  });
  const { sandboxes, cursor } = await (await RemoteProvider.open(name)).list({ labels: { a: "b" } });
  // @ts-expect-error Unknown provider.
  await createSandbox("moon");
  return `${sandbox?.id} ${sandboxes[0]?.labels["a"]} ${cursor}`;
}

export async function packs(): Promise<boolean[]> {
  await addPack("python", { onProgress: (what: string) => void what });
  const { sha256 }: { sha256: string } = await exportPack("python", "public/python");
  await removePack(sha256);
  return (await listPacks()).map(({ ready }) => ready);
}
