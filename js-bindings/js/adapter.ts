/**
 * Operations that the adapters for agent frameworks share. Errors are thrown, and an aborted signal rejects with its
 * reason.
 */

import type { AgentBackend } from "./agent_backend.js";
import type { SandboxErrorCode } from "./error.js";
import { SandboxError } from "./error.js";
import type { Command, ExecuteOptions } from "./options.js";
import type { ErrorFields, ExecuteResult } from "./protocol.js";

/** Default working directory of sandboxes. */
export const WORKSPACE = "/workspace";

/** Result of a command that has run. */
export interface Completed extends ExecuteResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A file, with symbolic links followed. */
export interface FileStat {
  kind: "file" | "directory" | "other";
  size: number;
  /** Modification time in milliseconds since the Unix epoch. */
  modifiedMs: number;
}

/** An entry of a directory, with symbolic links not followed. */
export interface Entry {
  name: string;
  kind: "file" | "directory" | "symlink" | "other";
  size?: number;
}

/** Resolves a path against a directory and removes `.`, `..` and duplicate slashes. */
export function resolvePath(base: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** Runs a command. Throws if the sandbox cannot run it. A non-zero exit code is a result. */
export async function run(sandbox: AgentBackend, command: Command, options: ExecuteOptions = {}): Promise<Completed> {
  options.signal?.throwIfAborted();
  const result = await sandbox.execute(command, options);
  options.signal?.throwIfAborted();
  return completed(result);
}

/** Throws the error of a command that did not run. */
export function completed(result: ExecuteResult): Completed {
  const { exitCode, output, code } = result;
  if (exitCode === null) {
    throw new SandboxError(output.replace(/^tidebox: /u, "").trimEnd(), code ?? "FILE_OPERATION_FAILED");
  }
  return { ...result, exitCode, stdout: result.stdout ?? output, stderr: result.stderr ?? "" };
}

/** Throws the error of a failed file operation. */
export function checkResult(result: ErrorFields, signal?: AbortSignal): void {
  signal?.throwIfAborted();
  if (result.error !== undefined) throw fileError(result);
}

/** Converts the error of a file operation. The code of the operation is the cause. */
function fileError({ error = "", code = "FILE_OPERATION_FAILED" }: ErrorFields): SandboxError {
  const isSandboxCode = code === code.toUpperCase();
  return new SandboxError(error, isSandboxCode ? (code as SandboxErrorCode) : "FILE_OPERATION_FAILED", { cause: code });
}

/** True if an error means that the path does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof SandboxError && (error.cause === "file_not_found" || error.cause === "not_a_directory");
}

/** Returns the bytes of a file. Throws if it is missing or not a regular file; see {@link isMissing}. */
export async function readBytes(sandbox: AgentBackend, path: string, signal?: AbortSignal): Promise<Uint8Array> {
  const [file] = await sandbox.downloadFiles([path], { signal });
  signal?.throwIfAborted();
  if (file !== undefined && file.content !== null) return file.content;
  // The code of a download is coarse; this has the message, and reports a closed sandbox.
  checkResult(await sandbox.readRaw(path, { signal }), signal);
  throw new SandboxError(`cannot read ${path}: ${file?.error}`, "FILE_OPERATION_FAILED", { cause: file?.error });
}

/** Creates or replaces a file and its missing parent directories. */
export async function writeBytes(
  sandbox: AgentBackend, path: string, content: string | Uint8Array, signal?: AbortSignal,
): Promise<void> {
  checkResult(await sandbox.write(path, content, { signal }), signal);
}

const MISSING = /No such file or directory|Not a directory/u;

/**
 * Runs a program of the userland on a path. Returns `undefined` if the path does not exist, and throws its message
 * otherwise.
 */
export async function runOnPath(
  sandbox: AgentBackend, command: readonly string[], signal?: AbortSignal,
): Promise<string | undefined> {
  const { exitCode, stdout, stderr } = await run(sandbox, command, { signal, cwd: "/", shellMode: "fresh" });
  if (exitCode === 0) return stdout;
  const isMissingPath = MISSING.test(stderr);
  if (isMissingPath) return undefined;
  throw new SandboxError(stderr.trimEnd(), "FILE_OPERATION_FAILED");
}

/** Returns the type and size of a file, or `undefined` if it does not exist. */
export async function stat(sandbox: AgentBackend, path: string, signal?: AbortSignal): Promise<FileStat | undefined> {
  const printed = await runOnPath(sandbox, ["stat", "-L", "-c", "%s %.3Y %F", "--", path], signal);
  const [, size, seconds, type] = /^(\d+) (-?[\d.]+) (.*)\n$/u.exec(printed ?? "") ?? [];
  if (type === undefined) return undefined;
  const kind = type === "directory" ? type : type.startsWith("regular") ? "file" : "other";
  return { kind, size: Number(size), modifiedMs: Math.round(Number(seconds) * 1000) };
}

/** Lists a directory by name. Throws if it is not a directory, and returns `undefined` if it does not exist. */
export async function list(sandbox: AgentBackend, path: string, signal?: AbortSignal): Promise<Entry[] | undefined> {
  // A listing reports a missing directory as an empty one.
  if ((await stat(sandbox, path, signal)) === undefined) return undefined;
  const listed = await sandbox.ls(path, { signal });
  checkResult(listed, signal);
  if (listed.truncated) throw new SandboxError(`${path} has too many entries to list`, "FILE_OPERATION_FAILED");
  return (listed.files ?? []).map(({ path: full, kind, is_dir, size }) => ({
    name: full.replace(/\/$/u, "").replace(/^.*\//su, ""), kind: kind ?? (is_dir ? "directory" : "file"), size,
  }));
}
