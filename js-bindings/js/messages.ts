/** What the two sides of a sandbox say to each other: the class in the caller's thread, and the Worker. */

import type { Listed } from "./archive.js";
import type { PackPlace } from "./packs.js";

/** The options of a sandbox, as far as the kernel is concerned: plain values that can be sent to a Worker. */
export interface KernelOptions {
  files?: Record<string, string | Uint8Array>;
  /** A compact file to begin with. */
  snapshot?: Uint8Array;
  /** A tar to begin with. */
  tar?: Uint8Array;
  env?: Record<string, string>;
  cwd?: string;
  hostname?: string;
  id?: string;
  shellMode?: "fresh" | "persistent";
  limits?: Record<string, number>;
  deterministic?: { seed: number; timeMs: number };
  /** Names of the functions that are commands. */
  hostTools?: string[];
  /** Modules that are commands, by name. */
  programs?: Record<string, Uint8Array>;
  network?: NetworkSettings;
  mounts?: MountSettings[];
  /** A folder of the host, absolute, that is copied into the working directory. */
  seedFolder?: string;
  packs?: PackSettings[];
}

/** A pack as `src/pack.rs` reads it. */
export interface PackSettings {
  /** What its module is known by. */
  name: string;
  version: string;
  commands: string[];
  /** Its files: length and path, one a line. */
  index: string;
  /** Signal, address and bits, one a line. */
  signals: string;
  /** A directory whose files show at `firstPath`, too. */
  libraryDir?: string;
  firstPath?: string;
}

/** A network policy as `src/policy.rs` reads it. */
export interface NetworkSettings {
  allow: { host: string; methods?: string[] | "any"; ports?: number[]; http?: boolean }[];
  inject: { host: string; header: string; value: string; name?: string; overHttp?: boolean }[];
  resolve: { host: string; address: string }[];
  limits: Record<string, number>;
  /** Requests are sent by what connects to names and cannot be told addresses. */
  byName: boolean;
}

/** A folder of the host, absolute, and where it shows. */
export interface MountSettings {
  path: string;
  folder: string;
  mode: "readOnly" | "readWrite" | "copyOnWrite";
}

/** The first message to a Worker. */
export interface Setup {
  readonly kernel: WebAssembly.Module;
  readonly programs: readonly Listed[];
  /** Programs that another Worker has compiled. */
  readonly compiled: ReadonlyMap<string, WebAssembly.Module>;
  readonly options: KernelOptions;
  readonly packs: readonly PackPlace[];
  /** Changes of a Worker that is no more, in their order. */
  readonly changes: readonly Uint8Array[];
  /** What both sides see at any time, for a Worker that takes no messages while a command runs; absent where none can be shared. */
  readonly shared: Int32Array | undefined;
}

/** Calls that are given up and can be told apart in shared memory: number n stands at n modulo this. */
export const CANCELLED = 64;
/** Where the owner counts what it has told, in shared memory. */
export const TOLD = CANCELLED;
/** Places of shared memory. */
export const SHARED = TOLD + 1;

/** A call of a method of the kernel's sandbox. */
export interface Call {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** The caller has given a command up. */
export interface Cancel {
  readonly cancel: number;
}

/** What a host tool is called with; see `src/host_tool.rs`. */
export interface ToolCall {
  readonly tool: string;
  readonly sandboxId: string;
  readonly argv: readonly Uint8Array[];
  readonly env: readonly Uint8Array[];
  readonly cwd: string;
}

/** A request that the policy has allowed; see `src/gateway.rs`. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly encrypted: boolean;
  /** With the query. */
  readonly path: string;
  /** Those that may be connected to; none for what connects by name. */
  readonly addresses: readonly string[];
  readonly headers: readonly (readonly [string, Uint8Array])[];
  readonly hasBody: boolean;
  /** The exact length of the body, when it is known. */
  readonly length?: number;
  readonly headBytes: number;
  readonly connectMs: number;
  readonly totalMs: number;
}

/** The head of a reply. */
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

/** What a Worker asks of the application: calls of its functions, and requests to the network. */
export type Ask =
  | { readonly ask: "toolCall"; readonly call: number; readonly told: ToolCall }
  | { readonly ask: "toolReply"; readonly call: number; readonly request: number; readonly good: boolean; readonly bytes: Uint8Array }
  | { readonly ask: "toolOver"; readonly call: number }
  | { readonly ask: "netResolve"; readonly request: number; readonly name: string; readonly withinMs: number }
  | { readonly ask: "netSend"; readonly request: number; readonly told: Outgoing }
  | { readonly ask: "netBody"; readonly request: number; readonly piece: Uint8Array; readonly end: boolean }
  | { readonly ask: "netBroken"; readonly request: number }
  | { readonly ask: "netPull"; readonly request: number }
  | { readonly ask: "netOver"; readonly request: number };

/** What the application tells the kernel of them: an export of `src/host_tool.rs` or `src/gateway.rs` and its arguments. */
export type Tell =
  | { readonly tell: "toolReads"; readonly args: readonly [call: number, request: number, most: number] }
  | { readonly tell: "toolWrites"; readonly args: readonly [call: number, request: number, stderr: boolean, bytes: Uint8Array] }
  | { readonly tell: "toolReadsFile"; readonly args: readonly [call: number, request: number, path: Uint8Array, most: number] }
  | { readonly tell: "toolWritesFile"; readonly args: readonly [call: number, request: number, path: Uint8Array, bytes: Uint8Array] }
  | { readonly tell: "toolEnds"; readonly args: readonly [call: number, code: number] }
  | { readonly tell: "netResolved"; readonly args: readonly [request: number, addresses: string[]] }
  | { readonly tell: "netWants"; readonly args: readonly [request: number] }
  | { readonly tell: "netHead"; readonly args: readonly [request: number, head: ReplyHead] }
  | { readonly tell: "netPiece"; readonly args: readonly [request: number, piece: Uint8Array] }
  | { readonly tell: "netFailed"; readonly args: readonly [request: number, kind: string, message: string] };

/** Work on the files of a pack, in a Worker that does nothing else. */
export interface PackWork {
  readonly kernelForPack: WebAssembly.Module;
  /** The module as it was fetched, when it is to be taken apart, and where its first memory is put. */
  readonly raw?: { readonly wasm: Uint8Array; readonly exports: readonly string[]; readonly image: string };
  /** The module without data. */
  readonly module: string;
  /** Where it is put as this engine runs it. */
  readonly code: string;
  /** Pages of the memory that it begins with; told by the module when it is taken apart. */
  readonly pages?: number;
}

/** What an owner says. */
export type Order = Setup | Call | Cancel | Tell | PackWork;

/** What went wrong on our side. */
export interface Failure {
  readonly kind: string;
  readonly message: string;
}

/** What a call has changed. */
export interface Changes {
  /** They hold everything since the sandbox was made, and take the place of all before. */
  readonly joined: boolean;
  readonly bytes: Uint8Array;
}

/** What a Worker says. */
export type Report =
  | { readonly what: "ready"; readonly id: string }
  | { readonly what: "failed"; readonly failure: Failure }
  | { readonly what: "packed"; readonly pages: number }
  | { readonly what: "broken"; readonly reason: string }
  | { readonly what: "answer"; readonly id: number; readonly value: unknown; readonly changes: Changes | undefined }
  | { readonly what: "refusal"; readonly id: number; readonly failure: Failure }
  | { readonly what: "output"; readonly id: number; readonly stderr: boolean; readonly bytes: Uint8Array }
  | { readonly what: "asked"; readonly ask: Ask }
  | { readonly what: "compiled"; readonly file: string; readonly module: WebAssembly.Module };
