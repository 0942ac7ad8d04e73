/** Sandboxes of cloud providers, in the shape of the local class. */
import { AgentBackend } from "./agent_backend.js";
import type { ProviderName, RemoteOptions } from "./remote_options.js";
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
/**
 * A sandbox at a provider, with the methods of {@link Sandbox}; `snapshot`, `fork` and what belongs to them it has not. Its tool
 * methods never throw: what goes wrong is in the answer.
 *
 * Closing it ends what runs and leaves the sandbox where it is: {@link RemoteProvider.connect} finds it again by its id until its
 * time to live is over, and {@link RemoteProvider.delete} ends it.
 */
export declare class RemoteSandbox extends AgentBackend {
    #private;
    /** Not to be called: see {@link createSandbox} and {@link RemoteProvider}. */
    constructor(secret: symbol, connection: unknown);
    /** The sandbox's name at its provider. */
    get id(): string;
    /** Whether it was not closed here. The provider may have ended it all the same. */
    get isRunning(): boolean;
    /** Ends what runs and leaves the sandbox where it is. Closing twice is no error. */
    close(): Promise<void>;
}
/** Makes, finds, lists and deletes sandboxes at one provider. */
export declare class RemoteProvider {
    #private;
    /** Not to be called: see {@link open}. */
    constructor(secret: symbol, opened: unknown);
    /**
     * The provider of this name. Nothing is sent yet.
     *
     * @throws {SandboxError} `UNSUPPORTED` for a provider that cannot be used from JavaScript, with the reason, and for options
     * that it cannot keep; `UNAUTHENTICATED` when there is no key; `INVALID_OPTIONS` for options that cannot be.
     */
    static open(name: ProviderName, options?: RemoteOptions): Promise<RemoteProvider>;
    /**
     * Makes a sandbox with the labels of the options, and waits until it is ready.
     *
     * @throws {SandboxError} when it cannot be made; nothing is left running then.
     */
    create(): Promise<RemoteSandbox>;
    /**
     * The sandbox of this id, woken where it sleeps.
     *
     * @throws {SandboxError} `SANDBOX_NOT_FOUND` when there is none.
     */
    connect(id: string): Promise<RemoteSandbox>;
    /**
     * A sandbox that bears all of these labels, else a new one with them. Two that ask for the same labels at once get the same.
     *
     * @throws {SandboxError} as {@link create}.
     */
    getOrCreate(labels: Readonly<Record<string, string>>): Promise<RemoteSandbox>;
    /**
     * One page of the sandboxes that are not gone.
     *
     * @throws {SandboxError} when the provider does not answer.
     */
    list(options?: ListOptions): Promise<SandboxPage>;
    /**
     * Deletes a sandbox and waits until it is gone. One that is gone already is no error.
     *
     * @throws {SandboxError} when the provider does not answer or refuses.
     */
    delete(id: string): Promise<void>;
}
/**
 * A new sandbox at a provider: `createSandbox("e2b")` in the place of `Sandbox.create()`. It lives on when the program ends, at
 * most {@link RemoteOptions.timeToLiveMs}; {@link RemoteProvider} finds and deletes it.
 *
 * @throws {SandboxError} as {@link RemoteProvider.open} and {@link RemoteProvider.create}.
 */
export declare function createSandbox(provider: ProviderName, options?: RemoteOptions): Promise<RemoteSandbox>;
