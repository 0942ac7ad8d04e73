/** Handlers of the requests of one sandbox in one worker to the application. */

import type { SandboxError } from "./error.js";
import type { Gateway } from "./gateway.js";
import { HostCalls } from "./host_calls.js";
import type { HostRequest, HostResponse, PortEvent } from "./messages.js";
import type { Checked } from "./options.js";
import { PortStreams } from "./port_streams.js";
import { Requests } from "./requests.js";

export class HostHandlers {
  readonly ports: PortStreams;
  readonly #tools: HostCalls;
  readonly #requests: Requests;

  /** `keep` sets whether a connection waits for data. */
  constructor(
    tools: Checked["tools"], gateway: () => Gateway | undefined, respond: (response: HostResponse) => void, keep: (isKept: boolean) => void,
  ) {
    this.#tools = new HostCalls(tools, respond);
    this.#requests = new Requests(gateway, respond);
    this.ports = new PortStreams(respond, keep);
  }

  handle(request: HostRequest): void {
    if (isPortEvent(request)) this.ports.handle(request);
    else if (request.type.startsWith("tool")) this.#tools.handle(request);
    else this.#requests.handle(request);
  }

  stop(why: SandboxError): void {
    this.#tools.stop();
    this.#requests.stop();
    this.ports.stop(why);
  }
}

function isPortEvent(request: HostRequest): request is PortEvent {
  return request.type.startsWith("port");
}
