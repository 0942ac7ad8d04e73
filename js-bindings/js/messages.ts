/** What the two sides of a sandbox say to each other: the class in the caller's thread, and the Worker. */

import type { Listed } from "./programs.js";

/** The options of a sandbox, as far as the kernel is concerned: plain values that can be sent to a Worker. */
export interface KernelOptions {
  files?: Record<string, string | Uint8Array>;
  env?: Record<string, string>;
  cwd?: string;
  hostname?: string;
  id?: string;
  shellMode?: "fresh" | "persistent";
  limits?: Record<string, number>;
  deterministic?: { seed: number; timeMs: number };
}

/** The first message to a Worker. */
export interface Setup {
  readonly kernel: WebAssembly.Module;
  readonly programs: readonly Listed[];
  /** Programs that another Worker has compiled. */
  readonly compiled: ReadonlyMap<string, WebAssembly.Module>;
  readonly options: KernelOptions;
  /** Changes of a Worker that is no more, in their order. */
  readonly changes: readonly Uint8Array[];
}

/** A call of a method of the kernel's sandbox. */
export interface Call {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

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
  | { readonly what: "broken"; readonly reason: string }
  | { readonly what: "answer"; readonly id: number; readonly value: unknown; readonly changes: Changes | undefined }
  | { readonly what: "refusal"; readonly id: number; readonly failure: Failure }
  | { readonly what: "output"; readonly id: number; readonly stderr: boolean; readonly bytes: Uint8Array }
  | { readonly what: "compiled"; readonly file: string; readonly module: WebAssembly.Module };
