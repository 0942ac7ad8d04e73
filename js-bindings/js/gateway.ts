/** What sends requests that the policy has allowed, and the gateway over the `fetch` of a platform. */

import type { Outgoing, ReplyHead } from "./messages.js";

/** Names of `GatewayErrorKind` in `core/src/network/gateway.rs`. */
export type FailureKind =
  | "resolve" | "connect" | "tls" | "certificate" | "timeout" | "send" | "empty" | "receive" | "protocol" | "internal";

/** Why there is no reply, or no more of it. The message must hold no header of the request. */
export class GatewayFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A reply: its head, and its body in pieces. */
export interface Reply {
  readonly head: ReplyHead;
  readonly body: AsyncIterable<Uint8Array>;
}

/** It decides nothing: no redirect is followed, no cookie kept, no credential added. */
export interface Gateway {
  /** Whether it connects to names by itself and cannot be told an address. */
  readonly byName: boolean;
  resolve(name: string, signal: AbortSignal): Promise<string[]>;
  send(request: Outgoing, body: AsyncIterable<Uint8Array> | undefined, signal: AbortSignal): Promise<Reply>;
}

/** Statuses of redirects. */
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Headers that say how a body came, which `fetch` has undone. */
const UNDONE = ["content-encoding", "content-length", "transfer-encoding"];

/** The longest time that a timer can be set to. */
const LONGEST_MS = 2 ** 31 - 1;

const encoder = new TextEncoder();

/**
 * The gateway over `fetch`. It knows no addresses: what a name leads to is the platform's business. A body is sent when all of
 * it is there, and a reply comes as the platform decodes it.
 */
export function fetchGateway(send: typeof fetch): Gateway {
  return {
    byName: true,
    resolve: async () => [],
    async send(request, body, signal) {
      const started = performance.now();
      const timed = AbortSignal.any([signal, AbortSignal.timeout(Math.min(Math.ceil(request.totalMs), LONGEST_MS))]);
      const content = body === undefined ? undefined : await whole(body);
      const headers = new Headers();
      const latin1 = new TextDecoder("latin1");
      for (const [name, value] of request.headers) headers.append(name, latin1.decode(value));
      const reply = await send(request.url, {
        method: request.method, headers, body: content, signal: timed,
        redirect: "manual", credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
      }).catch((error: unknown) => {
        throw failed(error, timed, "connect");
      });
      return { head: headOf(reply, performance.now() - started), body: pieces(reply, timed) };
    },
  };
}

function headOf(reply: Response, answeredMs: number): ReplyHead {
  if (reply.type === "opaqueredirect") {
    throw new GatewayFailure("protocol", "the server redirects, and the platform does not tell where to; ask for the address itself");
  }
  const redirects = REDIRECTS.includes(reply.status);
  const headers = [...reply.headers]
    .filter(([name]) => redirects || !UNDONE.includes(name))
    .map(([name, value]): [string, Uint8Array] => [name, encoder.encode(value)]);
  return {
    status: reply.status, reason: reply.statusText, minorVersion: 1, headers,
    connectedMs: answeredMs, encryptedMs: answeredMs, answeredMs,
  };
}

async function* pieces(reply: Response, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = reply.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { value } = await reader.read();
      if (value === undefined) return;
      if (value.length > 0) yield value;
    }
  } catch (error) {
    throw failed(error, signal, "receive");
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function whole(body: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    parts.push(piece);
    length += piece.length;
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function failed(error: unknown, signal: AbortSignal, kind: FailureKind): GatewayFailure {
  if (error instanceof GatewayFailure) return error;
  if (signal.aborted) return new GatewayFailure("timeout", "the request took longer than the policy allows");
  // The words of the platform may hold the request; only what is behind them is told.
  const code = (error as { cause?: { code?: unknown } } | null)?.cause?.code;
  return new GatewayFailure(kind, `the platform could not send the request${typeof code === "string" ? ` (${code})` : ""}`);
}
