/** The local sandbox class. */
import { AgentBackend } from "./agent_backend.js";
import type { NetworkLog } from "./network_options.js";
import type { CallOptions, SandboxOptions } from "./options.js";
import type { ExposeOptions, ExposedPort, PortConnection, WaitForPortOptions } from "./ports.js";
import { PythonSession } from "./python_session.js";
import type { SnapshotDiff } from "./snapshot.js";
import { Snapshot } from "./snapshot.js";
/**
 * A sandbox: files, a shell and about two hundred commands, in a worker and without access to the host.
 *
 * It is a backend for Deep Agents: `createDeepAgent({ backend: await Sandbox.create() })`. Its tool methods never throw: errors
 * are part of the result. Calls may overlap.
 */
export declare class Sandbox extends AgentBackend {
    #private;
    /** Creates a sandbox that is not started; see {@link initialize}. */
    constructor(options?: SandboxOptions);
    /**
     * Creates a sandbox and starts it.
     *
     * @throws {SandboxError} for invalid options, or if the worker cannot be started.
     */
    static create(options?: SandboxOptions): Promise<Sandbox>;
    /**
     * Starts a sandbox that was created by its constructor.
     *
     * @throws {SandboxError} like {@link create}, and if it was started before.
     */
    initialize(): Promise<void>;
    /** The sandbox id. Not empty after the sandbox is started. */
    get id(): string;
    /** True if commands can be run. */
    get isRunning(): boolean;
    /**
     * Takes a snapshot of the files and the shell session. Commands may run during it: the files are those between two of their
     * system calls. The time depends on the data that the sandbox has written, with equal blocks counted once.
     *
     * @throws {SandboxError} for a sandbox that is not open, or with copy-on-write mounts.
     */
    snapshot(options?: CallOptions): Promise<Snapshot>;
    /**
     * Restores files and shell session. Running commands and processes are stopped with exit code 137 and `stoppedBy` `cancelled`. The snapshot
     * may be from another sandbox. Mounts and tools are not affected.
     *
     * @throws {SandboxError} like {@link snapshot}, and for bytes that are not a snapshot or exceed the limits; then nothing has
     * changed.
     */
    restore(snapshot: Snapshot, options?: CallOptions): Promise<void>;
    /**
     * Creates a second sandbox from the current state, with the same options, a new id, and the same functions as tools. Both are independent afterwards. Running commands are not copied.
     *
     * The fork of a deterministic sandbox continues its clock, with different random numbers that are the same in every run.
     *
     * @throws {SandboxError} like {@link create} and {@link snapshot}.
     */
    fork(options?: CallOptions): Promise<Sandbox>;
    /**
     * Compares two snapshots, by default with the current state. Either may be from another sandbox. Times, owners and hard links
     * are not compared.
     *
     * @throws {SandboxError} like {@link restore}.
     */
    diff(before: Snapshot, after?: Snapshot, options?: CallOptions): Promise<SnapshotDiff>;
    /**
     * Returns all files that the sandbox, or a snapshot, has created or changed, as a tar archive with names relative to `/`. It
     * keeps modes, modification times and links, but not the shell session. {@link SandboxOptions.tar} reads it.
     *
     * @throws {SandboxError} like {@link restore}.
     */
    toTar(snapshot?: Snapshot, options?: CallOptions): Promise<Uint8Array>;
    /**
     * Converts a tar archive to a snapshot, to start from or to compare with. The archive is untrusted: names with `..`, devices,
     * sparse files and replacements of system files are rejected by name.
     *
     * @throws {SandboxError} for bytes that are not such an archive, or exceed the limits.
     */
    fromTar(tar: Uint8Array, options?: CallOptions): Promise<Snapshot>;
    /**
     * Returns all network requests of this sandbox, including denied ones. Empty without {@link SandboxOptions.network}; reset when
     * the worker restarts.
     *
     * @throws {SandboxError} for a sandbox that is not open.
     */
    networkLog(options?: CallOptions): Promise<NetworkLog>;
    /**
     * Lists the ports at which programs of the sandbox listen, in ascending order.
     *
     * @throws {SandboxError} `UNSUPPORTED` if the engine cannot suspend WebAssembly (JSPI), and for a sandbox that is not open.
     */
    ports(options?: CallOptions): Promise<number[]>;
    /**
     * Waits until a program of the sandbox listens at a port.
     *
     * @throws {SandboxError} `TIMEOUT` if none does in time, `INVALID_OPTIONS` for an invalid port, and like {@link ports}.
     */
    waitForPort(port: number, options?: WaitForPortOptions): Promise<void>;
    /**
     * Forwards a port of this computer's 127.0.0.1 to a port of the sandbox, in Node and Deno. The server may start later: until
     * then connections are closed. Up to 256 connections exist at a time; further ones wait.
     *
     * ```js
     * await sandbox.spawn("python3 -m http.server 8000");
     * await sandbox.waitForPort(8000);
     * await using exposed = await sandbox.expose(8000);
     * const response = await fetch(exposed.url);
     * ```
     *
     * @throws {SandboxError} `UNAVAILABLE` if the port of this computer is in use or reserved, or Deno lacks the permission
     * `--allow-net`; `UNSUPPORTED` in pages, which cannot listen; `INVALID_OPTIONS` for an invalid port; and like {@link ports}.
     */
    expose(port: number, options?: ExposeOptions): Promise<ExposedPort>;
    /**
     * Connects to a program that listens at a port of the sandbox, without a port of this computer. Also works in pages.
     *
     * @throws {SandboxError} `UNAVAILABLE` if nothing listens there or the server accepts no connection, `QUOTA_EXCEEDED` at
     * `limits.sockets`, `INVALID_OPTIONS` for an invalid port, and like {@link ports}.
     */
    connect(port: number, options?: CallOptions): Promise<PortConnection>;
    /**
     * Creates a Python interpreter that keeps its variables, open files and imported modules between calls. It starts with the
     * first call. A sandbox may have several; they are not part of snapshots and forks.
     *
     * @throws {SandboxError} `INVALID_OPTIONS` for a sandbox without Python ({@link SandboxOptions.packs}), `UNSUPPORTED` if the
     * engine cannot suspend WebAssembly (JSPI), and for a sandbox that is not open.
     */
    pythonSession(): Promise<PythonSession>;
    /**
     * Stops running commands and processes. Processes get the signal TERM, and are killed after two seconds. The files are deleted.
     * Closing twice is not an error.
     */
    close(): Promise<void>;
}
