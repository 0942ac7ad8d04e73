'use strict';
// TypeScript by removal of types, with Sucrase: lines stay where they are. Enumerations and parameter properties are compiled.
const { codes: { ERR_INVALID_TYPESCRIPT_SYNTAX, ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING } } = require('internal/errors');
const { validateObject, validateOneOf, validateString } = require('internal/validators');
const { isUnderNodeModules, kEmptyObject } = require('internal/util');
const path = require('path');
const loaded = new Map();
// Source maps are not made.
const ABSENT = { '@jridgewell/gen-mapping': {}, 'lines-and-columns': 'lines-and-columns/index', 'ts-interface-checker': 'ts-interface-checker/index' };
const FOLDERS = ['sucrase/parser', 'sucrase/parser/tokenizer', 'sucrase/parser/plugins/jsx', 'sucrase/parser/traverser'];
/** Loads a module of Sucrase or of its dependencies. */
function load(id) {
  if (loaded.has(id)) return loaded.get(id).exports;
  const module = { exports: {} };
  loaded.set(id, module);
  const requireHere = (name) => {
    if (!name.startsWith('.')) return typeof ABSENT[name] === 'string' ? load(ABSENT[name]) : ABSENT[name];
    const found = path.join(path.dirname(id), name);
    return load(FOLDERS.includes(found) ? `${found}/index` : found);
  };
  tidebox.native.compileLibrary(`tidebox/kept/${id}`, 'exports, require, module')(module.exports, requireHere, module);
  return module.exports;
}
function strip(code, filename) {
  try {
    return load('sucrase/index').transform(code, { transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true }).code;
  } catch (error) {
    const place = error.loc ? `:${error.loc.line}` : '';
    throw Object.assign(new ERR_INVALID_TYPESCRIPT_SYNTAX(error.message), { stack: `${filename}${place}\n${error.name}: ${error.message}` });
  }
}
function stripTypeScriptTypes(code, options = kEmptyObject) {
  validateString(code, 'code');
  validateObject(options, 'options');
  validateOneOf(options.mode ?? 'strip', 'options.mode', ['strip', 'transform']);
  if (options.sourceMap) tidebox.refusing('a source map of stripTypeScriptTypes')();
  const text = strip(code, options.sourceUrl ?? '');
  return options.sourceUrl ? `${text}\n\n//# sourceURL=${options.sourceUrl}` : text;
}
function stripTypeScriptModuleTypes(source, filename) {
  if (isUnderNodeModules(filename)) throw new ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING(filename);
  return strip(source, filename);
}
module.exports = { stripTypeScriptModuleTypes, stripTypeScriptTypes };
