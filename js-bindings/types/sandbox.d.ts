/** The class: a sandbox in a Worker of its own. */
import { AgentBackend } from "./agent_backend.js";
import type { NetworkLog } from "./network_options.js";
import type { CallOptions, SandboxOptions } from "./options.js";
import { PythonSession } from "./python_session.js";
import type { SnapshotDiff } from "./snapshot.js";
import { Snapshot } from "./snapshot.js";
/**
 * A whole sandbox: files, a shell and some two hundred commands, in a Worker of its own and with nothing of the host.
 *
 * It is a backend for Deep Agents: `createDeepAgent({ backend: await Sandbox.create() })`. Its tool methods never throw:
 * what goes wrong is in the answer. Calls may overlap.
 */
export declare class Sandbox extends AgentBackend {
    #private;
    /** A sandbox that is not started yet; see {@link initialize}. */
    constructor(options?: SandboxOptions);
    /**
     * Makes a sandbox and starts it.
     *
     * @throws {SandboxError} for options that cannot be, and when no Worker can be started.
     */
    static create(options?: SandboxOptions): Promise<Sandbox>;
    /**
     * Starts a sandbox that was made by its constructor.
     *
     * @throws {SandboxError} as {@link create}, and when it was started before.
     */
    initialize(): Promise<void>;
    /** Never empty once it is started. */
    get id(): string;
    /** Whether commands can be run. */
    get isRunning(): boolean;
    /**
     * Keeps what the sandbox is now: its files and its shell session. Commands may run meanwhile: the files are those between two
     * of their system calls. Takes time for what the sandbox has written, of which equal blocks count once.
     *
     * @throws {SandboxError} for a sandbox that is not open, and for one with copy-on-write mounts.
     */
    snapshot(options?: CallOptions): Promise<Snapshot>;
    /**
     * Puts files and shell session back to what they were. Commands that run are stopped; they answer with exit code 137 and
     * `stoppedBy` `cancelled`. The snapshot may be another sandbox's. What lies in mounts, and tools, stay as they are.
     *
     * @throws {SandboxError} as {@link snapshot}, and for bytes that are no snapshot or more than the limits hold; nothing has
     * changed then.
     */
    restore(snapshot: Snapshot, options?: CallOptions): Promise<void>;
    /**
     * A second sandbox, in a Worker of its own, that begins as this one is now: with the same options, an id of its own, and the
     * same functions as tools. From here on each goes its own way. What runs here does not run there.
     *
     * The time of a deterministic sandbox goes on in its fork, with randomness of its own that is the same in every run.
     *
     * @throws {SandboxError} as {@link create} and {@link snapshot}.
     */
    fork(options?: CallOptions): Promise<Sandbox>;
    /**
     * What changed from one snapshot to another, by default to what the sandbox is now. Either may be another sandbox's. Times,
     * owners and hard links are not compared.
     *
     * @throws {SandboxError} as {@link restore}.
     */
    diff(before: Snapshot, after?: Snapshot, options?: CallOptions): Promise<SnapshotDiff>;
    /**
     * All that the sandbox, or a snapshot, has made or changed as a tar, with names that count from `/`. It keeps modes, times of
     * change and links; not the shell session. {@link SandboxOptions.tar} reads it.
     *
     * @throws {SandboxError} as {@link restore}.
     */
    toTar(snapshot?: Snapshot, options?: CallOptions): Promise<Uint8Array>;
    /**
     * A tar as a snapshot, to begin with or to compare with. The tar is not trusted: names with `..`, devices, sparse files and
     * what lies in the place of the system's files are refused by name.
     *
     * @throws {SandboxError} for bytes that are no such tar, or more than the limits hold.
     */
    fromTar(tar: Uint8Array, options?: CallOptions): Promise<Snapshot>;
    /**
     * All requests that programs of this sandbox have sent, refused ones included. Empty without {@link SandboxOptions.network};
     * begins anew when the Worker does.
     *
     * @throws {SandboxError} for a sandbox that is not open.
     */
    networkLog(options?: CallOptions): Promise<NetworkLog>;
    /**
     * Begins an interpreter of Python that keeps its variables, open files and imported modules from one call to the next. It starts with the
     * first one. A sandbox may have several; none of them is in a snapshot or a fork.
     *
     * @throws {SandboxError} `INVALID_OPTIONS` for a sandbox without Python ({@link SandboxOptions.packs}), `UNSUPPORTED` where the engine cannot
     * suspend WebAssembly (JSPI), and for a sandbox that is not open.
     */
    pythonSession(): Promise<PythonSession>;
    /** Ends what runs, and the Worker. The files are gone. Closing twice is no error. */
    close(): Promise<void>;
}
