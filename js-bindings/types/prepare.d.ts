/** Preparation of workers before the first sandbox needs them. */
/** Options of {@link prepare}. */
export interface PrepareOptions {
    /** The kind of sandboxes to prepare for: the option `thread` that they will have. Default: that of `Sandbox.create`. */
    thread?: "pool" | "own" | "caller";
    /**
     * Number of Workers, including those that are already there. Default 1. `pool` starts at most one for each core. `own` starts
     * one for each of the next sandboxes. `caller` has one kernel, in this thread.
     */
    workers?: number;
}
/**
 * Starts Workers, compiles the kernel and the shell, and runs a command, so that the first sandbox is created as quickly as a
 * later one. A prepared Worker is kept until a sandbox uses it, and does not keep the application running.
 *
 * ```js
 * await prepare(); // while the application starts
 * ```
 *
 * @throws {SandboxError} `INVALID_OPTIONS` for invalid options, `UNSUPPORTED` like `Sandbox.create`, and `SETUP_FAILED` if a
 * Worker cannot be started.
 */
export declare function prepare(options?: PrepareOptions): Promise<void>;
