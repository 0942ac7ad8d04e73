'use strict';
// Pipes and terminals as handles of streams.
const { native, uv, loop, apply } = state;
const base = () => state.bindingOf('stream_wrap');
const WRITABLE = 2 ** 20;
const CHUNK = 65536;
/** Bytes that a pipe takes without blocking once it is ready for writing. */
const PIPE_STEP = 4096;
class StreamHandle {
  constructor() {
    this.reading = false; this.refed = true; this.waiting = []; this.readFd = -1; this.writeFd = -1; this.bytesRead = 0; this.bytesWritten = 0;
    this.frame = state.getFrame(); this.closed = false; this.blocking = false; this.nonblocking = false; this.step = PIPE_STEP;
  }
  get fd() { return this.readFd >= 0 ? this.readFd : this.writeFd; }
  getAsyncId() { return 0; }
  getProviderType() { return 0; }
  ref() { this.refed = true; }
  unref() { this.refed = false; }
  hasRef() { return this.refed; }
  get referenced() { return this.refed && (this.isReading || this.waiting.length > 0); }
  get pollFd() { return this.isReading ? this.readFd : -1; }
  open(fd) {
    this.readFd = fd;
    this.writeFd = fd;
    this.blocking = fd <= 2;
    return 0;
  }
  setBlocking(on) { this.blocking = on; return 0; }
  readStart() {
    if (this.readFd < 0) return -9;
    this.isReading = true;
    loop.handles.add(this);
    return 0;
  }
  readStop() {
    this.isReading = false;
    if (this.waiting.length === 0) loop.handles.delete(this);
    return 0;
  }
  useUserBuffer(buffer) { this.userBuffer = state.bytesOf(buffer); }
  onReadable() {
    if (!this.isReading) return;
    const { userBuffer } = this;
    const chunk = userBuffer ?? new Uint8Array(CHUNK);
    const got = native.read(this.readFd, chunk, 0, chunk.length, -1);
    if (got < 0 && (uv(got) === -4 || uv(got) === -11)) return;
    const { streamBaseState: fields, kReadBytesOrError, kArrayBufferOffset } = base();
    const number = got === 0 ? -4095 : got < 0 ? uv(got) : got;
    if (got <= 0) this.readStop();
    if (got > 0) this.bytesRead += got;
    state.callback(() => {
      fields[kReadBytesOrError] = number;
      fields[kArrayBufferOffset] = 0;
      const next = this.onread(got > 0 && userBuffer === undefined ? chunk.buffer.slice(0, got) : undefined);
      if (userBuffer !== undefined && next !== undefined) this.useUserBuffer(next);
    }, this.frame);
  }
  send(request, bytes) {
    const { streamBaseState: fields, kBytesWritten, kLastWriteWasAsync } = base();
    fields[kBytesWritten] = bytes.byteLength;
    fields[kLastWriteWasAsync] = 0;
    if (this.writeFd < 0) return -9;
    if (this.blocking) {
      const code = state.writeAll(this.writeFd, bytes);
      if (code < 0) return uv(code);
      this.bytesWritten += bytes.byteLength;
      return 0;
    }
    let at = 0;
    if (this.nonblocking && this.waiting.length === 0 && this.connecting === undefined && bytes.byteLength > 0) {
      const put = native.write(this.writeFd, bytes, 0, bytes.byteLength, -1);
      if (put < 0 && uv(put) !== -4 && uv(put) !== -11) return uv(put);
      at = Math.max(put, 0);
      this.bytesWritten += at;
      if (at === bytes.byteLength) return 0;
    }
    fields[kLastWriteWasAsync] = 1;
    this.waiting[this.waiting.length] = { request, bytes, at, frame: state.getFrame() };
    loop.handles.add(this);
    return 0;
  }
  get writePollFd() { return this.waiting.length > 0 && this.waiting[0].bytes ? this.writeFd : -1; }
  onWritable() {
    const [first] = this.waiting;
    if (!first) return;
    const put = first.bytes.byteLength === 0 ? 0 : native.write(this.writeFd, first.bytes, first.at, Math.min(this.step, first.bytes.byteLength - first.at), -1);
    if (put < 0 && (uv(put) === -4 || uv(put) === -11)) return;
    if (put >= 0) { first.at += put; this.bytesWritten += put; }
    if (put >= 0 && first.at < first.bytes.byteLength) return;
    this.waiting.shift();
    this.#settle(first, put < 0 ? uv(put) : 0);
  }
  #settle({ request, frame }, status) {
    this.#finishShutdown();
    if (this.waiting.length === 0 && !this.isReading) loop.handles.delete(this);
    state.callback(() => request.oncomplete(status, this, undefined), frame);
  }
  #finishShutdown() {
    if (this.ending && this.waiting.length === 0) {
      const request = this.ending;
      this.ending = undefined;
      this.closeWriting();
      state.later(() => request.oncomplete(0));
    }
  }
  closeWriting() {
    if (this.writeFd >= 0 && this.writeFd !== this.readFd) native.close(this.writeFd);
    this.writeFd = -1;
  }
  writeBuffer(request, buffer) { return this.send(request, state.bytesOf(buffer)); }
  writev(request, chunks, allBuffers) {
    const { Buffer } = state.require('buffer');
    const parts = [];
    if (allBuffers) parts.push(...chunks);
    else for (let at = 0; at < chunks.length; at += 2) parts.push(typeof chunks[at] === 'string' ? Buffer.from(chunks[at], chunks[at + 1]) : chunks[at]);
    return this.send(request, Buffer.concat(parts));
  }
  writeUtf8String(request, text) { return this.send(request, native.encode(text, 'utf8')); }
  writeAsciiString(request, text) { return this.send(request, native.encode(text, 'latin1')); }
  writeLatin1String(request, text) { return this.send(request, native.encode(text, 'latin1')); }
  writeUcs2String(request, text) { return this.send(request, native.encode(text, 'utf16le')); }
  shutdown(request) {
    this.ending = request;
    this.#finishShutdown();
    return 0;
  }
  close(callback) {
    if (this.closed) return;
    this.closed = true;
    this.isReading = false;
    loop.handles.delete(this);
    const aborted = this.waiting;
    this.waiting = [];
    const { readFd, writeFd } = this;
    this.readFd = this.writeFd = -1;
    if (readFd > 2) native.close(readFd);
    if (writeFd > 2 && writeFd !== readFd) native.close(writeFd);
    loop.closing[loop.closing.length] = () => {
      for (let at = 0; at < aborted.length; at++) aborted[at].request.oncomplete(-125, this, undefined);
      this[state.symbols.handle_onclose]?.();
      if (typeof callback === 'function') apply(callback, this, []);
    };
  }
}
state.StreamHandle = StreamHandle;
class Pipe extends StreamHandle {
  constructor(type) { super(); this.type = type; }
  writeUtf8String(request, text, handle) {
    if (handle) state.refusing('sending a handle to another process')();
    return super.writeUtf8String(request, text);
  }
  connect() { return -95; }
  bind() { return -95; }
  listen() { return -95; }
  fchmod() { return 0; }
}
class TTY extends StreamHandle {
  constructor(fd, context) { super(); this.open(fd); }
  getWindowSize(size) {
    const found = native.terminalSize(this.fd);
    if (found.length === 0) return -25;
    size[0] = found[0] || 80;
    size[1] = found[1] || 24;
    return 0;
  }
  setRawMode(raw) { const code = native.setRawMode(this.fd, raw); return code < 0 ? uv(code) : 0; }
}
bindings.pipe_wrap = () => ({ Pipe, PipeConnectWrap: class PipeConnectWrap {} });
bindings.tty_wrap = () => ({ TTY, isTTY: (fd) => fd >= 0 && native.isTerminal(fd) });
bindings.stream_wrap = () => ({ WriteWrap: class WriteWrap {}, ShutdownWrap: class ShutdownWrap {}, LibuvStreamWrap: StreamHandle });
const noSockets = (name) => class { constructor() { state.refusing(name)(); } };
bindings.udp_wrap = () => ({ UDP: noSockets('node:dgram'), SendWrap: class SendWrap {} });
bindings.block_list = () => ({ BlockList: class BlockList {}, SocketAddress: class SocketAddress {} });
bindings.js_stream = () => ({ JSStream: class JSStream {} });
state.WRITABLE = WRITABLE;
