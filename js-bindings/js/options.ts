/** Options and their validation. An invalid option is an error that names it. */

import { defined, isBytes, isContent, isCount, isText, checkKeys, checkRecord, invalidOptions } from "./check.js";
import type { HostTool } from "./host_tool.js";
import type { KernelOptions, MountSettings } from "./messages.js";
import type { NetworkOptions } from "./network_options.js";
import { checkNetwork } from "./network_options.js";
import type { LocatedPack } from "./packs.js";
import type { Platform } from "./platform.js";
import type { Thread } from "./pool.js";
import { SandboxError } from "./error.js";
import { messageOf } from "./error_message.js";
import { hasJspi } from "./suspension.js";
import { Snapshot } from "./snapshot.js";

/** Resource limits of a sandbox. Sizes are in bytes. `core/src/limits.rs` explains the defaults. */
export interface Limits {
  /** Wall time of a command without a timeout. Default 120,000. Exit code 124. */
  wallTimeMs?: number;
  /** Processor time of one command, over all its processes. Default unlimited. Exit code 152. */
  cpuTimeMs?: number;
  /** Linear memory of one process. Default 512 MiB. */
  processMemoryBytes?: number;
  /** Linear memory of all live processes. Default 1 GiB. */
  sandboxMemoryBytes?: number;
  /** Live processes. Default 256. */
  processes?: number;
  /** File descriptors of one process. Default 1,024. */
  descriptors?: number;
  /** Capacity of a pipe. Default 64 KiB. */
  pipeBytes?: number;
  /** Sockets of all processes together. Default 1,024. */
  sockets?: number;
  /** Captured output of one command. Beyond it, `outputOverflow` of the command applies. Default 8 MiB. */
  outputBytes?: number;
  /** Total bytes of files written by the sandbox. Default 512 MiB. */
  fileBytes?: number;
  /** Size of one file. Default 512 MiB. */
  singleFileBytes?: number;
  /** Files, directories and links. Default 200,000. */
  inodes?: number;
  /** Length of a path. Default 4,096. */
  pathBytes?: number;
  /** Symbolic links followed in one path. Default 40. */
  symlinkDepth?: number;
  /** Arguments and environment of one process. Default 2 MiB. */
  argumentBytes?: number;
  /** Size of a WebAssembly module that a guest may start. Default 64 MiB. */
  moduleBytes?: number;
  /** Nested shell function calls, and depth of nested processes. Default 1,000; at most 320 with JSPI. */
  nesting?: number;
  /** State of a persistent shell session. Default 4 MiB. */
  shellStateBytes?: number;
  /** Processes that outlive their call. Default 16. */
  backgroundProcesses?: number;
  /** Output kept of each of them; older output is dropped. Default 1 MiB. */
  backgroundOutputBytes?: number;
  /** Linear memory of all of them together. Default 512 MiB. */
  backgroundMemoryBytes?: number;
  /** Wall time of each of them. Default 24 hours. Exit code 124. */
  backgroundTimeMs?: number;
  /** Processor time of each of them in percent of one core, beyond a burst of 10 seconds. Default 50. */
  backgroundCpuPercent?: number;
}

/** A mounted host directory. */
export interface Mount {
  /** The directory. A relative path is resolved against the working directory of the application. */
  folder: string | URL;
  /**
   * `readOnly` (default): the directory cannot be changed. `readWrite`: changes are written to the directory immediately; host
   * storage has no quota. `copyOnWrite`: changes stay in the sandbox and count as its files; such a sandbox has no snapshots and
   * forks, and loses the changes if its worker has to be restarted.
   */
  mode?: "readOnly" | "readWrite" | "copyOnWrite";
}

