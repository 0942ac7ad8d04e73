/** Interface of the platform that the package runs on. */

import type { Thread } from "./pool.js";
import type { PackageProgram, PackageFiles } from "./archive.js";
import { SandboxError } from "./error.js";
import type { Gateway } from "./gateway.js";
import type { WorkerInput, WorkerOutput } from "./messages.js";
import type { PackOption } from "./options.js";
import type { LocatedPack } from "./packs.js";
import type { Listen } from "./ports.js";

/** A worker that runs sandboxes. */
export interface SandboxWorker {
  /** Sends a message. Buffers in `moved` are transferred instead of copied. */
  send(message: WorkerInput, moved?: ArrayBuffer[]): void;
  /** Terminates it immediately. */
  terminate(): void;
  /** True if it ends when it receives the message `end`. */
  readonly canEnd?: boolean;
  /** Sets whether it keeps the process alive. */
  hold(hold: boolean): void;
}

/** Receives the events of a worker. */
export interface Listener {
  report(report: WorkerOutput): void;
  /** Called if it ended unexpectedly or could not start. */
  crashed(error: unknown): void;
}

/**
 * Rewrites the module of a pack from one file into another for this engine. `pages` are those of the initial memory; absent for a
 * program pack.
 */
export type Rewrite = (from: string, to: string, pages?: number) => Promise<void>;

/** The module with the kernel for the caller's thread. */
export interface CallerModule {
  /** Starts the kernel. Called once. */
  startInCaller(listener: Listener): SandboxWorker;
}

export interface Platform {
  start(listener: Listener): SandboxWorker;
  /** Loads the kernel for the caller's thread: a new copy for each number, counted from 0. */
  caller(copy: number): Promise<CallerModule>;
  kernel(): Promise<WebAssembly.Module>;
  /** The module with the provider adapters. */
  remote(): Promise<WebAssembly.Module>;
  programs(): Promise<readonly PackageProgram[]>;
  /**
   * Keeps the event loop from sleeping for up to `milliseconds`, without blocking it, because a message of a worker is expected:
   * waking a thread takes as long as a short command. Ends after a tenth of that unless `isExpected`. Absent if the platform cannot.
   */
  readonly stayAwake?: ((milliseconds: number, isExpected: () => boolean) => void) | undefined;
  /** Ends {@link stayAwake} early. */
  readonly maySleep?: () => void;
  /** Maximum number of workers that sandboxes share. */
  readonly maxWorkers: number;
  /** Default of the option `thread`. */
  readonly defaultThread: Thread;
  /** True if its gateway connects to host names and does not accept addresses. */
  readonly connectsByName: boolean;
  /** Returns the gateway that sends the requests of sandboxes. */
  gateway(): Promise<Gateway>;
  /** Returns random bytes of the system. */
  randomBytes(count: number): Uint8Array<ArrayBuffer>;
  /** Opens a port of this computer. Rejects if the platform has none. */
  readonly listen: Listen;
  /** Returns the absolute path of a host directory. Throws if the platform has none. */
  directory(path: string | URL): string;
  /** Locates an installed pack. Throws if it is not installed. */
  pack(option: PackOption, rewrite: Rewrite): Promise<LocatedPack>;
  /** Set if the caller's thread can decompress programs without blocking. */
  readonly files?: PackageFiles;
}

let used: Platform | undefined;

/** Sets the platform. Called first by the entry point of each platform. */
export function usePlatform(platform: Platform): void {
  used = platform;
}

/** Returns the platform. */
export function platform(): Platform {
  if (used === undefined) throw new SandboxError("no platform is set; import the package by its name", "SETUP_FAILED");
  return used;
}
