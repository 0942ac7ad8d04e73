'use strict';
// Files: what `fs` calls. A call with a request runs later and completes it; one with `kUsePromises` returns a promise; others run now.
const { native, uv } = state;
const { fs_use_promises_symbol: kUsePromises } = state.symbols;
const O = state.facts.bindings.constants.o?.fs?.o ?? state.facts.bindings.constants.fs.o;
const textOf = (path) => (typeof path === 'string' ? path : native.decode(path, 'utf8', 0, path.byteLength));
const encoded = (text, encoding) => {
  if (encoding === undefined || encoding === null || encoding === 'utf8' || encoding === 'utf-8') return text;
  const { Buffer } = state.require('buffer');
  const bytes = Buffer.from(text);
  return encoding === 'buffer' ? bytes : bytes.toString(encoding);
};
const fail = (code, syscall, path, dest) => { throw state.uvException(uv(code), syscall, path, dest); };
const check = (code, syscall, path, dest) => { if (code < 0) fail(code, syscall, path, dest); return code; };

/** Descriptors that were opened with flags that only writing uses. */
function openFlags(flags) {
  const access = flags & 3;
  let bits = access === 0 ? 1 : access === 1 ? 2 : 3;
  if (flags & O.O_APPEND) bits |= 4;
  if (flags & O.O_CREAT) bits |= 8;
  if (flags & O.O_EXCL) bits |= 16;
  if (flags & O.O_TRUNC) bits |= 32;
  if (flags & O.O_DIRECTORY) bits |= 64;
  return bits;
}
function open(path, flags, mode) {
  const name = textOf(path);
  const bits = openFlags(flags);
  const fresh = (bits & 8) !== 0 && (mode & 0o777) !== 0o666 && native.access(name, 0) < 0;
  const fd = native.open(name, bits);
  if (fd < 0) return fd;
  if (fresh) native.chmod(name, mode & 0o777 & ~native.umask());
  // Writing to a directory is an error when it is opened.
  return fd;
}
const CHUNK = 65536;
function readAll(fd) {
  const out = new Float64Array(18);
  check(native.fstat(fd, out), 'fstat');
  const parts = [];
  let total = 0;
  let size = Math.max(out[8] > 0 ? out[8] + 1 : CHUNK, 16);
  for (;;) {
    const part = new Uint8Array(size);
    const got = native.read(fd, part, 0, size, -1);
    if (got < 0) fail(got, 'read');
    if (got === 0) break;
    parts.push(part.subarray(0, got));
    total += got;
    size = CHUNK;
  }
  if (parts.length === 1) return parts[0];
  const all = new Uint8Array(total);
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
}
state.readBytes = (path) => {
  const fd = native.open(path, 1);
  if (fd < 0) fail(fd, 'open', path);
  try {
    return readAll(fd);
  } finally {
    native.close(fd);
  }
};
state.readText = (path) => { const bytes = state.readBytes(path); return bytes.length === 0 ? '' : native.decode(bytes, 'utf8', 0, bytes.length); };
function writeAll(fd, bytes, at = -1) {
  let done = 0;
  while (done < bytes.byteLength) {
    const put = native.write(fd, bytes, done, bytes.byteLength - done, at < 0 ? -1 : at + done);
    if (put < 0) { if (uv(put) === -4) continue; return put; }
    done += put;
  }
  return done;
}
state.writeAll = writeAll;
const raw = new Float64Array(18);
function statArray(big) {
  if (!big) {
    const values = new Float64Array(18);
    values.set(raw);
    return values;
  }
  return BigInt64Array.from(raw, (value) => BigInt(Math.trunc(value)));
}
const stats = (syscall, find) => (path, big, quiet) => {
  const code = find(path);
  if (code < 0) {
    if (quiet && (uv(code) === -2 || uv(code) === -20)) return undefined;
    fail(code, syscall, typeof path === 'number' ? undefined : textOf(path));
  }
  return statArray(big);
};
const stat = stats('stat', (path) => native.stat(textOf(path), true, raw));
const lstat = stats('lstat', (path) => native.stat(textOf(path), false, raw));
const fstat = stats('fstat', (fd) => native.fstat(fd, raw));
function makeDirectory(path, mode) {
  const code = native.mkdir(path);
  if (code >= 0 && (mode & 0o777) !== 0o777) native.chmod(path, mode & 0o777 & ~native.umask());
  return code;
}
function makeDirectories(path, mode) {
  const { dirname } = state.require('path');
  const missing = [];
  let at = state.require('path').resolve(path);
  let first;
  for (;;) {
    const code = makeDirectory(at, mode);
    if (code >= 0) { first = at; break; }
    const number = uv(code);
    if (number === -2 && dirname(at) !== at) { missing.push(at); at = dirname(at); continue; }
    if (number === -17 || number === -21 || number === -13 || number === -30) {
      if (native.stat(at, true, raw) < 0 || (raw[1] & 0o170000) !== 0o040000) {
        if (missing.length > 0 || number !== -17) fail(missing.length > 0 ? -54 : code, 'mkdir', path);
        throw state.uvException(-17, 'mkdir', path);
      }
      break;
    }
    fail(code, 'mkdir', path);
  }
  while (missing.length > 0) {
    const next = missing.pop();
    check(makeDirectory(next, mode), 'mkdir', path);
    first ??= next;
  }
  return first;
}
function readDirectory(path, encoding, withTypes) {
  const name = textOf(path);
  const found = native.readdir(name);
  if (typeof found === 'number') fail(found, 'scandir', name);
  const names = found[0].map((one) => encoded(one, encoding));
  return withTypes ? [names, found[1]] : names;
}
state.readDirectory = readDirectory;
function realPath(path) {
  const { resolve, dirname, join } = state.require('path');
  let rest = resolve(path).split('/').filter(Boolean);
  let at = '/';
  for (let links = 0; rest.length > 0;) {
    const next = at === '/' ? `/${rest[0]}` : `${at}/${rest[0]}`;
    const code = native.stat(next, false, raw);
    if (code < 0) fail(code, 'realpath', path);
    rest = rest.slice(1);
    if ((raw[1] & 0o170000) === 0o120000) {
      if (++links > 40) throw state.uvException(-40, 'realpath', path);
      const target = native.readlink(next);
      if (typeof target === 'number') fail(target, 'realpath', path);
      const whole = target.startsWith('/') ? target : join(at, target);
      rest = [...whole.split('/').filter(Boolean), ...rest];
      at = '/';
    } else {
      at = next;
    }
  }
  return at;
}
state.realPath = realPath;
function copyFile(from, to, mode) {
  const source = native.open(from, 1);
  if (source < 0) fail(source, 'copyfile', from, to);
  try {
    check(native.fstat(source, raw), 'copyfile', from, to);
    if ((raw[1] & 0o170000) === 0o040000) throw state.uvException(-21, 'copyfile', from, to);
    const bits = raw[1] & 0o7777;
    const fd = native.open(to, 2 | 8 | 32 | (mode & 1 ? 16 : 0));
    if (fd < 0) fail(fd, 'copyfile', from, to);
    try {
      const part = new Uint8Array(CHUNK);
      for (;;) {
        const got = check(native.read(source, part, 0, CHUNK, -1), 'copyfile', from, to);
        if (got === 0) break;
        check(writeAll(fd, part.subarray(0, got)), 'copyfile', from, to);
      }
    } finally {
      native.close(fd);
    }
    native.chmod(to, bits);
  } finally {
    native.close(source);
  }
}
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
function makeTemporary(prefix) {
  for (let tries = 0; tries < 100; tries++) {
    const random = new Uint8Array(6);
    native.random(random);
    const path = prefix + Array.from(random, (byte) => LETTERS[byte % LETTERS.length]).join('');
    const code = makeDirectory(path, 0o700);
    if (code >= 0) return path;
    if (uv(code) !== -17) fail(code, 'mkdtemp', `${prefix}XXXXXX`);
  }
  throw state.uvException(-17, 'mkdtemp', `${prefix}XXXXXX`);
}
const position = (value) => (typeof value === 'number' && value >= 0 ? value : typeof value === 'bigint' && value >= 0n ? Number(value) : -1);
const seconds = (value) => Number(value);
function setOwner(find, syscall) {
  return (path, uid, gid) => {
    const code = find(path);
    if (code < 0) fail(code, syscall, typeof path === 'number' ? undefined : textOf(path));
    // A sandbox has one user: only that owner can be set.
    if (((uid !== -1 && uid !== 4294967295 && uid !== raw[3]) || (gid !== -1 && gid !== 4294967295 && gid !== raw[4])) && native.ids()[3] !== 0) throw state.uvException(-1, syscall, typeof path === 'number' ? undefined : textOf(path));
  };
}
const fdPath = (fd) => `/dev/fd/${fd}`;
const fileSystem = (big) => { const values = [0x858458f6, 4096, 2 ** 20, 2 ** 19, 2 ** 19, 2 ** 20, 2 ** 19]; return big ? BigInt64Array.from(values, BigInt) : Float64Array.from(values); };

