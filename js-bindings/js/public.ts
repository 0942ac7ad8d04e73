/** Exports of the package on every platform. */

export { SandboxError } from "./error.js";
export type { SandboxErrorCode } from "./error.js";
export { Sandbox } from "./sandbox.js";
export { AgentBackend } from "./agent_backend.js";
export type { PortEndpoint } from "./agent_backend.js";
export { BrokenPipeError } from "./host_tool.js";
export type * from "./host_tool.js";
export type * from "./network_options.js";
export type { CallOptions, Command, ExecuteOptions, Limits, Mount, OutputChunk, PackName, PackOption, SandboxOptions } from "./options.js";
export { prepare } from "./prepare.js";
export type { PrepareOptions } from "./prepare.js";
export type * from "./protocol.js";
export { createSandbox, RemoteProvider, RemoteSandbox } from "./remote.js";
export type { ListOptions, SandboxInfo, SandboxPage } from "./remote.js";
export type { ProviderName, RemoteOptions } from "./remote_options.js";
export type { ExposedPort, ExposeOptions, PortConnection, WaitForPortOptions } from "./ports.js";
export { Process } from "./process.js";
export type {
  ProcessEnd, ProcessInfo, ProcessOptions, ProcessOutput, ProcessOutputOptions, ProcessReadOptions, ProcessSignal, ProcessState,
  TerminalSize,
} from "./process.js";
export { PythonSession } from "./python_session.js";
export type { PythonError, PythonOptions, PythonResult } from "./python_session.js";
export { Snapshot } from "./snapshot.js";
export type { SnapshotChange, SnapshotDiff, SnapshotEntry } from "./snapshot.js";
export type { TextChunk, RunningCommand } from "./output.js";
export type { SandboxUsage } from "./usage.js";
