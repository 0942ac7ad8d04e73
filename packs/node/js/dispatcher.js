'use strict';
// Lets Node's `fetch` send its requests by `http` and `https`. Its own client needs WebAssembly.
const http = require('http');
const https = require('https');
const { Readable } = require('stream');
function headersOf(list) {
  const all = { __proto__: null };
  const put = (name, value) => { const key = `${name}`; all[key] = key in all ? [all[key], value].flat() : value; };
  if (Array.isArray(list)) for (let at = 0; at < list.length; at += 2) put(list[at], list[at + 1]);
  else if (typeof list?.[Symbol.iterator] === 'function') for (const [name, value] of list) put(name, value);
  else for (const name of Object.keys(list ?? {})) put(name, list[name]);
  return all;
}
class Dispatcher {
  dispatch(options, handler) {
    const url = new URL(options.path, options.origin);
    const { request: start } = url.protocol === 'https:' ? https : http;
    const headers = headersOf(options.headers);
    if (options.upgrade) Object.assign(headers, { connection: 'upgrade', upgrade: options.upgrade });
    let over = false;
    const fail = (error) => { if (!over) { over = true; handler.onError(error); } };
    let request;
    const abort = (reason) => { fail(reason ?? new DOMException('This operation was aborted', 'AbortError')); request?.destroy(); };
    handler.onConnect(abort);
    if (over) return false;
    try {
      request = start(url, { method: options.method, headers, setDefaultHeaders: true });
    } catch (error) {
      fail(error);
      return false;
    }
    request.on('error', fail);
    const rawOf = (list) => list.map((text) => Buffer.from(text, 'latin1'));
    request.on('upgrade', (response, socket, head) => {
      if (over || !options.upgrade) return void socket.destroy();
      over = true;
      if (head.length > 0) socket.unshift(head);
      handler.onUpgrade(response.statusCode, rawOf(response.rawHeaders), socket);
    });
    request.on('response', (response) => {
      if (over) return;
      const raw = rawOf(response.rawHeaders);
      handler.onResponseStarted?.();
      if (handler.onHeaders(response.statusCode, raw, () => response.resume(), response.statusMessage) === false) response.pause();
      response.on('data', (chunk) => { if (!over && handler.onData(chunk) === false) response.pause(); });
      response.on('end', () => { if (!over) { over = true; handler.onComplete(rawOf(response.rawTrailers)); } });
      response.on('error', fail);
      response.on('aborted', () => fail(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })));
    });
    const { body } = options;
    if (body === null || body === undefined) request.end();
    else if (typeof body === 'string' || ArrayBuffer.isView(body)) request.end(body);
    else Readable.from(body).on('error', (error) => { fail(error); request.destroy(); }).pipe(request);
    return true;
  }
  close() { return Promise.resolve(); }
  destroy() { return Promise.resolve(); }
}
return new Dispatcher();
