/** Options of sandboxes at providers, and their check. */
/** Providers whose sandboxes can be used from JavaScript. */
export type ProviderName = "daytona" | "e2b" | "langsmith" | "runloop";
/**
 * How sandboxes at a provider are made and used. The same for all of them; one that cannot do what is asked says so, and never
 * ignores it. The page of each provider says what its names mean there.
 */
export interface RemoteOptions {
    /**
     * The credential. Default: the provider's own variable of the environment in Node and Deno (`E2B_API_KEY`, `DAYTONA_API_KEY`,
     * `RUNLOOP_API_KEY`, `LANGSMITH_API_KEY`). In a page whoever opens it can read it; have your own server in between (`apiUrl`).
     */
    apiKey?: string;
    /**
     * Where the provider's control plane is; in a page it may be relative to the page. Default: the provider's own variable, else its
     * public address.
     */
    apiUrl?: string;
    /** The region, where the provider has some. */
    region?: string;
    /** What new sandboxes begin with: a template, snapshot or image, as the provider calls it. */
    image?: string;
    /** Variables of the environment of every command. */
    env?: Readonly<Record<string, string>>;
    /** Labels of new sandboxes. */
    labels?: Readonly<Record<string, string>>;
    /** Processors of new sandboxes. */
    cpus?: number;
    /** Memory of new sandboxes in MiB, rounded up to what the provider counts in. */
    memoryMiB?: number;
    /** Disk of new sandboxes in MiB, rounded up to what the provider counts in. */
    diskMiB?: number;
    /** How long a new sandbox lives, in milliseconds. Default 30 minutes, so that nothing forgotten runs on. */
    timeToLiveMs?: number;
    /** Which hosts programs reach. Default: what the provider does when nothing is said; at all of them this is the whole internet. */
    network?: "default" | "blocked" | {
        readonly only: readonly string[];
    };
    /** A script that is run once in every new sandbox. When it fails, the sandbox is deleted again. */
    setup?: string;
    /** Where commands run that name no directory, and what relative paths of files are below. Default: the provider's choice. */
    cwd?: string;
    /** What one command keeps of its output, in bytes. Default 8 MiB. */
    outputBytes?: number;
    /** How long a command may run that names no time, in milliseconds. Default 30 minutes. */
    commandTimeMs?: number;
    /** How long a new sandbox may take until it is ready, in milliseconds. Default 3 minutes. */
    readyTimeMs?: number;
    /** What only one provider knows, by the names on its page; others are refused. */
    extra?: Readonly<Record<string, string>>;
    /** Sends the requests, such as through a proxy. Default: the `fetch` of the engine. */
    fetch?: typeof fetch;
}
