'use strict';
// Options, the choice of the main script, zlib, and small bindings.
const { native, apply, facts } = state;
bindings.constants = (binding) => {
  const { os } = binding;
  Object.setPrototypeOf(os.signals, null);
  Object.freeze(binding.zlib);
  return binding;
};
// Options of the command line.
const [kBoolean, kString, kList] = [2, 5, 7];
const kinds = new Map(facts.optionKinds.map(([name, type]) => [name, type]));
const SHORT = { __proto__: null, '-e': '--eval', '-p': '--print', '-r': '--require', '-c': '--check', '-i': '--interactive', '-v': '--version',
  '-h': '--help', '-C': '--conditions', '--loader': '--experimental-loader', '--es-module-specifier-resolution': '--experimental-specifier-resolution',
  '--test-coverage': '--experimental-test-coverage' };
const usage = (text) => {
  state.writeError(`/usr/bin/node: ${text}\n`);
  native.exit(9);
};
function setOption(values, name, value) {
  const type = kinds.get(name);
  if (type === kList) values[name] = [...(values[name] ?? []), value];
  else if (type === kString) values[name] = value;
  else values[name] = Number(value);
}
/** Reads options up to the first other argument. Returns the rest. */
function parse(values, list, fromEnvironment) {
  let at = 0;
  for (; at < list.length; at++) {
    let argument = list[at];
    if (argument === '--') { at++; break; }
    if (!argument.startsWith('-') || argument === '-') break;
    let value;
    const equal = argument.startsWith('--') ? argument.indexOf('=') : -1;
    if (equal > 0) { value = argument.slice(equal + 1); argument = argument.slice(0, equal); }
    if (argument === '-pe' || argument === '-p' || argument === '--print') {
      values['--print'] = true;
      const next = list[at + 1];
      if (value !== undefined) { values['--eval'] = value; values['[has_eval_string]'] = true; }
      else if (next !== undefined && (argument === '-pe' || !next.startsWith('-'))) { values['--eval'] = next; values['[has_eval_string]'] = true; at++; }
      continue;
    }
    const name = (SHORT[argument] ?? argument).replace(/_/g, '-');
    if (name === '--eval') {
      value ??= list[++at];
      if (value === undefined) usage(`${argument} requires an argument`);
      values['--eval'] = value;
      values['[has_eval_string]'] = true;
      continue;
    }
    const positive = name.startsWith('--no-') ? `--${name.slice(5)}` : name;
    const type = kinds.get(name) ?? kinds.get(positive);
    if (type === undefined) usage(`bad option: ${argument}`);
    if (type <= kBoolean) {
      values[positive] = name === positive;
      values[`--no-${positive.slice(2)}`] = name !== positive;
      continue;
    }
    value ??= list[++at];
    if (value === undefined) usage(`${argument} requires an argument`);
    setOption(values, name, value);
  }
  return list.slice(at);
}
state.options = { ...facts.options, '--experimental-async-context-frame': true };
bindings.options = () => ({
  getCLIOptionsValues: () => state.options,
  getCLIOptionsInfo: () => ({ options: new Map(facts.optionKinds.map(([name, type, envVarSettings]) => [name, { helpText: '', type, envVarSettings, defaultIsTrue: false }])), aliases: new Map(facts.aliases) }),
  getEmbedderOptions: () => ({ shouldNotRegisterESMLoader: false, noGlobalSearchPaths: false, noBrowserGlobals: false, hasEmbedderPreload: false }),
  envSettings: { kAllowedInEnvvar: 0, kDisallowedInEnvvar: 1 },
  types: { kNoOp: 0, kV8Option: 1, kBoolean: 2, kInteger: 3, kUInteger: 4, kString: 5, kHostPort: 6, kStringList: 7 },
  noGlobalSearchPaths: false, shouldNotRegisterESMLoader: false, getEnvOptionsInputType: () => new Map(),
});
state.execPath = () => {
  const [name = 'node'] = native.args();
  if (name.startsWith('/')) return name;
  return '/usr/bin/node';
};
state.afterBootstrap = () => { state.keepStacks(); state.require('internal/modules/esm/loader'); };
function optionsOfCommand() {
  const values = { ...facts.options, '--require': [], '--import': [], '--experimental-async-context-frame': true };
  const extra = native.environ().find((pair) => pair.startsWith('NODE_OPTIONS='))?.slice(13).trim();
  if (extra) parse(values, extra.split(/\s+/), true);
  const [name, ...list] = native.args();
  state.isNpm = /(?:^|\/)np[mx]$/.test(name);
  if (state.isNpm) list.unshift('/usr/bin/npm');
  const rest = parse(values, list, false);
  // A folder of the host's name may be an option only after the script.
  state.argv = [name ?? 'node', ...rest];
  state.execArgv = list.slice(0, list.length - rest.length);
  state.options = values;
  if (values['--preserve-symlinks-main'] === undefined) values['--preserve-symlinks-main'] = false;
}
function help() {
  return 'Usage: node [options] [ script.js | - ] [arguments]\n\n' +
    'Node\'s library on the engine QuickJS, in a Tidebox sandbox.\n\nOptions:\n' +
    '  -                      script read from stdin\n  --                     indicate the end of node options\n' +
    '  -c, --check            syntax check script without executing\n  -e, --eval=...         evaluate script\n' +
    '  -p, --print [...]      evaluate script and print result\n  -r, --require=...      CommonJS module to preload\n' +
    '  --import=...           ES module to preload\n  --input-type=...       set module type for string input\n' +
    '  --test                 run tests\n  -v, --version          print the version\n  -h, --help             print this text\n';
}
const print = (text) => { state.writeAll(1, native.encode(text, 'utf8')); };
state.main = (boot) => {
  optionsOfCommand();
  const { options } = state;
  if (options['--version']) { print(`${facts.version}\n`); native.exit(0); }
  if (options['--help']) { print(help()); native.exit(0); }
  if (options['--watch']) usage('--watch is not available in this sandbox: files cannot be watched; run the command again after a change');
  if (options['--inspect'] || options['--inspect-brk']) usage('--inspect is not available in this sandbox: there is no debugger');
  let script;
  if (state.isNpm) script = 'tidebox/npm';
  else if (options['--check']) script = 'internal/main/check_syntax';
  else if (options['--test']) script = 'internal/main/test_runner';
  else if (options['[has_eval_string]'] && !options['--interactive']) script = 'internal/main/eval_string';
  else if (state.argv.length > 1 && state.argv[1] !== '-') script = 'internal/main/run_main_module';
  else if (options['--interactive'] || native.isTerminal(0)) script = 'internal/main/repl';
  else script = 'internal/main/eval_stdin';
  const { process } = state;
  state.callback(() => boot(script));
  for (;;) {
    state.runLoop();
    state.callback(() => process.emit('beforeExit', process.exitCode || 0));
    if (!state.isAlive()) break;
  }
  const pending = state.pendingEntry?.();
  if (pending) {
    state.callback(() => { if (!process._exiting) { process._exiting = true; process.emit('exit', process.exitCode ?? 13); } });
    if (process.exitCode === undefined) state.writeError(`Warning: Detected unsettled top-level await at ${pending}\n`);
    native.exit(process.exitCode ?? 13);
  }
  state.callback(() => { process._exiting = true; process.emit('exit', process.exitCode || 0); });
  native.exit((process.exitCode ?? 0) & 255);
};

