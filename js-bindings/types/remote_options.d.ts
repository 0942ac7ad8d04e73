/** Options of sandboxes at providers, and their validation. */
/** Providers that are supported in JavaScript. */
export type ProviderName = "daytona" | "e2b" | "langsmith" | "runloop";
/**
 * Options of a provider and of its sandboxes, the same for all providers. A provider rejects options that it does not support and
 * never ignores them. The page of each provider documents the meaning of the names.
 */
export interface RemoteOptions {
    /**
     * API key. Default: the provider's environment variable in Node and Deno (`E2B_API_KEY`, `DAYTONA_API_KEY`, `RUNLOOP_API_KEY`,
     * `LANGSMITH_API_KEY`). In a page every visitor can read it; route requests through your own server instead (`apiUrl`).
     */
    apiKey?: string;
    /**
     * URL of the provider's control plane; in a page it may be relative to the page. Default: the provider's environment variable,
     * else its public URL.
     */
    apiUrl?: string;
    /** The region, if the provider has regions. */
    region?: string;
    /** Base of new sandboxes: a template, snapshot or image, as the provider calls it. */
    image?: string;
    /** Environment variables of every command. */
    env?: Readonly<Record<string, string>>;
    /** Labels of new sandboxes. */
    labels?: Readonly<Record<string, string>>;
    /** Number of CPUs of new sandboxes. */
    cpus?: number;
    /** Memory of new sandboxes in MiB, rounded up to the provider's unit. */
    memoryMiB?: number;
    /** Disk of new sandboxes in MiB, rounded up to the provider's unit. */
    diskMiB?: number;
    /** Maximum lifetime of a new sandbox in milliseconds. Default 30 minutes, so that forgotten sandboxes end. */
    timeToLiveMs?: number;
    /** Network access. Default: the provider's default, which is full internet access for all of them. */
    network?: "default" | "blocked" | {
        /** Host names that may be reached. */
        readonly only: readonly string[];
    };
    /** A script that runs once in every new sandbox. If it fails, the sandbox is deleted. */
    setup?: string;
    /** Default working directory of commands, and base of relative file paths. Default: the provider's choice. */
    cwd?: string;
    /** Captured output of one command in bytes. Default 8 MiB. */
    outputBytes?: number;
    /** Default timeout of commands in milliseconds. Default 30 minutes. */
    commandTimeMs?: number;
    /** Timeout until a new sandbox is ready, in milliseconds. Default 3 minutes. */
    readyTimeMs?: number;
    /** Options of a specific provider, by the names on its page. Unknown ones are rejected. */
    extra?: Readonly<Record<string, string>>;
    /** Sends the requests, for example through a proxy. Default: the engine's `fetch`. */
    fetch?: typeof fetch;
}
