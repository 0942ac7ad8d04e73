/** The class: a sandbox in a Worker of its own. */

import { AgentBackend } from "./agent_backend.js";
import { Connection } from "./connection.js";
import { SandboxError } from "./error.js";
import type { NetworkLog } from "./network_options.js";
import type { CallOptions, SandboxOptions } from "./options.js";
import { checkOptions, checkSignal } from "./options.js";
import { platform } from "./platform.js";
import { PythonSession, made } from "./python_session.js";
import type { SnapshotDiff } from "./snapshot.js";
import { Snapshot } from "./snapshot.js";

/**
 * A whole sandbox: files, a shell and some two hundred commands, in a Worker of its own and with nothing of the host.
 *
 * It is a backend for Deep Agents: `createDeepAgent({ backend: await Sandbox.create() })`. Its tool methods never throw:
 * what goes wrong is in the answer. Calls may overlap.
 */
export class Sandbox extends AgentBackend {
  readonly #options: SandboxOptions;
  #connection: Connection | undefined;
  #closed = false;

  /** A sandbox that is not started yet; see {@link initialize}. */
  constructor(options: SandboxOptions = {}) {
    super(() => this.#open());
    this.#options = options;
  }

  /**
   * Makes a sandbox and starts it.
   *
   * @throws {SandboxError} for options that cannot be, and when no Worker can be started.
   */
  static async create(options: SandboxOptions = {}): Promise<Sandbox> {
    const sandbox = new Sandbox(options);
    await sandbox.initialize();
    return sandbox;
  }

  /**
   * Starts a sandbox that was made by its constructor.
   *
   * @throws {SandboxError} as {@link create}, and when it was started before.
   */
  async initialize(): Promise<void> {
    if (this.#connection !== undefined || this.#closed) {
      throw new SandboxError("the sandbox was started already; create another one", "ALREADY_INITIALIZED");
    }
    const used = platform();
    const connection = new Connection(used, checkOptions(this.#options, used));
    this.#connection = connection;
    try {
      await connection.open();
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
  }

  /** Never empty once it is started. */
  override get id(): string {
    return this.#connection?.id ?? "";
  }

  /** Whether commands can be run. */
  override get isRunning(): boolean {
    return this.#connection?.isOpen ?? false;
  }

  /**
   * Keeps what the sandbox is now: its files and its shell session. Commands may run meanwhile: the files are those between two
   * of their system calls. Takes time for what the sandbox has written, of which equal blocks count once.
   *
   * @throws {SandboxError} for a sandbox that is not open, and for one with copy-on-write mounts.
   */
  async snapshot(options?: CallOptions): Promise<Snapshot> {
    this.#open().checkKept("be kept in a snapshot");
    return new Snapshot(await this.#call(options, "snapshot"));
  }

  /**
   * Puts files and shell session back to what they were. Commands that run are stopped; they answer with exit code 137 and
   * `stoppedBy` `cancelled`. The snapshot may be another sandbox's. What lies in mounts, and tools, stay as they are.
   *
   * @throws {SandboxError} as {@link snapshot}, and for bytes that are no snapshot or more than the limits hold; nothing has
   * changed then.
   */
  async restore(snapshot: Snapshot, options?: CallOptions): Promise<void> {
    checkSignal(options?.signal);
    const connection = this.#open();
    connection.checkKept("go back to a snapshot");
    await connection.restore(bytesOf(snapshot), options?.signal);
  }

  /**
   * A second sandbox, in a Worker of its own, that begins as this one is now: with the same options, an id of its own, and the
   * same functions as tools. From here on each goes its own way. What runs here does not run there.
   *
   * The time of a deterministic sandbox goes on in its fork, with randomness of its own that is the same in every run.
   *
   * @throws {SandboxError} as {@link create} and {@link snapshot}.
   */
  async fork(options?: CallOptions): Promise<Sandbox> {
    this.#open().checkKept("be forked");
    const { snapshot, id, timeMs, seed } = await this.#call<Forked>(options, "fork");
    const { files: _, tar: __, seedFolder: ___, ...same } = this.#options;
    const deterministic = same.deterministic ? { seed, timeMs } : false;
    return Sandbox.create({ ...same, snapshot: new Snapshot(snapshot), id, deterministic });
  }

  /**
   * What changed from one snapshot to another, by default to what the sandbox is now. Either may be another sandbox's. Times,
   * owners and hard links are not compared.
   *
   * @throws {SandboxError} as {@link restore}.
   */
  async diff(before: Snapshot, after?: Snapshot, options?: CallOptions): Promise<SnapshotDiff> {
    const to = after === undefined ? undefined : bytesOf(after);
    return this.#call(options, "diff", bytesOf(before), to);
  }

  /**
   * All that the sandbox, or a snapshot, has made or changed as a tar, with names that count from `/`. It keeps modes, times of
   * change and links; not the shell session. {@link SandboxOptions.tar} reads it.
   *
   * @throws {SandboxError} as {@link restore}.
   */
  async toTar(snapshot?: Snapshot, options?: CallOptions): Promise<Uint8Array> {
    return this.#call(options, "toTar", snapshot === undefined ? undefined : bytesOf(snapshot));
  }

  /**
   * A tar as a snapshot, to begin with or to compare with. The tar is not trusted: names with `..`, devices, sparse files and
   * what lies in the place of the system's files are refused by name.
   *
   * @throws {SandboxError} for bytes that are no such tar, or more than the limits hold.
   */
  async fromTar(tar: Uint8Array, options?: CallOptions): Promise<Snapshot> {
    return new Snapshot(await this.#call(options, "fromTar", tar));
  }

  /**
   * All requests that programs of this sandbox have sent, refused ones included. Empty without {@link SandboxOptions.network};
   * begins anew when the Worker does.
   *
   * @throws {SandboxError} for a sandbox that is not open.
   */
  async networkLog(options?: CallOptions): Promise<NetworkLog> {
    return this.#call(options, "networkLog");
  }

  /**
   * Begins an interpreter of Python that keeps its variables, open files and imported modules from one call to the next. It starts with the
   * first one. A sandbox may have several; none of them is in a snapshot or a fork.
   *
   * @throws {SandboxError} `INVALID_OPTIONS` for a sandbox without Python ({@link SandboxOptions.packs}), `UNSUPPORTED` where the engine cannot
   * suspend WebAssembly (JSPI), and for a sandbox that is not open.
   */
  async pythonSession(): Promise<PythonSession> {
    const connection = this.#open();
    if (!this.#options.packs?.length) {
      throw new SandboxError('the sandbox has no Python; make one with packs: ["python"], after npx tidebox pack add python', "INVALID_OPTIONS");
    }
    const number = connection.nextNumber();
    await connection.call("pythonBegin", [number]);
    return new PythonSession(made, { connection, number });
  }

  /** Ends what runs, and the Worker. The files are gone. Closing twice is no error. */
  override async close(): Promise<void> {
    this.#closed = true;
    this.#connection?.close();
  }

  #open(): Connection {
    if (this.#closed) throw new SandboxError("the sandbox is closed; create a new one", "CLOSED");
    if (this.#connection === undefined) {
      throw new SandboxError("the sandbox is not started; call initialize() first", "NOT_INITIALIZED");
    }
    return this.#connection;
  }

  async #call<T>(options: CallOptions | undefined, method: string, ...args: unknown[]): Promise<T> {
    checkSignal(options?.signal);
    return this.#open().callUntil<T>(options?.signal, method, args);
  }
}

/** What the kernel answers to `fork`. */
interface Forked {
  readonly snapshot: { bytes: Uint8Array; fileBytes: number; inodes: number };
  readonly id: string;
  readonly timeMs: number;
  readonly seed: number;
}

function bytesOf(snapshot: Snapshot): Uint8Array {
  if (snapshot instanceof Snapshot) return snapshot.bytes;
  throw new SandboxError("this is no Snapshot; see Snapshot.fromBytes", "INVALID_OPTIONS");
}
