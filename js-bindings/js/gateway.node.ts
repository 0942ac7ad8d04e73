/** Gateway of Node and Deno. It connects to exactly the addresses that the policy has checked. */

import { lookup } from "node:dns/promises";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { connect as connectPlain, isIP } from "node:net";
import { connect as connectTls } from "node:tls";

import type { Gateway, Reply } from "./gateway.js";
import type { FailureKind } from "./gateway_failure.js";
import { GatewayFailure } from "./gateway_failure.js";
import type { OutgoingRequest } from "./messages.js";
import { MAX_TIMER_MS } from "./timer_limit.js";

export const gateway: Gateway = {
  byName: false,

  async resolve(name) {
    try {
      return (await lookup(name, { all: true, order: "verbatim" })).map(({ address }) => address);
    } catch (error) {
      throw new GatewayFailure("resolve", `cannot resolve ${name} (${code(error)})`);
    }
  },

  async send(request, body, signal) {
    const clock = new Clock();
    const { socket, peer } = await connected(request, clock, signal);
    let reply: Reply | undefined;
    const ended = () => void socket.destroy(new GatewayFailure("timeout", "the request took longer than the policy allows"));
    const timer = setTimeout(ended, Math.min(Math.max(request.totalMs - clock.now(), 0), MAX_TIMER_MS));
    socket.once("close", () => clearTimeout(timer));
    const stop = () => void socket.destroy();
    signal.addEventListener("abort", stop, { once: true });
    socket.once("close", () => signal.removeEventListener("abort", stop));
    try {
      const response = await exchanged(request, body, socket);
      reply = {
        head: {
          status: response.statusCode ?? 0, reason: response.statusMessage ?? "", minorVersion: response.httpVersionMinor,
          headers: headers(response.rawHeaders), peer,
          connectedMs: clock.connected, encryptedMs: clock.encrypted, answeredMs: clock.now(),
        },
        body: received(response, socket),
      };
      return reply;
    } finally {
      if (reply === undefined) socket.destroy();
    }
  },
};

/** Milliseconds since the start of a request. */
class Clock {
  readonly #started = performance.now();
  connected = 0;
  encrypted = 0;

  now(): number {
    return performance.now() - this.#started;
  }
}

/** Connects to the first address that accepts the connection, and starts TLS. */
async function connected(request: OutgoingRequest, clock: Clock, signal: AbortSignal): Promise<{ socket: Socket; peer: string }> {
  let last: unknown;
  for (const address of request.addresses) {
    const left = Math.min(request.connectMs, request.totalMs) - clock.now();
    if (left <= 0) break;
    try {
      const plain = await ready(connectPlain({ host: address, port: request.port }), "connect", left, signal);
      clock.connected = clock.now();
      const peer = isIP(address) === 6 ? `[${address}]:${request.port}` : `${address}:${request.port}`;
      if (!request.encrypted) return { socket: plain, peer };
      const named = isIP(request.host) === 0 ? { servername: request.host } : { host: request.host };
      const socket = connectTls({ socket: plain, ALPNProtocols: ["http/1.1"], ...named });
      await ready(socket, "secureConnect", Math.min(request.connectMs, request.totalMs) - clock.now(), signal);
      clock.encrypted = clock.now();
      return { socket, peer };
    } catch (error) {
      last = error;
      if (signal.aborted || (error instanceof GatewayFailure && error.kind !== "connect")) throw error;
    }
  }
  throw last ?? new GatewayFailure("timeout", `cannot connect to ${request.host}: timeout`);
}

