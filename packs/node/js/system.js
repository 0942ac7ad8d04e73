'use strict';
// The process, its event loop, timers, jobs, signals and errors that nobody catches.
const { native, facts, symbols, refusing } = state;
const WASI = ('SUCCESS 2BIG ACCES ADDRINUSE ADDRNOTAVAIL AFNOSUPPORT AGAIN ALREADY BADF BADMSG BUSY CANCELED CHILD CONNABORTED ' +
  'CONNREFUSED CONNRESET DEADLK DESTADDRREQ DOM DQUOT EXIST FAULT FBIG HOSTUNREACH IDRM ILSEQ INPROGRESS INTR INVAL IO ISCONN ' +
  'ISDIR LOOP MFILE MLINK MSGSIZE MULTIHOP NAMETOOLONG NETDOWN NETRESET NETUNREACH NFILE NOBUFS NODEV NOENT NOEXEC NOLCK NOLINK ' +
  'NOMEM NOMSG NOPROTOOPT NOSPC NOSYS NOTCONN NOTDIR NOTEMPTY NOTRECOVERABLE NOTSOCK NOTSUP NOTTY NXIO OVERFLOW OWNERDEAD PERM ' +
  'PIPE PROTO PROTONOSUPPORT PROTOTYPE RANGE ROFS SPIPE SRCH STALE TIMEDOUT TXTBSY XDEV NOTCAPABLE').split(' ');
const numberOf = new Map(facts.errors.map(([number, [name]]) => [name, number]));
/** Converts a negative error number of preview1 to libuv's. */
state.uv = (code) => numberOf.get(`E${WASI[-code]}`) ?? (WASI[-code] === 'NOTCAPABLE' ? numberOf.get('EPERM') : numberOf.get('EIO'));
const described = new Map(facts.errors);
state.uvException = (number, syscall, path, dest) => {
  const [code, message] = described.get(number) ?? ['UNKNOWN', 'unknown error'];
  let text = `${code}: ${message}, ${syscall}`;
  if (path !== undefined) text += ` '${path}'`;
  if (dest !== undefined) text += ` -> '${dest}'`;
  const error = new Error(text);
  error.errno = number;
  error.code = code;
  error.syscall = syscall;
  if (path !== undefined) error.path = path;
  if (dest !== undefined) error.dest = dest;
  return error;
};
bindings.uv = (binding) => ({
  errname: (number) => described.get(number)?.[0] ?? `Unknown system error ${number}`,
  getErrorMap: () => new Map(facts.errors),
  getErrorMessage: (number) => described.get(number)?.[1] ?? `Unknown system error ${number}`,
});

