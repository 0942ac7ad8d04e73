/** The basis on which a worker creates a sandbox: its options, and the changes of its completed calls. */

import type { Changes, KernelOptions } from "./messages.js";

export class CreationState {
  options: KernelOptions;
  /** Processor time in milliseconds, as of the last result. */
  cpuTimeMs = 0;
  #changes: Uint8Array[] = [];
  #changeBytes = 0;

  constructor(options: KernelOptions) {
    this.options = options;
  }

  /** Changes since the options, in order. */
  get changes(): readonly Uint8Array[] {
    return this.#changes;
  }

  /** Bytes of the snapshot and of the changes. */
  get bytes(): number {
    return this.#changeBytes + (this.options.snapshot?.length ?? 0);
  }

  /** True if the sandbox has state that only its worker holds. */
  get copiesOnWrite(): boolean {
    return this.options.mounts?.some(({ mode }) => mode === "copyOnWrite") ?? false;
  }

  /** Adds the changes of a completed call. */
  record(changes: Changes | undefined): void {
    if (changes === undefined) return;
    if (changes.merged) this.forgetChanges();
    this.#changes.push(changes.bytes);
    this.#changeBytes += changes.bytes.length;
  }

  forgetChanges(): void {
    this.#changes = [];
    this.#changeBytes = 0;
  }

  /** The next worker starts from this snapshot, without the initial files of the options and the changes until now. */
  startFrom(snapshot: Uint8Array): void {
    const { files: _, tar: __, seedDirectory: ___, ...options } = this.options;
    this.options = { ...options, snapshot };
    this.forgetChanges();
  }
}
