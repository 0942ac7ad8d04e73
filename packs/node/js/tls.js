'use strict';
// `tls`: connections to other hosts, which the host's gateway encrypts. There is no encryption within the sandbox, so servers are refused.
const net = require('net');
const { refusing } = tidebox;
const refused = (what) => refusing(`${what}: the host encrypts requests to other hosts, and there is no TLS within the sandbox`);
class JSStreamSocket {}
class TLSSocket extends net.Socket {
  constructor(socket, options) {
    super(socket ? undefined : options);
    if (socket) {
      // Packages make such a socket without using it, to find the class of its handle.
      this._handle = { _parentWrap: new JSStreamSocket(), close: (callback) => { process.nextTick(callback); } };
      return;
    }
    this.encrypted = true;
    this.authorized = false;
    this.authorizationError = null;
    this.alpnProtocol = false;
    this.servername = options?.servername ?? options?.host;
    this.secureConnecting = true;
    this.once('connect', () => {
      this.secureConnecting = false;
      // The host has verified the certificate, or the request fails.
      this.authorized = true;
      this.emit('secure');
      this.emit('secureConnect');
    });
  }
  _writeGeneric(pending, data, encoding, callback) {
    if (this._handle?._parentWrap) return void refused('TLS over an existing connection')();
    super._writeGeneric(pending, data, encoding, callback);
  }
  getPeerCertificate() { return {}; }
  getPeerX509Certificate() { return undefined; }
  getCertificate() { return {}; }
  getCipher() { return { name: 'TLS_AES_256_GCM_SHA384', standardName: 'TLS_AES_256_GCM_SHA384', version: 'TLSv1.3' }; }
  getProtocol() { return 'TLSv1.3'; }
  getSession() { return undefined; }
  getFinished() { return undefined; }
  getPeerFinished() { return undefined; }
  getTLSTicket() { return undefined; }
  getEphemeralKeyInfo() { return {}; }
  getSharedSigalgs() { return []; }
  isSessionReused() { return false; }
  setServername(name) { this.servername = name; }
  setSession() {}
  setMaxSendFragment() { return true; }
  disableRenegotiation() {}
  enableTrace() {}
  renegotiate(options, callback) { refused('TLSSocket.renegotiate')(); }
  exportKeyingMaterial() { refused('TLSSocket.exportKeyingMaterial')(); }
}
function connect(...args) {
  const [options, callback] = net._normalizeArgs(args);
  const more = args.find((one, at) => at > 0 && typeof one === 'object' && one !== null);
  const all = { __proto__: null, ...options, ...more };
  if (all.path || !tidebox.isOutside(all.host || 'localhost')) refused(`a TLS connection to ${all.path ?? all.host ?? 'localhost'}`)();
  const socket = new TLSSocket(all.socket, all);
  if (callback) socket.once('secureConnect', callback);
  if (all.timeout) socket.setTimeout(all.timeout);
  socket.connect({ ...all, lookup: undefined });
  return socket;
}
class SecureContext {}
function Server(...values) { refused('tls.Server')(); }
Object.setPrototypeOf(Server.prototype, net.Server.prototype);
Object.setPrototypeOf(Server, net.Server);
module.exports = {
  TLSSocket, connect, Server, SecureContext,
  createServer: refused('tls.createServer'),
  createSecureContext: () => new SecureContext(),
  createSecurePair: refused('tls.createSecurePair'),
  checkServerIdentity: () => undefined,
  getCACertificates: () => [],
  setDefaultCACertificates() {},
  getCiphers: () => ['tls_aes_256_gcm_sha384'],
  convertALPNProtocols(protocols, out) { out.ALPNProtocols = protocols; },
  rootCertificates: Object.freeze([]),
  CLIENT_RENEG_LIMIT: 3, CLIENT_RENEG_WINDOW: 600,
  DEFAULT_CIPHERS: 'TLS_AES_256_GCM_SHA384', DEFAULT_ECDH_CURVE: 'auto', DEFAULT_MIN_VERSION: 'TLSv1.2', DEFAULT_MAX_VERSION: 'TLSv1.3',
};
