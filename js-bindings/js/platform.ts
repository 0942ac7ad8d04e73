/** What the class needs of the platform that it runs on. */

import type { Call, Report, Setup } from "./messages.js";
import type { Listed } from "./programs.js";

/** A Worker that serves one sandbox. */
export interface SandboxWorker {
  send(message: Setup | Call): void;
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

export interface Platform {
  start(listener: Listener): SandboxWorker;
  kernel(): Promise<WebAssembly.Module>;
  programs(): Promise<readonly Listed[]>;
}
