/** Resources that a sandbox uses. */
/** Resources that a sandbox uses at a moment. */
export interface SandboxUsage {
    /** Bytes of the files that the sandbox has written, as `limits.fileBytes` counts them. The kernel keeps them in memory. */
    readonly fileBytes: number;
    /** Files, directories and links, as `limits.inodes` counts them. */
    readonly inodes: number;
    /** Linear memory of all processes in bytes, as `limits.sandboxMemoryBytes` counts it. 0 if no process runs. */
    readonly memoryBytes: number;
    /** Bytes that the pipes of running processes can hold. */
    readonly pipeBytes: number;
    /** Processes, including those that have ended and whose parent has not waited for them. */
    readonly processes: number;
    /** Open files of all processes. */
    readonly openFiles: number;
    /**
     * Milliseconds for which processes have run since the sandbox was created. Includes those of a Worker that has ended, up to the
     * last call that completed there.
     */
    readonly cpuTimeMs: number;
}