/** Options of a new sandbox. */
export interface SandboxOptions {
  /** Initial files by path. Relative paths are resolved against the working directory. A WebAssembly module is executable. */
  files?: Readonly<Record<string, string | Uint8Array>>;
  /** Starts from the files and the shell session of a snapshot. {@link files} are added. */
  snapshot?: Snapshot;
  /**
   * Starts from the files of a tar archive with names relative to `/`. {@link files} are added. Names with `..` and device files
   * are rejected.
   */
  tar?: Uint8Array;
  /**
   * Environment of every command, in addition to the defaults (`PATH`, `HOME`, `USER`, `LANG`, ...). Variables of the host are
   * not passed.
   */
  env?: Readonly<Record<string, string>>;
  /** Default working directory of commands. Default `/workspace`. */
  cwd?: string;
  /** Resource limits. */
  limits?: Limits;
  /**
   * Makes runs deterministic: the clock starts at `timeMs` (default 0) and advances only while all programs wait, and random
   * numbers derive from `seed` (default 0). `true` selects the defaults.
   */
  deterministic?: boolean | {
    /** Seed of the random numbers. Default 0. */
    seed?: number;
    /** Start time of the clock in milliseconds since the Unix epoch. Default 0. */
    timeMs?: number;
  };
  /** Host name of the sandbox. Default `tidebox`. */
  hostname?: string;
  /** Sandbox id. Default: `sb-` and 128 random bits. */
  id?: string;
  /** `fresh` (default) starts a new shell for each command. `persistent` continues the shell session of the previous command. */
  shellMode?: "fresh" | "persistent";
  /**
   * Custom commands by name. Each one is installed as `/usr/local/bin/NAME` and takes precedence over a command of that name in
   * `/bin`. A function is a host tool and runs in this thread. Bytes are a WebAssembly module (WASI preview1) that runs in the
   * sandbox. In a browser, functions require an engine that can suspend WebAssembly (JSPI).
   */
  tools?: Readonly<Record<string, HostTool | Uint8Array>>;
  /** Network policy. Default: no network. Requires JSPI in a browser. */
  network?: NetworkOptions;
  /**
   * Copies a host directory into the working directory. {@link files} are added. It is read once; later changes on either side
   * are not visible to the other. Modes, times and links are kept. Links are not followed, so files outside the directory are not
   * copied. FIFOs, sockets and devices are rejected. A relative path is resolved against the working directory of the
   * application. Node and Deno on Unix.
   */
  seedDirectory?: string | URL;
  /** Mounted host directories by mount point. A string or URL is a directory that is mounted read-only. Node and Deno on Unix. */
  mounts?: Readonly<Record<string, string | URL | Mount>>;
  /**
   * Optional runtimes: `["python"]` adds CPython with numpy and pandas, `["python-slim"]` CPython without them, `["git"]` Git. A
   * pack has to be installed first (`npx tidebox pack add python`). Default: none. Node 24.20 and newer, Deno, and browsers. A page downloads a
   * pack once from a server of the application ({@link PackOption.from}) and keeps it in the storage of the browser.
   */
  packs?: readonly (PackName | PackOption)[];
  /**
   * `pool` (default in Node and Deno): the sandbox shares a worker with others. It starts in about a millisecond; the commands of all sandboxes of a
   * worker share its processor time. `own`: the sandbox has a separate worker, which costs some 15 MiB and 40 ms, and shares
   * neither processor time nor the memory of the kernel with others. `own` is the default in pages, and for sandboxes with
   * {@link packs} or {@link mounts}.
   *
   * `caller`: the sandbox runs in the thread that creates it, between the turns of its event loop. It requires JSPI, has no packs,
   * and its commands start modules up to 1 MiB unless {@link Limits.moduleBytes} allows more. Nothing can terminate this thread.
   */
  thread?: "pool" | "own" | "caller";
}

/** Name of a pack. A sandbox can have one of `python` and `python-slim`. */
export type PackName = "python" | "python-slim" | "git";

/** A pack of a sandbox. */
export interface PackOption {
  /** Its name. */
  name: PackName;
  /** Directory that contains packs. Default: `tidebox/packs` in the user's cache directory. Node and Deno. */
  folder?: string;
  /**
   * URL from which a page downloads the pack if the browser does not have it: a directory written by `npx tidebox pack export
   * python DIRECTORY`. Relative to the page. Requires a secure context (`https` or `localhost`). Pages only.
   */
  from?: string | URL;
  /**
   * SHA-256 of `pack.json` in that directory in hexadecimal digits, as printed by `pack export`. `pack.json` has the hashes of
   * all other files. Without it, the content of {@link from} is trusted like the page's own scripts. Pages only.
   */
  sha256?: string;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call. Completed effects are not undone. */
  signal?: AbortSignal;
}

/** A chunk of the output of a command. */
export interface OutputChunk {
  /** Stream that the command wrote to. */
  readonly stream: "stdout" | "stderr";
  /** The bytes as written. A character may be split between two chunks. */
  readonly bytes: Uint8Array;
}

