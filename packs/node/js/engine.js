'use strict';
// What Node asks V8: types of objects, parts of promises and proxies, stacks, scripts and modules, clones.
const { native, apply } = state;
// The engine counts references, so that the object of a new `WeakRef` may end at once. By the standard it lives until the job ends.
const kept = [];
state.releaseKept = () => { kept.length = 0; };
{
  const Native = WeakRef;
  const { prototype } = Native;
  const { deref } = prototype;
  const Kept = function WeakRef(target) {
    if (new.target === undefined) throw new TypeError('Constructor WeakRef requires \'new\'');
    const made = Reflect.construct(Native, [target], new.target);
    kept[kept.length] = target;
    return made;
  };
  Object.defineProperty(Kept, 'prototype', { value: prototype, writable: false });
  const define = (name, value) => Object.defineProperty(prototype, name, { value, writable: true, configurable: true, enumerable: false });
  define('constructor', Kept);
  define('deref', { deref() {
    const target = apply(deref, this, []);
    if (target !== undefined) kept[kept.length] = target;
    return target;
  } }.deref);
  Object.defineProperty(globalThis, 'WeakRef', { value: Kept, writable: true, configurable: true, enumerable: false });
}
const classOf = native.classOf;
const classes = { __proto__: null };
const samples = {
  Map: new Map(), Set: new Set(), Date: new Date(0), RegExp: /a/, Promise: Promise.resolve(), WeakMap: new WeakMap(), WeakSet: new WeakSet(),
  MapIterator: new Map().entries(), SetIterator: new Set().values(), ArrayBuffer: new ArrayBuffer(0), DataView: new DataView(new ArrayBuffer(0)),
  Number: Object(0), String: Object(''), Boolean: Object(false), Symbol: Object(Symbol()), BigInt: Object(0n), Error: new Error(),
  Arguments: (function() { 'use strict'; return arguments; })(), MappedArguments: (function(one) { return arguments; })(1),
  Generator: (function*() {})(), AsyncGenerator: (async function*() {})(), GeneratorFunction: function*() {},
  AsyncGeneratorFunction: async function*() {}, AsyncFunction: async function() {}, Object: {}, WeakRef: new WeakRef({}),
};
for (const name of Object.keys(samples)) classes[name] = classOf(samples[name]);
let namespaceClass;
const is = (...names) => { const ids = names.map((name) => classes[name]); return (value) => { const id = classOf(value); return id !== 0 && ids.includes(id); }; };
const isNativeError = is('Error');
const isPlain = classes.SharedArrayBuffer = -1;
const types = {
  isArgumentsObject: is('Arguments', 'MappedArguments'), isArrayBuffer: is('ArrayBuffer'),
  isAsyncFunction: is('AsyncFunction', 'AsyncGeneratorFunction'), isBigIntObject: is('BigInt'), isBooleanObject: is('Boolean'),
  isDataView: is('DataView'), isDate: is('Date'), isExternal: () => false, isGeneratorFunction: is('GeneratorFunction', 'AsyncGeneratorFunction'),
  isGeneratorObject: is('Generator', 'AsyncGenerator'), isMap: is('Map'), isMapIterator: is('MapIterator'),
  isModuleNamespaceObject: (value) => state.isNamespace?.(value) ?? false, isNativeError, isNumberObject: is('Number'), isPromise: is('Promise'),
  isProxy: (value) => native.proxyParts(value) != null, isRegExp: is('RegExp'), isSet: is('Set'), isSetIterator: is('SetIterator'),
  isSharedArrayBuffer: (value) => typeof value === 'object' && value !== null && apply(Object.prototype.toString, value, []) === '[object SharedArrayBuffer]',
  isStringObject: is('String'), isSymbolObject: is('Symbol'), isWeakMap: is('WeakMap'), isWeakSet: is('WeakSet'),
};
types.isAnyArrayBuffer = (value) => types.isArrayBuffer(value) || types.isSharedArrayBuffer(value);
types.isBoxedPrimitive = is('Number', 'String', 'Boolean', 'Symbol', 'BigInt');
bindings.types = () => types;
const tagOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
const getPrototypeOf = Object.getPrototypeOf;
function constructorName(object) {
  for (let at = object; at !== null; at = getPrototypeOf(at)) {
    const descriptor = Reflect.getOwnPropertyDescriptor(at, 'constructor');
    if (descriptor && typeof descriptor.value === 'function' && descriptor.value.name !== '') return descriptor.value.name;
  }
  return 'Object';
}
function parseEnv(content) {
  const values = {};
  const line = /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm;
  for (const [, key, raw = ''] of content.replace(/\r\n?/g, '\n').matchAll(line)) {
    let value = raw.trim();
    const quote = /^(['"`])([\s\S]*)\1$/.exec(value);
    if (quote) value = quote[1] === '"' ? quote[2].replace(/\\n/g, '\n') : quote[2];
    values[key] = value;
  }
  return values;
}
bindings.util = (binding) => {
  const guess = (fd) => {
    const out = new Float64Array(18);
    if (native.fstat(fd, out) < 0) return 5;
    switch (out[1] & 0o170000) {
      case 0o100000: return 3;
      case 0o010000: return 4;
      case 0o140000: return 4;
      case 0o020000: return native.isTerminal(fd) ? 1 : 3;
      default: return 5;
    }
  };
  return {
    privateSymbols: state.privateSymbols, constants: state.constants,
    isInsideNodeModules,
    defineLazyProperties(target, id, keys, enumerable = true) {
      for (const key of keys) {
        let value;
        const set = (replacement) => Object.defineProperty(target, key, { value: replacement, writable: true, configurable: true, enumerable });
        Object.defineProperty(target, key, {
          __proto__: null, configurable: true, enumerable,
          get: Object.defineProperty(function() {
            const found = state.require(id);
            value = found[key];
            set(value);
            return value;
          }, 'name', { value: key }),
          set: Object.defineProperty(function(replacement) { set(replacement); }, 'name', { value: key }),
        });
      }
    },
    getPromiseDetails(promise) {
      if (!types.isPromise(promise)) return;
      const [kind, value] = native.promiseState(promise);
      return kind === 0 ? [0] : [kind, value];
    },
    getProxyDetails(value, both = true) {
      const parts = native.proxyParts(value);
      return parts == null ? undefined : both ? parts : parts[0];
    },
    getCallerLocation() {
      const site = sitesOf(3)[2];
      return site && [site.getLineNumber(), site.getColumnNumber(), site.getFileName() ?? ''];
    },
    previewEntries(object, isIterator) {
      if (types.isMap(object)) return [...apply(Map.prototype.entries, object, [])].flat();
      if (types.isSet(object)) return [...apply(Set.prototype.values, object, [])];
      return isIterator ? [[], false] : [];
    },
    getOwnNonIndexProperties(object, filter) {
      const isIndex = (key) => typeof key === 'string' && /^(0|[1-9]\d{0,9})$/.test(key) && Number(key) < 4294967295;
      return Reflect.ownKeys(object).filter((key) => !isIndex(key) &&
        (filter !== 2 || Reflect.getOwnPropertyDescriptor(object, key)?.enumerable));
    },
    getConstructorName: constructorName,
    getExternalValue: () => 0n,
    getCallSites(count) {
      return sitesOf(count + 1).slice(1, count + 1).map((site) => ({ functionName: site.getFunctionName() ?? '', scriptId: '0', scriptName: site.getFileName() ?? '',
        lineNumber: site.getLineNumber(), columnNumber: site.getColumnNumber(), column: site.getColumnNumber() }));
    },
    sleep(ms) { native.poll([], ms); },
    parseEnv,
    arrayBufferViewHasBuffer: () => true,
    guessHandleType: guess,
    isArrayBufferView: ArrayBuffer.isView,
    isTypedArray: (value) => ArrayBuffer.isView(value) && !types.isDataView(value),
    isUint8Array: (value) => typeof value === 'object' && value !== null && apply(tagOf, value, []) === 'Uint8Array',
    ...Object.fromEntries(['isArrayBuffer', 'isAsyncFunction', 'isDataView', 'isDate', 'isExternal', 'isMap', 'isMapIterator', 'isNativeError',
      'isPromise', 'isRegExp', 'isSet', 'isSetIterator', 'isAnyArrayBuffer'].map((name) => [name, types[name]])),
  };
};

const accessor = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
/** Returns the frames of the caller and of its callers. */
function sitesOf(count) {
  const holder = {};
  const { stackTraceLimit } = Error;
  const prepare = apply(accessor.get, Error, []);
  accessor.set.call(Error, (_, sites) => sites);
  Error.stackTraceLimit = count + 1;
  Error.captureStackTrace(holder);
  const sites = holder.stack;
  apply(accessor.set, Error, [prepare]);
  Error.stackTraceLimit = stackTraceLimit;
  return Array.isArray(sites) ? sites.slice(1) : [];
}
{
  // The engine refuses other values than strings; V8 stores them.
  const stack = Object.getOwnPropertyDescriptor(Error.prototype, 'stack');
  Object.defineProperty(Error.prototype, 'stack', {
    configurable: true, enumerable: false, get: stack.get,
    set(value) {
      if (typeof value === 'string') apply(stack.set, this, [value]);
      else Object.defineProperty(this, 'stack', { value, writable: true, configurable: true, enumerable: false });
    },
  });
}
// Stacks, as V8 formats them.
{
  const prepare = Error.prepareStackTrace;
  Error.prepareStackTrace = (_, sites) => sites;
  const [site] = (() => new Error().stack)();
  Error.prepareStackTrace = prepare;
  const prototype = getPrototypeOf(site);
  const { getFileName, getLineNumber, getColumnNumber, getFunctionName, isNative, isConstructor } = prototype;
  const define = (name, value) => Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
  define('getFileName', function() {
    const file = apply(getFileName, this, []);
    return typeof file === 'string' ? file : null;
  });
  define('getFunctionName', function() { return apply(getFunctionName, this, []) || null; });
  define('getColumnNumber', function() {
    const column = apply(getColumnNumber, this, []);
    // The text of a CommonJS module follows the head of its function.
    return apply(getLineNumber, this, []) === 1 && state.wrapped.has(apply(getFileName, this, [])) ? Math.max(1, column - state.head.length + 1) : column;
  });
  for (const [name, value] of [['getThis'], ['getTypeName', null], ['getMethodName', null], ['getEvalOrigin'], ['isToplevel', false],
    ['isEval', false], ['isAsync', false], ['isPromiseAll', false], ['getPromiseIndex', null], ['getPosition', 0], ['getScriptHash', '']]) {
    if (!(name in prototype)) define(name, () => value);
  }
  define('getScriptNameOrSourceURL', function() { return this.getFileName(); });
  define('toString', function() {
    const file = this.getFileName();
    const name = apply(getFunctionName, this, []);
    let place = file ?? (apply(isNative, this, []) ? 'native' : '<anonymous>');
    if (file !== null) place += `:${this.getLineNumber()}:${this.getColumnNumber()}`;
    if (state.heads.has(this.getFunction())) return `Object.<anonymous> (${place})`;
    if (!name || name === '<anonymous>' || name === '<eval>') return place;
    return `${apply(isConstructor, this, []) ? 'new ' : ''}${name} (${place})`;
  });
  const header = (error) => {
    try {
      const name = error.name === undefined ? 'Error' : String(error.name);
      const message = error.message === undefined ? '' : String(error.message);
      return name === '' ? message : message === '' ? name : `${name}: ${message}`;
    } catch {
      return 'Error';
    }
  };
  const isOurs = (site) => (site.getFileName() ?? '').startsWith('node:tidebox/') || (apply(isNative, site, []));
  // Node defines a value of this name; the engine reads what its accessor stored.
  state.keepStacks = () => {
    const { value } = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
    if (value === undefined) return;
    let own;
    Object.defineProperty(Error, 'prepareStackTrace', {
      configurable: true, enumerable: false, get: () => own,
      set(prepare) {
        own = prepare;
        apply(accessor.set, Error, [typeof prepare === 'function' ? prepare : state.defaultStack]);
      },
    });
  };
  Error.prepareStackTrace = state.defaultStack = (error, sites) => {
    let text = header(error);
    for (const site of sites) if (!isOurs(site)) text += `\n    at ${site}`;
    return text;
  };
}
state.wrapped = new Set();
state.heads = new WeakSet();
state.head = '(function (exports, require, module, __filename, __dirname) { ';

// Scripts.
const syntaxPlace = (error, file) => {
  const match = /at .*?:(\d+):(\d+)/.exec(error?.stack ?? '');
  return match && { file, line: Number(match[1]), column: Number(match[2]) };
};
/** Gives a syntax error the head that Node prints. */
function decorate(error, source, file, first) {
  if (!(error instanceof SyntaxError)) return;
  const place = syntaxPlace(error, file);
  if (!place) return;
  const line = source.split('\n')[place.line - 1] ?? '';
  const at = Math.max(0, place.column - 1 - (place.line === 1 ? first : 0));
  try {
    error.stack = `${file}:${place.line}\n${line}\n${' '.repeat(at)}^\n\n${error.name}: ${error.message}`;
    Object.defineProperty(error, state.privateSymbols.arrow_message_private_symbol,
      { value: `${file}:${place.line}\n${line}\n${' '.repeat(at)}^\n`, configurable: true });
    error.stack = `${error.name}: ${error.message}\n    at wrapSafe (node:internal/modules/cjs/loader:1713:18)`;
  } catch { /* A frozen error keeps its stack. */ }
}
const withoutHashbang = (source) => (source.startsWith('#!') ? `//${source.slice(2)}` : source);
bindings.contextify = (binding) => ({
  compileFunctionForCJSLoader(content, filename, isSea, detect) {
    const source = withoutHashbang(content);
    state.wrapped.add(filename);
    try {
      const compiled = native.evaluate(`${state.head}${source}\n})`, filename);
      state.heads.add(compiled);
      return { cachedDataRejected: false, sourceMapURL: undefined, canParseAsESM: false, function: compiled };
    } catch (error) {
      if (detect && native.isModuleText(source)) {
        state.wrapped.delete(filename);
        return { cachedDataRejected: false, sourceMapURL: undefined, canParseAsESM: true, function: undefined };
      }
      decorate(error, content, filename, state.head.length);
      throw error;
    }
  },
  containsModuleSyntax(content, filename) {
    try {
      native.evaluate(`(function () { ${withoutHashbang(content)}\n})`, filename ?? '[eval]');
      return false;
    } catch {
      return native.isModuleText(withoutHashbang(content));
    }
  },
  ContextifyScript: class ContextifyScript {
    #source; #filename;
    constructor(code, filename = 'evalmachine.<anonymous>') {
      this.#source = `${code}`;
      this.#filename = filename;
      this[state.privateSymbols.host_defined_option_symbol] = state.symbols.vm_dynamic_import_main_context_default;
      try {
        native.evaluate(`(async function () { ${this.#source}\n})`, filename);
      } catch (error) {
        // The interactive mode asks for the next line after an error at the end.
        if (/^REPL\d+$/.test(filename)) throw error;
        // The text may be a script and not the body of a function; running it then reports the error.
        if (/^\s*(await|return)\b/.test(this.#source)) { decorate(error, this.#source, filename, 0); }
      }
    }
    runInContext(sandbox) {
      state.sources.set(this.#filename, this.#source);
      if (sandbox === null || sandbox === undefined) {
        try {
          return native.evaluate(this.#source, this.#filename);
        } catch (error) {
          decorate(error, this.#source, this.#filename, 0);
          throw error;
        }
      }
      return runWithin(sandbox, this.#source, this.#filename);
    }
    createCachedData() { return state.require('buffer').Buffer.alloc(0); }
  },
  makeContext(sandbox) {
    if (typeof sandbox === 'symbol') return {};
    sandbox ??= {};
    contexts.add(sandbox);
    Object.defineProperty(sandbox, state.privateSymbols.contextify_context_private_symbol, { value: sandbox, configurable: true });
    return sandbox;
  },
  compileFunction(code, filename = '', line, column, cached, produce, context, extensions, parameters = []) {
    const compiled = native.evaluate(`(function (${parameters.join(',')}) {${code}\n})`, filename);
    return { function: compiled, sourceMapURL: undefined, cachedDataRejected: false };
  },
  // An interrupt ends a process that evaluates, as long as no script catches it.
  startSigintWatchdog: () => true, stopSigintWatchdog: () => false, watchdogHasPendingSigint: () => false,
  measureMemory: state.refusing('vm.measureMemory'),
});
const contexts = new WeakSet();
/** Returns the positions in a script that are in no brackets, strings and comments, where a line begins. */
function outerLines(source) {
  // Strings, templates without expressions, comments, regular expressions after an operator, brackets, line ends.
  const token = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"|`(?:[^`\\]|\\[\s\S])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?<=[=(,:;!&|?{}\n]\s*|return\s+)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|[()[\]{}\n]/g;
  const found = [0];
  let depth = 0;
  for (const { 0: text, index } of source.matchAll(token)) {
    if (text === '(' || text === '[' || text === '{') depth++;
    else if (text === ')' || text === ']' || text === '}') depth--;
    else if (text === '\n' && depth === 0) found.push(index + 1);
  }
  return found;
}
/** Makes the variables and functions of a script properties of the object that has its globals. */
function exportDeclarations(source) {
  const declaration = /[ \t]*(?:(?:var|let|const)\s+([A-Za-z_$][\w$]*)\s*=(?!=)|function\s+([A-Za-z_$][\w$]*)\s*\()/y;
  let made = '';
  let at = 0;
  for (const start of outerLines(source)) {
    declaration.lastIndex = start;
    const match = declaration.exec(source);
    if (match === null) continue;
    made += source.slice(at, start) + (match[1] === undefined ? `${match[2]} = function ${match[2]}(` : `${match[1]} =`);
    at = declaration.lastIndex;
  }
  return made + source.slice(at);
}
/** Runs a script with the properties of an object as its globals. Variables of `var` and functions become properties. */
function runWithin(sandbox, source, filename) {
  const scope = new Proxy(sandbox, {
    has: (target, key) => key !== 'eval' && key !== 'arguments',
    get: (target, key) => {
      if (key === Symbol.unscopables) return undefined;
      if (key in target) return target[key];
      if (key === 'globalThis') return scope;
      if (typeof key === 'string' && BUILT_IN.has(key)) return globalThis[key];
      return undefined;
    },
  });
  const declared = exportDeclarations(source);
  const run = native.evaluate(`(function (__scope) { with (__scope) { return eval(arguments[1]); } })`, filename);
  return apply(run, scope, [scope, declared]);
}
const BUILT_IN = new Set(['Object', 'Function', 'Array', 'Number', 'Boolean', 'String', 'Symbol', 'Date', 'Promise', 'RegExp', 'Error', 'TypeError',
  'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError', 'AggregateError', 'JSON', 'Math', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef',
  'Proxy', 'Reflect', 'ArrayBuffer', 'DataView', 'Uint8Array', 'Int8Array', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array', 'Float32Array',
  'Float64Array', 'BigInt', 'BigInt64Array', 'BigUint64Array', 'parseInt', 'parseFloat', 'isNaN', 'isFinite', 'NaN', 'Infinity', 'undefined',
  'encodeURIComponent', 'decodeURIComponent', 'encodeURI', 'decodeURI', 'escape', 'unescape']);
bindings.module_wrap = (binding) => ({
  ModuleWrap: class ModuleWrap {
    constructor(url, context, source) {
      if (typeof source === 'string' && !native.isModuleText(source)) native.evaluate(`(async function () { ${source}\n})`, url);
    }
  },
  setImportModuleDynamicallyCallback() {}, setInitializeImportMetaObjectCallback() {},
  createRequiredModuleFacade: (wrap) => state.facade(wrap), throwIfPromiseRejected() {},
});
bindings.internal_only_v8 = () => ({ queryObjects: state.refusing('v8.queryObjects') });
bindings.symbols = () => state.symbols;
bindings.mksnapshot = (binding) => ({ setSerializeCallback() {}, setDeserializeCallback() {}, setDeserializeMainFunction() {}, runEmbedderPreload() {}, isBuildingSnapshotBuffer: new Uint8Array(1) });
// The value that the jobs of promises run with. quickjs.patch adds it to the engine; without it, the context is lost in promises.
let frame;
const getContinuation = native.getContinuation ?? (() => frame);
const setContinuation = native.setContinuation ?? ((value) => { frame = value; });
state.getFrame = getContinuation;
/** Calls a function with the context that was current when its resource was made. */
state.inFrame = (value, run) => {
  const before = getContinuation();
  setContinuation(value);
  try {
    return run();
  } finally {
    setContinuation(before);
  }
};
/** Returns whether the nearest script in the stack belongs to an installed package. */
function isInsideNodeModules() {
  const prepare = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  if (prepare !== undefined) delete Error.prepareStackTrace;
  const lines = `${new Error().stack}`.split('\n');
  if (prepare !== undefined) Object.defineProperty(Error, 'prepareStackTrace', prepare);
  const own = lines.find((line) => /[( ](?:file:\/\/)?\/.*:\d+/.test(line) && !line.includes('node:'));
  return own !== undefined && own.includes('/node_modules/');
}
bindings.async_context_frame = () => ({ getContinuationPreservedEmbedderData: getContinuation, setContinuationPreservedEmbedderData: setContinuation });
bindings.v8 = (binding) => ({
  updateHeapStatisticsBuffer() { binding.heapStatisticsBuffer.fill(native.memoryUsed()); binding.heapStatisticsBuffer[5] = native.memoryLimit(); },
  updateHeapCodeStatisticsBuffer() {}, updateHeapSpaceStatisticsBuffer() {}, setFlagsFromString() {}, setHeapSnapshotNearHeapLimit() {}, cachedDataVersionTag: () => 0,
  isStringOneByteRepresentation: (text) => /^[\0-\xff]*$/.test(text),
});

// Messages and clones.
bindings.messaging = () => ({
  ...state.messaging,
  get DOMException() { return state.messaging.DOMException; },
  exposeLazyDOMExceptionProperty(target) {
    Object.defineProperty(target, 'DOMException', { value: state.messaging.DOMException, writable: true, configurable: true, enumerable: false });
  },
  MessageChannel: class MessageChannel { constructor() { state.refusing('MessageChannel')(); } },
  MessagePort: class MessagePort {},
  setDeserializerCreateObjectFunction() {},
  structuredClone: (value, options) => clone(value, new Map(), new Set(options?.transfer ?? [])),
  stopMessagePort() {}, checkMessagePort: () => false, drainMessagePort() {}, receiveMessageOnPort() {}, moveMessagePortToContext() {},
  broadcastChannel: state.refusing('BroadcastChannel'),
});
function refuseClone(value) {
  const text = typeof value === 'function' ? `${value}` : typeof value === 'symbol' ? value.toString() : `#<${constructorName(value)}>`;
  throw new state.messaging.DOMException(`${text} could not be cloned.`, 'DataCloneError');
}
const ERRORS = ['Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'];
function clone(value, known, transfer) {
  if (typeof value === 'function' || typeof value === 'symbol') refuseClone(value);
  if (typeof value !== 'object' || value === null) return value;
  if (known.has(value)) return known.get(value);
  const keep = (copy) => { known.set(value, copy); return copy; };
  if (types.isBoxedPrimitive(value)) return types.isSymbolObject(value) ? refuseClone(value) : keep(Object(value.valueOf()));
  if (types.isDate(value)) return keep(new Date(value.getTime()));
  if (types.isRegExp(value)) return keep(new RegExp(value.source, value.flags));
  if (types.isArrayBuffer(value)) return keep(transfer.has(value) ? value.transfer() : value.slice(0));
  if (ArrayBuffer.isView(value)) {
    const buffer = clone(value.buffer, known, transfer);
    const Kind = types.isDataView(value) ? DataView : globalThis[apply(tagOf, value, [])];
    return keep(new Kind(buffer, value.byteOffset, types.isDataView(value) ? value.byteLength : value.length));
  }
  if (types.isMap(value)) {
    const copy = keep(new Map());
    for (const [key, one] of [...value]) copy.set(clone(key, known, transfer), clone(one, known, transfer));
    return copy;
  }
  if (types.isSet(value)) {
    const copy = keep(new Set());
    for (const one of [...value]) copy.add(clone(one, known, transfer));
    return copy;
  }
  if (isNativeError(value)) {
    const name = ERRORS.includes(value.name) ? value.name : 'Error';
    const copy = keep(Object.create(globalThis[name].prototype));
    const made = new globalThis[name](value.message);
    known.set(value, made);
    Object.defineProperty(made, 'stack', { value: value.stack, writable: true, configurable: true, enumerable: false });
    if ('cause' in value) Object.defineProperty(made, 'cause', { value: clone(value.cause, known, transfer), writable: true, configurable: true, enumerable: false });
    return made;
  }
  if (types.isPromise(value) || types.isWeakMap(value) || types.isWeakSet(value) || classOf(value) === classes.WeakRef || types.isProxy(value) ||
    types.isGeneratorObject(value)) refuseClone(value);
  if (state.symbols.messaging_clone_symbol in value && typeof value[state.symbols.messaging_clone_symbol] === 'function') {
    const { data, deserializeInfo } = value[state.symbols.messaging_clone_symbol]();
    const at = deserializeInfo.lastIndexOf(':');
    const Kind = state.require(deserializeInfo.slice(0, at))[deserializeInfo.slice(at + 1)];
    const copy = keep(new Kind());
    copy[state.symbols.messaging_deserialize_symbol](clone(data, known, transfer));
    return copy;
  }
  const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
  for (const key of Object.keys(value)) copy[key] = clone(value[key], known, transfer);
  return copy;
}
state.clone = (value) => clone(value, new Map(), new Set());