/** Each operation with the position of its request among the arguments. */
const operations = {
  access: [2, (path, mode) => void check(native.access(textOf(path), mode), 'access', textOf(path))],
  open: [3, (path, flags, mode) => check(open(path, flags, mode), 'open', textOf(path))],
  openFileHandle: [3, (path, flags, mode) => new FileHandle(check(open(path, flags, mode), 'open', textOf(path)))],
  close: [1, (fd) => void check(native.close(fd), 'close')],
  read: [5, (fd, buffer, offset, length, at) => check(native.read(fd, buffer, offset, length, position(at)), 'read')],
  readBuffers: [3, (fd, buffers, at) => {
    let total = 0;
    for (const buffer of buffers) {
      const got = check(native.read(fd, buffer, 0, buffer.byteLength, position(at) < 0 ? -1 : position(at) + total), 'read');
      total += got;
      if (got < buffer.byteLength) break;
    }
    return total;
  }],
  writeBuffer: [5, (fd, buffer, offset, length, at) => check(native.write(fd, buffer, offset, length, position(at)), 'write')],
  writeBuffers: [3, (fd, buffers, at) => {
    let total = 0;
    for (const buffer of buffers) total += check(writeAll(fd, buffer, position(at) < 0 ? -1 : position(at) + total), 'write');
    return total;
  }],
  writeString: [4, (fd, text, at, encoding) => {
    const bytes = state.require('buffer').Buffer.from(text, encoding ?? 'utf8');
    return check(writeAll(fd, bytes, position(at)), 'write');
  }],
  rename: [2, (from, to) => void check(native.rename(textOf(from), textOf(to)), 'rename', textOf(from), textOf(to))],
  ftruncate: [2, (fd, size) => void check(native.truncate(fd, size), 'ftruncate')],
  rmdir: [1, (path) => void check(native.rmdir(textOf(path)), 'rmdir', textOf(path))],
  mkdir: [3, (path, mode, recursive) => (recursive ? makeDirectories(textOf(path), mode) : void check(makeDirectory(textOf(path), mode), 'mkdir', textOf(path)))],
  readdir: [3, readDirectory],
  stat: [2, (path, big, quiet) => stat(path, big, quiet)],
  lstat: [2, (path, big, quiet) => lstat(path, big, quiet)],
  fstat: [2, (fd, big) => fstat(fd, big)],
  statfs: [2, (path, big) => { check(native.stat(textOf(path), true, raw), 'statfs', textOf(path)); return fileSystem(big); }],
  link: [2, (from, to) => void check(native.link(textOf(from), textOf(to)), 'link', textOf(from), textOf(to))],
  symlink: [3, (target, path) => void check(native.symlink(textOf(target), textOf(path)), 'symlink', textOf(target), textOf(path))],
  readlink: [2, (path, encoding) => {
    const target = native.readlink(textOf(path));
    return typeof target === 'number' ? fail(target, 'readlink', textOf(path)) : encoded(target, encoding);
  }],
  unlink: [1, (path) => void check(native.unlink(textOf(path)), 'unlink', textOf(path))],
  realpath: [2, (path, encoding) => encoded(realPath(textOf(path)), encoding)],
  copyFile: [3, (from, to, mode) => void copyFile(textOf(from), textOf(to), mode)],
  chmod: [2, (path, mode) => void check(native.chmod(textOf(path), mode & 0o7777), 'chmod', textOf(path))],
  fchmod: [2, (fd, mode) => void check(native.chmod(fdPath(fd), mode & 0o7777), 'fchmod')],
  chown: [3, setOwner((path) => native.stat(textOf(path), true, raw), 'chown')],
  lchown: [3, setOwner((path) => native.stat(textOf(path), false, raw), 'lchown')],
  fchown: [3, setOwner((fd) => native.fstat(fd, raw), 'fchown')],
  utimes: [3, (path, accessed, changed) => void check(native.setTimes(textOf(path), true, seconds(accessed), seconds(changed)), 'utime', textOf(path))],
  lutimes: [3, (path, accessed, changed) => void check(native.setTimes(textOf(path), false, seconds(accessed), seconds(changed)), 'lutime', textOf(path))],
  futimes: [3, (fd, accessed, changed) => void check(native.setTimes(fdPath(fd), true, seconds(accessed), seconds(changed)), 'futime')],
  mkdtemp: [2, (prefix, encoding) => encoded(makeTemporary(textOf(prefix)), encoding)],
  fsync: [1, (fd) => void check(native.fstat(fd, raw), 'fsync')],
  fdatasync: [1, (fd) => void check(native.fstat(fd, raw), 'fdatasync')],
};
class FSReqCallback {
  constructor(big) { this.big = big; }
}
class FileHandle {
  constructor(fd) { this.fd = fd; }
  getAsyncId() { return 0; }
  close() {
    const { fd } = this;
    this.fd = -1;
    return promised(() => void check(native.close(fd), 'close'));
  }
  releaseFD() { const { fd } = this; this.fd = -1; return fd; }
  onread() {}
}
const promised = (run) => new Promise((resolve, reject) => {
  state.later(() => {
    let value;
    try {
      value = run();
    } catch (error) {
      reject(error);
      return;
    }
    resolve(value);
  });
});
/** Operations on a descriptor, whose number is checked before anything runs. */
const ON_DESCRIPTORS = new Set(['close', 'read', 'readBuffers', 'writeBuffer', 'writeBuffers', 'writeString', 'ftruncate', 'fstat', 'fchmod', 'fchown', 'futimes', 'fsync', 'fdatasync']);
function completing(name, at, run) {
  const onDescriptor = ON_DESCRIPTORS.has(name);
  return function(...values) {
    if (onDescriptor) state.require('internal/validators').validateInt32(values[0], 'fd', 0);
    const request = values[at];
    if (request === kUsePromises) return promised(() => run(...values.slice(0, at)));
    if (request === undefined || !(request instanceof FSReqCallback)) {
      // The argument after the request says whether a missing file is an error.
      if (name === 'stat' || name === 'lstat') return run(values[0], values[1], values[3] === false);
      if (name === 'fstat' && values[3] === true) { try { return run(values[0], values[1]); } catch { return undefined; } }
      return run(...values.slice(0, at));
    }
    state.later(() => {
      let value;
      try {
        value = run(...values.slice(0, at));
      } catch (error) {
        request.oncomplete(error);
        return;
      }
      if (value === undefined) request.oncomplete(null);
      else request.oncomplete(null, value);
    });
  };
}
bindings.fs = (binding) => {
  const own = { kUsePromises, FSReqCallback, FileHandle };
  for (const name of Object.keys(operations)) own[name] = completing(name, ...operations[name]);
  own.existsSync = (path) => native.access(textOf(path), 0) >= 0;
  own.internalModuleStat = (...values) => {
    const path = typeof values[0] === 'string' ? values[0] : values[1];
    const code = native.stat(path, true, raw);
    return code < 0 ? code : (raw[1] & 0o170000) === 0o040000 ? 1 : 0;
  };
  own.readFileUtf8 = (path, flags) => {
    let bytes;
    if (typeof path === 'number') {
      bytes = readAll(path);
    } else {
      const name = textOf(path);
      const fd = check(open(name, flags, 0o666), 'open', name);
      try {
        bytes = readAll(fd);
      } finally {
        native.close(fd);
      }
    }
    return bytes.length === 0 ? '' : native.decode(bytes, 'utf8', 0, bytes.length);
  };
  own.writeFileUtf8 = (path, data, flags, mode) => {
    const bytes = native.encode(data, 'utf8');
    if (typeof path === 'number') return void check(writeAll(path, bytes), 'write');
    const name = textOf(path);
    const fd = check(open(name, flags, mode), 'open', name);
    try {
      check(writeAll(fd, bytes), 'write');
    } finally {
      native.close(fd);
    }
  };
  own.getFormatOfExtensionlessFile = (path) => {
    const bytes = state.readBytes(path);
    return bytes[0] === 0 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d ? 1 : 0;
  };
  own.legacyMainResolve = (folder, main, base) => {
    const tries = main ? ['', '.js', '.json', '.node', '/index.js', '/index.json', '/index.node'].map((end) => main + end) : [];
    const all = [...tries.concat(new Array(7 - tries.length).fill(null)), 'index.js', 'index.json', 'index.node'];
    const root = typeof folder === 'string' ? (folder.startsWith('file:') ? state.require('internal/url').fileURLToPath(folder) : folder) : textOf(folder);
    for (let at = 0; at < all.length; at++) {
      if (all[at] !== null && own.internalModuleStat(state.require('path').resolve(root, all[at])) === 0) return at;
    }
    const { ERR_MODULE_NOT_FOUND } = state.require('internal/errors').codes;
    throw new ERR_MODULE_NOT_FOUND(root, base && state.require('internal/url').fileURLToPath(base), 'package');
  };
  Object.assign(own, state.copying);
  own.StatWatcher = StatWatcher;
  return own;
};
bindings.fs_dir = () => {
  class DirHandle {
    constructor(path) { this.entries = readDirectory(path, 'utf8', true); this.at = 0; }
    getAsyncId() { return 0; }
    read(encoding, size, request) {
      const [names, kinds] = this.entries;
      const take = () => {
        if (this.at >= names.length) return null;
        const batch = [];
        for (let count = 0; count < size && this.at < names.length; count++, this.at++) batch.push(encoded(names[this.at], encoding), kinds[this.at]);
        return batch;
      };
      if (request === undefined) return take();
      state.later(() => request.oncomplete(null, take()));
    }
    close(request) { if (request !== undefined) state.later(() => request.oncomplete(null)); }
  }
  const opened = (path) => {
    const code = native.stat(textOf(path), true, raw);
    if (code < 0) fail(code, 'opendir', textOf(path));
    if ((raw[1] & 0o170000) !== 0o040000) throw state.uvException(-20, 'opendir', textOf(path));
    return new DirHandle(path);
  };
  return {
    DirHandle, opendirSync: opened,
    opendir(path, encoding, request) {
      if (request === undefined) return opened(path);
      state.later(() => {
        let handle;
        try {
          handle = opened(path);
        } catch (error) {
          request.oncomplete(error);
          return;
        }
        request.oncomplete(null, handle);
      });
    },
  };
};
/** Asks for the state of a file again and again, for `fs.watchFile`. */
class StatWatcher {
  constructor(bigint) { this.bigint = bigint; }
  getAsyncId() { return 0; }
  start(path, interval) {
    const fields = 18;
    const none = new Float64Array(fields);
    const read = () => { const found = new Float64Array(fields); return native.stat(path, true, found) < 0 ? none : found; };
    const report = (now, before) => {
      const all = this.bigint ? new BigInt64Array(2 * fields) : new Float64Array(2 * fields);
      for (let at = 0; at < fields; at++) [all[at], all[fields + at]] = this.bigint ? [BigInt(now[at]), BigInt(before[at])] : [now[at], before[at]];
      this.onchange(now === none ? -2 : 0, all);
    };
    // The time of the last access does not count.
    const isEqual = (one, other) => one.every((value, at) => at === 10 || at === 11 || value === other[at]);
    let before = read();
    if (before === none) state.later(() => { if (this.timer) report(none, none); });
    this.timer = state.require('timers').setInterval(() => {
      const now = read();
      if (isEqual(now, before)) return;
      const last = before;
      before = now;
      report(now, last);
    }, interval);
    return 0;
  }
  ref() { this.timer?.ref(); }
  unref() { this.timer?.unref(); }
  hasRef() { return this.timer?.hasRef() ?? false; }
  close() {
    state.require('timers').clearInterval(this.timer);
    this.timer = undefined;
  }
}
bindings.fs_event_wrap = () => ({ FSEvent: class FSEvent { constructor() { state.refusing('fs.watch')(); } } });
