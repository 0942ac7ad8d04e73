/**
 * Adapter for `bash-tool`: a sandbox as the option `sandbox` of `createBashTool`.
 *
 * ```js
 * import { createBashTool } from "bash-tool";
 * import { bashToolSandbox } from "tidebox/bash-tool";
 *
 * const { tools } = await createBashTool({ sandbox: bashToolSandbox(await Sandbox.create()) });
 * ```
 *
 * Do not pass a {@link AgentBackend} itself: `createBashTool` selects the kind of a sandbox by the names of its
 * methods.
 */

import { WORKSPACE, readBytes, resolvePath, run, writeBytes } from "./adapter.js";
import type { AgentBackend } from "./agent_backend.js";

/** Result of a command. */
export interface CommandResult {
  /** Standard output. U+FFFD replaces invalid UTF-8. */
  stdout: string;
  /** Standard error. U+FFFD replaces invalid UTF-8. */
  stderr: string;
  /** 128 + n after signal n, 124 after a timeout. */
  exitCode: number;
}

/** A file to write. */
export interface FileContent {
  /** Absolute, or relative to `/workspace`. */
  path: string;
  /** Text, or bytes. */
  content: string | Uint8Array;
}

/** A sandbox as `bash-tool` uses it. Rejections reach the model as errors of a tool. */
export interface BashToolSandbox {
  /** Runs a command. A non-zero exit code is a result. */
  executeCommand(command: string): Promise<CommandResult>;
  /** Reads a text file. Rejects if it does not exist. U+FFFD replaces invalid UTF-8. */
  readFile(path: string): Promise<string>;
  /** Writes files in order and creates missing directories. Rejects at the first one that fails. */
  writeFiles(files: FileContent[]): Promise<void>;
}

/** Settings of the adapter. */
export interface BashToolSettings {
  /** Timeout of a command in milliseconds. Default: `limits.wallTimeMs` of the sandbox. */
  timeoutMs?: number;
  /** Aborts running commands, and all that follow. `bash-tool` passes no signal. */
  signal?: AbortSignal;
}

/** Returns a sandbox for `createBashTool`. The sandbox stays open; close it yourself. */
export function bashToolSandbox(sandbox: AgentBackend, settings: BashToolSettings = {}): BashToolSandbox {
  const { timeoutMs, signal } = settings;
  const absolute = (path: string) => resolvePath(WORKSPACE, path);
  return {
    async executeCommand(command) {
      const { stdout, stderr, exitCode } = await run(sandbox, command, { timeoutMs, signal });
      return { stdout, stderr, exitCode };
    },
    async readFile(path) {
      return new TextDecoder().decode(await readBytes(sandbox, absolute(path), signal));
    },
    async writeFiles(files) {
      for (const { path, content } of files) await writeBytes(sandbox, absolute(path), content, signal);
    },
  };
}