/** Options of one command, for direct callers; the tool of Deep Agents passes none. */
export interface ExecuteOptions extends CallOptions {
  /**
   * Cancels the command: it and the processes that it started are killed; other commands and files are not affected. The result
   * has the output up to then, exit code 137 and `stoppedBy` `cancelled`.
   */
  signal?: AbortSignal;
  /** Timeout in milliseconds. Default `limits.wallTimeMs`; 0 ends the command immediately. */
  timeoutMs?: number;
  /** Working directory of this command. */
  cwd?: string;
  /** Environment variables of this command. */
  env?: Readonly<Record<string, string>>;
  /** Standard input. */
  stdin?: string | Uint8Array;
  /** Overrides the shell mode of the sandbox for this command. */
  shellMode?: "fresh" | "persistent";
  /**
   * Action when the output exceeds `limits.outputBytes`; `truncated` is set in any case. `head` (default) keeps the first bytes and
   * `tail` the last ones, and the command continues. `stop` kills it: exit code 137 and `stoppedBy` `output`.
   */
  outputOverflow?: "head" | "tail" | "stop";
  /**
   * Treatment of processes that still run when the command has ended, such as a server started by `server &`. `end` (default)
   * kills them. `keep` lets them run on as one process, which `process` of the result names; that fails with
   * the code `UNSUPPORTED` where processes cannot outlive a call (see `spawn`), and at providers. A timeout or a
   * cancellation kills everything.
   */
  background?: "end" | "keep";
  /** Receives chunks of output as they arrive, in order. If it throws, the command is stopped and the result has the error. */
  onOutput?: (chunk: OutputChunk) => void;
  /** Receives standard output as it arrives, as text. U+FFFD replaces invalid UTF-8. */
  onStdout?: (text: string) => void;
  /** Receives standard error as it arrives, as text. U+FFFD replaces invalid UTF-8. */
  onStderr?: (text: string) => void;
}

const LIMITS: readonly (keyof Limits)[] = [
  "wallTimeMs", "cpuTimeMs", "processMemoryBytes", "sandboxMemoryBytes", "processes", "descriptors", "pipeBytes", "sockets", "outputBytes",
  "fileBytes", "singleFileBytes", "inodes", "pathBytes", "symlinkDepth", "argumentBytes", "moduleBytes", "nesting",
  "shellStateBytes", "backgroundProcesses", "backgroundOutputBytes", "backgroundMemoryBytes", "backgroundTimeMs",
  "backgroundCpuPercent",
];

const OPTIONS = [
  "files", "snapshot", "tar", "env", "cwd", "limits", "deterministic", "hostname", "id", "shellMode", "tools", "network",
  "mounts", "packs", "seedDirectory", "thread",
];

const EXECUTE_OPTIONS = [
  "timeoutMs", "cwd", "env", "stdin", "shellMode", "outputOverflow", "background", "signal", "onOutput", "onStdout", "onStderr",
];

const OVERFLOWS: readonly unknown[] = ["head", "tail", "stop"];

const MODES: readonly unknown[] = ["readOnly", "readWrite", "copyOnWrite"];

/** @internal Validated options: for the kernel, and for the caller's thread. */
export interface Checked {
  readonly kernel: KernelOptions;
  readonly tools: Readonly<Record<string, HostTool>>;
  readonly fetch: typeof fetch | undefined;
  readonly packs: readonly PackOption[];
  readonly thread: Thread;
  /** The pack that is being built. */
  readonly preinit?: LocatedPack;
}

