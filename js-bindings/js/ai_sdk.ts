/**
 * Adapter for the AI SDK 7: a sandbox as its `Experimental_SandboxSession`, and a sandbox provider for
 * `@ai-sdk/harness`.
 *
 * ```js
 * import { sandboxSession } from "tidebox/ai-sdk";
 *
 * const experimental_sandbox = sandboxSession(await Sandbox.create());
 * await generateText({ model, tools, prompt, experimental_sandbox });
 * ```
 *
 * The interfaces of the SDK are declared here by their structure, so that this module imports no framework. They are
 * experimental: a patch release of the SDK may change them.
 */

import type { Completed } from "./adapter.js";
import {
  WORKSPACE, completed, isMissing, list, readBytes, resolvePath, run, runOnPath, stat, writeBytes,
} from "./adapter.js";
import type { AgentBackend } from "./agent_backend.js";
import { defined } from "./check.js";
import { SandboxError } from "./error.js";
import type { ExecuteOptions } from "./options.js";
import type { Process } from "./process.js";
import { inputStream, outputStreams } from "./process_streams.js";

export { TideboxSandboxProvider, createTideboxSandbox, networkSandboxSession } from "./ai_sdk_harness.js";
export type {
  CreateSessionOptions, NetworkSandboxSession, PortOptions, ProviderSettings, ResumeSessionOptions,
} from "./ai_sdk_harness.js";

/** Signal of a call. */
export interface AbortOptions {
  /** Aborts the call, which then rejects with the reason of the signal. */
  abortSignal?: AbortSignal;
}

/** A path of the sandbox. */
export interface PathOptions extends AbortOptions {
  /** Absolute, or relative to the working directory of the session. */
  path: string;
}

/** Content of a new file. */
export interface ContentOptions<Content> extends PathOptions {
  /** The whole content. An existing file is replaced. */
  content: Content;
}

/** A command of the session. */
export interface CommandOptions extends AbortOptions {
  /** Command line for `bash`. */
  command: string;
  /** Working directory of this command. Default: the one of the session. `cd` does not affect the next command. */
  workingDirectory?: string;
  /** Environment variables of this command. */
  env?: Record<string, string>;
}

/** A command to start. `Stdin` is the type of {@link stdin}. */
export interface SpawnOptions<Stdin = boolean | undefined> extends CommandOptions {
  /** True to keep standard input open. Default false: it is empty. */
  stdin?: Stdin;
}

/** Exit code of a command. */
export interface ExitResult {
  /** 128 + n after signal n, 124 after a timeout. */
  exitCode: number;
}

/** Result of a command. */
export interface RunResult extends ExitResult {
  /** Standard output. U+FFFD replaces invalid UTF-8. */
  stdout: string;
  /** Standard error. U+FFFD replaces invalid UTF-8. */
  stderr: string;
}

/** A running command. */
export interface SandboxProcess {
  /**
   * Standard output. It closes when the process ends. Of output that is not read the sandbox keeps
   * `limits.backgroundOutputBytes`, the newest.
   */
  readonly stdout: ReadableStream<Uint8Array>;
  /** Standard error, like {@link stdout}. */
  readonly stderr: ReadableStream<Uint8Array>;
  /** Resolves when the process ends, and rejects with the reason of an aborted signal. */
  wait(): Promise<ExitResult>;
  /** Kills the process and waits for its end. A second call has no effect. */
  kill(): Promise<void>;
}

/** A running command with an open standard input. */
export interface WritableSandboxProcess extends SandboxProcess {
  /** Standard input of the process. A write resolves when the process has room for it; closing the stream closes it. */
  readonly stdin: WritableStream<Uint8Array>;
}

/** The method `spawn` of a session. */
export interface Spawn {
  /** Starts a command with an open standard input. Rejects without JSPI, and in deterministic sandboxes. */
  (options: SpawnOptions<true> & Required<Pick<SpawnOptions<true>, "stdin">>): Promise<WritableSandboxProcess>;
  /** Starts a command. */
  (options: SpawnOptions<false>): Promise<SandboxProcess>;
  /** Starts a command. */
  (options: SpawnOptions): Promise<SandboxProcess | WritableSandboxProcess>;
}

/** A text file to read. */
export interface ReadTextOptions extends PathOptions {
  /** Encoding of the file, as a label of `TextDecoder`. Default `utf-8`. */
  encoding?: string;
  /** First line, counted from 1. */
  startLine?: number;
  /** Last line. It may be after the end of the file. */
  endLine?: number;
}

/** A text file to write. */
export interface WriteTextOptions extends ContentOptions<string> {
  /** Encoding of the file. Only UTF-8 is supported. */
  encoding?: string;
}

