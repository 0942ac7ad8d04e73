/** Options of sandboxes at providers, and their validation. */

import { defined, isCount, isText, checkKeys, checkRecord, invalidOptions } from "./check.js";

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

const TEXTS = ["apiKey", "apiUrl", "region", "image", "setup", "cwd"] as const;
const COUNTS = ["cpus", "memoryMiB", "diskMiB", "timeToLiveMs", "outputBytes", "commandTimeMs", "readyTimeMs"] as const;
const RECORDS = ["env", "labels", "extra"] as const;
const OPTIONS: readonly string[] = [...TEXTS, ...COUNTS, ...RECORDS, "network", "fetch"];

/** @internal Validates the options. */
export function checkRemoteOptions(options: RemoteOptions): RemoteOptions {
  if (typeof options !== "object" || options === null) throw invalidOptions("expected an object");
  checkKeys("option", options, OPTIONS);
  for (const name of TEXTS) {
    if (options[name] !== undefined && !isText(options[name])) throw invalidOptions(`${name} must be a string`);
  }
  for (const name of COUNTS) {
    if (options[name] !== undefined && !isCount(options[name])) throw invalidOptions(`${name} must be a non-negative number`);
  }
  for (const name of RECORDS) if (options[name] !== undefined) checkRecord(name, options[name], isText, "a string");
  if (options.fetch !== undefined && typeof options.fetch !== "function") throw invalidOptions("fetch must be a function");
  checkNetworkAccess(options.network);
  return inPage(defined(options) as RemoteOptions);
}

/** URLs in a page are relative to it. */
function inPage(options: RemoteOptions): RemoteOptions {
  const page = globalThis.location?.href;
  if (page === undefined) return options;
  const absolute = (name: string, address: string) => {
    try {
      return new URL(address, page).href.replace(/\/$/u, "");
    } catch {
      throw invalidOptions(`${name} must be a URL`);
    }
  };
  const { apiUrl, extra } = options;
  const found = { ...options };
  if (apiUrl !== undefined) found.apiUrl = absolute("apiUrl", apiUrl);
  if (extra !== undefined) {
    const entries = Object.entries(extra);
    found.extra = Object.fromEntries(entries.map(([name, value]) => [name, name.endsWith("_url") ? absolute(name, value) : value]));
  }
  return found;
}

/** @internal Validates labels. */
export function checkLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return checkRecord("labels", labels, isText, "a string");
}

function checkNetworkAccess(network: RemoteOptions["network"]): void {
  if (network === undefined || network === "default" || network === "blocked") return;
  const only: unknown = (network as { only?: unknown } | null)?.only;
  if (!Array.isArray(only) || !only.every(isText)) throw invalidOptions("network must be 'default', 'blocked' or { only: [hosts] }");
}
