'use strict';
// Sockets: the loopback of the sandbox, and requests to other hosts, which the host's gateway sends.
const { native, uv, loop } = state;
const NONBLOCKING_STEP = 65536;
const AGAIN = -11;
const INTERRUPTED = -4;
const addressOf = (fd, ofPeer, out) => {
  const [ip, port, family] = native.socketName(fd, ofPeer);
  if (port === undefined) return uv(ip);
  Object.assign(out, { address: ip, port, family });
  return 0;
};
/** Returns whether a name or an address is that of another host. */
state.isOutside = (host) => {
  const name = `${host}`.toLowerCase().replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost') || name === ownName()) return false;
  return !native.isLocalAddress(name);
};
const ownName = () => state.bindingOf('os').getHostname().toLowerCase();

class TCP extends state.StreamHandle {
  constructor(type) {
    super();
    this.isServer = type === 1;
    this.step = NONBLOCKING_STEP;
    this.nonblocking = true;
  }
  open(fd) { super.open(fd); this.blocking = false; return 0; }
  bind(address, port) { this.bound = [address, port]; return 0; }
  bind6(address, port) { return this.bind(address, port); }
  listen(backlog) {
    const [address, port] = this.bound ?? ['0.0.0.0', 0];
    const fd = native.socketListen(address, port, Math.min(backlog, 128));
    if (fd < 0) return uv(fd);
    this.listener = fd;
    loop.handles.add(this);
    return 0;
  }
  get fd() { return this.listener ?? super.fd; }
  get pollFd() { return this.listener ?? super.pollFd; }
  get referenced() { return this.refed && (this.listener !== undefined || this.connecting !== undefined || super.referenced); }
  onReadable() {
    if (this.listener === undefined) return void super.onReadable();
    // Another process may have taken the connection.
    while (this.listener !== undefined) {
      const fd = native.socketAccept(this.listener);
      if (fd < 0) {
        const code = uv(fd);
        if (code !== AGAIN && code !== INTERRUPTED) state.callback(() => this.onconnection(code, undefined), this.frame);
        return;
      }
      state.callback(() => {
        const client = new TCP(0);
        client.open(fd);
        this.onconnection(0, client);
      }, this.frame);
    }
  }
  connect(request, address, port) {
    if (state.isOutside(address)) return this.#connectOutside(request, address, port);
    const [fd, connected] = native.socketConnect(address, port);
    if (fd < 0) {
      // As in libuv, the error arrives later.
      state.later(() => request.oncomplete(uv(fd), this, request, false, false));
      return 0;
    }
    this.open(fd);
    this.connecting = { request, address, port, frame: state.getFrame() };
    loop.handles.add(this);
    if (connected) state.later(() => this.#connected(0));
    return 0;
  }
  connect6(request, address, port) { return this.connect(request, address, port); }
  #connected(code) {
    if (this.connecting === undefined) return;
    const { request } = this.connecting;
    this.connecting = undefined;
    if (!this.isReading && this.waiting.length === 0) loop.handles.delete(this);
    request.oncomplete(code, this, request, code === 0, code === 0);
  }
  #connectOutside(request, host, port) {
    this.gateway = new state.Gateway(this, host, port);
    loop.handles.add(this);
    this.connecting = { request, frame: state.getFrame() };
    state.later(() => this.#connected(0));
    return 0;
  }
  get writePollFd() { return this.connecting?.address !== undefined ? this.writeFd : super.writePollFd; }
  onWritable() {
    if (this.connecting?.address === undefined) return void super.onWritable();
    const { address, port } = this.connecting;
    const code = native.socketFinish(this.writeFd, address, port);
    if (code === 1) return;
    state.callback(() => this.#connected(code < 0 ? uv(code) : 0), this.connecting.frame);
  }
  readStart() {
    if (this.gateway === undefined) return super.readStart();
    this.isReading = true;
    loop.handles.add(this);
    this.gateway.resume();
    return 0;
  }
  send(request, bytes) {
    if (this.gateway === undefined) return super.send(request, bytes);
    return this.gateway.write(request, bytes);
  }
  closeWriting() {
    if (this.gateway === undefined) native.socketShutdown(this.writeFd);
    this.writeFd = -1;
  }
  getsockname(out) {
    if (this.gateway !== undefined) { Object.assign(out, { address: '127.0.0.1', port: 0, family: 'IPv4' }); return 0; }
    if (this.fd < 0) {
      const [address, port] = this.bound ?? [];
      if (address === undefined) return -9;
      Object.assign(out, { address, port, family: address.includes(':') ? 'IPv6' : 'IPv4' });
      return 0;
    }
    return addressOf(this.fd, false, out);
  }
  getpeername(out) {
    if (this.gateway !== undefined) { Object.assign(out, { address: this.gateway.host, port: this.gateway.port, family: 'IPv4' }); return 0; }
    return addressOf(this.fd, true, out);
  }
  setNoDelay() { return 0; }
  setKeepAlive() { return 0; }
  setSimultaneousAccepts() { return 0; }
  setTypeOfService() { return 0; }
  getTypeOfService() { return 0; }
  reset(callback) { this.close(callback); return 0; }
  close(callback) {
    if (this.listener !== undefined) native.close(this.listener);
    this.listener = undefined;
    this.connecting = undefined;
    this.gateway?.close();
    super.close(callback);
  }
}
bindings.tcp_wrap = () => ({ TCP, TCPConnectWrap: class TCPConnectWrap {} });

// Names.
const NO_NAME = -3008;
function resolve(name, family) {
  const host = name.toLowerCase().replace(/\.$/, '');
  if (state.isOutside(host)) return [];
  if (native.isLocalAddress(host) && host !== 'localhost' && !host.endsWith('.localhost')) return [host];
  return family === 6 ? ['::1'] : ['127.0.0.1'];
}
bindings.cares_wrap = () => ({
  ChannelWrap: class ChannelWrap {
    constructor() {
      const query = (request) => { state.later(() => request.oncomplete('ENOTFOUND')); return 0; };
      for (const name of ['Any', 'A', 'Aaaa', 'Cname', 'Mx', 'Ns', 'Txt', 'Tlsa', 'Srv', 'Ptr', 'Naptr', 'Soa', 'Caa']) this[`query${name}`] = query;
      this.getHostByAddr = query;
    }
    getServers() { return []; }
    setServers() { return 0; }
    setLocalAddress() {}
    cancel() {}
  },
  GetAddrInfoReqWrap: class GetAddrInfoReqWrap {}, GetNameInfoReqWrap: class GetNameInfoReqWrap {}, QueryReqWrap: class QueryReqWrap {},
  canonicalizeIP: (ip) => ip, strerror: (code) => String(code),
  convertIpv6StringToBuffer: (text) => { const bytes = native.ipBytes(text); return bytes.length === 16 ? state.require('buffer').Buffer.from(bytes) : null; },
  getaddrinfo(request, name, family) {
    const found = resolve(name, family);
    state.later(() => request.oncomplete(found.length > 0 ? null : NO_NAME, found));
    return 0;
  },
  getnameinfo(request, address, port) {
    state.later(() => request.oncomplete(state.isOutside(address) ? NO_NAME : null, 'localhost', String(port)));
    return 0;
  },
});
