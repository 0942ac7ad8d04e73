/** Failures of gateways. A separate module, because every gateway must use the same class. */

/** Names of `GatewayErrorKind` in `core/src/network/gateway.rs`. */
export type FailureKind =
  | "resolve" | "connect" | "tls" | "certificate" | "timeout" | "send" | "empty" | "receive" | "protocol" | "internal";

/** The cause of a failed request or an incomplete response. The message must not contain a header of the request. */
export class GatewayFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
