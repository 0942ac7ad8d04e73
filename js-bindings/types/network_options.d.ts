/** Network policy of a sandbox. */
/** Allows requests to some hosts. */
export interface AllowRule {
    /**
     * `api.example.com`, `*.example.com` (all subdomains, but not the domain itself), an IP address, or `*` (every public host).
     */
    host: string;
    /** Default `["GET", "HEAD"]`. `"any"` means all except `CONNECT`, `TRACE` and `TRACK`, which cannot be allowed. */
    methods?: readonly string[] | "any";
    /** Default: 443, and 80 with {@link http}. */
    ports?: readonly number[];
    /** Allows `http` in addition to `https`. It is not encrypted: others can read and change it in transit. Default false. */
    http?: boolean;
    /** Allows only `git clone` and `git fetch`, or with `"push"` also `git push`. Not together with {@link methods}. */
    git?: "fetch" | "push";
    /** With {@link git}: one repository, `org/repo`, or all below a path, `org/*`. Default: every repository of the host. */
    path?: string;
}
/** A credential that is added to requests outside the sandbox. Programs use it but cannot read it. */
export interface HeaderInjection {
    /** Like {@link AllowRule.host}, but not `*`, because a credential belongs to one service. */
    host: string;
    /** Header name, for example `authorization`. It replaces a header of that name sent by the program. */
    header: string;
    /** The whole header value: `Bearer abc`. */
    value: string;
    /** Its name in the log. Default `authorization for api.example.com`. */
    name?: string;
    /** Also sends it over unencrypted `http`, for servers on the same host. Default false. */
    overHttp?: boolean;
}
/** Limits of network use of one sandbox. Sizes are in bytes, times in milliseconds. */
export interface NetworkLimits {
    /** Requests, including denied ones. Default 1,000. */
    requests?: number;
    /** Concurrent requests. Default 16. */
    concurrent?: number;
    /** Body of one request. Default 64 MiB. */
    requestBytes?: number;
    /** Body of one response. Default 512 MiB. */
    replyBytes?: number;
    /** Total bytes sent. Default 256 MiB. */
    totalSentBytes?: number;
    /** Total bytes received. Default 2 GiB. */
    totalReceivedBytes?: number;
    /** Head of a request, and of a response. Default 64 KiB. */
    headBytes?: number;
    /** From resolving the name to the last byte. Default 300,000. */
    requestTimeMs?: number;
    /** Until a connection is established. Default 30,000. */
    connectTimeMs?: number;
}
/**
 * Hosts that a sandbox may reach, credentials, and limits. Redirects are not followed outside the sandbox: `curl -L` sends
 * another request, which is checked like the first. `docs/network.md` has the rules.
 *
 * In Node and Deno the connection goes to exactly the address that was checked, and only addresses of the public internet are
 * connected to. In browsers, and with {@link fetch}, the platform connects and the resolved addresses cannot be checked, so allow
 * only names whose owner you trust.
 */
export interface NetworkOptions {
    /** A request is allowed if one rule matches it completely. A string is a rule with only the host. */
    allow?: readonly (string | AllowRule)[];
    /** Credentials to add. */
    inject?: readonly HeaderInjection[];
    /**
     * Pins host names to addresses. It is the only way to reach a private address. Node and Deno only, and not with {@link fetch}.
     */
    resolve?: Readonly<Record<string, string | readonly string[]>>;
    /** Limits. */
    limits?: NetworkLimits;
    /** Sends the requests instead of the platform, for example through a proxy or in a test. */
    fetch?: typeof fetch;
}
/** A request of a program. It contains no headers and no body. */
export interface NetworkEvent {
    /** Start time by the sandbox's clock: milliseconds since the Unix epoch. */
    readonly atMs: number;
    /** HTTP method as the program sent it. */
    readonly method: string;
    /** Without user name, password and fragment; with the query. */
    readonly url: string;
    /** Outcome of the request. */
    readonly decision: "underway" | "answered" | "refused" | "failed" | "cancelled";
    /** Cause of a denial or a failure: a stable identifier such as `host` or `timeout`. */
    readonly cause?: string;
    /** Error message. */
    readonly message?: string;
    /** HTTP status of the response. Absent without a response. */
    readonly status?: number;
    /** Bytes sent, headers and body. */
    readonly sentBytes: number;
    /** Bytes received, headers and body. */
    readonly receivedBytes: number;
    /** Duration by the sandbox's clock; 0 while the request is in progress. */
    readonly durationMs: number;
    /** Names of the credentials that were added. */
    readonly credentials: readonly string[];
}
/** All requests of one sandbox, in the order in which they started. */
export interface NetworkLog {
    /** The requests. */
    readonly events: readonly NetworkEvent[];
    /** Number of further requests that were denied because {@link NetworkLimits.requests} was reached. */
    readonly omitted: number;
}
