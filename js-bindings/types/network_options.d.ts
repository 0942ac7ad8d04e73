/** Which hosts programs in a sandbox may speak to. */
/** Leave to send requests to some hosts. */
export interface AllowRule {
    /** `api.example.com`, `*.example.com` (every name below, but not itself), an address, or `*` (every public host). */
    host: string;
    /** Default `["GET", "HEAD"]`. `"any"` means all but `CONNECT`, `TRACE` and `TRACK`, which nobody can allow. */
    methods?: readonly string[] | "any";
    /** Default: 443, and 80 with {@link http}. */
    ports?: readonly number[];
    /** Allows `http` besides `https`: everybody on the way can read and change it. Default false. */
    http?: boolean;
}
/** A credential that is added to requests outside of the sandbox, so that programs use it and never have it. */
export interface InjectedHeader {
    /** As in {@link AllowRule.host}, but not `*`: a credential belongs to somebody. */
    host: string;
    /** `authorization`, for example. It takes the place of what a program sent under that name. */
    header: string;
    /** The whole value: `Bearer abc`. */
    value: string;
    /** Its name in the log. Default `authorization for api.example.com`. */
    name?: string;
    /** Sends it over `http`, too: for servers on the same machine. Default false. */
    overHttp?: boolean;
}
/** What the network may cost one sandbox. Sizes are in bytes, times in milliseconds. */
export interface NetworkLimits {
    /** Requests, refused ones included. Default 1,000. */
    requests?: number;
    /** Requests at the same time. Default 16. */
    concurrent?: number;
    /** Body of one request. Default 64 MiB. */
    requestBytes?: number;
    /** Body of one reply. Default 512 MiB. */
    replyBytes?: number;
    /** Everything that is sent. Default 256 MiB. */
    totalSentBytes?: number;
    /** Everything that is received. Default 2 GiB. */
    totalReceivedBytes?: number;
    /** Head of a request, and of a reply. Default 64 KiB. */
    headBytes?: number;
    /** From resolving the name to the last byte. Default 300,000. */
    requestTimeMs?: number;
    /** Until a connection stands. Default 30,000. */
    connectTimeMs?: number;
}
/**
 * What a sandbox may reach, with which credentials, and how much of it. Redirects are never followed outside: `curl -L` sends
 * another request, which is checked like the first. `docs/network.md` has the rules.
 *
 * In Node and Deno the connection goes to the very address that was checked, and only addresses of the public internet are
 * connected to. In browsers, and with {@link fetch}, the platform connects: what a name leads to cannot be checked, so allow
 * only names whose owner you trust.
 */
export interface NetworkOptions {
    /** A request is allowed when one rule allows all of it. A text is a rule with nothing but the host. */
    allow?: readonly (string | AllowRule)[];
    /** Credentials. */
    inject?: readonly InjectedHeader[];
    /**
     * Pins names to addresses by your authority; it is the only way to a private address. Node and Deno only, and not with
     * {@link fetch}.
     */
    resolve?: Readonly<Record<string, string | readonly string[]>>;
    /** Bounds. */
    limits?: NetworkLimits;
    /** Sends the requests instead of the platform: through a proxy, or to answer them in a test. */
    fetch?: typeof fetch;
}
/** One request that a program sent. It holds no header and no body. */
export interface NetworkEvent {
    /** When it began, by the sandbox's clock: milliseconds since the Unix epoch. */
    readonly atMs: number;
    readonly method: string;
    /** Without user name, password and fragment, with its query. */
    readonly url: string;
    /** What became of it. */
    readonly decision: "underway" | "answered" | "refused" | "failed" | "cancelled";
    /** Why it was refused or failed: a stable word, such as `host` or `timeout`. */
    readonly cause?: string;
    /** The same as a sentence. */
    readonly message?: string;
    readonly status?: number;
    readonly sentBytes: number;
    readonly receivedBytes: number;
    readonly durationMs: number;
    /** Names of the credentials that were added. */
    readonly credentials: readonly string[];
}
/** All requests of one sandbox, in the order in which they began. */
export interface NetworkLog {
    readonly events: readonly NetworkEvent[];
    /** How many more were refused because {@link NetworkLimits.requests} was reached. */
    readonly leftOut: number;
}