/** @internal Validates options. */
export function checkOptions(options: SandboxOptions, platform: Platform): Checked {
  checkKeys("option", options, OPTIONS);
  const { files, snapshot, tar, env, cwd, limits, deterministic, hostname, id, shellMode } = options;
  const kernel: KernelOptions = {};
  if (files !== undefined) kernel.files = checkRecord("files", files, isContent, "a string or a Uint8Array");
  if (snapshot !== undefined && tar !== undefined) throw invalidOptions("snapshot and tar are mutually exclusive");
  if (snapshot !== undefined && !(snapshot instanceof Snapshot)) throw invalidOptions("snapshot must be a Snapshot; see Snapshot.fromBytes");
  if (tar !== undefined && !isBytes(tar)) throw invalidOptions("tar must be a Uint8Array");
  if (env !== undefined) kernel.env = checkRecord("env", env, isText, "a string");
  if (limits !== undefined) {
    checkKeys("limit", limits, LIMITS);
    kernel.limits = checkRecord("limits", limits, isCount, "a non-negative number");
  }
  for (const [name, value] of Object.entries({ cwd, hostname, id })) {
    if (value !== undefined && !isText(value)) throw invalidOptions(`${name} must be a string`);
  }
  checkShellMode(shellMode);
  if (deterministic) {
    const { seed = 0, timeMs = 0 } = deterministic === true ? {} : deterministic;
    if (!isCount(seed) || !isCount(timeMs)) throw invalidOptions("deterministic: seed and timeMs must be non-negative numbers");
    kernel.deterministic = { seed, timeMs };
  }
  Object.assign(kernel, defined({ snapshot: snapshot?.bytes, tar, cwd, hostname, id, shellMode }));
  const tools = checkTools(options.tools ?? {}, kernel);
  if (options.network !== undefined) kernel.network = checkNetwork(options.network, platform.connectsByName);
  if (options.mounts !== undefined) kernel.mounts = checkMounts(options.mounts, platform);
  if (options.seedDirectory !== undefined) kernel.seedDirectory = checkDirectory("seedDirectory", options.seedDirectory, platform);
  const packs = checkPacks(options.packs ?? []);
  return { kernel, tools, fetch: options.network?.fetch, packs, thread: checkThread(options.thread ?? defaultThread(platform, kernel, packs), kernel, packs) };
}

/** Key of a global that tests set: the default of {@link SandboxOptions.thread}. */
const THREAD = Symbol.for("tidebox.thread");

function defaultThread(platform: Platform, { mounts = [] }: KernelOptions, packs: readonly PackOption[]): unknown {
  const forced: unknown = Reflect.get(globalThis, THREAD);
  return forced ?? (packs.length > 0 || mounts.length > 0 ? "own" : platform.defaultThread);
}

function checkThread(chosen: unknown, kernel: KernelOptions, packs: readonly PackOption[]): Thread {
  const { mounts = [] } = kernel;
  if (chosen === "caller") return checkCaller(kernel, packs);
  if (chosen !== "pool" && chosen !== "own") throw invalidOptions("thread must be 'pool', 'own' or 'caller'");
  // Without JSPI a worker runs one command at a time, and a sandbox that cannot be moved would wait for others.
  const isFixed = !hasJspi() && mounts.some(({ mode }) => mode === "copyOnWrite");
  return isFixed ? "own" : chosen;
}

/** Bytes of a module that a command may start in the caller's thread by default: a larger one is compiled for too long. */
const CALLER_MODULE_BYTES = 1 << 20;

/** Checks what the caller's thread can run, and limits the modules of commands. */
function checkCaller(kernel: KernelOptions, packs: readonly PackOption[]): Thread {
  const cannot = (cause: string) => new SandboxError(`cannot run a sandbox in the caller's thread: ${cause}; use the thread 'own'`, "UNSUPPORTED");
  if (!hasJspi()) {
    throw cannot("a program that waits would stop the application, because this engine cannot suspend WebAssembly (JSPI); Node 24.20, Deno 2.4 and current browsers can");
  }
  if (packs.length > 0) throw cannot("a pack would block it for seconds");
  kernel.limits = { moduleBytes: CALLER_MODULE_BYTES, ...kernel.limits };
  return "caller";
}

function checkTools(input: NonNullable<SandboxOptions["tools"]>, kernel: KernelOptions): Record<string, HostTool> {
  const isTool = (value: unknown): value is HostTool | Uint8Array => typeof value === "function" || isBytes(value);
  const all = checkRecord("tools", input, isTool, "a function or a Uint8Array");
  const functions: Record<string, HostTool> = {};
  const programs: Record<string, Uint8Array> = {};
  for (const [name, tool] of Object.entries(all)) {
    if (isBytes(tool)) programs[name] = tool;
    else functions[name] = tool;
  }
  if (Object.keys(functions).length > 0) kernel.hostTools = Object.keys(functions);
  if (Object.keys(programs).length > 0) kernel.programs = programs;
  return functions;
}

function checkDirectory(name: string, folder: unknown, platform: Platform): string {
  if (!isText(folder) && !(folder instanceof URL)) throw invalidOptions(`${name} must be a path or a URL`);
  try {
    return platform.directory(folder);
  } catch (error) {
    throw invalidOptions(`${name}: ${messageOf(error)}`);
  }
}