/** A file. */
export interface FileStat {
  /** Type of the file, with symbolic links followed. */
  type: "file" | "directory" | "other";
  /** Size in bytes. */
  size: number;
}

/** An entry of a directory. */
export interface DirectoryEntry {
  /** Name without the directory. */
  name: string;
  /** Type of the file. Symbolic links are not followed. */
  type: "file" | "directory" | "symlink" | "other";
}

/** A sandbox as tools of the AI SDK see it (`Experimental_SandboxSession`). */
export interface SandboxSession {
  /** Description for the instructions of an agent. The SDK does not add it to a prompt. */
  readonly description: string;
  /** Runs a command. A non-zero exit code is a result. */
  readonly run: (options: CommandOptions) => Promise<RunResult>;
  /**
   * Starts a command and returns its process, which ends on its own, by `kill`, or with the sandbox. Without JSPI, and in
   * deterministic sandboxes, it is limited by `limits.wallTimeMs` and `stdin: true` rejects.
   */
  readonly spawn: Spawn;
  /** Reads a file as a stream. Resolves to `null` if it does not exist. */
  readonly readFile: (options: PathOptions) => Promise<ReadableStream<Uint8Array> | null>;
  /** Reads a file. Resolves to `null` if it does not exist. */
  readonly readBinaryFile: (options: PathOptions) => Promise<Uint8Array | null>;
  /** Reads a text file or some of its lines. Resolves to `null` if it does not exist. */
  readonly readTextFile: (options: ReadTextOptions) => Promise<string | null>;
  /** Writes a file from a stream. The file is created after the stream has ended. */
  readonly writeFile: (options: ContentOptions<ReadableStream<Uint8Array>>) => Promise<void>;
  /** Writes a file and creates missing directories. */
  readonly writeBinaryFile: (options: ContentOptions<Uint8Array>) => Promise<void>;
  /** Writes a text file and creates missing directories. */
  readonly writeTextFile: (options: WriteTextOptions) => Promise<void>;
  /** Returns the type and size of a file. Resolves to `null` if it does not exist. */
  readonly stat: (options: PathOptions) => Promise<FileStat | null>;
  /** Lists a directory by name. Resolves to `null` if it does not exist, and rejects for a file. */
  readonly listDirectory: (options: PathOptions) => Promise<DirectoryEntry[] | null>;
  /** Deletes a file or a link. Resolves to `false` if it does not exist, and rejects for a directory. */
  readonly deleteFile: (options: PathOptions) => Promise<boolean>;
}

/** Settings of a session. */
export interface SessionSettings {
  /** Directory that relative paths and commands start in. It must exist. Default `/workspace`. */
  workingDirectory?: string;
  /** Replaces the description for the instructions of an agent. */
  description?: string;
  /**
   * Timeout of a command in milliseconds, for `run` and `spawn`. Default: `limits.wallTimeMs` of the sandbox for `run`, and
   * `limits.backgroundTimeMs` for `spawn`.
   */
  timeoutMs?: number;
}

/** Returns a sandbox as a session of the AI SDK. The sandbox stays open; close it yourself. */
export function sandboxSession(sandbox: AgentBackend, settings: SessionSettings = {}): SandboxSession {
  const { workingDirectory: base = WORKSPACE, timeoutMs } = settings;
  const absolute = (path: string) => resolvePath(base, path);
  const options = ({ workingDirectory = base, env }: CommandOptions) => {
    return { cwd: absolute(workingDirectory), env, timeoutMs };
  };
  const description = `A sandbox with bash and about two hundred commands. Commands start in ${base}.`;
  const session: SandboxSession = {
    description: settings.description ?? description,
    async run(call) {
      const result = await run(sandbox, call.command, { ...options(call), signal: call.abortSignal });
      const { exitCode, stdout, stderr } = result;
      return { exitCode, stdout, stderr };
    },
    spawn: ((call: SpawnOptions) => spawn(sandbox, call, options(call))) as Spawn,
    async readBinaryFile({ path, abortSignal }) {
      return orNull(readBytes(sandbox, absolute(path), abortSignal));
    },
    async readFile(call) {
      const content = await session.readBinaryFile(call);
      if (content === null) return null;
      return new Response(content as Uint8Array<ArrayBuffer>).body as ReadableStream<Uint8Array>;
    },
    async readTextFile({ encoding = "utf-8", startLine = 1, endLine = Infinity, ...call }) {
      const content = await session.readBinaryFile(call);
      if (content === null) return null;
      const text = new TextDecoder(encoding).decode(content);
      return startLine === 1 && endLine === Infinity ? text : text.split("\n").slice(startLine - 1, endLine).join("\n");
    },
    async writeBinaryFile({ path, content, abortSignal }) {
      await writeBytes(sandbox, absolute(path), content, abortSignal);
    },
    async writeFile({ content, ...call }) {
      await session.writeBinaryFile({ ...call, content: new Uint8Array(await new Response(content).arrayBuffer()) });
    },
    async writeTextFile({ path, content, encoding = "utf-8", abortSignal }) {
      const hint = "write UTF-8, or bytes with writeBinaryFile";
      if (!/^utf-?8$/iu.test(encoding)) throw unsupported(`the encoding '${encoding}'`, hint);
      await writeBytes(sandbox, absolute(path), content, abortSignal);
    },
    async stat({ path, abortSignal }) {
      const found = await stat(sandbox, absolute(path), abortSignal);
      return found === undefined ? null : { type: found.kind, size: found.size };
    },
    async listDirectory({ path, abortSignal }) {
      const entries = await list(sandbox, absolute(path), abortSignal);
      return entries === undefined ? null : entries.map(({ name, kind }) => ({ name, type: kind }));
    },
    async deleteFile({ path, abortSignal }) {
      return (await runOnPath(sandbox, ["rm", "--", absolute(path)], abortSignal)) !== undefined;
    },
  };
  return session;
}

