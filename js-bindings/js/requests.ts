/** The caller's side of the network: requests of one worker, sent by the platform's gateway. */

import type { Gateway } from "./gateway.js";
import { GatewayFailure } from "./gateway_failure.js";
import type { HostRequest, OutgoingRequest, HostResponse } from "./messages.js";
import { MAX_TIMER_MS } from "./timer_limit.js";

export class Requests {
  /** `undefined` before the worker is started. */
  readonly #gateway: () => Gateway | undefined;
  readonly #respond: (response: HostResponse) => void;
  readonly #pending = new Map<number, PendingRequest>();

  constructor(gateway: () => Gateway | undefined, respond: (response: HostResponse) => void) {
    this.#gateway = gateway;
    this.#respond = respond;
  }

  /** Handles a request of the worker. */
  handle(message: HostRequest): void {
    switch (message.type) {
      case "netResolve":
        void this.#start(message.request).run((gateway, one) => one.resolve(gateway, message.name, message.withinMs));
        break;
      case "netSend":
        void this.#start(message.request).run((gateway, one) => one.send(gateway, message.details));
        break;
      case "netBody":
        this.#pending.get(message.request)?.body(message.end ? undefined : message.chunk);
        break;
      case "netBodyFailed":
        this.#pending.get(message.request)?.bodyFailed();
        break;
      case "netPull":
        this.#pending.get(message.request)?.pull();
        break;
      case "netCancelled":
        this.#pending.get(message.request)?.stop();
        this.#pending.delete(message.request);
        break;
    }
  }

  /** Called when the worker has ended. */
  stop(): void {
    for (const one of this.#pending.values()) one.stop();
    this.#pending.clear();
  }

  #start(request: number): PendingRequest {
    const one = new PendingRequest(request, this.#gateway(), this.#respond);
    this.#pending.set(request, one);
    return one;
  }
}

/** The resolver of a promise. */
interface Deferred<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

class PendingRequest {
  readonly #request: number;
  readonly #gateway: Gateway | undefined;
  readonly #respond: (response: HostResponse) => void;
  readonly #controller = new AbortController();
  #chunk: Deferred<Uint8Array | undefined> | undefined;
  #pulled: Deferred<void> | undefined;
  /** True if the worker has requested a chunk before anything waits for that. */
  #isRequested = false;

  constructor(request: number, gateway: Gateway | undefined, respond: (response: HostResponse) => void) {
    this.#request = request;
    this.#gateway = gateway;
    this.#respond = (response) => {
      if (!this.#controller.signal.aborted) respond(response);
    };
  }

  /** Never rejects: errors are sent to the worker. */
  async run(work: (gateway: Gateway, one: this) => Promise<void>): Promise<void> {
    try {
      if (this.#gateway === undefined) throw new GatewayFailure("internal", "the sandbox has no network");
      await work(this.#gateway, this);
    } catch (error) {
      const { kind, message } = error instanceof GatewayFailure
        ? error
        : new GatewayFailure("internal", "the gateway of the application failed");
      this.#respond({ callback: "netFailed", args: [this.#request, kind, message] });
    }
  }

  async resolve(gateway: Gateway, name: string, withinMs: number): Promise<void> {
    const { signal } = this.#controller;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const fail = () => reject(new GatewayFailure("timeout", `cannot resolve ${name}: timeout`));
      timer = setTimeout(fail, Math.min(withinMs, MAX_TIMER_MS));
    });
    try {
      const addresses = await Promise.race([gateway.resolve(name, signal), late]);
      this.#respond({ callback: "netResolved", args: [this.#request, addresses] });
    } finally {
      clearTimeout(timer);
    }
  }

  async send(gateway: Gateway, request: OutgoingRequest): Promise<void> {
    const body = request.hasBody ? this.#body() : undefined;
    const { head, body: reply } = await gateway.send(request, body, this.#controller.signal);
    this.#respond({ callback: "netHead", args: [this.#request, head] });
    for await (const chunk of reply) {
      await this.#requested();
      // An empty chunk would signal the end.
      if (chunk.length > 0) this.#respond({ callback: "netChunk", args: [this.#request, chunk] });
      else this.#isRequested = true;
    }
    await this.#requested();
    this.#respond({ callback: "netChunk", args: [this.#request, new Uint8Array(0)] });
  }

  async *#body(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunk = await new Promise<Uint8Array | undefined>((resolve, reject) => {
        this.#chunk = { resolve, reject };
        this.#respond({ callback: "netBodyRequested", args: [this.#request] });
      });
      if (chunk === undefined) return;
      yield chunk;
    }
  }

  #requested(): Promise<void> {
    if (this.#isRequested) {
      this.#isRequested = false;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      this.#pulled = { resolve, reject };
    });
  }

  body(chunk: Uint8Array | undefined): void {
    this.#chunk?.resolve(chunk);
  }

  bodyFailed(): void {
    this.#chunk?.reject(new GatewayFailure("send", "the body of the request was incomplete"));
  }

  pull(): void {
    const { resolve } = this.#pulled ?? {};
    this.#pulled = undefined;
    if (resolve === undefined) this.#isRequested = true;
    else resolve();
  }

  stop(): void {
    this.#controller.abort();
    const error = new GatewayFailure("internal", "the request was cancelled");
    this.#chunk?.reject(error);
    this.#pulled?.reject(error);
  }
}