// Event loop, with the phases of libuv: timers, completions, waiting, immediates, closing.
const loop = { timerAt: Infinity, timerRef: false, immediateRef: false, queue: [], closing: [], handles: new Set(), turn: 0 };
state.loop = loop;
let tickCallback = () => {};
let processImmediate, processTimers;
let tickInfo, immediateInfo;
/** Queues a function for the phase of completions. */
state.later = (run) => { loop.queue[loop.queue.length] = { run, turn: loop.turn, frame: state.getFrame() }; };
/** Calls back into scripts, then runs ticks and jobs. */
state.callback = (run, frame) => {
  try {
    if (frame === undefined) run();
    else state.inFrame(frame, run);
  } catch (error) {
    state.fatal(error, false);
  }
  state.drain();
};
state.drain = () => {
  for (;;) {
    try {
      if (tickInfo[0] === 0 && tickInfo[1] === 0) native.runJobs();
      state.releaseKept();
      if (tickInfo[0] === 0 && tickInfo[1] === 0) return;
      tickCallback();
    } catch (error) {
      state.fatal(error, false);
    }
  }
};
bindings.task_queue = (binding) => {
  tickInfo = binding.tickInfo;
  tickInfo.fill(0);
  return {
    setTickCallback(callback) { tickCallback = callback; },
    runMicrotasks: () => native.runJobs(),
    enqueueMicrotask(callback) { Promise.resolve().then(callback).then(undefined, (error) => state.fatal(error, false)); },
    setPromiseRejectCallback(callback) {
      native.onRejection((promise, reason, handled) => callback(handled ? 1 : 0, promise, handled ? undefined : reason));
    },
  };
};
const now = () => Math.floor(native.milliseconds() - state.startedAt);
bindings.timers = (binding) => {
  immediateInfo = binding.immediateInfo;
  immediateInfo.fill(0);
  binding.timeoutInfo.fill(0);
  return {
    setupTimers(immediate, timers) { processImmediate = immediate; processTimers = timers; },
    getLibuvNow: now,
    scheduleTimer(ms) { loop.timerAt = now() + Math.max(ms, 1); },
    toggleTimerRef(ref) { loop.timerRef = ref; },
    toggleImmediateRef(ref) { loop.immediateRef = ref; },
  };
};
function runTimers() {
  if (loop.timerAt > now()) return;
  loop.timerAt = Infinity;
  let next = 0;
  for (;;) {
    try {
      next = processTimers(now());
      break;
    } catch (error) {
      state.fatal(error, false);
    }
  }
  if (next !== 0) {
    loop.timerAt = Math.abs(next);
    loop.timerRef = next > 0;
  }
  state.drain();
}
function runImmediates() {
  if (immediateInfo[0] === 0 && immediateInfo[2] === 0) return;
  do {
    try {
      processImmediate();
    } catch (error) {
      state.fatal(error, false);
    }
  } while (immediateInfo[2] !== 0);
  state.drain();
}
const active = () => [...loop.handles].filter((handle) => handle.referenced);
const isAlive = state.isAlive = () => loop.queue.length > 0 || loop.closing.length > 0 || immediateInfo[1] > 0 ||
  (loop.timerAt !== Infinity && loop.timerRef) || active().length > 0;
function runCompletions(all) {
  const due = all ? loop.queue : loop.queue.filter((one) => one.turn < loop.turn);
  loop.queue = all ? [] : loop.queue.filter((one) => one.turn >= loop.turn);
  for (let at = 0; at < due.length; at++) state.callback(due[at].run, due[at].frame);
  return due.length > 0;
}
/** Waits for descriptors, children, signals and the next timer. */
function wait() {
  const readers = [...loop.handles].filter((handle) => handle.pollFd >= 0);
  const writers = [...loop.handles].filter((handle) => handle.writePollFd >= 0);
  const idle = loop.queue.length === 0 && loop.closing.length === 0 && immediateInfo[0] === 0;
  let timeout = 0;
  if (idle) timeout = loop.timerAt === Infinity ? -1 : Math.max(0, loop.timerAt - now());
  if (idle && timeout !== 0 && active().length === 0 && !loop.timerRef) timeout = 0;
  if (readers.length + writers.length === 0 && timeout === 0) return void state.reap();
  const watched0 = readers.length + writers.length;
  if (timeout < 0 && watched0 === 0 && loop.handles.size === 0) return;
  const watched = readers.map((handle) => handle.pollFd).concat(writers.map((handle) => handle.writePollFd + state.WRITABLE));
  // What a child has written comes before its end, and its end interrupts the wait by its signal.
  let ready = timeout === 0 || watched.length > 0 ? native.poll(watched, 0) : [];
  if (ready.length === 0) {
    if (state.reap()) return;
    if (timeout !== 0) ready = native.poll(watched, state.hasChildren() ? Math.min(timeout < 0 ? 1000 : timeout, 1000) : timeout);
    // The end of a child interrupts the wait; its last output is there already.
    if (ready.length === 0 && watched.length > 0 && state.hasChildren()) ready = native.poll(watched, 0);
  }
  for (let at = 0; at < readers.length; at++) if (ready.includes(readers[at].pollFd)) readers[at].onReadable();
  for (let at = 0; at < writers.length; at++) if (ready.includes(writers[at].writePollFd + state.WRITABLE)) writers[at].onWritable();
  state.reap();
}
state.runLoop = () => {
  state.drain();
  do {
    loop.turn++;
    runTimers();
    if (!runCompletions(false) && immediateInfo[0] === 0 && loop.closing.length === 0) runCompletions(true);
    wait();
    runImmediates();
    const closing = loop.closing;
    loop.closing = [];
    for (let at = 0; at < closing.length; at++) state.callback(closing[at]);
  } while (isAlive());
};

