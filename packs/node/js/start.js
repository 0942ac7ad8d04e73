'use strict';
// Starts Node's library: its bindings, its bootstrap scripts in their order, the main script, and the event loop.
const compile = native.compileLibrary;
const run = (name, parameters, ...values) => compile(name, parameters)(...values);
const facts = JSON.parse(native.libraryText('tidebox/facts.json'));
const privateSymbols = {};
// Own code may not call what scripts can replace: methods of prototypes, and iterators.
const state = { native, facts, apply: Reflect.apply, loop: null, process: null, require: null, internalBinding: null, atStart: [], bindings: { __proto__: null } };

const primordials = {};
function prepareGlobals() {
  if (typeof globalThis.Atomics === 'undefined') run('tidebox/atomics', 'native', native);
}
prepareGlobals();
if (typeof Intl === 'undefined') run('tidebox/intl', '');
const setupNames = 'exports, primordials, privateSymbols, perIsolateSymbols';
const messagingExports = {};
// Symbols of the bindings are made once, so that equal names are the same symbol.
const symbols = { __proto__: null };
function valueOf(fact, path) {
  if (fact === null || typeof fact !== 'object') return fact;
  if (fact.s !== undefined) return symbols[fact.s] ??= Symbol(fact.s);
  if (fact.n !== undefined) return BigInt(fact.n);
  if (fact.u) return undefined;
  if (fact.t) return new globalThis[fact.t](fact.l);
  if (fact.a) return fact.a.map((one, at) => valueOf(one, `${path}[${at}]`));
  if (fact.o) return Object.fromEntries(Object.keys(fact.o).map((key) => [key, valueOf(fact.o[key], `${path}.${key}`)]));
  return refusing(path);
}
/** Returns a function for a part of Node that does not exist here: calling it says so. */
function refusing(path) {
  const refuse = function() {
    const error = new Error(`${path} is not available in this sandbox; docs/node.md lists what is`);
    error.code = 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM';
    throw error;
  };
  return refuse;
}
state.refusing = refusing;
function getInternalBinding(name) {
  const known = facts.bindings[name];
  const binding = {};
  if (known) for (const key of Object.keys(known)) binding[key] = valueOf(known[key], `${name}.${key}`);
  const own = state.bindings[name];
  if (own) Object.defineProperties(binding, Object.getOwnPropertyDescriptors(own(binding)));
  else if (!known) throw new Error(`No such binding: ${name}`);
  return binding;
}
const cache = { __proto__: null };
const bindingOf = (name) => cache[name] ??= getInternalBinding(name);
state.bindingOf = bindingOf;
for (const key of ['privateSymbols', 'constants']) state[key] = valueOf(facts.bindings.util[key], key);
Object.assign(privateSymbols, state.privateSymbols);
state.symbols = valueOf({ o: facts.bindings.symbols }, 'symbols');
for (const name of ['system', 'buffers', 'engine', 'files', 'copying', 'streams', 'children', 'packages', 'serialization', 'services', 'http_parser', 'sockets', 'gateway', 'der', 'crypto', 'keys', 'diffie_hellman']) {
  run(`tidebox/${name}`, 'state, bindings', state, state.bindings);
}
run('internal/per_context/primordials', setupNames, {}, primordials, privateSymbols, state.symbols);
state.primordials = primordials;
run('internal/per_context/domexception', setupNames, messagingExports, primordials, privateSymbols, state.symbols);
run('internal/per_context/messageport', setupNames, messagingExports, primordials, privateSymbols, state.symbols);
state.messaging = messagingExports;

const process = state.makeProcess();
state.process = process;
const OVERRIDES = {
  '__proto__': null, 'internal/modules/esm/loader': 'tidebox/esm_loader', 'internal/modules/typescript': 'tidebox/typescript', 'tls': 'tidebox/tls',
};
// Modules that can be loaded, and whose functions are refused: packages load them without using them.
const ABSENT = Object.keys(facts.modules);
const builtinIds = native.libraryNames().filter((name) => !name.startsWith('tidebox/'));
for (const id of ABSENT) if (!builtinIds.includes(id)) builtinIds.push(id);
for (const id of Object.keys(OVERRIDES)) builtinIds.push(id);
state.bindings.builtins = () => ({
  builtinIds: [...new Set(builtinIds)],
  compileFunction(id) {
    if (ABSENT.includes(id)) return (exports, require, module) => { module.exports = valueOf(facts.modules[id], id); };
    const inner = compile(OVERRIDES[id] ?? id, 'exports, require, module, process, internalBinding, primordials, tidebox');
    return (exports, require, module, ...rest) => inner(exports, require, module, ...rest, state);
  },
  setInternalLoaders(internalBinding, require) {
    state.internalBinding = internalBinding;
    state.require = require;
  },
  config: JSON.stringify(facts.config),
  hasCachedBuiltins: () => true,
  natives: {},
});
const { internalBinding, require } = (() => {
  run('internal/bootstrap/realm', 'process, getLinkedBinding, getInternalBinding, primordials', process, refusing('process._linkedBinding'), bindingOf, primordials);
  return state;
})();
const compiled = { __proto__: null };
const compileMain = (id) => compile(id, 'process, require, internalBinding, primordials, tidebox');
const boot = (id) => (compiled[id] ?? compileMain(id))(process, require, internalBinding, primordials, state);
for (const id of ['internal/bootstrap/node', 'internal/bootstrap/web/exposed-wildcard', 'internal/bootstrap/web/exposed-window-or-worker',
  'internal/bootstrap/switches/is_main_thread', 'internal/bootstrap/switches/does_own_process_state']) boot(id);
state.afterBootstrap();
state.dispatcher = () => compile('tidebox/dispatcher', 'require, module')(require, {});
// What most scripts need. The memory of the pack's program starts after this line: see preinit.js. Whether the output is a terminal is
// asked when the program runs.
const stderr = Object.getOwnPropertyDescriptor(process, 'stderr');
Object.defineProperty(process, 'stderr', { value: undefined, configurable: true });
for (const id of ['assert', 'buffer', 'child_process', 'crypto', 'events', 'fs', 'fs/promises', 'http', 'https', 'module', 'net', 'os', 'path', 'perf_hooks', 'querystring',
  'readline', 'stream', 'stream/promises', 'string_decoder', 'timers', 'timers/promises', 'tty', 'url', 'util', 'vm', 'zlib', 'internal/modules/run_main',
  'internal/process/pre_execution', 'internal/modules/esm/resolve', 'internal/modules/esm/load', 'internal/util/colors', 'internal/modules/esm/initialize_import_meta', 'internal/vm/module', 'internal/process/execution', 'internal/fs/streams']) require(id);
for (const id of ['run_main_module', 'eval_string', 'eval_stdin']) compiled[`internal/main/${id}`] = compileMain(`internal/main/${id}`);
Object.defineProperty(process, 'stderr', stderr);
// They are not read again.
for (const name of Object.keys(cache)) delete facts.bindings[name];
return () => { for (const run of state.atStart) run(); state.main(boot); };
