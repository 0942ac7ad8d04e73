/** Network policy of a sandbox. */

import { isCount, isText, checkKeys, checkRecord, invalidOptions } from "./check.js";
import type { NetworkSettings } from "./messages.js";

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

const OPTIONS = ["allow", "inject", "resolve", "limits", "fetch"];
const RULE = ["host", "methods", "ports", "http", "git", "path"];
const INJECTED = ["host", "header", "value", "name", "overHttp"];
const LIMITS = [
  "requests", "concurrent", "requestBytes", "replyBytes", "totalSentBytes", "totalReceivedBytes", "headBytes",
  "requestTimeMs", "connectTimeMs",
];

/** @internal Returns the policy for the kernel. */
export function checkNetwork(options: NetworkOptions, byName: boolean): NetworkSettings {
  if (typeof options !== "object" || options === null) throw invalidOptions("network must be an object");
  checkKeys("option of network", options, OPTIONS);
  const { allow = [], inject = [], resolve = {}, limits = {}, fetch } = options;
  if (fetch !== undefined && typeof fetch !== "function") throw invalidOptions("network: fetch must be a function");
  checkKeys("limit of network", limits, LIMITS);
  const connectsByName = byName || fetch !== undefined;
  const pins = Object.entries(resolve).flatMap(([host, to]) => [to].flat().map((address) => ({ host, address: String(address) })));
  if (pins.length > 0 && connectsByName) {
    throw invalidOptions("network.resolve is not supported with fetch: fetch resolves host names itself");
  }
  return {
    allow: list("allow", allow).map(checkRule),
    inject: list("inject", inject).map(checkInjected),
    resolve: pins,
    limits: checkRecord("network: limits", limits, isCount, "a non-negative number"),
    byName: connectsByName,
  };
}

function list<T>(name: string, value: readonly T[]): readonly T[] {
  if (!Array.isArray(value)) throw invalidOptions(`network: ${name} must be an array`);
  return value;
}

function checkRule(input: string | AllowRule): NetworkSettings["allow"][number] {
  if (isText(input)) return { host: input };
  if (typeof input !== "object" || input === null) throw invalidOptions("network: each rule of allow must be a host or an object");
  checkKeys("field of an allow rule", input, RULE);
  const { host, methods, ports, http, git, path } = input;
  if (!isText(host)) throw invalidOptions("network: a rule of allow has no host");
  const all = methods === undefined || methods === "any" || (Array.isArray(methods) && methods.every(isText));
  if (!all) throw invalidOptions(`network: methods for ${host} must be an array of strings, or 'any'`);
  const isPort = (port: unknown) => Number.isInteger(port) && (port as number) > 0 && (port as number) < 65536;
  if (ports !== undefined && !(Array.isArray(ports) && ports.every(isPort))) {
    throw invalidOptions(`network: ports for ${host} must be an array of numbers from 1 to 65535`);
  }
  if (http !== undefined && typeof http !== "boolean") throw invalidOptions(`network: http for ${host} must be true or false`);
  if (git !== undefined && git !== "fetch" && git !== "push") throw invalidOptions(`network: git for ${host} must be 'fetch' or 'push'`);
  if (git !== undefined && methods !== undefined) throw invalidOptions(`network: a rule with git for ${host} has no methods`);
  if (path !== undefined && !(isText(path) && git !== undefined)) throw invalidOptions(`network: path for ${host} must be a string and needs git`);
  return {
    host,
    ...(methods === undefined ? {} : { methods: methods === "any" ? methods : [...methods] }),
    ...(ports === undefined ? {} : { ports: [...ports] }),
    ...(http === undefined ? {} : { http }),
    ...(git === undefined ? {} : { git }),
    ...(path === undefined ? {} : { path }),
  };
}

function checkInjected(input: HeaderInjection): NetworkSettings["inject"][number] {
  if (typeof input !== "object" || input === null) throw invalidOptions("network: each item of inject must be an object");
  checkKeys("field of an injected header", input, INJECTED);
  const { host, header, value, name, overHttp } = input;
  if (!isText(host) || !isText(header) || !isText(value)) throw invalidOptions("network: each item of inject requires host, header and value as strings");
  if (name !== undefined && !isText(name)) throw invalidOptions("network: the name of an injected header must be a string");
  return { host, header, value, ...(name === undefined ? {} : { name }), overHttp: overHttp === true };
}
