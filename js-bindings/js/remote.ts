/** Sandboxes of cloud providers, with the interface of the local class. */

import { AgentBackend } from "./agent_backend.js";
import { SandboxError } from "./error.js";
import { RemoteConnection, remoteModule, callModule } from "./remote_connection.js";
import type { RemoteProvider as ModuleProvider } from "./remote_kernel.js";
import type { ProviderName, RemoteOptions } from "./remote_options.js";
import { checkLabels, checkRemoteOptions } from "./remote_options.js";

/** Information about a sandbox that is available without connecting to it. */
export interface SandboxInfo {
  /** Its id. */
  readonly id: string;
  /** Its labels. */
  readonly labels: Readonly<Record<string, string>>;
}

/** A page of a list. */
export interface SandboxPage {
  /** The sandboxes of this page. A page may be empty and still have a successor. */
  readonly sandboxes: readonly SandboxInfo[];
  /** Cursor of the next page. Absent on the last page. */
  readonly cursor?: string;
}

/** Filter and position of a list. */
export interface ListOptions {
  /** Only sandboxes with all of these labels. Default: all. */
  labels?: Readonly<Record<string, string>>;
  /** The cursor of the previous page. */
  cursor?: string;
}

/** Required by the constructors, which only this module may call. */
const key = Symbol("remote");

/**
 * A sandbox at a provider, with the methods of {@link Sandbox} except `snapshot`, `fork` and related ones. Its tool methods never
 * throw: errors are part of the result.
 *
 * Closing it stops running commands and processes, and keeps the sandbox: {@link RemoteProvider.connect} finds it by its id until its time to
 * live expires, and {@link RemoteProvider.delete} deletes it.
 */
export class RemoteSandbox extends AgentBackend {
  readonly #connection: RemoteConnection;

  /** Private: use {@link createSandbox} or {@link RemoteProvider}. */
  constructor(secret: symbol, connection: unknown) {
    super(() => this.#connection);
    if (secret !== key) throw new SandboxError("use createSandbox or RemoteProvider.open", "NOT_INITIALIZED");
    this.#connection = connection as RemoteConnection;
  }

  /** The sandbox's id at its provider. */
  override get id(): string {
    return this.#connection.id;
  }

  /** True until it is closed here. The provider may have ended it anyway. */
  override get isRunning(): boolean {
    return this.#connection.isOpen;
  }

  /** Stops running commands and processes, and keeps the sandbox. Closing twice is not an error. */
  override async close(): Promise<void> {
    await this.#connection.close();
  }
}

/** Creates, finds, lists and deletes sandboxes at one provider. */
export class RemoteProvider {
  readonly #provider: ModuleProvider;

  /** Private: use {@link open}. */
  constructor(secret: symbol, provider: unknown) {
    if (secret !== key) throw new SandboxError("use RemoteProvider.open", "NOT_INITIALIZED");
    this.#provider = provider as ModuleProvider;
  }

  /**
   * Opens a provider by name. Sends no request.
   *
   * @throws {SandboxError} `UNSUPPORTED` for a provider that is not available in JavaScript, with the reason, and for options
   * that it does not support; `UNAUTHENTICATED` without a key; `INVALID_OPTIONS` for invalid options.
   */
  static async open(name: ProviderName, options: RemoteOptions = {}): Promise<RemoteProvider> {
    const checked = checkRemoteOptions(options);
    const { RemoteProvider: Module } = await remoteModule();
    return callModule(() => new RemoteProvider(key, new Module(String(name), checked)));
  }

  /**
   * Creates a sandbox with the labels of the options, and waits until it is ready.
   *
   * @throws {SandboxError} if it cannot be created; a partially created sandbox is deleted.
   */
  async create(): Promise<RemoteSandbox> {
    return this.#sandbox(() => this.#provider.create());
  }

  /**
   * Connects to the sandbox with this id, and resumes it if it is suspended.
   *
   * @throws {SandboxError} `SANDBOX_NOT_FOUND` if it does not exist.
   */
  async connect(id: string): Promise<RemoteSandbox> {
    return this.#sandbox(() => this.#provider.connect(String(id)));
  }

  /**
   * Returns a sandbox with all of these labels, or creates one. Concurrent calls with the same labels get the same sandbox.
   *
   * @throws {SandboxError} like {@link create}.
   */
  async getOrCreate(labels: Readonly<Record<string, string>>): Promise<RemoteSandbox> {
    const checked = checkLabels(labels);
    return this.#sandbox(() => this.#provider.getOrCreate(checked));
  }

  /**
   * Returns a page of the existing sandboxes.
   *
   * @throws {SandboxError} if the provider does not respond.
   */
  async list(options: ListOptions = {}): Promise<SandboxPage> {
    const labels = checkLabels(options.labels ?? {});
    return callModule(() => this.#provider.list(labels, options.cursor));
  }

  /**
   * Deletes a sandbox and waits until it is deleted. A missing sandbox is not an error.
   *
   * @throws {SandboxError} if the provider does not respond or rejects the request.
   */
  async delete(id: string): Promise<void> {
    return callModule(() => this.#provider.delete(String(id)));
  }

  async #sandbox(open: () => Promise<unknown>): Promise<RemoteSandbox> {
    return new RemoteSandbox(key, new RemoteConnection(await callModule(open)));
  }
}

/**
 * Creates a sandbox at a provider: `createSandbox("e2b")` instead of `Sandbox.create()`. It outlives the program, at most for
 * {@link RemoteOptions.timeToLiveMs}; {@link RemoteProvider} finds and deletes it.
 *
 * @throws {SandboxError} like {@link RemoteProvider.open} and {@link RemoteProvider.create}.
 */
export async function createSandbox(provider: ProviderName, options: RemoteOptions = {}): Promise<RemoteSandbox> {
  return (await RemoteProvider.open(provider, options)).create();
}