// Small bindings.
bindings.worker = () => ({ isMainThread: true, isInternalThread: false, ownsProcessState: true, threadId: 0, threadName: '', resourceLimits: new Float64Array(5),
  getEnvMessagePort: () => undefined, Worker: class Worker { constructor() { state.refusing('worker_threads.Worker')(); } } });
bindings.inspector = () => ({ isEnabled: () => false, setConsoleExtensionInstaller() {}, console: undefined, registerAsyncHook() {}, emitProtocolEvent() {}, waitForDebugger: () => false, consoleCall() {} });
bindings.wasm_web_api = () => ({ setImplementation() {} });
bindings.permission = () => ({ has: () => true });
bindings.report = () => {
  const settings = { Compact: false, ExcludeNetwork: false, ExcludeEnv: false, Directory: '', Filename: '', Signal: 'SIGUSR2' };
  const binding = { shouldReportOnUncaughtException: () => false, shouldReportOnFatalError: () => false, shouldReportOnSignal: () => false,
    setReportOnUncaughtException() {}, setReportOnFatalError() {}, setReportOnSignal() {}, writeReport: state.refusing('process.report.writeReport'),
    getReport: () => JSON.stringify({ header: { nodejsVersion: facts.version, arch: 'x64', platform: 'linux' }, sharedObjects: [] }) };
  for (const name of Object.keys(settings)) {
    binding[`get${name}`] = () => settings[name];
    binding[`set${name}`] = (value) => { settings[name] = value; };
  }
  return binding;
};
bindings.heap_utils = () => ({});
bindings.profiler = () => ({ setCoverageDirectory() {}, setSourceMapCacheGetter() {}, takeCoverage() {}, stopCoverage() {} });
bindings.sea = () => ({ isSea: () => false, isExperimentalSeaWarningNeeded: () => false });
bindings.serdes = () => ({ Serializer: state.Serializer, Deserializer: state.Deserializer });
bindings.blob = () => {
  const { bytesOf } = state;
  const stored = new Map();
  class Handle {
    constructor(bytes) { this.bytes = bytes; }
    slice(start, end) { return new Handle(this.bytes.subarray(start, end)); }
    getReader() {
      let { bytes } = this;
      return { pull(callback) {
        if (bytes === undefined || bytes.length === 0) { callback(0, undefined, undefined); return; }
        const { buffer, byteOffset, byteLength } = bytes;
        bytes = undefined;
        callback(1, buffer.slice(byteOffset, byteOffset + byteLength), undefined);
      } };
    }
  }
  return {
    createBlob(sources, length) {
      const all = new Uint8Array(length);
      let at = 0;
      for (const source of sources) {
        const bytes = source instanceof Handle ? source.bytes : Array.isArray(source) ? source[0]?.bytes ?? bytesOf(source[0]) : source.bytes ?? bytesOf(source);
        all.set(bytes, at);
        at += bytes.length;
      }
      return new Handle(all);
    },
    concat(views) {
      const parts = views.map(bytesOf);
      const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
      let at = 0;
      for (const part of parts) { all.set(part, at); at += part.length; }
      return all.buffer;
    },
    storeDataObject(id, handle, size, type) { stored.set(id, [handle, size, type]); },
    getDataObject: (id) => stored.get(id), revokeObjectURL(id) { stored.delete(id); },
    createBlobFromFilePath: (path) => { const bytes = state.readBytes(path); return [new Handle(bytes), bytes.length]; },
  };
};

