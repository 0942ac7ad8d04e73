'use strict';
// The parser of HTTP/1.1 with the interface, the strictness and the messages of the one that Node compiles in (llhttp).
const { native } = state;
const CODES = { __proto__: null, kOnMessageBegin: 0, kOnHeaders: 1, kOnHeadersComplete: 2, kOnBody: 3, kOnMessageComplete: 4, kOnExecute: 5, kOnTimeout: 6 };
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const LF = 10;
const EXPECTED = 'Expected HTTP/, RTSP/ or ICE/';
/** Longest line with the size of a chunk. */
const MAX_SIZE_LINE = 4096;
function failure(code, reason) {
  const error = new Error(`Parse Error: ${reason}`);
  error.code = code;
  error.reason = reason;
  return error;
}
function makeHttpParser(allMethods) {
  class HTTPParser {
    /** Calls a listener in the context of the message. */
    #call(code, ...values) { return state.inFrame(this.frame, () => this[code](...values)); }
    initialize(type, resource, maxHeaderSize = 0, lenient = 0, connections = undefined) {
      this.type = type;
      this.maxHeaderSize = maxHeaderSize || state.options['--max-http-header-size'] || 16384;
      this.lenient = lenient !== 0;
      this.connections = connections;
      this.frame = state.getFrame();
      // A connection that sends nothing is not idle: the time for its headers runs.
      this.since = connections === undefined ? 0 : native.milliseconds();
      this.failed = false;
      this.#begin();
      connections?.add(this);
    }
    #begin() {
      this.step = 'first';
      this.line = '';
      this.size = 0;
      this.headers = [];
      this.started = false;
    }
    /** Parses a part. Returns its length, or the number of bytes before those of another protocol, or an error. */
    execute(chunk, start = 0, length = chunk.length) {
      if (this.failed) return failure('HPE_INTERNAL', 'the parser has failed');
      this.chunk = chunk.subarray(start, start + length);
      this.at = 0;
      this.upgraded = false;
      try {
        while (this.at < this.chunk.length && !this.upgraded) this[`_${this.step}`]();
      } catch (error) {
        if (typeof error?.code !== 'string' || !error.code.startsWith('HPE_')) throw error;
        this.failed = true;
        error.bytesParsed = this.at;
        return error;
      }
      return this.at;
    }
    finish() {
      if (this.failed || !this.started) return undefined;
      if (this.step === 'rest') { this.#complete(); return undefined; }
      if (this.step === 'first' && this.line === '') return undefined;
      const error = failure('HPE_INVALID_EOF_STATE', 'Invalid EOF state');
      error.bytesParsed = 0;
      return error;
    }
    /** Returns the next line; undefined before its end has arrived. */
    #takeLine(limit) {
      const end = this.chunk.indexOf(LF, this.at);
      const stop = end < 0 ? this.chunk.length : end;
      this.size += stop - this.at;
      if (this.size > limit) throw failure('HPE_HEADER_OVERFLOW', 'Header overflow');
      this.line += native.decode(this.chunk, 'latin1', this.at, stop);
      this.at = end < 0 ? stop : end + 1;
      if (end < 0) return undefined;
      const { line } = this;
      this.line = '';
      if (line.endsWith('\r')) return line.slice(0, -1);
      if (!this.lenient) throw failure('HPE_CR_EXPECTED', 'Missing expected CR after header value');
      return line;
    }
    _first() {
      if (this.since === 0) this.since = native.milliseconds();
      const line = this.#takeLine(this.maxHeaderSize);
      if (line === undefined) {
        if (this.type === 2 && !'HTTP/'.startsWith(this.line.slice(0, 5))) throw failure('HPE_INVALID_CONSTANT', EXPECTED);
        return;
      }
      // An empty line before a message is ignored.
      if (line === '') return;
      this.started = true;
      this[0]?.();
      if (this.type === 1) this.#requestLine(line);
      else this.#statusLine(line);
      this.step = 'header';
    }
    #requestLine(line) {
      const [method, url, version, more] = line.split(' ');
      this.method = allMethods.indexOf(method);
      if (this.method < 0) throw failure('HPE_INVALID_METHOD', 'Invalid method encountered');
      if (!url || /[\x00-\x20\x7f]/.test(url)) throw failure('HPE_INVALID_URL', 'Invalid characters in url');
      const match = /^HTTP\/([01])\.([0-9])$/.exec(version ?? '');
      if (!match || more !== undefined) throw failure('HPE_INVALID_CONSTANT', EXPECTED);
      [this.url, this.major, this.minor] = [url, Number(match[1]), Number(match[2])];
    }
    #statusLine(line) {
      const match = /^HTTP\/(\d)\.(\d) (\d{3})(?: (.*))?$/.exec(line);
      if (!match) throw failure(line.startsWith('HTTP/') ? 'HPE_INVALID_STATUS' : 'HPE_INVALID_CONSTANT', line.startsWith('HTTP/') ? 'Invalid status code' : EXPECTED);
      [this.major, this.minor, this.status, this.message] = [Number(match[1]), Number(match[2]), Number(match[3]), match[4] ?? ''];
    }
    #headerLine(line, headers) {
      if (/^[ \t]/.test(line)) {
        if (headers.length === 0) throw failure('HPE_INVALID_HEADER_TOKEN', 'Unexpected space after start line');
        if (!this.lenient) throw failure('HPE_INVALID_HEADER_TOKEN', 'Unexpected whitespace after header value');
        headers[headers.length - 1] += ` ${line.trim()}`;
        return;
      }
      const at = line.indexOf(':');
      const name = line.slice(0, Math.max(at, 0));
      if (!TOKEN.test(name)) throw failure('HPE_INVALID_HEADER_TOKEN', 'Invalid header token');
      const value = line.slice(at + 1).replace(/^[ \t]+|[ \t]+$/g, '');
      if (!this.lenient && !VALUE.test(value)) throw failure('HPE_INVALID_HEADER_TOKEN', 'Invalid header value char');
      headers.push(name, value);
    }
    _header() {
      const line = this.#takeLine(this.maxHeaderSize);
      if (line === undefined) return;
      if (line !== '') this.#headerLine(line, this.headers);
      else this.#headEnds();
    }
    /** Reads the headers that say where the message ends. */
    #framing() {
      const found = { length: undefined, chunked: false, connection: '', upgrade: false, coded: false };
      for (let at = 0; at < this.headers.length; at += 2) {
        const value = this.headers[at + 1];
        switch (this.headers[at].toLowerCase()) {
          case 'content-length':
            if (!/^\d{1,15}$/.test(value)) throw failure('HPE_INVALID_CONTENT_LENGTH', 'Invalid character in Content-Length');
            if (found.length !== undefined) throw failure('HPE_UNEXPECTED_CONTENT_LENGTH', 'Duplicate Content-Length');
            found.first ??= 'length';
            found.length = Number(value);
            break;
          case 'transfer-encoding':
            found.first ??= 'coding';
            found.coded = true;
            found.chunked = /(?:^|,)[ \t]*chunked$/i.test(value);
            break;
          case 'connection': found.connection += `,${value.toLowerCase()}`; break;
          case 'upgrade': found.upgrade = true; break;
          default:
        }
      }
      if (found.coded && found.length !== undefined && !this.lenient) throw failure(found.first === 'length' ? 'HPE_INVALID_TRANSFER_ENCODING' : 'HPE_INVALID_CONTENT_LENGTH',
          found.first === 'length' ? 'Transfer-Encoding can\'t be present with Content-Length' : 'Content-Length can\'t be present with Transfer-Encoding');
      if (found.coded && !found.chunked && this.type === 1) throw failure('HPE_INVALID_TRANSFER_ENCODING', 'Request has invalid `Transfer-Encoding`');
      return found;
    }
    #headEnds() {
      const found = this.#framing();
      const tokens = found.connection.split(',').map((token) => token.trim());
      const isRequest = this.type === 1;
      const upgrade = isRequest ? (found.upgrade && tokens.includes('upgrade')) || allMethods[this.method] === 'CONNECT' : this.status === 101;
      const empty = !isRequest && (this.status < 200 || this.status === 204 || this.status === 304);
      const bounded = isRequest || empty || found.chunked || (found.length !== undefined && !found.coded);
      const persistent = this.major === 1 && this.minor === 1 ? !tokens.includes('close') : tokens.includes('keep-alive');
      const { headers } = this;
      this.headers = [];
      const skip = this.#call(CODES.kOnHeadersComplete, this.major, this.minor, headers, isRequest ? this.method : undefined, isRequest ? this.url : undefined,
        isRequest ? undefined : this.status, isRequest ? undefined : this.message, upgrade, persistent && bounded);
      if (skip === 2) { this.upgraded = true; this.#complete(); return; }
      if (skip === 1 || empty || (found.length === 0 && !found.chunked) || (isRequest && !found.chunked && found.length === undefined)) this.#complete();
      else if (found.chunked) this.#expect('size');
      else if (bounded) { this.left = found.length; this.step = 'body'; } else this.step = 'rest';
    }
    #expect(step) { this.step = step; this.size = 0; }
    #give(count) {
      const { Buffer } = state.require('buffer');
      const part = this.chunk.subarray(this.at, this.at + count);
      this.at += count;
      this.#call(CODES.kOnBody, Buffer.isBuffer(part) ? part : Buffer.from(part.buffer, part.byteOffset, part.length));
    }
    #giveLeft() {
      const count = Math.min(this.left, this.chunk.length - this.at);
      this.left -= count;
      this.#give(count);
    }
    _body() { this.#giveLeft(); if (this.left === 0) this.#complete(); }
    _rest() { this.#give(this.chunk.length - this.at); }
    _size() {
      const line = this.#takeLine(MAX_SIZE_LINE);
      if (line === undefined) return;
      const match = /^([0-9a-fA-F]{1,12})[ \t]*(?:;.*)?$/.exec(line);
      if (!match) throw failure('HPE_INVALID_CHUNK_SIZE', 'Invalid character in chunk size');
      this.left = Number.parseInt(match[1], 16);
      if (this.left > 0) this.step = 'chunk';
      else this.#expect('trailer');
    }
    _chunk() { this.#giveLeft(); if (this.left === 0) this.#expect('chunkEnd'); }
    _chunkEnd() {
      const line = this.#takeLine(2);
      if (line === undefined) return;
      if (line !== '') throw failure('HPE_STRICT', 'Expected LF after chunk data');
      this.#expect('size');
    }
    _trailer() {
      const line = this.#takeLine(this.maxHeaderSize);
      if (line === undefined) return;
      if (line !== '') { this.#headerLine(line, this.headers); return; }
      if (this.headers.length > 0) this.#call(CODES.kOnHeaders, this.headers, this.type === 1 ? this.url : '');
      this.#complete();
    }
    #complete() {
      this.#begin();
      this.since = 0;
      this.#call(CODES.kOnMessageComplete);
    }
    close() { this.connections?.delete(this); }
    free() {}
    remove() { this.connections?.delete(this); }
    pause() {}
    resume() {}
    consume() {}
    unconsume() {}
    getAsyncId() { return 0; }
    getCurrentBuffer() { const { Buffer } = state.require('buffer'); return this.chunk === undefined ? Buffer.alloc(0) : Buffer.from(this.chunk); }
    duration() { return 0; }
    headersCompleted() { return this.started && this.step !== 'first' && this.step !== 'header'; }
  }
  Object.assign(HTTPParser, CODES, { REQUEST: 1, RESPONSE: 2, kLenientNone: 0, kLenientHeaders: 1, kLenientChunkedLength: 2, kLenientKeepAlive: 4,
    kLenientTransferEncoding: 8, kLenientVersion: 16, kLenientDataAfterClose: 32, kLenientOptionalLFAfterCR: 64, kLenientOptionalCRLFAfterChunk: 128,
    kLenientOptionalCRBeforeLF: 256, kLenientSpacesAfterChunkSize: 512, kLenientAll: 1023 });
  return HTTPParser;
}
/** The parsers of a server. */
class ConnectionsList {
  #all = new Set();
  add(parser) { this.#all.add(parser); }
  delete(parser) { this.#all.delete(parser); }
  all() { return [...this.#all]; }
  idle() { return this.all().filter((parser) => parser.since === 0); }
  active() { return this.all().filter((parser) => parser.since !== 0); }
  /** Returns the parsers whose headers or whose request take longer than these times in milliseconds; 0 is no limit. */
  expired(headersTimeout, requestTimeout) {
    const now = native.milliseconds();
    const late = (parser, limit) => limit > 0 && now - parser.since > limit;
    const found = this.active().filter((parser) => (!parser.headersCompleted() && late(parser, headersTimeout)) || late(parser, requestTimeout));
    for (const parser of found) this.#all.delete(parser);
    return found;
  }
}
bindings.http_parser = (binding) => ({ HTTPParser: state.HTTPParser = makeHttpParser(binding.allMethods), ConnectionsList, methods: binding.methods, allMethods: binding.allMethods });
