// Run by the pinned Node with --expose-internals: writes the sources of Node's library and the constant parts of its bindings into
// a directory. Usage: facts.js DIRECTORY
'use strict';
const { internalBinding } = require('internal/test/binding');
const fs = require('fs');
const path = require('path');
const out = process.argv[2];
const { natives } = internalBinding('builtins');
for (const name of Object.keys(natives)) {
  const file = path.join(out, 'node', `${name}.js`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, natives[name]);
}
const NAMES = ['async_context_frame', 'async_wrap', 'blob', 'block_list', 'buffer', 'builtins', 'cares_wrap', 'config', 'constants',
  'contextify', 'credentials', 'crypto', 'encoding_binding', 'errors', 'fs', 'fs_dir', 'fs_event_wrap', 'heap_utils', 'http_parser', 'icu',
  'inspector', 'js_stream', 'messaging', 'mksnapshot', 'module_wrap', 'modules', 'options', 'os', 'performance', 'permission', 'pipe_wrap',
  'process_methods', 'process_wrap', 'profiler', 'report', 'sea', 'serdes', 'signal_wrap', 'spawn_sync', 'stream_wrap',
  'string_decoder', 'symbols', 'task_queue', 'tcp_wrap', 'timers', 'trace_events', 'tty_wrap', 'types', 'udp_wrap', 'url', 'util', 'uv',
  'v8', 'wasm_web_api', 'worker', 'zlib'];
const SKIPPED = new Set(['natives', 'builtinCategories', 'config', 'builtinIds', 'milestones', 'console']);
function described(value, depth) {
  switch (typeof value) {
    case 'function': return { f: 1 };
    case 'symbol': return { s: value.description };
    case 'bigint': return { n: String(value) };
    case 'undefined': return { u: 1 };
    case 'object': break;
    default: return value;
  }
  if (value === null) return value;
  if (ArrayBuffer.isView(value)) return { t: value.constructor.name, l: value.length };
  if (Array.isArray(value)) return { a: value.map((one) => described(one, depth + 1)) };
  if (value instanceof Map || depth > 4) return { u: 1 };
  return { o: Object.fromEntries(Object.keys(value).map((key) => [key, described(value[key], depth + 1)])) };
}
const facts = { version: process.version, versions: process.versions, release: process.release, bindings: {} };
for (const name of NAMES) {
  const binding = internalBinding(name);
  const found = {};
  for (const key of Object.keys(binding)) if (!SKIPPED.has(key)) found[key] = described(binding[key], 0);
  facts.bindings[name] = found;
}
facts.errors = [...internalBinding('uv').getErrorMap()];
const values = internalBinding('options').getCLIOptionsValues();
values['--expose-internals'] = false;
values['--no-expose-internals'] = true;
values['--warnings'] = true;
values['--no-warnings'] = false;
facts.options = values;
const { options, aliases } = internalBinding('options').getCLIOptionsInfo();
facts.optionKinds = [...options].map(([name, info]) => [name, info.type, info.envVarSettings]);
facts.aliases = [...aliases];
const config = JSON.parse(internalBinding('builtins').config);
facts.config = { target_defaults: {}, variables: { node_use_amaro: true, napi_build_version: config.variables.napi_build_version,
  v8_enable_i18n_support: 0, node_shared: false } };
// Modules of which only the names exist.
facts.modules = {};
for (const name of ['cluster', 'dgram', 'http2', 'inspector', 'inspector/promises', 'sea', 'sqlite', 'trace_events', 'wasi']) {
  facts.modules[name] = described(require(`node:${name}`), 0);
}
fs.writeFileSync(path.join(out, 'facts.json'), JSON.stringify(facts));
