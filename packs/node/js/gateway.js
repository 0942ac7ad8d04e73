'use strict';
// A connection to another host. The sandbox has no such connections: the host sends single requests, by the protocol of docs/network.md, if
// its policy allows them. So what a client writes to the connection is parsed as HTTP/1.1, and it reads a response in HTTP/1.1.
const { native, uv, loop } = state;
const TOOL = '/usr/libexec/tidebox/http';
/** Longest payload of a frame that a pipe takes without blocking. */
const PIECE = 4091;
/** Responses are read in parts of this size. */
const CHUNK = 65536;
/** Headers of one connection, and those that the host writes itself. */
const OWN_HEADERS = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'content-length', 'host', 'expect', 'te', 'trailer', 'upgrade']);
const CODES = { __proto__: null, resolve: 'ENOTFOUND', connect: 'ECONNREFUSED', timeout: 'ETIMEDOUT', tls: 'EPROTO', certificate: 'ERR_TLS_CERT_ALTNAME_INVALID',
  send: 'ECONNRESET', empty: 'ECONNRESET', receive: 'ECONNRESET', protocol: 'EPROTO' };
/** Writes frames to the pipe of the tool, as far as it takes them. */
class Sender {
  constructor(fd) { this.fd = fd; this.queue = []; this.refed = true; }
  get pollFd() { return -1; }
  get writePollFd() { return this.queue.length > 0 ? this.fd : -1; }
  get referenced() { return this.queue.length > 0; }
  put(kind, payload, done) {
    const bytes = new Uint8Array(5 + payload.length);
    bytes[0] = kind.charCodeAt(0);
    new DataView(bytes.buffer).setUint32(1, payload.length, true);
    bytes.set(payload, 5);
    this.queue.push({ bytes, at: 0, done });
    loop.handles.add(this);
  }
  onWritable() {
    const [first] = this.queue;
    const put = native.write(this.fd, first.bytes, first.at, Math.min(PIECE + 5, first.bytes.length - first.at), -1);
    if (put < 0 && (uv(put) === -4 || uv(put) === -11)) return;
    if (put > 0) first.at += put;
    if (put >= 0 && first.at < first.bytes.length) return;
    this.queue.shift();
    if (this.queue.length === 0) loop.handles.delete(this);
    // A host that has responded already may have stopped reading.
    if (first.done) state.callback(first.done);
  }
  close() {
    if (this.fd >= 0) native.close(this.fd);
    this.fd = -1;
    const { queue } = this;
    this.queue = [];
    loop.handles.delete(this);
    for (const one of queue) one.done?.();
  }
}
/** Reads the frames of a response and gives them to a connection. */
class Receiver {
  constructor(fd, connection) { this.fd = fd; this.connection = connection; this.kept = new Uint8Array(0); this.refed = true; }
  get pollFd() { return this.connection.wantsMore ? this.fd : -1; }
  get writePollFd() { return -1; }
  get referenced() { return this.connection.wantsMore && this.connection.handle.refed; }
  onReadable() {
    const chunk = new Uint8Array(CHUNK);
    const got = native.read(this.fd, chunk, 0, CHUNK, -1);
    if (got < 0 && (uv(got) === -4 || uv(got) === -11)) return;
    if (got <= 0) return void this.connection.ended();
    let bytes = chunk.subarray(0, got);
    if (this.kept.length > 0) {
      bytes = new Uint8Array(this.kept.length + got);
      bytes.set(this.kept);
      bytes.set(chunk.subarray(0, got), this.kept.length);
    }
    let at = 0;
    while (bytes.length - at >= 5) {
      const length = new DataView(bytes.buffer, bytes.byteOffset + at + 1, 4).getUint32(0, true);
      if (bytes.length - at < 5 + length) break;
      this.connection.frame(String.fromCharCode(bytes[at]), bytes.subarray(at + 5, at + 5 + length));
      at += 5 + length;
    }
    this.kept = bytes.slice(at);
  }
  close() {
    if (this.fd >= 0) native.close(this.fd);
    this.fd = -1;
    loop.handles.delete(this);
  }
}
class Gateway {
  constructor(handle, host, port) {
    Object.assign(this, { handle, host, port, incoming: [], state: 'idle' });
    this.parser = new state.HTTPParser();
    this.parser.initialize(1, {}, 1 << 20);
    this.parser[2] = (major, minor, headers, method, url, status, message, upgrade) => this.#begin(headers, method, url, upgrade);
    this.parser[3] = (bytes) => this.#body(bytes);
    this.parser[4] = () => this.#requestEnds();
  }
  get wantsMore() { return this.handle.isReading && this.receiver !== undefined && this.state !== 'over'; }
  /** Takes bytes of the client. */
  write(request, bytes) {
    const { streamBaseState: fields, kBytesWritten, kLastWriteWasAsync } = state.bindingOf('stream_wrap');
    fields[kBytesWritten] = bytes.byteLength;
    fields[kLastWriteWasAsync] = 1;
    this.handle.bytesWritten += bytes.byteLength;
    const result = this.state === 'over' ? bytes.length : this.parser.execute(bytes);
    if (result instanceof Error) this.#fail('EPROTO', `only HTTP/1.1 can be sent to other hosts: ${result.message}`);
    const done = () => request.oncomplete(0, this.handle, undefined);
    // The write is complete when the pipe has taken its frames, so that large bodies do not collect here.
    const last = this.sender?.queue.at(-1);
    if (last) { const before = last.done; last.done = () => { before?.(); done(); }; } else state.later(done);
    return 0;
  }
  #begin(headers, method, url, upgrade) {
    const { handle } = this;
    const name = state.bindingOf('http_parser').allMethods[method];
    if (upgrade || name === 'CONNECT') { this.#fail('ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'other hosts can be reached by single requests only: no WebSocket, no CONNECT'); return 2; }
    if (this.state !== 'idle') { this.#fail('EPROTO', 'a connection to another host carries one request'); return 2; }
    const scheme = handle.encrypted ? 'https' : 'http';
    const shownPort = this.port === (handle.encrypted ? 443 : 80) ? '' : `:${this.port}`;
    const lines = [];
    let host = `${this.host.includes(':') ? `[${this.host}]` : this.host}${shownPort}`;
    let body = 'none';
    for (let at = 0; at < headers.length; at += 2) {
      const [key, value] = [headers[at].toLowerCase(), headers[at + 1]];
      if (key === 'content-length') body = value;
      else if (key === 'transfer-encoding') body = 'stream';
      if (!OWN_HEADERS.has(key)) lines.push(`header ${headers[at]}: ${value}`);
    }
    const target = /^https?:\/\//.test(url) ? url : `${scheme}://${host}${url.startsWith('/') ? url : '/'}`;
    this.hasBody = body !== 'none';
    this.isHead = name === 'HEAD';
    this.what = `${name} ${target}`;
    if (!this.#start()) return 2;
    this.sender.put('H', native.encode(`tidebox-http 1\nmethod ${name}\nurl ${target}\nbody ${body}\n${lines.map((line) => `${line}\n`).join('')}`, 'latin1'));
    return 0;
  }
  #start() {
    const [childIn, to] = native.pipe();
    const [from, childOut] = native.pipe();
    const pid = native.spawn({ path: TOOL, args: [TOOL], env: [], fds: [0, childIn, 1, childOut], detached: false });
    native.close(childIn);
    native.close(childOut);
    this.sender = new Sender(to);
    this.receiver = new Receiver(from, this);
    if (pid < 0) {
      if (uv(pid) === -2) this.#disabled();
      else this.#fail('EIO', `the gateway cannot be started: error ${uv(pid)}`);
      return false;
    }
    state.watchChild(pid);
    this.state = 'sent';
    loop.handles.add(this.receiver);
    return true;
  }
  #body(bytes) {
    if (this.state === 'over') return;
    for (let at = 0; at < bytes.length; at += PIECE) this.sender.put('D', bytes.slice(at, at + PIECE));
  }
  #requestEnds() { if (this.state !== 'over' && this.hasBody) this.sender.put('E', new Uint8Array(0)); }
  /** Takes a frame of the response. */
  frame(kind, payload) {
    if (this.state === 'over') return;
    if (kind === 'H') this.#head(native.decode(payload, 'latin1', 0, payload.length));
    else if (kind === 'D' && payload.length > 0) this.#give(this.chunked ? [native.encode(`${payload.length.toString(16)}\r\n`, 'latin1'), payload, native.encode('\r\n', 'latin1')] : [payload]);
    else if (kind === 'E') { if (this.chunked) this.#give([native.encode('0\r\n\r\n', 'latin1')]); this.#finish(); }
    else if (kind === 'F') this.#failed(native.decode(payload, 'utf8', 0, payload.length));
  }
  #head(text) {
    let status = '502 Bad Gateway';
    let length = false;
    const lines = [];
    for (const line of text.split('\n')) {
      const at = line.indexOf(' ');
      const [key, value] = [line.slice(0, at), line.slice(at + 1)];
      if (key === 'status') status = value.slice(value.indexOf(' ') + 1);
      if (key !== 'header') continue;
      const name = value.slice(0, value.indexOf(':')).toLowerCase();
      if (name === 'content-length') length = true;
      if (['connection', 'keep-alive', 'transfer-encoding', 'upgrade'].includes(name)) continue;
      lines.push(value);
    }
    const code = Number.parseInt(status, 10);
    this.chunked = !length && !this.isHead && code !== 204 && code !== 304;
    if (this.chunked) lines.push('Transfer-Encoding: chunked');
    lines.push('Connection: close');
    this.state = 'answered';
    this.#give([native.encode(`HTTP/1.1 ${status}\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1')]);
  }
  #failed(text) {
    const [first] = text.split('\n');
    const [who, kind] = first.split(' ');
    const reason = /^message (.*)$/m.exec(text)?.[1] ?? kind;
    if (who === 'refused') this.#fail('EACCES', `${this.what}: ${reason}`);
    else this.#fail(CODES[kind] ?? 'EIO', `${this.what}: ${reason}`);
  }
  /** The tool has ended; without a last frame this is an error. */
  ended() {
    this.receiver.close();
    if (this.state === 'over') return;
    if (this.state === 'sent') this.#disabled();
    else this.#fail('ECONNRESET', `${this.what}: the response is not complete`);
  }
  #disabled() { this.#fail('ENOTFOUND', `getaddrinfo ENOTFOUND ${this.host} (the network is disabled in this sandbox)`); }
  #fail(code, reason) {
    if (this.state === 'over') return;
    this.state = 'over';
    const error = new Error(reason);
    error.code = code;
    error.syscall = 'connect';
    error.hostname = this.host;
    this.#release();
    state.later(() => { this.handle[state.require('internal/async_hooks').symbols.owner_symbol]?.destroy(error); });
  }
  #finish() {
    this.state = 'over';
    this.#release();
    this.incoming.push(null);
    this.resume();
  }
  #release() {
    this.sender?.close();
    this.receiver?.close();
  }
  #give(parts) {
    this.incoming.push(...parts);
    this.resume();
  }
  /** Passes to the client what has arrived, while it reads. */
  resume() {
    const { handle, incoming } = this;
    const { streamBaseState: fields, kReadBytesOrError, kArrayBufferOffset } = state.bindingOf('stream_wrap');
    while (handle.isReading && incoming.length > 0) {
      const bytes = incoming.shift();
      if (bytes === null) handle.readStop();
      else handle.bytesRead += bytes.length;
      state.later(() => {
        if (handle.closed) return;
        fields[kReadBytesOrError] = bytes === null ? -4095 : bytes.length;
        fields[kArrayBufferOffset] = 0;
        handle.onread(bytes === null ? undefined : bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
      });
      if (bytes === null) return;
    }
  }
  close() {
    this.state = 'over';
    this.#release();
  }
}
state.Gateway = Gateway;
