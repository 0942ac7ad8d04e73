/** The caller's side of the network: requests of one Worker, sent here by the platform's gateway. */

import type { Gateway } from "./gateway.js";
import { GatewayFailure } from "./gateway.js";
import type { Ask, Outgoing, Tell } from "./messages.js";

export class Requests {
  /** There is none before the Worker is started. */
  readonly #gateway: () => Gateway | undefined;
  readonly #tell: (tell: Tell) => void;
  readonly #underway = new Map<number, Underway>();

  constructor(gateway: () => Gateway | undefined, tell: (tell: Tell) => void) {
    this.#gateway = gateway;
    this.#tell = tell;
  }

  /** What the Worker asks for. */
  asked(ask: Ask): void {
    switch (ask.ask) {
      case "netResolve":
        void this.#begin(ask.request).run((gateway, one) => one.resolve(gateway, ask.name, ask.withinMs));
        break;
      case "netSend":
        void this.#begin(ask.request).run((gateway, one) => one.send(gateway, ask.told));
        break;
      case "netBody":
        this.#underway.get(ask.request)?.body(ask.end ? undefined : ask.piece);
        break;
      case "netBroken":
        this.#underway.get(ask.request)?.broken();
        break;
      case "netPull":
        this.#underway.get(ask.request)?.pull();
        break;
      case "netOver":
        this.#underway.get(ask.request)?.stop();
        this.#underway.delete(ask.request);
        break;
    }
  }

  /** The Worker is no more. */
  stop(): void {
    for (const one of this.#underway.values()) one.stop();
    this.#underway.clear();
  }

  #begin(request: number): Underway {
    const one = new Underway(request, this.#gateway(), this.#tell);
    this.#underway.set(request, one);
    return one;
  }
}

/** Something that happens later, once. */
interface Later<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

class Underway {
  readonly #request: number;
  readonly #gateway: Gateway | undefined;
  readonly #tell: (tell: Tell) => void;
  readonly #controller = new AbortController();
  #piece: Later<Uint8Array | undefined> | undefined;
  #pulled: Later<void> | undefined;
  /** The Worker has asked for more before somebody waited for that. */
  #wanted = false;

  constructor(request: number, gateway: Gateway | undefined, tell: (tell: Tell) => void) {
    this.#request = request;
    this.#gateway = gateway;
    this.#tell = (what) => {
      if (!this.#controller.signal.aborted) tell(what);
    };
  }

  /** Never rejects: what goes wrong is told. */
  async run(work: (gateway: Gateway, one: this) => Promise<void>): Promise<void> {
    try {
      if (this.#gateway === undefined) throw new GatewayFailure("internal", "the sandbox has no network");
      await work(this.#gateway, this);
    } catch (error) {
      const { kind, message } = error instanceof GatewayFailure
        ? error
        : new GatewayFailure("internal", "the application's side of the network failed");
      this.#tell({ tell: "netFailed", args: [this.#request, kind, message] });
    }
  }

  async resolve(gateway: Gateway, name: string, withinMs: number): Promise<void> {
    const { signal } = this.#controller;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const fail = () => reject(new GatewayFailure("timeout", `${name} was not resolved in time`));
      timer = setTimeout(fail, Math.min(withinMs, 2 ** 31 - 1));
    });
    try {
      const addresses = await Promise.race([gateway.resolve(name, signal), late]);
      this.#tell({ tell: "netResolved", args: [this.#request, addresses] });
    } finally {
      clearTimeout(timer);
    }
  }

  async send(gateway: Gateway, request: Outgoing): Promise<void> {
    const body = request.hasBody ? this.#body() : undefined;
    const { head, body: reply } = await gateway.send(request, body, this.#controller.signal);
    this.#tell({ tell: "netHead", args: [this.#request, head] });
    for await (const piece of reply) {
      await this.#asked();
      // An empty piece is the end.
      if (piece.length > 0) this.#tell({ tell: "netPiece", args: [this.#request, piece] });
      else this.#wanted = true;
    }
    await this.#asked();
    this.#tell({ tell: "netPiece", args: [this.#request, new Uint8Array(0)] });
  }

  async *#body(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const piece = await new Promise<Uint8Array | undefined>((resolve, reject) => {
        this.#piece = { resolve, reject };
        this.#tell({ tell: "netWants", args: [this.#request] });
      });
      if (piece === undefined) return;
      yield piece;
    }
  }

  #asked(): Promise<void> {
    if (this.#wanted) {
      this.#wanted = false;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      this.#pulled = { resolve, reject };
    });
  }

  body(piece: Uint8Array | undefined): void {
    this.#piece?.resolve(piece);
  }

  broken(): void {
    this.#piece?.reject(new GatewayFailure("send", "the body of the request broke off"));
  }

  pull(): void {
    const { resolve } = this.#pulled ?? {};
    this.#pulled = undefined;
    if (resolve === undefined) this.#wanted = true;
    else resolve();
  }

  stop(): void {
    this.#controller.abort();
    const over = new GatewayFailure("internal", "nobody waits for the reply any more");
    this.#piece?.reject(over);
    this.#pulled?.reject(over);
  }
}
