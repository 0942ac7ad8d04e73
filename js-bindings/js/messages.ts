/** Messages between the class in the caller's thread and the worker. */

import type { PackageProgram } from "./archive.js";
import type { PackLocation } from "./packs.js";

/** Options of a sandbox for the kernel: plain values that can be cloned to a worker. */
export interface KernelOptions {
  files?: Record<string, string | Uint8Array>;
  /** Snapshot file with the initial files. */
  snapshot?: Uint8Array;
  /** Tar archive with the initial files. */
  tar?: Uint8Array;
  env?: Record<string, string>;
  cwd?: string;
  hostname?: string;
  id?: string;
  shellMode?: "fresh" | "persistent";
  limits?: Record<string, number>;
  deterministic?: { seed: number; timeMs: number };
  /** Names of the host tools. */
  hostTools?: string[];
  /** WebAssembly modules that are commands, by name. */
  programs?: Record<string, Uint8Array>;
  network?: NetworkSettings;
  mounts?: MountSettings[];
  /** Absolute path of a host directory that is copied into the working directory. */
  seedDirectory?: string;
  packs?: PackSettings[];
}

/** A pack, as `src/pack.rs` reads it. */
export interface PackSettings {
  /** Key of its module. */
  name: string;
  version: string;
  commands: string[];
  /** Its files: one line per file with length and path. */
  index: string;
  /** One line per signal with signal, address and bits. */
  signals: string;
  /** A directory whose files also appear at `firstPath`. */
  libraryDir?: string;
  firstPath?: string;
  /** True for a program pack: its files may be scripts and modules. */
  isProgram?: boolean;
}

/** A network policy, as `src/policy.rs` reads it. */
export interface NetworkSettings {
  allow: { host: string; methods?: string[] | "any"; ports?: number[]; http?: boolean; git?: "fetch" | "push"; path?: string }[];
  inject: { host: string; header: string; value: string; name?: string; overHttp?: boolean }[];
  resolve: { host: string; address: string }[];
  limits: Record<string, number>;
  /** True if the gateway connects to host names itself and does not accept addresses. */
  byName: boolean;
}

/** A host directory (absolute path) and its mount point. */
export interface MountSettings {
  path: string;
  directory: string;
  mode: "readOnly" | "readWrite" | "copyOnWrite";
}

/** The first message to a worker that runs sandboxes. */
export interface Setup {
  readonly kernel: WebAssembly.Module;
  readonly programs: readonly PackageProgram[];
  /** Modules that were compiled in other threads. */
  readonly compiled: ReadonlyMap<string, WebAssembly.Module>;
  /** True if the owner compiles the programs of the package that the worker reports as needed. */
  readonly asks: boolean;
  /** Random bytes for this worker alone, so that its first sandbox does not wait until `crypto` is loaded. */
  readonly random: Uint8Array<ArrayBuffer>;
  /**
   * Memory shared by both sides, for a worker that cannot receive messages while a command runs. Absent if memory cannot be
   * shared.
   */
  readonly shared: Int32Array | undefined;
}

/** A program that the owner has compiled: one that the worker needs, or before it needs it. */
export interface CompiledModule {
  readonly compiledFile: string;
  readonly module: WebAssembly.Module;
}

/** A program that the worker needs and the owner cannot compile. */
export interface UncompiledModule {
  readonly uncompiledFile: string;
  readonly reason: string;
}

/** Cancellation slots in shared memory: call n uses slot n modulo this number. */
export const CANCEL_SLOTS = 64;
/** Slot of the number of messages that the owner has sent. */
export const MESSAGE_COUNT = CANCEL_SLOTS;
/** Slot of the number of the sandbox that the worker runs at the moment; 0 for none. */
export const RUNNING_SANDBOX = MESSAGE_COUNT + 1;
/** Slot of 1 if the worker waits actively for the next call for a moment, and of 0 otherwise. */
export const SPINS = RUNNING_SANDBOX + 1;
/** Slot of the number of messages that the worker has received. */
export const RECEIVED_COUNT = SPINS + 1;
/** Slot of the number of results that the owner has received. */
export const RESULT_COUNT = RECEIVED_COUNT + 1;
/** Number of slots in shared memory. */
export const SHARED_SLOTS = RESULT_COUNT + 1;

