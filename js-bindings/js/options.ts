/** Options, and their check: a wrong one is an error that names it, never something else that happens. */

import { SandboxError } from "./error.js";
import type { KernelOptions } from "./messages.js";

/** What a sandbox may use. Sizes are in bytes; `core/src/limits.rs` gives the reasons for the defaults. */
export interface Limits {
  /** Wall time of a command that names no timeout. Default 120,000. Exit code 124. */
  wallTimeMs?: number;
  /** Linear memory of one process. Default 512 MiB. */
  processMemoryBytes?: number;
  /** Linear memory of all live processes. Default 1 GiB. */
  sandboxMemoryBytes?: number;
  /** Live processes. Default 256. */
  processes?: number;
  /** Descriptors of one process. Default 1,024. */
  descriptors?: number;
  /** Capacity of a pipe. Default 64 KiB. */
  pipeBytes?: number;
  /** Output of one command that is kept; the rest is dropped and `truncated` says so. Default 8 MiB. */
  outputBytes?: number;
  /** Bytes of all files that the sandbox wrote. Default 512 MiB. */
  fileBytes?: number;
  /** Size of one file. Default 512 MiB. */
  singleFileBytes?: number;
  /** Files, folders and links. Default 200,000. */
  inodes?: number;
  /** Length of a path. Default 4,096. */
  pathBytes?: number;
  /** Links followed in one path. Default 40. */
  symlinkDepth?: number;
  /** Arguments and environment of one process. Default 2 MiB. */
  argumentBytes?: number;
  /** Size of a WebAssembly module that a guest may start. Default 64 MiB. */
  moduleBytes?: number;
  /** Calls of shell functions in progress, and depth of nested processes. Default 1,000. */
  nesting?: number;
  /** What the shell of a persistent session keeps. Default 4 MiB. */
  shellStateBytes?: number;
}

/** How a sandbox begins. */
export interface SandboxOptions {
  /** Files by path; relative paths are below the working directory. A WebAssembly module is executable. */
  files?: Readonly<Record<string, string | Uint8Array>>;
  /** Variables of every command, beside the defaults (`PATH`, `HOME`, `USER`, `LANG`, ...). Nothing of the host is passed. */
  env?: Readonly<Record<string, string>>;
  /** Working directory of commands that name none. Default `/workspace`. */
  cwd?: string;
  /** Bounds. */
  limits?: Limits;
  /**
   * Makes runs repeatable: the clock begins at `timeMs` (default 0) and moves only while all programs wait, and randomness
   * comes from `seed` (default 0). `true` means the defaults.
   */
  deterministic?: boolean | { seed?: number; timeMs?: number };
  /** Name of the machine. Default `tidebox`. */
  hostname?: string;
  /** Default: `sb-` and 128 random bits. */
  id?: string;
  /** Whether each command starts a fresh shell (the default) or goes on in the session of the one before. */
  shellMode?: "fresh" | "persistent";
}

/** How one command is run, for direct callers; the tool of Deep Agents passes none. */
export interface ExecuteOptions {
  /** Wall time in milliseconds. Default `limits.wallTimeMs`; 0 ends the command at once. */
  timeoutMs?: number;
  /** Working directory of this command. */
  cwd?: string;
  /** Variables of this command. */
  env?: Readonly<Record<string, string>>;
  /** What it reads from standard input. */
  stdin?: string | Uint8Array;
  /** Whether this command takes part in the session of the shell. */
  shellMode?: "fresh" | "persistent";
  /** Is given pieces of output as they come. */
  onOutput?: (piece: { stream: "stdout" | "stderr"; bytes: Uint8Array }) => void;
}

const LIMITS: readonly (keyof Limits)[] = [
  "wallTimeMs", "processMemoryBytes", "sandboxMemoryBytes", "processes", "descriptors", "pipeBytes", "outputBytes",
  "fileBytes", "singleFileBytes", "inodes", "pathBytes", "symlinkDepth", "argumentBytes", "moduleBytes", "nesting",
  "shellStateBytes",
];

const OPTIONS = ["files", "env", "cwd", "limits", "deterministic", "hostname", "id", "shellMode"];

const EXECUTE_OPTIONS = ["timeoutMs", "cwd", "env", "stdin", "shellMode", "onOutput"];

function wrong(message: string): SandboxError {
  return new SandboxError(`wrong options: ${message}`, "INVALID_OPTIONS");
}

function known(what: string, object: object, names: readonly string[]): void {
  for (const name of Object.keys(object)) {
    if (!names.includes(name)) throw wrong(`there is no ${what} '${name}'; there are ${names.join(", ")}`);
  }
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

function record<T>(name: string, value: unknown, check: (value: unknown) => value is T, kind: string): Record<string, T> {
  if (typeof value !== "object" || value === null) throw wrong(`${name} must be an object`);
  for (const [key, item] of Object.entries(value)) {
    if (!check(item)) throw wrong(`${name}: '${key}' must be ${kind}`);
  }
  return { ...(value as Record<string, T>) };
}

const isText = (value: unknown): value is string => typeof value === "string";
const isContent = (value: unknown): value is string | Uint8Array => isText(value) || isBytes(value);
const isCount = (value: unknown): value is number => typeof value === "number" && value >= 0;

/** The options as the kernel takes them. */
export function checkOptions(options: SandboxOptions): KernelOptions {
  known("option", options, OPTIONS);
  const { files, env, cwd, limits, deterministic, hostname, id, shellMode } = options;
  const checked: KernelOptions = {};
  if (files !== undefined) checked.files = record("files", files, isContent, "a string or a Uint8Array");
  if (env !== undefined) checked.env = record("env", env, isText, "a string");
  if (limits !== undefined) {
    known("limit", limits, LIMITS);
    checked.limits = record("limits", limits, isCount, "a number that is not negative");
  }
  for (const [name, value] of Object.entries({ cwd, hostname, id })) {
    if (value !== undefined && !isText(value)) throw wrong(`${name} must be a string`);
  }
  checkShellMode(shellMode);
  if (deterministic) {
    const { seed = 0, timeMs = 0 } = deterministic === true ? {} : deterministic;
    if (!isCount(seed) || !isCount(timeMs)) throw wrong("deterministic: seed and timeMs must be numbers, not negative");
    checked.deterministic = { seed, timeMs };
  }
  return { ...checked, ...defined({ cwd, hostname, id, shellMode }) };
}

/** The same options, when they are some. */
export function checkExecuteOptions(options: ExecuteOptions): ExecuteOptions {
  known("option", options, EXECUTE_OPTIONS);
  const { timeoutMs, cwd, env, stdin, shellMode, onOutput } = options;
  if (timeoutMs !== undefined && !isCount(timeoutMs)) throw wrong("timeoutMs must be a number that is not negative");
  if (cwd !== undefined && !isText(cwd)) throw wrong("cwd must be a string");
  if (env !== undefined) record("env", env, isText, "a string");
  if (stdin !== undefined && !isContent(stdin)) throw wrong("stdin must be a string or a Uint8Array");
  if (onOutput !== undefined && typeof onOutput !== "function") throw wrong("onOutput must be a function");
  checkShellMode(shellMode);
  return options;
}

function checkShellMode(mode: unknown): void {
  if (mode !== undefined && mode !== "fresh" && mode !== "persistent") {
    throw wrong("shellMode must be 'fresh' or 'persistent'");
  }
}

/** Without what is undefined. */
export function defined<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never;
}