// Streams of zlib.
const MODE = { DEFLATE: 1, INFLATE: 2, GZIP: 3, GUNZIP: 4, DEFLATERAW: 5, INFLATERAW: 6, UNZIP: 7 };
const GZIP_HEAD = new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
/** Returns the length of a gzip header; 0 if more bytes are needed, -1 if it is none. */
function gzipHead(bytes) {
  if ((bytes.length > 0 && bytes[0] !== 0x1f) || (bytes.length > 1 && bytes[1] !== 0x8b) || (bytes.length > 2 && bytes[2] !== 8)) return -1;
  if (bytes.length < 10) return 0;
  const flags = bytes[3];
  let at = 10;
  if (flags & 4) {
    if (bytes.length < at + 2) return 0;
    at += 2 + bytes[at] + bytes[at + 1] * 256;
  }
  for (const bit of [8, 16]) {
    if (!(flags & bit)) continue;
    const end = bytes.indexOf(0, at);
    if (end < 0) return 0;
    at = end + 1;
  }
  if (flags & 2) at += 2;
  return at <= bytes.length ? at : 0;
}
const joined = (one, other) => { const all = new Uint8Array(one.length + other.length); all.set(one); all.set(other, one.length); return all; };
/** A stream. `step` of its kind returns the lengths that were read and written, and the arguments of `onerror` after an error. */
class CompressionStream {
  id = -1;
  getAsyncId() { return 0; }
  close() { if (this.id >= 0) native.zlibClose(this.id); this.id = -1; }
  writeSync(...values) { this.#run(...values); }
  write(...values) {
    state.later(() => {
      if (this.id < 0) return;
      if (this.#run(...values)) apply(this.callback, this, []);
    });
  }
  #run(flush, input, inOff, inLen, out, outOff, outLen) {
    const source = input === null || input === undefined ? new Uint8Array(0) : state.bytesOf(input).subarray(inOff, inOff + inLen);
    const target = state.bytesOf(out).subarray(outOff, outOff + outLen);
    const [read, written, error] = this.step(flush, source, target);
    this.result[0] = target.length - written;
    this.result[1] = source.length - read;
    if (error) this.onerror(...error);
    return !error;
  }
}
class Zlib extends CompressionStream {
  constructor(mode) { super(); this.mode = mode; }
  init(windowBits, level, memLevel, strategy, result, callback, dictionary) {
    Object.assign(this, { level, result, callback, dictionary });
    if (dictionary) state.refusing('a dictionary of zlib')();
    this.reset();
  }
  params(level) { this.level = level; }
  reset() {
    this.close();
    this.kept = new Uint8Array(0);
    this.tail = undefined;
    this.crc = 0;
    this.size = 0;
    this.phase = this.mode === MODE.GZIP || this.mode === MODE.GUNZIP ? 'head' : this.mode === MODE.UNZIP ? 'guess' : 'body';
    this.#start(this.mode);
  }
  #start(mode) {
    const packs = [MODE.DEFLATE, MODE.GZIP, MODE.DEFLATERAW].includes(mode);
    this.packs = packs;
    this.id = native.zlibNew(packs, this.level ?? -1, mode === MODE.DEFLATE || mode === MODE.INFLATE);
  }
  step(flush, source, target) { return this.packs ? this.#pack(flush, source, target) : this.#unpack(flush, source, target); }
  #pack(flush, source, target) {
    let written = 0;
    const put = (bytes) => { const fits = Math.min(bytes.length, target.length - written); target.set(bytes.subarray(0, fits), written); written += fits; return bytes.subarray(fits); };
    if (this.phase === 'head') { this.tail = put(GZIP_HEAD); this.phase = this.tail.length ? 'heading' : 'body'; }
    else if (this.phase === 'heading') { this.tail = put(this.tail); if (this.tail.length === 0) this.phase = 'body'; }
    let read = 0;
    while (this.phase === 'body' && written < target.length) {
      const [status, got, made] = native.zlibRun(this.id, flush, source.subarray(read), target.subarray(written));
      if (this.mode === MODE.GZIP) { this.crc = native.crc32(source.subarray(read, read + got), this.crc) >>> 0; this.size = (this.size + got) >>> 0; }
      read += got;
      written += made;
      if (status === 1) {
        const trailer = new DataView(new ArrayBuffer(8));
        trailer.setUint32(0, this.crc, true);
        trailer.setUint32(4, this.size, true);
        this.tail = new Uint8Array(trailer.buffer);
        this.phase = this.mode === MODE.GZIP ? 'tail' : 'end';
      } else if (status < 0 && status !== -5) {
        return [read, written, ['stream error', -2, 'Z_STREAM_ERROR']];
      } else if (got === 0 && made === 0) {
        break;
      } else if (flush !== 4 && read === source.length && (made === 0 || (flush !== 0 && written < target.length))) {
        // Another run would write another empty block.
        break;
      }
    }
    if (this.phase === 'tail') { this.tail = put(this.tail); if (this.tail.length === 0) this.phase = 'end'; }
    return [read, written];
  }
  #unpack(flush, source, target) {
    let read = 0;
    let written = 0;
    if (this.phase === 'guess') {
      const start = joined(this.kept, source);
      if (start.length < 2) { if (start.length === 1 && start[0] === 0x1f) { this.kept = start; return [source.length, 0]; } }
      if (start.length >= 2 && start[0] === 0x1f && start[1] === 0x8b) { this.gzip = true; this.phase = 'head'; }
      else { this.phase = 'body'; native.zlibClose(this.id); this.#start(MODE.INFLATE); }
    }
    const gzip = this.gzip || this.mode === MODE.GUNZIP;
    for (;;) {
      if (this.phase === 'head') {
        const whole = joined(this.kept, source.subarray(read));
        const head = gzipHead(whole);
        if (head < 0) return [read, written, ['incorrect header check', -3, 'Z_DATA_ERROR']];
        if (head === 0) {
          this.kept = whole;
          read = source.length;
          if (flush === 4) return [read, written, ['unexpected end of file', -5, 'Z_BUF_ERROR']];
          break;
        }
        read += head - this.kept.length;
        this.kept = new Uint8Array(0);
        this.phase = 'body';
      }
      if (this.phase === 'tail') {
        const need = 8 - this.kept.length;
        const part = source.subarray(read, read + need);
        this.kept = joined(this.kept, part);
        read += part.length;
        if (this.kept.length < 8) {
          if (flush === 4) return [read, written, ['unexpected end of file', -5, 'Z_BUF_ERROR']];
          break;
        }
        const view = new DataView(this.kept.buffer);
        if (view.getUint32(0, true) !== this.crc) return [read, written, ['incorrect data check', -3, 'Z_DATA_ERROR']];
        if (view.getUint32(4, true) !== this.size) return [read, written, ['incorrect length check', -3, 'Z_DATA_ERROR']];
        this.kept = new Uint8Array(0);
        this.crc = 0;
        this.size = 0;
        this.phase = 'end';
      }
      // Another member may follow; zeros after a member are ignored.
      if (this.phase === 'end' && gzip && read < source.length && source[read] !== 0) {
        this.close();
        this.#start(MODE.INFLATERAW);
        this.phase = 'head';
        continue;
      }
      if (this.phase !== 'body') break;
      const [status, got, made] = native.zlibRun(this.id, flush, source.subarray(read), target.subarray(written));
      if (gzip) { this.crc = native.crc32(target.subarray(written, written + made), this.crc) >>> 0; this.size = (this.size + made) >>> 0; }
      this.seen = (this.seen ?? 0) + got;
      read += got;
      written += made;
      if (status === 1) { this.phase = gzip ? 'tail' : 'end'; continue; }
      if (status === -3) return [read, written, [!gzip && this.mode !== MODE.INFLATERAW && this.seen <= 2 ? 'incorrect header check' : 'invalid stored block lengths', -3, 'Z_DATA_ERROR']];
      if (written === target.length) break;
      if (got === 0 && made === 0) {
        if (flush === 4 && read === source.length) return [read, written, ['unexpected end of file', -5, 'Z_BUF_ERROR']];
        break;
      }
    }
    return [read, written];
  }
}
/** A stream of Brotli; one class compresses, the other decompresses. */
const brotli = (packs) => class extends CompressionStream {
  init(parameters, result, callback) {
    Object.assign(this, { parameters: Array.from(parameters), result, callback });
    this.reset();
    return true;
  }
  params() {}
  reset() {
    this.close();
    this.id = native.brotliNew(packs, this.parameters);
    this.ended = false;
  }
  step(flush, source, target) {
    const [status, read, written] = this.ended ? [1, 0, 0] : native.zlibRun(this.id, flush, source, target);
    this.ended = status === 1;
    if (status < 0) {
      const code = packs ? 'BROTLI_COMPRESSION_FAILED' : native.brotliError(this.id).replace('BROTLI_DECODER', '');
      return [read, written, [packs ? 'Compression failed' : 'Decompression failed', -2, `ERR_${code}`]];
    }
    const isCut = !packs && !this.ended && flush === 2 && read === source.length && written < target.length;
    return [read, written, isCut ? ['unexpected end of file', -5, 'Z_BUF_ERROR'] : undefined];
  }
};
const noZstandard = (name) => class { constructor() { state.refusing(name)(); } };
bindings.zlib = () => ({
  Zlib, crc32: (data, start = 0) => native.crc32(typeof data === 'string' ? native.encode(data, 'utf8') : data, start >>> 0) >>> 0,
  BrotliEncoder: brotli(true), BrotliDecoder: brotli(false), ZstdCompress: noZstandard('Zstandard'), ZstdDecompress: noZstandard('Zstandard'),
});
