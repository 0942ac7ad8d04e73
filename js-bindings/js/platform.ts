/** What the class needs of the platform that it runs on. */

import type { Listed, PackageFiles } from "./archive.js";
import { SandboxError } from "./error.js";
import type { Gateway } from "./gateway.js";
import type { Order, Report } from "./messages.js";
import type { PackOption } from "./options.js";
import type { FoundPack } from "./packs.js";

/** A Worker that serves one sandbox. */
export interface SandboxWorker {
  send(message: Order): void;
  /** Ends it at once, whatever it does. */
  terminate(): void;
  /** Whether it keeps the program running. */
  hold(hold: boolean): void;
}

/** Who hears of a Worker. */
export interface Listener {
  report(report: Report): void;
  /** It ended by itself, or could not start. */
  broke(error: unknown): void;
}

/** Rewrites the module of a pack, a file, for this engine, into another one. */
export type Rewrite = (from: string, to: string, pages: number) => Promise<void>;

export interface Platform {
  start(listener: Listener): SandboxWorker;
  kernel(): Promise<WebAssembly.Module>;
  /** The module that speaks to providers. */
  remote(): Promise<WebAssembly.Module>;
  programs(): Promise<readonly Listed[]>;
  /** Whether its gateway connects to names and knows no addresses. */
  readonly connectsByName: boolean;
  /** What sends the requests of sandboxes. */
  gateway(): Promise<Gateway>;
  /** A folder of the host by the absolute path that a Worker opens; throws where there are none. */
  folder(folder: string | URL): string;
  /** A pack that is ready; throws where it is not. */
  pack(wanted: PackOption, rewrite: Rewrite): Promise<FoundPack>;
  /** Where the caller's thread can unpack programs without being kept from other work. */
  readonly files?: PackageFiles;
}

let used: Platform | undefined;

/** Says what the package runs on; the entry of each platform does, before anything else. */
export function usePlatform(platform: Platform): void {
  used = platform;
}

/** What the package runs on. */
export function platform(): Platform {
  if (used === undefined) throw new SandboxError("import the package by its name", "SETUP_FAILED");
  return used;
}