/** Creates a sandbox. Its number is unique in the process of the owner. */
export interface Create {
  readonly create: number;
  readonly options: KernelOptions;
  readonly packs: readonly PackLocation[];
  /** Changes of the replaced sandbox, in order. */
  readonly changes: readonly Uint8Array[];
  /** Processor time of the replaced sandbox, in milliseconds. */
  readonly cpuTimeMs: number;
}

/** Runs a command in a separate sandbox, so that the engine has compiled the functions that later commands call. */
export interface WarmUp {
  readonly warmUp: string;
}

/** Ends the worker, which has no sandboxes. */
export interface End {
  readonly end: true;
}

/** Ends a sandbox: its commands are stopped without waiting for them, and everything that it holds is freed. */
export interface Drop {
  readonly drop: number;
  /** True if the owner waits until the worker has dropped it. */
  readonly confirms: boolean;
}

/** A call of a method of the kernel's sandbox. */
export interface Call {
  readonly sandbox: number;
  /** Unique in the process of the owner. */
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
  /** Time at which it was sent, in milliseconds of `Date.now`. */
  readonly sentMs: number;
}

/** Cancels a command. */
export interface Cancel {
  readonly sandbox: number;
  readonly cancel: number;
}

/** Arguments of a host tool; see `src/host_tool.rs`. */
export interface ToolCall {
  readonly tool: string;
  readonly sandboxId: string;
  readonly argv: readonly Uint8Array[];
  readonly env: readonly Uint8Array[];
  readonly cwd: string;
}

/** A request that the policy has allowed; see `src/gateway.rs`. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  /** Host name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly encrypted: boolean;
  /** Path and query. */
  readonly path: string;
  /** Addresses that may be connected to. Empty if the gateway connects by name. */
  readonly addresses: readonly string[];
  readonly headers: readonly (readonly [string, Uint8Array])[];
  readonly hasBody: boolean;
  /** Exact length of the body, if known. */
  readonly length?: number;
  readonly headBytes: number;
  readonly connectMs: number;
  readonly totalMs: number;
}

/** The head of a response. */
export interface ReplyHead {
  readonly status: number;
  readonly reason: string;
  readonly minorVersion: number;
  readonly headers: readonly (readonly [string, Uint8Array])[];
  /** `address:port`. */
  readonly peer?: string;
  readonly connectedMs: number;
  readonly encryptedMs: number;
  readonly answeredMs: number;
}

/**
 * Requests of a worker to the application: calls of its functions, and network requests. Also what happens to connections that the
 * application has made to servers of the sandbox.
 */
export type HostRequest =
  | PortEvent
  | { readonly type: "toolCall"; readonly call: number; readonly details: ToolCall }
  | { readonly type: "toolReply"; readonly call: number; readonly request: number; readonly good: boolean; readonly bytes: Uint8Array }
  | { readonly type: "toolCancelled"; readonly call: number }
  | { readonly type: "netResolve"; readonly request: number; readonly name: string; readonly withinMs: number }
  | { readonly type: "netSend"; readonly request: number; readonly details: OutgoingRequest }
  | { readonly type: "netBody"; readonly request: number; readonly chunk: Uint8Array; readonly end: boolean }
  | { readonly type: "netBodyFailed"; readonly request: number }
  | { readonly type: "netPull"; readonly request: number }
  | { readonly type: "netCancelled"; readonly request: number };

/** An event of a connection to a server of the sandbox. */
export type PortEvent =
  | { readonly type: "portChunk"; readonly stream: number; readonly chunk: Uint8Array }
  /** The data of the server has ended, or it has closed the connection without reading all data. */
  | { readonly type: "portEnded"; readonly stream: number; readonly isReset: boolean }
  /** A chunk was written, or the server no longer reads. */
  | { readonly type: "portWritten"; readonly stream: number; readonly isOpen: boolean };

/** A response of the application to a sandbox, or a message of one of its connections to servers. */
export interface SandboxResponse {
  readonly sandbox: number;
  readonly response: HostResponse;
}

/**
 * Messages of the application: an export of `src/host_tool.rs`, `src/gateway.rs` or `src/ports.rs`, and its arguments after the
 * sandbox.
 */
