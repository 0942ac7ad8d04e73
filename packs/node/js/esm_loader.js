'use strict';
// The loader of ES modules over that of the engine, in place of Node's own.
const { native } = tidebox;
const { BuiltinModule } = require('internal/bootstrap/realm');
const { pathToFileURL, fileURLToPath, URL } = require('internal/url');
const { getCWDURL } = require('internal/util');
const path = require('path');
const lazy = (id) => { let found; return () => found ??= require(id); };
const resolver = lazy('internal/modules/esm/resolve');
const formats = lazy('internal/modules/esm/get_format');
const loading = lazy('internal/modules/esm/load');
const cjs = lazy('internal/modules/cjs/loader');
const lexer = lazy('internal/deps/cjs-module-lexer/lexer');
const meta = lazy('internal/modules/esm/initialize_import_meta');
/** Modules by address: attributes and format that were found when they were resolved. */
const known = new Map();
let mainUrl;
const namespaces = new WeakSet();
tidebox.isNamespace = (value) => typeof value === 'object' && value !== null && (namespaces.has(value) ||
  (Object.getPrototypeOf(value) === null && Object.prototype.toString.call(value) === '[object Module]' && !Object.isExtensible(value)));

function parentOf(base) {
  if (!base || base === '<input>' || base.startsWith('[') || base === '<eval>' || base === 'evalmachine.<anonymous>') return `${getCWDURL()}`;
  if (base.startsWith('/')) return pathToFileURL(base).href;
  return URL.canParse(base) ? base : `${getCWDURL()}`;
}
function resolveSync(specifier, parentURL, importAttributes = { __proto__: null }) {
  return resolver().defaultResolve(specifier, { __proto__: null, parentURL, importAttributes, conditions: undefined });
}
/** Called by the engine for each import. */
function resolveHook(base, specifier, type) {
  const attributes = type == null ? { __proto__: null } : { __proto__: null, type };
  const { url, format } = resolveSync(specifier, parentOf(base), attributes);
  if (url.startsWith('data:') || url.startsWith('file:') || url.startsWith('node:')) {
    const found = format ?? (url.startsWith('node:') ? 'builtin' : undefined);
    if (found) require('internal/modules/esm/assert').validateAttributes(url, found, attributes);
  }
  known.set(url, { format, attributes });
  return url;
}
/** Makes the text of a module that exports values: `take` returns them when it runs. */
function synthetic(names, take) {
  const all = names.filter((name) => name !== 'default');
  const source = `const v = import.meta.take();\n${all.map((name, at) => `const e${at} = v[${at}];`).join('\n')}\n` +
    `const d = v[${all.length}];\nexport { d as default${all.map((name, at) => `, e${at} as ${JSON.stringify(name)}`).join('')} };\n`;
  return [source, (object) => {
    object.take = () => {
      delete object.take;
      const [exports, main] = take();
      return [...all.map((name) => exports?.[name]), main];
    };
  }];
}
function loadBuiltin(id) {
  const module = BuiltinModule.map.get(id);
  const exports = module.compileForPublicLoader();
  return synthetic(module.exportKeys.filter((name) => name !== 'default'), () => [exports, exports]);
}
function namesOf(filename, source, seen = new Set()) {
  if (seen.has(filename)) return new Set();
  seen.add(filename);
  let found;
  try {
    lexer().init?.();
    found = lexer().parse(source);
  } catch {
    return new Set();
  }
  const names = new Set(found.exports);
  const { Module } = cjs();
  for (const again of found.reexports) {
    try {
      const module = new Module(filename);
      module.filename = filename;
      module.paths = Module._nodeModulePaths(path.dirname(filename));
      const other = Module._resolveFilename(again, module, false);
      if (path.isAbsolute(other) && /\.(c?js)$/.test(other)) for (const name of namesOf(other, tidebox.readText(other), seen)) names.add(name);
      else if (BuiltinModule.canBeRequiredByUsers(other.replace(/^node:/, ''))) for (const name of Object.keys(require(other.replace(/^node:/, '')))) names.add(name);
    } catch { /* A module that is missing fails when it is required. */ }
  }
  return names;
}
function loadCommonJs(url, source) {
  const filename = fileURLToPath(url);
  const names = namesOf(filename, `${source ?? tidebox.readText(filename)}`);
  names.add('module.exports');
  const isMain = url === mainUrl;
  return synthetic([...names], () => {
    const exports = cjs().wrapModuleLoad(filename, undefined, isMain);
    const view = new Proxy({}, { get: (_, key) => (key === 'module.exports' ? exports : exports == null ? undefined : exports[key]) });
    const main = names.has('__esModule') && exports?.__esModule && false ? exports.default : exports;
    return [view, main];
  });
}
/** Called by the engine for each new address. Returns the text and a function that fills `import.meta`. */
function loadHook(url) {
  if (url.startsWith('node:')) return loadBuiltin(url.slice(5));
  if (made.has(url)) return made.get(url);
  const { format: guess, attributes = { __proto__: null } } = known.get(url) ?? {};
  const { format, source } = loading().defaultLoadSync(url, { __proto__: null, format: guess, importAttributes: attributes });
  const text = () => (typeof source === 'string' ? source : source == null ? '' : native.decode(source, 'utf8', 0, source.byteLength));
  switch (format) {
    case 'module': return [strip(text()), initialize(url)];
    case 'module-typescript': return [require('internal/modules/typescript').stripTypeScriptModuleTypes(text(), urlPath(url)), initialize(url)];
    case 'commonjs-typescript': return loadCommonJs(url, require('internal/modules/typescript').stripTypeScriptModuleTypes(tidebox.readText(urlPath(url)), urlPath(url)));
    case 'commonjs': return loadCommonJs(url, source == null ? undefined : text());
    case 'json': return synthetic([], () => {
      try {
        return [{}, JSON.parse(text().replace(/^\ufeff/, ''))];
      } catch (error) {
        error.message = `${urlPath(url)}: ${error.message}`;
        throw error;
      }
    });
    case 'wasm': throw Object.assign(new Error('WebAssembly is not available in this sandbox\'s node'), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' });
    default: {
      const { ERR_UNKNOWN_MODULE_FORMAT } = require('internal/errors').codes;
      throw new ERR_UNKNOWN_MODULE_FORMAT(format, url);
    }
  }
}
const strip = (source) => (source.startsWith('#!') ? `//${source.slice(2)}` : source);
const urlPath = (url) => (url.startsWith('file:') ? fileURLToPath(url) : url);
const initialize = (url) => (object) => { meta().initializeImportMeta(object, { url, isMain: url === mainUrl }, loader); };
const made = new Map();
native.setModuleHooks(resolveHook, loadHook);
const pending = new Set();
tidebox.pendingEntry = () => { for (const url of pending) return urlPath(url); return undefined; };
let evaluations = 0;
const loader = {
  allowImportMetaResolve: true,
  resolveSync: (specifier, parentURL, attributes) => resolveSync(`${specifier}`, parentURL, attributes),
  resolve: async (specifier, parentURL, attributes) => resolveSync(`${specifier}`, parentURL, attributes),
  async import(specifier, parentURL, attributes, isMain = false) {
    const { url, format } = resolveSync(`${specifier}`, parentOf(parentURL), attributes ?? { __proto__: null });
    if (isMain) mainUrl = url;
    if (!known.has(url)) known.set(url, { format, attributes: attributes ?? { __proto__: null } });
    if (isMain) pending.add(url);
    try {
      return await native.importModule(url);
    } finally {
      pending.delete(url);
    }
  },
  async eval(source, url, isMain) {
    const name = `${url}`;
    if (isMain) mainUrl = name;
    pending.add(name);
    try {
      const [promise, namespace] = native.runModule(name, source, initialize(name));
      await promise;
      return { __proto__: null, namespace };
    } finally {
      pending.delete(name);
    }
  },
  createModuleWrap(source, url) { return { source, url }; },
  executeModuleJob(url, wrap, isMain) { return this.eval(wrap.source, url, isMain); },
  importSyncForRequire(mod, filename, source, isMain, parent) {
    const url = pathToFileURL(filename).href;
    if (isMain) mainUrl = url;
    const promise = native.importModule(url);
    for (let turns = 0; native.promiseState(promise)[0] === 0 && turns < 1; turns++) native.runJobs();
    const [kind, value] = native.promiseState(promise);
    if (kind === 2) { promise.catch(() => {}); throw value; }
    if (kind === 0) {
      const { ERR_REQUIRE_ASYNC_MODULE } = require('internal/errors').codes;
      throw new ERR_REQUIRE_ASYNC_MODULE(filename, parent?.filename);
    }
    namespaces.add(value);
    return { wrap: { url }, namespace: value };
  },
  forceLoadHooks() {}, register: tidebox.refusing('module.register'),
  importMetaInitialize(object, context) { return meta().initializeImportMeta(object, context, loader); },
};
/** Returns a namespace with the exports of a module and `__esModule`. */
tidebox.facade = ({ url }) => {
  const name = `tidebox:facade/${++evaluations}`;
  const text = `export * from ${JSON.stringify(url)};\nexport { default } from ${JSON.stringify(url)};\nexport const __esModule = true;\n`;
  const [promise, namespace] = native.runModule(name, text, () => {});
  promise.catch(() => {});
  return namespace;
};
module.exports = {
  createModuleLoader: () => loader,
  getHooksProxy: tidebox.refusing('module.register'),
  getOrInitializeCascadedLoader: () => loader,
  register: tidebox.refusing('module.register'),
};
