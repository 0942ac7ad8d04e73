/** The local sandbox class. */

import { AgentBackend } from "./agent_backend.js";
import { Connection } from "./connection.js";
import { SandboxError } from "./error.js";
import type { NetworkLog } from "./network_options.js";
import type { CallOptions, SandboxOptions } from "./options.js";
import { checkOptions, checkSignal } from "./options.js";
import { platform } from "./platform.js";
import type { ExposeOptions, ExposedPort, PortConnection, WaitForPortOptions } from "./ports.js";
import { checkExposeOptions, checkPort, checkWaitOptions, portConnection } from "./ports.js";
import { PythonSession, constructorKey } from "./python_session.js";
import type { SnapshotDiff } from "./snapshot.js";
import { Snapshot } from "./snapshot.js";

/**
 * A sandbox: files, a shell and about two hundred commands, in a worker and without access to the host.
 *
 * It is a backend for Deep Agents: `createDeepAgent({ backend: await Sandbox.create() })`. Its tool methods never throw: errors
 * are part of the result. Calls may overlap.
 */
export class Sandbox extends AgentBackend {
  readonly #options: SandboxOptions;
  #connection: Connection | undefined;
  #closed = false;

  /** Creates a sandbox that is not started; see {@link initialize}. */
  constructor(options: SandboxOptions = {}) {
    super(() => this.#open());
    this.#options = options;
  }

  /**
   * Creates a sandbox and starts it.
   *
   * @throws {SandboxError} for invalid options, or if the worker cannot be started.
   */
  static async create(options: SandboxOptions = {}): Promise<Sandbox> {
    const sandbox = new Sandbox(options);
    await sandbox.initialize();
    return sandbox;
  }

  /**
   * Starts a sandbox that was created by its constructor.
   *
   * @throws {SandboxError} like {@link create}, and if it was started before.
   */
  async initialize(): Promise<void> {
    if (this.#connection !== undefined || this.#closed) {
      throw new SandboxError("the sandbox is already started; create another one", "ALREADY_INITIALIZED");
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

  /** The sandbox id. Not empty after the sandbox is started. */
  override get id(): string {
    return this.#connection?.id ?? "";
  }

  /** True if commands can be run. */
  override get isRunning(): boolean {
    return this.#connection?.isOpen ?? false;
  }

  /**
   * Takes a snapshot of the files and the shell session. Commands may run during it: the files are those between two of their
   * system calls. The time depends on the data that the sandbox has written, with equal blocks counted once.
   *
   * @throws {SandboxError} for a sandbox that is not open, or with copy-on-write mounts.
   */
  async snapshot(options?: CallOptions): Promise<Snapshot> {
    this.#open().checkSnapshotable("snapshot");
    return new Snapshot(await this.#call(options, "snapshot"));
  }

  /**
   * Restores files and shell session. Running commands and processes are stopped with exit code 137 and `stoppedBy` `cancelled`. The snapshot
   * may be from another sandbox. Mounts and tools are not affected.
   *
   * @throws {SandboxError} like {@link snapshot}, and for bytes that are not a snapshot or exceed the limits; then nothing has
   * changed.
   */
  async restore(snapshot: Snapshot, options?: CallOptions): Promise<void> {
    checkSignal(options?.signal);
    const connection = this.#open();
    connection.checkSnapshotable("restore");
    await connection.restore(bytesOf(snapshot), options?.signal);
  }

  /**
   * Creates a second sandbox from the current state, with the same options, a new id, and the same functions as tools. Both are independent afterwards. Running commands are not copied.
   *
   * The fork of a deterministic sandbox continues its clock, with different random numbers that are the same in every run.
   *
   * @throws {SandboxError} like {@link create} and {@link snapshot}.
   */
  async fork(options?: CallOptions): Promise<Sandbox> {
    this.#open().checkSnapshotable("fork");
    const { snapshot, id, timeMs, seed } = await this.#call<ForkResult>(options, "fork");
    const { files: _, tar: __, seedDirectory: ___, ...same } = this.#options;
    const deterministic = same.deterministic ? { seed, timeMs } : false;
    return Sandbox.create({ ...same, snapshot: new Snapshot(snapshot), id, deterministic });
  }

  /**
   * Compares two snapshots, by default with the current state. Either may be from another sandbox. Times, owners and hard links
   * are not compared.
   *
   * @throws {SandboxError} like {@link restore}.
   */
  async diff(before: Snapshot, after?: Snapshot, options?: CallOptions): Promise<SnapshotDiff> {
    const to = after === undefined ? undefined : bytesOf(after);
    return this.#call(options, "diff", bytesOf(before), to);
  }

  /**
   * Returns all files that the sandbox, or a snapshot, has created or changed, as a tar archive with names relative to `/`. It
   * keeps modes, modification times and links, but not the shell session. {@link SandboxOptions.tar} reads it.
   *
   * @throws {SandboxError} like {@link restore}.
   */
  async toTar(snapshot?: Snapshot, options?: CallOptions): Promise<Uint8Array> {
    return this.#call(options, "toTar", snapshot === undefined ? undefined : bytesOf(snapshot));
  }

  /**
   * Converts a tar archive to a snapshot, to start from or to compare with. The archive is untrusted: names with `..`, devices,
   * sparse files and replacements of system files are rejected by name.
   *
   * @throws {SandboxError} for bytes that are not such an archive, or exceed the limits.
   */
  async fromTar(tar: Uint8Array, options?: CallOptions): Promise<Snapshot> {
    return new Snapshot(await this.#call(options, "fromTar", tar));
  }

  /**
   * Returns all network requests of this sandbox, including denied ones. Empty without {@link SandboxOptions.network}; reset when
   * the worker restarts.
   *
   * @throws {SandboxError} for a sandbox that is not open.
   */
  async networkLog(options?: CallOptions): Promise<NetworkLog> {
    return this.#call(options, "networkLog");
  }

  /**
   * Lists the ports at which programs of the sandbox listen, in ascending order.
   *
   * @throws {SandboxError} `UNSUPPORTED` if the engine cannot suspend WebAssembly (JSPI), and for a sandbox that is not open.
   */
  async ports(options?: CallOptions): Promise<number[]> {
    return this.#call(options, "listeningPorts");
  }

  /**
   * Waits until a program of the sandbox listens at a port.
   *
   * @throws {SandboxError} `TIMEOUT` if none does in time, `INVALID_OPTIONS` for an invalid port, and like {@link ports}.
   */
  async waitForPort(port: number, options: WaitForPortOptions = {}): Promise<void> {
    checkPort(port);
    const milliseconds = checkWaitOptions(options);
    await this.#call(options, "waitForPort", port, milliseconds);
  }

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
  async expose(port: number, options: ExposeOptions = {}): Promise<ExposedPort> {
    checkPort(port);
    const hostPort = checkExposeOptions(options);
    const { signal } = options;
    const { exposed } = this.#open();
    return exposed.expose(port, hostPort, signal);
  }

  /**
   * Connects to a program that listens at a port of the sandbox, without a port of this computer. Also works in pages.
   *
   * @throws {SandboxError} `UNAVAILABLE` if nothing listens there or the server accepts no connection, `QUOTA_EXCEEDED` at
   * `limits.sockets`, `INVALID_OPTIONS` for an invalid port, and like {@link ports}.
   */
  async connect(port: number, options?: CallOptions): Promise<PortConnection> {
    checkPort(port);
    checkSignal(options?.signal);
    return portConnection(await this.#open().connectPort(port, false, options?.signal));
  }

  /**
   * Creates a Python interpreter that keeps its variables, open files and imported modules between calls. It starts with the
   * first call. A sandbox may have several; they are not part of snapshots and forks.
   *
   * @throws {SandboxError} `INVALID_OPTIONS` for a sandbox without Python ({@link SandboxOptions.packs}), `UNSUPPORTED` if the
   * engine cannot suspend WebAssembly (JSPI), and for a sandbox that is not open.
   */
  async pythonSession(): Promise<PythonSession> {
    const connection = this.#open();
    if (!this.#options.packs?.length) {
      throw new SandboxError('the sandbox has no Python; create it with packs: ["python"], after npx tidebox pack add python', "INVALID_OPTIONS");
    }
    const number = connection.nextInterpreter();
    await connection.call("pythonStart", [number]);
    return new PythonSession(constructorKey, { connection, number });
  }

  /**
   * Stops running commands and processes. Processes get the signal TERM, and are killed after two seconds. The files are deleted.
   * Closing twice is not an error.
   */
  override async close(): Promise<void> {
    this.#closed = true;
    await this.#connection?.close();
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

/** Result of the kernel's `fork`. */
interface ForkResult {
  readonly snapshot: { bytes: Uint8Array; fileBytes: number; inodes: number };
  readonly id: string;
  readonly timeMs: number;
  readonly seed: number;
}

function bytesOf(snapshot: Snapshot): Uint8Array {
  if (snapshot instanceof Snapshot) return snapshot.bytes;
  throw new SandboxError("expected a Snapshot; see Snapshot.fromBytes", "INVALID_OPTIONS");
}
