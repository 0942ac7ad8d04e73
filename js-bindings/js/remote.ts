/** Sandboxes of cloud providers, in the shape of the local class. */

import { AgentBackend } from "./agent_backend.js";
import { SandboxError } from "./error.js";
import { RemoteConnection, remoteModule, told } from "./remote_connection.js";
import type { RemoteProvider as Opened } from "./remote_kernel.js";
import type { ProviderName, RemoteOptions } from "./remote_options.js";
import { checkLabels, checkRemoteOptions } from "./remote_options.js";

/** What a provider tells of a sandbox without connecting to it. */
export interface SandboxInfo {
  /** Its name. */
  readonly id: string;
  /** Its labels. */
  readonly labels: Readonly<Record<string, string>>;
}

/** One page of a list. */
export interface SandboxPage {
  /** The sandboxes of this page; a page may be empty and still have a successor. */
  readonly sandboxes: readonly SandboxInfo[];
  /** Where the next page starts; absent on the last. */
  readonly cursor?: string;
}

/** Which sandboxes to list, and from where. */
export interface ListOptions {
  /** Only sandboxes that bear all of these labels. Default: all. */
  labels?: Readonly<Record<string, string>>;
  /** The cursor of the page before. */
  cursor?: string;
}

/** Hands the module's object to a constructor that nobody else can call. */
const key = Symbol("remote");

/**
 * A sandbox at a provider, with the methods of {@link Sandbox}; `snapshot`, `fork` and what belongs to them it has not. Its tool
 * methods never throw: what goes wrong is in the answer.
 *
 * Closing it ends what runs and leaves the sandbox where it is: {@link RemoteProvider.connect} finds it again by its id until its
 * time to live is over, and {@link RemoteProvider.delete} ends it.
 */
export class RemoteSandbox extends AgentBackend {
  readonly #connection: RemoteConnection;

  /** Not to be called: see {@link createSandbox} and {@link RemoteProvider}. */
  constructor(secret: symbol, connection: unknown) {
    super(() => this.#connection);
    if (secret !== key) throw new SandboxError("use createSandbox or RemoteProvider.open", "NOT_INITIALIZED");
    this.#connection = connection as RemoteConnection;
  }

  /** The sandbox's name at its provider. */
  override get id(): string {
    return this.#connection.id;
  }

  /** Whether it was not closed here. The provider may have ended it all the same. */
  override get isRunning(): boolean {
    return this.#connection.isOpen;
  }

  /** Ends what runs and leaves the sandbox where it is. Closing twice is no error. */
  override async close(): Promise<void> {
    await this.#connection.close();
  }
}

/** Makes, finds, lists and deletes sandboxes at one provider. */
export class RemoteProvider {
  readonly #opened: Opened;

  /** Not to be called: see {@link open}. */
  constructor(secret: symbol, opened: unknown) {
    if (secret !== key) throw new SandboxError("use RemoteProvider.open", "NOT_INITIALIZED");
    this.#opened = opened as Opened;
  }

  /**
   * The provider of this name. Nothing is sent yet.
   *
   * @throws {SandboxError} `UNSUPPORTED` for a provider that cannot be used from JavaScript, with the reason, and for options
   * that it cannot keep; `UNAUTHENTICATED` when there is no key; `INVALID_OPTIONS` for options that cannot be.
   */
  static async open(name: ProviderName, options: RemoteOptions = {}): Promise<RemoteProvider> {
    const checked = checkRemoteOptions(options);
    const { RemoteProvider: Module } = await remoteModule();
    return told(() => new RemoteProvider(key, new Module(String(name), checked)));
  }

  /**
   * Makes a sandbox with the labels of the options, and waits until it is ready.
   *
   * @throws {SandboxError} when it cannot be made; nothing is left running then.
   */
  async create(): Promise<RemoteSandbox> {
    return this.#sandbox(() => this.#opened.create());
  }

  /**
   * The sandbox of this id, woken where it sleeps.
   *
   * @throws {SandboxError} `SANDBOX_NOT_FOUND` when there is none.
   */
  async connect(id: string): Promise<RemoteSandbox> {
    return this.#sandbox(() => this.#opened.connect(String(id)));
  }

  /**
   * A sandbox that bears all of these labels, else a new one with them. Two that ask for the same labels at once get the same.
   *
   * @throws {SandboxError} as {@link create}.
   */
  async getOrCreate(labels: Readonly<Record<string, string>>): Promise<RemoteSandbox> {
    const checked = checkLabels(labels);
    return this.#sandbox(() => this.#opened.getOrCreate(checked));
  }

  /**
   * One page of the sandboxes that are not gone.
   *
   * @throws {SandboxError} when the provider does not answer.
   */
  async list(options: ListOptions = {}): Promise<SandboxPage> {
    const labels = checkLabels(options.labels ?? {});
    return told(() => this.#opened.list(labels, options.cursor));
  }

  /**
   * Deletes a sandbox and waits until it is gone. One that is gone already is no error.
   *
   * @throws {SandboxError} when the provider does not answer or refuses.
   */
  async delete(id: string): Promise<void> {
    return told(() => this.#opened.delete(String(id)));
  }

  async #sandbox(find: () => Promise<unknown>): Promise<RemoteSandbox> {
    return new RemoteSandbox(key, new RemoteConnection(await told(find)));
  }
}

/**
 * A new sandbox at a provider: `createSandbox("e2b")` in the place of `Sandbox.create()`. It lives on when the program ends, at
 * most {@link RemoteOptions.timeToLiveMs}; {@link RemoteProvider} finds and deletes it.
 *
 * @throws {SandboxError} as {@link RemoteProvider.open} and {@link RemoteProvider.create}.
 */
export async function createSandbox(provider: ProviderName, options: RemoteOptions = {}): Promise<RemoteSandbox> {
  return (await RemoteProvider.open(provider, options)).create();
}
