'use strict';
// package.json files.
const { native } = state;
const cache = new Map();
/** Returns name, main, type, imports, exports and path of a package.json; undefined if there is none. */
function read(path, isEsm, base, specifier) {
  if (cache.has(path)) return cache.get(path);
  let text;
  try {
    text = state.readText(path);
  } catch {
    // A file that is missing now may be written later.
    return undefined;
  }
  let json;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const { ERR_INVALID_PACKAGE_CONFIG } = state.require('internal/errors').codes;
    throw new ERR_INVALID_PACKAGE_CONFIG(path, isEsm && base ? `"${specifier}" from ${base}` : undefined, error.message);
  }
  const packed = (value) => (value === undefined || value === null ? undefined : typeof value === 'string' ? value : JSON.stringify(value));
  const found = [typeof json?.name === 'string' ? json.name : undefined, typeof json?.main === 'string' ? json.main : undefined,
    json?.type === 'module' || json?.type === 'commonjs' ? json.type : 'none', packed(json?.imports), packed(json?.exports), path];
  cache.set(path, found);
  return found;
}
const toPath = (url) => (url.startsWith('file:') ? state.require('internal/url').fileURLToPath(url) : url);
/** Returns the package.json that a file belongs to, or the path where the last one was looked for. */
function scope(resolved) {
  const { dirname, join } = state.require('path');
  let at = dirname(toPath(resolved));
  for (;;) {
    const path = join(at, 'package.json');
    if (at.endsWith('/node_modules')) return path;
    const found = read(path);
    if (found) return found;
    if (at === '/' || at === '.') return path;
    at = dirname(at);
  }
}
bindings.modules = () => ({
  readPackageJSON: read,
  getNearestParentPackageJSON: (path) => { const found = scope(path); return Array.isArray(found) ? found : undefined; },
  getNearestParentPackageJSONType: (path) => { const found = path === undefined ? 'none' : scope(path); return Array.isArray(found) ? found[2] : 'none'; },
  getPackageScopeConfig: (url) => { if (!url.startsWith('file:')) return '/package.json'; return scope(url); },
  getPackageType: (url) => { if (!url.startsWith('file:')) return undefined; const found = scope(url); return Array.isArray(found) && found[2] !== 'none' ? found[2] : undefined; },
  setLazyPathHelpers(object, url) {
    const { fileURLToPath } = state.require('internal/url');
    const filename = fileURLToPath(url);
    const put = (name, value) => Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: true });
    put('dirname', state.require('path').dirname(filename));
    put('filename', filename);
  },
  enableCompileCache: () => [3], getCompileCacheDir: () => undefined, flushCompileCache() {}, getCompileCacheEntry: () => undefined, saveCompileCacheEntry() {},
  cachedCodeTypes: { __proto__: null, kStrippedTypeScript: 0, kTransformedTypeScript: 1, kTransformedTypeScriptWithSourceMaps: 2 },
});
