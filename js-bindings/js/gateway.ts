/** Sends requests that the policy has allowed; includes the gateway over the platform's `fetch`. */

import { GatewayFailure } from "./gateway_failure.js";
import type { FailureKind } from "./gateway_failure.js";
import type { OutgoingRequest, ReplyHead } from "./messages.js";
import { MAX_TIMER_MS } from "./timer_limit.js";

/** A response: its head, and its body in chunks. */
export interface Reply {
  readonly head: ReplyHead;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends requests without applying a policy: it follows no redirects, keeps no cookies and adds no credentials. */
export interface Gateway {
  /** True if it connects to host names itself and does not accept addresses. */
  readonly byName: boolean;
  resolve(name: string, signal: AbortSignal): Promise<string[]>;
  send(request: OutgoingRequest, body: AsyncIterable<Uint8Array> | undefined, signal: AbortSignal): Promise<Reply>;
}

/** Status codes of redirects. */
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Headers of the transfer encoding, which `fetch` has already decoded. */
const UNDONE = ["content-encoding", "content-length", "transfer-encoding"];

const encoder = new TextEncoder();

/**
 * Gateway over `fetch`. The platform resolves names. The request body is buffered before it is sent, and the response body is as
 * the platform decodes it.
 */
export function fetchGateway(send: typeof fetch): Gateway {
  return {
    byName: true,
    resolve: async () => [],
    async send(request, body, signal) {
      const started = performance.now();
      const timed = AbortSignal.any([signal, AbortSignal.timeout(Math.min(Math.ceil(request.totalMs), MAX_TIMER_MS))]);
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
      return { head: headOf(reply, performance.now() - started), body: chunks(reply, timed) };
    },
  };
}

function headOf(reply: Response, answeredMs: number): ReplyHead {
  if (reply.type === "opaqueredirect") {
    throw new GatewayFailure("protocol", "the server redirects and the platform hides the target; request the target URL directly");
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

async function* chunks(reply: Response, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
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
  for await (const chunk of body) {
    parts.push(chunk);
    length += chunk.length;
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
  // The platform's message may contain the request, so only the error code is reported.
  const code = (error as { cause?: { code?: unknown } } | null)?.cause?.code;
  return new GatewayFailure(kind, `the platform could not send the request${typeof code === "string" ? ` (${code})` : ""}`);
}