function checkMounts(input: NonNullable<SandboxOptions["mounts"]>, platform: Platform): MountSettings[] {
  if (typeof input !== "object" || input === null) throw invalidOptions("mounts must be an object");
  return Object.entries(input).map(([path, mount]) => {
    const { folder, mode = "readOnly" } = isText(mount) || mount instanceof URL ? { folder: mount } : (mount ?? {});
    if (!isText(folder) && !(folder instanceof URL)) throw invalidOptions(`mounts: '${path}' must be a path, a URL, or an object with a folder`);
    if (!MODES.includes(mode)) throw invalidOptions(`mounts: the mode of '${path}' must be 'readOnly', 'readWrite' or 'copyOnWrite'`);
    try {
      return { path, directory: platform.directory(folder), mode };
    } catch (error) {
      throw invalidOptions(`mounts: ${messageOf(error)}`);
    }
  });
}

/** @internal True if the value is a SHA-256 in hexadecimal digits. */
export function isSha256(value: unknown): value is string {
  return isText(value) && /^[0-9a-f]{64}$/iu.test(value);
}

function checkPacks(input: NonNullable<SandboxOptions["packs"]>): PackOption[] {
  if (!Array.isArray(input)) throw invalidOptions("packs must be an array");
  const checked = input.map((pack: unknown) => {
    const { name, folder, from, sha256 } = isText(pack) ? { name: pack } : ((pack ?? {}) as Partial<PackOption>);
    if (!isText(name)) throw invalidOptions("packs: each item must be a name, or an object with a name");
    if (folder !== undefined && !isText(folder)) throw invalidOptions(`packs: the folder of '${name}' must be a string`);
    if (from !== undefined && !isText(from) && !(from instanceof URL)) throw invalidOptions(`packs: 'from' of '${name}' must be a URL`);
    if (sha256 !== undefined && !isSha256(sha256)) throw invalidOptions(`packs: 'sha256' of '${name}' must be 64 hexadecimal digits`);
    return { name: name as PackOption["name"], ...defined({ folder, from: from?.toString(), sha256: sha256?.toLowerCase() }) };
  });
  // Both have the same commands.
  if (checked.some(({ name }) => name === "python") && checked.some(({ name }) => name === "python-slim")) {
    throw invalidOptions("packs: python and python-slim have the same commands; a sandbox can have only one of them");
  }
  return checked;
}

const FUNCTIONS = ["onOutput", "onStdout", "onStderr"] as const;

/** A command line for `bash`, or a program and its arguments, which no shell expands. */
export type Command = string | readonly string[];

/** @internal Returns the command with plain strings. */
export function checkCommand(command: Command): Command {
  if (!Array.isArray(command)) return String(command);
  if (!command.every(isText)) throw invalidOptions("a command must be a string or an array of strings");
  return [...command];
}

/** @internal Validates the options of a command. */
export function checkExecuteOptions(options: ExecuteOptions): ExecuteOptions {
  checkKeys("option", options, EXECUTE_OPTIONS);
  const { timeoutMs, cwd, env, stdin, shellMode, outputOverflow } = options;
  if (timeoutMs !== undefined && !isCount(timeoutMs)) throw invalidOptions("timeoutMs must be a non-negative number");
  if (cwd !== undefined && !isText(cwd)) throw invalidOptions("cwd must be a string");
  if (env !== undefined) checkRecord("env", env, isText, "a string");
  if (stdin !== undefined && !isContent(stdin)) throw invalidOptions("stdin must be a string or a Uint8Array");
  for (const name of FUNCTIONS) {
    if (options[name] !== undefined && typeof options[name] !== "function") throw invalidOptions(`${name} must be a function`);
  }
  checkSignal(options.signal);
  checkShellMode(shellMode);
  if (outputOverflow !== undefined && !OVERFLOWS.includes(outputOverflow)) {
    throw invalidOptions("outputOverflow must be 'head', 'tail' or 'stop'");
  }
  const { background } = options;
  if (background !== undefined && background !== "end" && background !== "keep") {
    throw invalidOptions("background must be 'end' or 'keep'");
  }
  return options;
}

/** @internal Validates a signal, if present. */
export function checkSignal(signal: unknown): void {
  const good = signal === undefined || signal === null ||
    (typeof signal === "object" && "aborted" in signal && "addEventListener" in signal);
  if (!good) throw invalidOptions("signal must be an AbortSignal");
}

function checkShellMode(mode: unknown): void {
  if (mode !== undefined && mode !== "fresh" && mode !== "persistent") {
    throw invalidOptions("shellMode must be 'fresh' or 'persistent'");
  }
}
