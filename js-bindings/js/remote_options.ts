/** Options of sandboxes at providers, and their check. */

import { defined, isCount, isText, known, record, wrong } from "./check.js";

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
  network?: "default" | "blocked" | { readonly only: readonly string[] };
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

const TEXTS = ["apiKey", "apiUrl", "region", "image", "setup", "cwd"] as const;
const COUNTS = ["cpus", "memoryMiB", "diskMiB", "timeToLiveMs", "outputBytes", "commandTimeMs", "readyTimeMs"] as const;
const RECORDS = ["env", "labels", "extra"] as const;
const OPTIONS: readonly string[] = [...TEXTS, ...COUNTS, ...RECORDS, "network", "fetch"];

/** @internal The options as the module that speaks to providers takes them. */
export function checkRemoteOptions(options: RemoteOptions): RemoteOptions {
  if (typeof options !== "object" || options === null) throw wrong("they must be an object");
  known("option", options, OPTIONS);
  for (const name of TEXTS) {
    if (options[name] !== undefined && !isText(options[name])) throw wrong(`${name} must be a string`);
  }
  for (const name of COUNTS) {
    if (options[name] !== undefined && !isCount(options[name])) throw wrong(`${name} must be a number that is not negative`);
  }
  for (const name of RECORDS) if (options[name] !== undefined) record(name, options[name], isText, "a string");
  if (options.fetch !== undefined && typeof options.fetch !== "function") throw wrong("fetch must be a function");
  checkNetworkAccess(options.network);
  return inPage(defined(options) as RemoteOptions);
}

/** Addresses of a page are relative to it, as elsewhere in pages. */
function inPage(options: RemoteOptions): RemoteOptions {
  const page = globalThis.location?.href;
  if (page === undefined) return options;
  const absolute = (name: string, address: string) => {
    try {
      return new URL(address, page).href.replace(/\/$/u, "");
    } catch {
      throw wrong(`${name} must be an address`);
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

/** @internal Labels that somebody gives beside options. */
export function checkLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return record("labels", labels, isText, "a string");
}

function checkNetworkAccess(network: RemoteOptions["network"]): void {
  if (network === undefined || network === "default" || network === "blocked") return;
  const only: unknown = (network as { only?: unknown } | null)?.only;
  if (!Array.isArray(only) || !only.every(isText)) throw wrong("network must be 'default', 'blocked' or { only: [hosts] }");
}