function unsupported(feature: string, hint: string): SandboxError {
  return new SandboxError(`tidebox does not support ${feature}; ${hint}`, "UNSUPPORTED");
}

async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Starts a process. Where no process outlives a call, a command whose standard input is empty runs as a call. */
async function spawn(
  sandbox: AgentBackend, call: SpawnOptions, options: Pick<ExecuteOptions, "cwd" | "env" | "timeoutMs">,
): Promise<SandboxProcess | WritableSandboxProcess> {
  const { command, abortSignal, stdin = false } = call;
  abortSignal?.throwIfAborted();
  try {
    const process = await sandbox.spawn(command, { ...defined(options), stdin });
    return liveProcess(process, abortSignal, stdin);
  } catch (error) {
    const isUnsupported = error instanceof SandboxError && error.code === "UNSUPPORTED";
    if (isUnsupported && !stdin) return spawnCommand(sandbox, call, options);
    throw error;
  }
}

function liveProcess(
  process: Process, abortSignal: AbortSignal | undefined, stdin: boolean,
): SandboxProcess | WritableSandboxProcess {
  const kill = () => void process.kill().catch(() => {});
  if (abortSignal?.aborted) kill();
  else abortSignal?.addEventListener("abort", kill, { once: true });
  const ended = async () => {
    const { exitCode } = await process.wait();
    abortSignal?.removeEventListener("abort", kill);
    return exitCode;
  };
  const running: SandboxProcess = {
    ...outputStreams(process),
    async wait() {
      const exitCode = await ended();
      abortSignal?.throwIfAborted();
      if (exitCode === null) throw new SandboxError("the sandbox has ended, and the process with it", "RESTARTED");
      return { exitCode };
    },
    async kill() {
      await process.kill();
      await ended();
    },
  };
  return stdin ? { ...running, stdin: inputStream(process) } : running;
}

/** Runs a command as a call. Its result never rejects, so an unread process causes no unhandled rejection. */
function spawnCommand(
  sandbox: AgentBackend, { command, abortSignal }: CommandOptions, options: ExecuteOptions,
): SandboxProcess {
  abortSignal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(abortSignal?.reason);
  abortSignal?.addEventListener("abort", abort, { once: true });
  const streams = { stdout: outputStream(), stderr: outputStream() };
  const ended = sandbox.execute(command, {
    ...options, signal: controller.signal, onOutput: ({ stream, bytes }) => streams[stream].write(bytes),
  }).finally(() => {
    abortSignal?.removeEventListener("abort", abort);
    for (const stream of Object.values(streams)) stream.close();
  });
  return {
    stdout: streams.stdout.readable,
    stderr: streams.stderr.readable,
    async wait() {
      const result: Completed = completed(await ended);
      abortSignal?.throwIfAborted();
      return { exitCode: result.exitCode };
    },
    async kill() {
      controller.abort();
      await ended;
    },
  };
}

/** A stream of output. A reader that cancels it does not stop the command. */
function outputStream() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const readable = new ReadableStream<Uint8Array>({
    start: (own) => void (controller = own),
    cancel: () => void (controller = undefined),
  });
  return { readable, write: (bytes: Uint8Array) => controller?.enqueue(bytes), close: () => controller?.close() };
}
