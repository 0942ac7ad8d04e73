/** Sandboxes of cloud providers, with the interface of the local class. */
import { AgentBackend } from "./agent_backend.js";
import type { ProviderName, RemoteOptions } from "./remote_options.js";
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
/**
 * A sandbox at a provider, with the methods of {@link Sandbox} except `snapshot`, `fork` and related ones. Its tool methods never
 * throw: errors are part of the result.
 *
 * Closing it stops running commands and processes, and keeps the sandbox: {@link RemoteProvider.connect} finds it by its id until its time to
 * live expires, and {@link RemoteProvider.delete} deletes it.
 */
export declare class RemoteSandbox extends AgentBackend {
    #private;
    /** Private: use {@link createSandbox} or {@link RemoteProvider}. */
    constructor(secret: symbol, connection: unknown);
    /** The sandbox's id at its provider. */
    get id(): string;
    /** True until it is closed here. The provider may have ended it anyway. */
    get isRunning(): boolean;
    /** Stops running commands and processes, and keeps the sandbox. Closing twice is not an error. */
    close(): Promise<void>;
}
/** Creates, finds, lists and deletes sandboxes at one provider. */
export declare class RemoteProvider {
    #private;
    /** Private: use {@link open}. */
    constructor(secret: symbol, provider: unknown);
    /**
     * Opens a provider by name. Sends no request.
     *
     * @throws {SandboxError} `UNSUPPORTED` for a provider that is not available in JavaScript, with the reason, and for options
     * that it does not support; `UNAUTHENTICATED` without a key; `INVALID_OPTIONS` for invalid options.
     */
    static open(name: ProviderName, options?: RemoteOptions): Promise<RemoteProvider>;
    /**
     * Creates a sandbox with the labels of the options, and waits until it is ready.
     *
     * @throws {SandboxError} if it cannot be created; a partially created sandbox is deleted.
     */
    create(): Promise<RemoteSandbox>;
    /**
     * Connects to the sandbox with this id, and resumes it if it is suspended.
     *
     * @throws {SandboxError} `SANDBOX_NOT_FOUND` if it does not exist.
     */
    connect(id: string): Promise<RemoteSandbox>;
    /**
     * Returns a sandbox with all of these labels, or creates one. Concurrent calls with the same labels get the same sandbox.
     *
     * @throws {SandboxError} like {@link create}.
     */
    getOrCreate(labels: Readonly<Record<string, string>>): Promise<RemoteSandbox>;
    /**
     * Returns a page of the existing sandboxes.
     *
     * @throws {SandboxError} if the provider does not respond.
     */
    list(options?: ListOptions): Promise<SandboxPage>;
    /**
     * Deletes a sandbox and waits until it is deleted. A missing sandbox is not an error.
     *
     * @throws {SandboxError} if the provider does not respond or rejects the request.
     */
    delete(id: string): Promise<void>;
}
/**
 * Creates a sandbox at a provider: `createSandbox("e2b")` instead of `Sandbox.create()`. It outlives the program, at most for
 * {@link RemoteOptions.timeToLiveMs}; {@link RemoteProvider} finds and deletes it.
 *
 * @throws {SandboxError} like {@link RemoteProvider.open} and {@link RemoteProvider.create}.
 */
export declare function createSandbox(provider: ProviderName, options?: RemoteOptions): Promise<RemoteSandbox>;