export type HostResponse =
  | { readonly callback: "portPull"; readonly args: readonly [stream: number, chunks: number] }
  | { readonly callback: "portWrite"; readonly args: readonly [stream: number, chunk: Uint8Array] }
  | { readonly callback: "portEnd" | "portClose"; readonly args: readonly [stream: number] }
  | { readonly callback: "toolReads"; readonly args: readonly [call: number, request: number, maxBytes: number] }
  | { readonly callback: "toolWrites"; readonly args: readonly [call: number, request: number, stderr: boolean, bytes: Uint8Array] }
  | { readonly callback: "toolReadsFile"; readonly args: readonly [call: number, request: number, path: Uint8Array, maxBytes: number] }
  | { readonly callback: "toolWritesFile"; readonly args: readonly [call: number, request: number, path: Uint8Array, bytes: Uint8Array] }
  | { readonly callback: "toolExited"; readonly args: readonly [call: number, code: number] }
  | { readonly callback: "netResolved"; readonly args: readonly [request: number, addresses: string[]] }
  | { readonly callback: "netBodyRequested"; readonly args: readonly [request: number] }
  | { readonly callback: "netHead"; readonly args: readonly [request: number, head: ReplyHead] }
  | { readonly callback: "netChunk"; readonly args: readonly [request: number, chunk: Uint8Array] }
  | { readonly callback: "netFailed"; readonly args: readonly [request: number, kind: string, message: string] };

/** A job on the files of a pack, for a worker that does only this. */
export interface PackWork {
  readonly kernelForPack: WebAssembly.Module;
  /** The module as downloaded, if it has to be split, and the path for its initial memory. */
  readonly raw?: { readonly wasm: Uint8Array; readonly exports: readonly string[]; readonly image: string };
  /** Path of the module without data. */
  readonly module: string;
  /** Path of the module as rewritten for this engine. */
  readonly code: string;
  /** Pages of the initial memory. Determined by the split if absent. */
  readonly pages?: number;
  /** True for the module of a program pack, which has its data. */
  readonly isProgram?: boolean;
}

/** Messages to a worker. */
export type WorkerInput = Setup | CompiledModule | UncompiledModule | WarmUp | End | Create | Drop | Call | Cancel | SandboxResponse | PackWork;

/** An error of Tidebox itself. */
export interface Failure {
  readonly kind: string;
  readonly message: string;
}

/** File changes of a call. */
export interface Changes {
  /** True if they contain all changes since the sandbox was created and replace all earlier ones. */
  readonly merged: boolean;
  readonly bytes: Uint8Array;
}

/** Messages of a worker about one sandbox. */
export type SandboxReport =
  | { readonly type: "ready"; readonly sandbox: number; readonly id: string }
  | { readonly type: "createFailed"; readonly sandbox: number; readonly failure: Failure }
  | { readonly type: "dropped"; readonly sandbox: number }
  | {
    readonly type: "result"; readonly sandbox: number; readonly id: number; readonly value: unknown;
    readonly changes: Changes | undefined;
    /** Processor time of the sandbox until now, in milliseconds. */
    readonly cpuTimeMs: number;
  }
  | { readonly type: "error"; readonly sandbox: number; readonly id: number; readonly failure: Failure }
  | { readonly type: "output"; readonly sandbox: number; readonly id: number; readonly stderr: boolean; readonly bytes: Uint8Array }
  | { readonly type: "request"; readonly sandbox: number; readonly request: HostRequest };

/** Messages from a worker. */
export type WorkerOutput =
  | SandboxReport
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "packed"; readonly pages: number }
  /** The kernel has trapped. `sandbox` is the one that it worked for, if known. */
  | { readonly type: "crashed"; readonly reason: string; readonly sandbox?: number }
  /** A sandbox has waited for its turn for longer than `BUSY_MS`. */
  | { readonly type: "busy" }
  | { readonly type: "compiled"; readonly file: string; readonly module: WebAssembly.Module }
  /** A program of the package is needed, and the owner compiles it. */
  | { readonly type: "needed"; readonly file: string };

/** Milliseconds that a sandbox waits to be scheduled before its worker reports that it is busy. */
export const BUSY_MS = 20;