/** Waits for an event of a socket. Destroys the socket if the event does not occur in time. */
function ready<T extends Socket>(socket: T, event: string, withinMs: number, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      leave();
      socket.on("error", () => {});
      socket.destroy();
      reject(error);
    };
    const failed = (error: Error) => fail(connectFailure(error, event));
    const late = () => fail(new GatewayFailure("timeout", "the connection timed out"));
    const cancelled = () => fail(new GatewayFailure("internal", "the request was cancelled"));
    const closed = () => fail(new GatewayFailure(event === "connect" ? "connect" : "tls", "the server closed the connection"));
    const done = () => {
      leave();
      resolve(socket);
    };
    const timer = setTimeout(late, Math.min(Math.max(withinMs, 0), MAX_TIMER_MS));
    const leave = () => {
      clearTimeout(timer);
      socket.off(event, done);
      socket.off("error", failed);
      socket.off("close", closed);
      signal.removeEventListener("abort", cancelled);
    };
    socket.once(event, done);
    socket.once("error", failed);
    socket.once("close", closed);
    signal.addEventListener("abort", cancelled, { once: true });
    if (signal.aborted) cancelled();
  });
}

/** Sends the request and waits for the response head. */
function exchanged(request: OutgoingRequest, body: AsyncIterable<Uint8Array> | undefined, socket: Socket): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      method: request.method, path: request.path, headers: requestHeaders(request) as never,
      maxHeaderSize: request.headBytes, createConnection: () => socket,
    });
    sent.once("response", resolve);
    sent.once("upgrade", () => reject(new GatewayFailure("protocol", "the server requested another protocol")));
    sent.on("error", (error) => reject(replyFailure(error)));
    if (body === undefined) sent.end();
    else pour(body, sent).catch((error: unknown) => sent.destroy(error as Error));
  });
}

/** Returns the headers as pairs, which keeps their spelling. Node adds none except those for framing. */
function requestHeaders(request: OutgoingRequest): [string, string][] {
  const usual = request.port === (request.encrypted ? 443 : 80);
  const host = isIP(request.host) === 6 ? `[${request.host}]` : request.host;
  const headers: [string, string][] = [["Host", usual ? host : `${host}:${request.port}`]];
  for (const [name, value] of request.headers) headers.push([name, Buffer.from(value).toString("latin1")]);
  if (request.hasBody) {
    headers.push(request.length === undefined ? ["Transfer-Encoding", "chunked"] : ["Content-Length", String(request.length)]);
  }
  headers.push(["Connection", "close"]);
  return headers;
}

async function pour(body: AsyncIterable<Uint8Array>, sent: ClientRequest): Promise<void> {
  for await (const chunk of body) {
    if (!sent.write(chunk)) await drained(sent);
  }
  sent.end();
}

function drained(sent: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    sent.once("drain", resolve);
    sent.once("close", resolve);
  });
}

async function* received(response: IncomingMessage, socket: Socket): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of response) yield chunk as Uint8Array;
    if (!response.complete) throw new GatewayFailure("receive", "the response was incomplete");
  } catch (error) {
    if (error instanceof GatewayFailure) throw error;
    throw new GatewayFailure("receive", `the response was incomplete (${code(error)})`);
  } finally {
    socket.destroy();
  }
}

/** Converts Node's flat list of names and values. */
function headers(raw: readonly string[]): [string, Uint8Array][] {
  const pairs: [string, Uint8Array][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    pairs.push([raw[at] as string, Buffer.from(raw[at + 1] as string, "latin1")]);
  }
  return pairs;
}

function code(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "the connection ended";
}

/** Error codes of certificates that are not trusted. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|CRL|HOSTNAME_MISMATCH/;

function connectFailure(error: Error, event: string): GatewayFailure {
  if (error instanceof GatewayFailure) return error;
  const kind: FailureKind = event === "connect" ? "connect" : CERTIFICATE.test(code(error)) ? "certificate" : "tls";
  const what = { connect: "the connection failed", certificate: "the server's certificate is not trusted", tls: "the TLS handshake failed" };
  return new GatewayFailure(kind, `${what[kind as keyof typeof what]} (${code(error)})`);
}

function replyFailure(error: Error): GatewayFailure {
  if (error instanceof GatewayFailure) return error;
  const what = code(error);
  if (what.startsWith("HPE_")) return new GatewayFailure("protocol", `the response is not HTTP, or its head is too large (${what})`);
  if (what === "ECONNRESET") return new GatewayFailure("empty", "the server closed the connection without a response");
  return new GatewayFailure("receive", `cannot receive the response (${what})`);
}
