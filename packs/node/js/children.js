'use strict';
// Child processes: asynchronous ones, and those that the caller waits for.
const { native, uv, loop, apply } = state;
const signalNames = () => {
  const { signals } = state.bindingOf('constants').os;
  return new Map(Object.keys(signals).reverse().map((name) => [signals[name], name]));
};
const nameOfSignal = (number) => signalNames().get(number) ?? null;
const running = new Map();
let catching = false;
const SIGCHLD = 17;
const raw = new Float64Array(18);
/** Finds a program as execvp does. Returns its path, or a negative error of libuv. */
function find(file, env, cwd) {
  const whole = (path) => (path.startsWith('/') || !cwd ? path : `${cwd}/${path}`);
  const isProgram = (path) => native.stat(whole(path), true, raw) >= 0 && (raw[1] & 0o170000) === 0o100000;
  if (file.includes('/')) {
    if (!isProgram(file)) return -2;
    return native.access(whole(file), 1) < 0 ? -13 : whole(file);
  }
  const search = env.find((pair) => pair.startsWith('PATH='))?.slice(5) ?? '/usr/local/bin:/usr/bin:/bin';
  let denied = false;
  for (const dir of search.split(':')) {
    const path = whole(`${dir || '.'}/${file}`);
    if (!isProgram(path)) continue;
    if (native.access(path, 1) >= 0) return path;
    denied = true;
  }
  return denied ? -13 : -2;
}
function listen() {
  if (catching) return;
  catching = true;
  native.catchSignal(SIGCHLD, true);
}
function start(options, fds) {
  const env = options.envPairs ?? native.environ();
  if (options.cwd) {
    if (native.stat(options.cwd, true, raw) < 0) return -2;
    if ((raw[1] & 0o170000) !== 0o040000) return -20;
  }
  const path = find(options.file, env, options.cwd ?? '');
  if (typeof path === 'number') return path;
  listen();
  const pid = native.spawn({ path, args: options.args ?? [options.file], env, cwd: options.cwd, fds, detached: !!options.detached });
  return pid < 0 ? uv(pid) : pid;
}
/** Waits for a process that no script knows. */
state.watchChild = (pid) => {
  listen();
  running.set(pid, { referenced: false, onexit() {} });
};
state.hasChildren = () => running.size > 0;
/** Calls the processes that have ended. Returns whether there was one. */
state.reap = () => {
  let any = state.takeSignals();
  if (running.size === 0) return any;
  for (const [pid, handle] of [...running]) {
    const [found, code, signal] = native.wait(pid, false);
    if (found === undefined || found === 0) continue;
    any = true;
    running.delete(pid);
    loop.handles.delete(handle);
    handle.ended = true;
    // The end of the channel is an event, too, even if nothing waits for messages.
    if (handle.channel && !handle.channel.closed) handle.channel.refed = true;
    state.callback(() => handle.onexit(found < 0 ? uv(found) : signal ? 0 : code, signal ? nameOfSignal(signal) : ''));
  }
  return any;
};
class Process {
  constructor() { this.refed = true; }
  getAsyncId() { return 0; }
  ref() { this.refed = true; }
  unref() { this.refed = false; }
  hasRef() { return this.refed; }
  get referenced() { return this.refed && this.pid > 0 && !this.ended; }
  spawn(options) {
    const own = [];
    const fds = [];
    (options.stdio ?? []).forEach((one, at) => {
      if (one.type === 'ignore') {
        if (at > 2) return;
        const fd = native.open('/dev/null', 3);
        if (fd >= 0) { own.push(fd); fds.push(at, fd); }
      } else if (one.ipc) {
        const [ours, theirs] = native.socketPair();
        if (ours < 0) return;
        one.handle.open(ours);
        this.channel = one.handle;
        own.push(theirs);
        fds.push(at, theirs);
      } else if (one.type === 'pipe' || one.type === 'overlapped') {
        const [read, write] = native.pipe();
        if (read < 0) return;
        // Descriptor 0 is read by the child, the others are written by it.
        if (at === 0) { one.handle.writeFd = write; own.push(read); fds.push(at, read); }
        else { one.handle.readFd = read; own.push(write); fds.push(at, write); }
      } else if (one.type === 'wrap') {
        fds.push(at, one.handle.fd);
      } else {
        fds.push(at, one.fd);
      }
    });
    const pid = start(options, fds);
    for (const fd of own) native.close(fd);
    if (pid < 0) {
      return pid;
    }
    this.pid = pid;
    running.set(pid, this);
    loop.handles.add(this);
    return 0;
  }
  kill(signal) {
    if (this.ended || !this.pid) return -3;
    const code = native.kill(this.pid, signal);
    return code < 0 ? uv(code) : 0;
  }
  close(callback) {
    loop.handles.delete(this);
    if (typeof callback === 'function') loop.closing.push(() => apply(callback, this, []));
  }
}
bindings.process_wrap = () => ({ Process });
function spawnSync(options) {
  const { Buffer } = state.require('buffer');
  const close = [];
  const fds = [];
  const readers = [];
  let input;
  options.stdio.forEach((one, at) => {
    if (one.type === 'pipe' || one.type === 'overlapped') {
      const [read, write] = native.pipe();
      if (at === 0) {
        close.push(read);
        fds.push(at, read);
        input = { fd: write, bytes: one.input ? state.bytesOf(one.input) : new Uint8Array(0), at: 0 };
      } else {
        close.push(write);
        fds.push(at, write);
        readers.push({ at, fd: read, parts: [], size: 0 });
      }
    } else if (one.type === 'ignore') {
      if (at > 2) return;
      const fd = native.open('/dev/null', 3);
      if (fd >= 0) { close.push(fd); fds.push(at, fd); }
    } else if (one.type === 'wrap') {
      fds.push(at, one.handle.fd);
    } else {
      fds.push(at, one.fd);
    }
  });
  const pid = start(options, fds);
  for (const fd of close) native.close(fd);
  const result = { pid: Math.max(pid, 0), status: null, signal: null, output: null };
  const end = () => { if (input && input.fd >= 0) { native.close(input.fd); input.fd = -1; } };
  if (pid < 0) {
    end();
    for (const one of readers) native.close(one.fd);
    result.error = pid;
    return result;
  }
  const deadline = options.timeout > 0 ? native.milliseconds() + options.timeout : Infinity;
  const limit = options.maxBuffer ?? Infinity;
  let open = readers.slice();
  let ended;
  const stop = (error) => {
    result.error ??= error;
    native.kill(pid, options.killSignal || 15);
  };
  if (input && input.bytes.length === 0) end();
  while (open.length > 0 || !ended) {
    if (!ended) {
      const found = native.wait(pid, open.length === 0 && deadline === Infinity && !(input?.fd >= 0));
      if (found[0] > 0) { ended = found; end(); }
      else if (found[0] < 0 && uv(found[0]) !== -4) break;
    }
    if (open.length === 0 && ended) break;
    const left = deadline === Infinity ? -1 : Math.max(0, deadline - native.milliseconds());
    const watched = open.map((one) => one.fd);
    if (input?.fd >= 0) watched.push(input.fd + state.WRITABLE);
    // A grandchild may keep a pipe open after the child; its output still counts.
    const ready = new Set(watched.length > 0 ? native.poll(watched, left) : ended ? [] : native.poll([], left < 0 ? 1000 : left));
    native.takeSignals();
    if (left === 0 && !ended) { stop(-110); native.wait(pid, true); ended = [pid, -1, options.killSignal || 15]; break; }
    if (input?.fd >= 0 && ready.has(input.fd + state.WRITABLE)) {
      const put = native.write(input.fd, input.bytes, input.at, Math.min(4096, input.bytes.length - input.at), -1);
      if (put > 0) input.at += put;
      if ((put < 0 && uv(put) !== -4) || input.at >= input.bytes.length) end();
    }
    for (const one of open) {
      if (!ready.has(one.fd)) continue;
      const part = new Uint8Array(65536);
      const got = native.read(one.fd, part, 0, part.length, -1);
      if (got > 0) {
        one.parts.push(part.subarray(0, got));
        one.size += got;
        if (one.size > limit && result.error === undefined) stop(-105);
      } else if (got === 0 || uv(got) !== -4) {
        native.close(one.fd);
        one.fd = -1;
      }
    }
    open = open.filter((one) => one.fd >= 0);
  }
  end();
  for (const one of open) native.close(one.fd);
  if (ended?.[2]) result.signal = nameOfSignal(ended[2]);
  else result.status = ended ? ended[1] : null;
  if (result.error !== undefined && result.signal === null && result.error === -110) result.signal = nameOfSignal(options.killSignal || 15);
  result.output = options.stdio.map((one, at) => {
    const reader = readers.find((found) => found.at === at);
    return reader ? Buffer.concat(reader.parts) : null;
  });
  return result;
}
bindings.spawn_sync = () => ({ spawn: spawnSync });