// Signals.
const signalHandles = new Map();
state.caughtSignals = new Set();
state.takeSignals = () => {
  const set = native.takeSignals();
  if (!(set > 0)) return false;
  for (let number = 1; number < 53; number++) {
    if (Math.floor(set / 2 ** number) % 2 === 0) continue;
    for (const handle of signalHandles.get(number) ?? []) state.callback(() => handle.onsignal(number));
  }
  return true;
};
bindings.signal_wrap = () => ({
  Signal: class Signal {
    constructor() { this.referenced = false; this.polls = true; }
    ref() { this.referenced = true; }
    unref() { this.referenced = false; }
    hasRef() { return this.referenced; }
    getAsyncId() { return 0; }
    start(number) {
      const code = native.catchSignal(number, true);
      if (code < 0) return state.uv(code);
      this.number = number;
      if (!signalHandles.has(number)) signalHandles.set(number, new Set());
      signalHandles.get(number).add(this);
      loop.handles.add(this);
      return 0;
    }
    stop() {
      const all = signalHandles.get(this.number);
      all?.delete(this);
      if (all?.size === 0 && this.number !== 17) native.catchSignal(this.number, false);
      loop.handles.delete(this);
      return 0;
    }
    close() { this.stop(); }
  },
});

// Errors that nobody catches.
const exitCodes = facts.bindings.errors.exitCodes.o;
state.fatal = (error, fromPromise) => {
  let handled = false;
  try {
    handled = state.process._fatalException(error, fromPromise);
  } catch (second) {
    report(second);
    exit(exitCodes.kExceptionInFatalExceptionHandler);
  }
  if (handled) return;
  report(error);
  exit(state.process.exitCode ?? 1);
};
const exit = (code) => { native.exit(code & 255); };
state.exit = exit;
const write = (text) => {
  const bytes = native.encode(text, 'utf8');
  let at = 0;
  while (at < bytes.length) {
    const put = native.write(2, bytes, at, bytes.length - at, -1);
    if (put <= 0) return;
    at += put;
  }
};
state.writeError = write;
/** Returns file, line and column of the place where an error was made. */
function placeOf(error) {
  const stack = typeof error?.stack === 'string' ? error.stack : '';
  for (const line of stack.split('\n')) {
    // The library throws what a constructor of its own has made.
    if (/^ {4}at new .*\(node:/.test(line)) continue;
    const match = /^ {4}at (?:.*\()?(.*?):(\d+):(\d+)\)?$/.exec(line);
    if (match) return { file: match[1], line: Number(match[2]), column: Number(match[3]) };
  }
  return undefined;
}
state.sources = new Map();
let libraryLines;
/** Returns a line of the library if it makes or throws an error. The program does not contain the others of files that it started with. */
function libraryLine(name, line) {
  libraryLines ??= JSON.parse(native.libraryText('tidebox/lines.json'));
  return libraryLines[name]?.[line];
}
function sourceLine(file, line) {
  let text = state.sources.get(file);
  if (text === undefined) {
    const path = file.startsWith('file://') ? decodeURIComponent(file.slice(7)) : file;
    try {
      if (file.startsWith('node:')) return libraryLine(file.slice(5), line);
      text = state.readText(path);
    } catch {
      return undefined;
    }
  }
  return text?.split('\n')[line - 1];
}
function arrow(error) {
  const known = error?.[state.privateSymbols.arrow_message_private_symbol];
  if (typeof known === 'string') return known;
  const place = placeOf(error);
  if (!place) return '';
  const source = sourceLine(place.file, place.line);
  if (source === undefined) return `${place.file}:${place.line}\n`;
  let at = Math.max(0, place.column - 1);
  // The library throws an error some lines after making it.
  if (place.file.startsWith('node:')) {
    for (let next = 0; next < 8; next++) {
      const thrown = sourceLine(place.file, place.line + next);
      if (thrown !== undefined && /^\s*throw err(or)?\b/.test(thrown)) return `${place.file}:${place.line + next}\n${thrown}\n${' '.repeat(/^\s*/.exec(thrown)[0].length)}^\n`;
    }
  }
  const statement = /^\s*throw\b/.test(source) ? /^\s*/.exec(source)[0].length : at;
  if (statement < at) at = statement;
  return `${place.file}:${place.line}\n${source}\n${source.slice(0, at).replace(/[^\t]/g, ' ')}^\n`;
}
function report(error) {
  let text;
  try {
    const { inspect } = state.require('internal/util/inspect');
    const isError = state.bindingOf('types').isNativeError(error) || error instanceof Error;
    if (isError) text = `${arrow(error)}\n${inspect(error)}\n`;
    else {
      // The engine does not say where a value was thrown that is no error.
      text = `\nUncaught:\n${typeof error === 'string' ? error : inspect(error)}\n`;
      if (typeof error !== 'object' || error === null) text += '(Use `node --trace-uncaught ...` to show where the exception was thrown)\n';
    }
  } catch {
    text = `Uncaught ${String(error?.message ?? error)}\n`;
  }
  write(`${text}\nNode.js ${facts.version}\n`);
}
bindings.errors = () => ({
  setPrepareStackTraceCallback(callback) { state.prepareStackTrace = callback; },
  setGetSourceMapErrorSource() {},
  setSourceMapsEnabled() {},
  setMaybeCacheGeneratedSourceMap() {},
  setEnhanceStackForFatalException() {},
  noSideEffectsToString: (value) => {
    if (typeof value === 'symbol') return value.toString();
    if (typeof value !== 'object' || value === null) return String(value);
    if (state.bindingOf('types').isNativeError(value)) return `${value.name}: ${value.message}`;
    return `#<${state.bindingOf('util').getConstructorName(value)}>`;
  },
  triggerUncaughtException: (error, fromPromise) => state.fatal(error, fromPromise),
  getErrorSourcePositions(error) {
    const place = placeOf(error);
    const line = place && sourceLine(place.file, place.line);
    if (line === undefined) return { sourceLine: '', startColumn: 0 };
    // The engine's column is behind the name of the function.
    const before = line.slice(0, place.column - 1);
    const start = before.length - (/[\w$.]*$/.exec(before)?.[0].length ?? 0);
    return { sourceLine: line, scriptResourceName: place.file, lineNumber: place.line, startColumn: start };
  },
});

// The process.
state.startedAt = 0;
state.atStart[state.atStart.length] = () => { state.startedAt = native.milliseconds(); };
function environment() {
  const values = { __proto__: null };
  for (const pair of native.environ()) {
    const at = pair.indexOf('=', 1);
    if (at > 0) values[pair.slice(0, at)] = pair.slice(at + 1);
  }
  Object.setPrototypeOf(values, Object.prototype);
  const text = (value) => {
    if (typeof value === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
    return String(value);
  };
  return new Proxy(values, {
    __proto__: null,
    set(target, key, value) { target[typeof key === 'symbol' ? text(key) : key] = text(value); return true; },
    defineProperty(target, key, descriptor) {
      if ('value' in descriptor) return Reflect.defineProperty(target, key, { __proto__: null, value: text(descriptor.value), writable: true, enumerable: true, configurable: true });
      const { ERR_INVALID_OBJECT_DEFINE_PROPERTY } = state.require('internal/errors').codes;
      throw new ERR_INVALID_OBJECT_DEFINE_PROPERTY('\'process.env\' does not accept an accessor(getter/setter) descriptor');
    },
  });
}
state.makeProcess = () => {
  const prototype = Object.create(Object.create(Object.prototype), {
    constructor: { value: function process() {}, writable: true, configurable: true },
  });
  const process = Object.create(prototype);
  process.version = facts.version;
  process.versions = { ...facts.versions, v8: undefined, quickjs: 'ng' };
  delete process.versions.v8;
  Object.freeze(process.versions);
  process.arch = 'x64';
  process.platform = 'linux';
  process.release = facts.release;
  process[state.privateSymbols.exit_info_private_symbol] = new Int32Array(3);
  process.env = {};
  process.title = 'node';
  process.argv = ['node'];
  process.execArgv = [];
  process.execPath = '/usr/bin/node';
  process.debugPort = 9229;
  return process;
};
bindings.process_methods = (binding) => {
  const { hrtimeBuffer } = binding;
  const hrtime = () => {
    const ns = BigInt(native.monotonic());
    const seconds = ns / 1000000000n;
    hrtimeBuffer[0] = Number(seconds >> 32n);
    hrtimeBuffer[1] = Number(seconds & 0xffffffffn);
    hrtimeBuffer[2] = Number(ns % 1000000000n);
  };
  const cpu = (array) => { array[0] = native.cpuTimes()[0] * 1000; array[1] = 0; };
  return {
    hrtime,
    hrtimeBigInt() { new BigUint64Array(hrtimeBuffer.buffer, 0, 1)[0] = BigInt(native.monotonic()); },
    abort() { native.kill(native.ids()[0], 6); },
    chdir(path) {
      const code = native.chdir(path);
      if (code < 0) {
        const error = state.uvException(state.uv(code), 'chdir', state.cwd(), path);
        throw error;
      }
    },
    umask(mask) { return mask === undefined ? native.umask() : native.umask(mask); },
    memoryUsage(array) { const used = native.memoryUsed(); array.set([used, used, Math.floor(used / 2), 0, 0]); },
    constrainedMemory: () => native.memoryLimit(),
    availableMemory: () => native.memoryLimit() - native.memoryUsed(),
    rss: () => native.memoryUsed(),
    cpuUsage: cpu, threadCpuUsage: cpu,
    resourceUsage(array) { array.fill(0); cpu(array); },
    _getActiveRequests: () => [], _getActiveHandles: () => [], getActiveResourcesInfo: () => active().map((handle) => handle.constructor.name),
    _kill(pid, signal) { const code = native.kill(pid, signal); return code < 0 ? state.uv(code) : 0; },
    _rawDebug: (text) => write(`${text}\n`),
    cwd: () => state.cwd(),
    dlopen(module, filename) {
      const error = new Error(`${filename}: native addons do not run in this sandbox; use a package in JavaScript`);
      error.code = 'ERR_DLOPEN_FAILED';
      throw error;
    },
    reallyExit: (code) => exit(code),
    uptime: () => (native.milliseconds() - state.startedAt) / 1000,
    patchProcessObject(process) {
      const ids = native.ids();
      process.title = 'node';
      process.argv = [...state.argv];
      process.execArgv = state.execArgv;
      process.env = environment();
      process.pid = ids[0];
      Object.defineProperty(process, 'ppid', { configurable: true, enumerable: true, get: () => native.ids()[1] });
      process.execPath = state.execPath();
      process.debugPort = 9229;
      process.versions = process.versions;
      if (native.isTerminal(2) || process.env.FORCE_COLOR !== undefined) state.require('internal/util/colors').refresh();
    },
    loadEnvFile: (path) => {
      const values = state.bindingOf('util').parseEnv(state.readText(path));
      for (const key of Object.keys(values)) state.process.env[key] ??= values[key];
    },
    setEmitWarningSync() {},
  };
};
state.cwd = () => {
  const path = native.getcwd();
  if (typeof path === 'number') {
    const error = state.uvException(state.uv(path), 'uv_cwd');
    throw error;
  }
  return path;
};
bindings.credentials = () => {
  const id = (at) => () => native.ids()[at];
  return {
    safeGetenv: (name) => state.process.env[name],
    getTempDir: () => {
      const { TMPDIR, TMP, TEMP } = state.process.env;
      const path = TMPDIR || TMP || TEMP || '/tmp';
      return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    },
    getuid: id(3), geteuid: id(3), getgid: id(4), getegid: id(4), getgroups: () => [native.ids()[4]],
  };
};
bindings.os = () => ({
  getHostname: () => { try { return state.readText('/etc/hostname').trim(); } catch { return 'sandbox'; } },
  getLoadAvg(array) { array.fill(0); },
  getUptime: () => native.milliseconds() / 1000,
  getTotalMem: () => native.memoryLimit(),
  getFreeMem: () => native.memoryLimit() - native.memoryUsed(),
  getCPUs: () => ['cpu', 1000, 0, 0, 0, 0, 0],
  getInterfaceAddresses: () => ['lo', '127.0.0.1', '255.0.0.0', 'IPv4', '00:00:00:00:00:00', true, -1],
  getHomeDirectory: () => state.process.env.HOME ?? '/root',
  getUserInfo(options) {
    const [, , , uid, gid] = native.ids();
    const found = { uid, gid, username: uid === 0 ? 'root' : 'user', homedir: state.process.env.HOME ?? '/', shell: '/bin/sh' };
    try {
      for (const line of state.readText('/etc/passwd').split('\n')) {
        const [name, , number, , , home, shell] = line.split(':');
        if (Number(number) === uid && name) Object.assign(found, { username: name, homedir: home, shell });
      }
    } catch { /* A sandbox may have no list of users. */ }
    return found;
  },
  setPriority: () => 0, getPriority: () => 0, getAvailableParallelism: () => 1,
  getOSInformation: () => ['Linux', '#1', '6.1.0', 'x86_64'],
});
bindings.performance = (binding) => {
  let start = 0;
  const milestones = new Float64Array(8);
  // Node hides these constants from lists of properties.
  const names = ['TIME_ORIGIN_TIMESTAMP', 'TIME_ORIGIN', 'ENVIRONMENT', 'NODE_START', 'V8_START', 'LOOP_START', 'LOOP_EXIT', 'BOOTSTRAP_COMPLETE'];
  const constants = { ...binding.constants };
  names.forEach((name, at) => { constants[`NODE_PERFORMANCE_MILESTONE_${name}`] = at; });
  state.atStart[state.atStart.length] = () => {
    start = native.milliseconds();
    milestones.fill(start * 1e6);
    milestones[0] = native.realtime() * 1000;
  };
  return {
    milestones, constants,
    now: () => native.milliseconds() - start,
    setupObservers() {}, installGarbageCollectionTracking() {}, removeGarbageCollectionTracking() {}, notify() {},
    loopIdleTime: () => 0, markBootstrapComplete() {}, uvMetricsInfo: () => [0, 0, 0],
    Histogram: class Histogram {}, createELDHistogram: refusing('perf_hooks.monitorEventLoopDelay'),
  };
};
bindings.trace_events = () => ({
  getEnabledCategories: () => undefined, setTraceCategoryStateUpdateHandler() {}, getCategoryEnabledBuffer: () => new Uint8Array(1),
  isTraceCategoryEnabled: () => false, trace() {}, available: false,
});
bindings.config = () => ({ hasIntl: true, hasInspector: false, hasOpenSSL: true, hasTracing: false, bits: 32, fipsMode: false, getDefaultLocale: () => 'en-US' });
bindings.async_wrap = (binding) => {
  const { async_hook_fields: fields, async_id_fields: ids } = binding;
  fields.fill(0);
  fields[6] = 1;
  ids.set([0, 0, 1, -1]);
  const stack = new Float64Array(16384);
  const resources = [];
  return {
    async_ids_stack: stack,
    execution_async_resources: resources,
    setupHooks() {}, setCallbackTrampoline() {}, registerDestroyHook() {}, queueDestroyAsyncId() {},
    setPromiseHooks() {}, getPromiseHooks: () => [undefined, undefined, undefined, undefined],
    pushAsyncContext(asyncId, triggerId) { throw new RangeError('Maximum call stack size exceeded'); },
    popAsyncContext() { fields[7] = 0; return false; },
    executionAsyncResource: (at) => resources[at],
    clearAsyncIdStack() { ids[0] = 0; ids[1] = 0; fields[7] = 0; resources.length = 0; },
  };
};
