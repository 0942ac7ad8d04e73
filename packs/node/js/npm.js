'use strict';
// `npm` and `npx`: scripts and installed programs. For all other commands npm itself is fetched from its registry and run.
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const { createHash } = require('crypto');
const { gunzipSync } = require('zlib');
const { prepareMainThreadExecution, markBootstrapComplete } = require('internal/process/pre_execution');
prepareMainThreadExecution(false, true);
markBootstrapComplete();

/** The version of npm that this version of Node has. */
const NPM = { version: '10.9.9', integrity: 'sha512-1g+6jLQvaIuB4zwvHL7yrXuXcWZwDsCtBX8bbWDqbvJSSr9nPiDDWTHNgwXR27iIcTTW7v3A57hDW9RYv2W4Yg==' };
const RUN_ALIASES = { __proto__: null, t: 'test', tst: 'test', test: 'test', start: 'start', stop: 'stop', restart: 'restart' };
const say = (text) => { fs.writeSync(1, `${text}\n`); };
const complain = (...lines) => { for (const line of lines) fs.writeSync(2, `npm error${line ? ` ${line}` : ''}\n`); };
const exists = (file) => fs.existsSync(file);

/** Returns the directory of the project: the next one upwards with a package.json or node_modules. */
function prefixOf(start) {
  for (let at = start; ; at = path.dirname(at)) {
    if (exists(path.join(at, 'package.json')) || exists(path.join(at, 'node_modules'))) return at;
    if (at === '/') return start;
  }
}
function readPackage(prefix) {
  const file = path.join(prefix, 'package.json');
  let text;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch {
    complain('code ENOENT', 'syscall open', `path ${file}`, 'errno -2', `enoent Could not read package.json: Error: ENOENT: no such file or directory, open '${file}'`,
      'enoent This is related to npm not being able to find a file.', 'enoent');
    process.exit(254);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    complain('code EJSONPARSE', `path ${file}`, `JSON.parse ${error.message}`, 'JSON.parse Failed to parse JSON data.', 'JSON.parse Note: package.json must be actual JSON, not just JavaScript.');
    return process.exit(1);
  }
}
/** Quotes a word for `sh`, as npm does. */
function quote(word) {
  if (word === '') return "''";
  if (!/[\t\n\r "#$&'()*;<>?\\`|~]/.test(word)) return word;
  return `'${word.replace(/'/g, "'\\''")}'`.replace(/^''(?=.)/, '').replace(/(?<=.)''$/, '');
}
function binPath(prefix) {
  const dirs = [];
  for (let at = prefix; ; at = path.dirname(at)) {
    dirs.push(path.join(at, 'node_modules/.bin'));
    if (at === '/') break;
  }
  return [...dirs, process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin'].join(':');
}
function environment(prefix, settings, more) {
  const env = { ...process.env, PATH: binPath(prefix), INIT_CWD: process.cwd(), NODE: process.execPath, npm_node_execpath: process.execPath, npm_execpath: '/usr/bin/npm',
    npm_config_local_prefix: prefix, npm_config_prefix: '/usr', npm_config_user_agent: `npm/${NPM.version} node/${process.version} linux x64 workspaces/false`, ...more };
  for (const [name, value] of Object.entries(settings.config)) env[`npm_config_${name.replace(/-/g, '_')}`] = value;
  return env;
}
/** Runs a command line in the shell. Returns its exit code. */
function shell(command, prefix, env) {
  const { status, signal, error } = spawnSync('sh', ['-c', command], { cwd: prefix, env, stdio: 'inherit' });
  if (error) { complain(`code ${error.code}`, error.message); return 1; }
  return signal ? 128 + (require('os').constants.signals[signal] ?? 0) : status;
}
function listScripts({ name, version, scripts = {} }) {
  const names = Object.keys(scripts);
  const lifecycle = names.filter((one) => /^(?:pre|post)?(?:test|start|stop|restart|install|publish|version|prepare|prepublish|pack|prepack|uninstall)$/.test(one));
  const others = names.filter((one) => !lifecycle.includes(one));
  const id = name ? `${name}${version ? `@${version}` : ''}` : '';
  if (lifecycle.length > 0) say(`Lifecycle scripts included in ${id}:`);
  for (const one of lifecycle) say(`  ${one}\n    ${scripts[one]}`);
  if (others.length > 0) say(lifecycle.length > 0 ? 'available via `npm run`:' : `Scripts available in ${id} via \`npm run\`:`);
  for (const one of others) say(`  ${one}\n    ${scripts[one]}`);
  return 0;
}
function runScript(name, words, settings) {
  const prefix = settings.prefix ?? prefixOf(process.cwd());
  const found = readPackage(prefix);
  if (name === undefined) return listScripts(found);
  const scripts = { ...found.scripts };
  if (scripts[name] === undefined && name === 'start' && exists(path.join(prefix, 'server.js'))) scripts.start = 'node server.js';
  if (scripts[name] === undefined && name === 'env') scripts.env = 'env';
  if (scripts[name] === undefined && name === 'restart' && (scripts.stop || scripts.start)) return runScript('stop', [], { ...settings, optional: true }) || runScript('start', words, settings);
  if (scripts[name] === undefined) {
    if (settings.optional) return 0;
    complain(`Missing script: "${name}"`, '', 'To see a list of scripts, run:', '  npm run');
    return 1;
  }
  for (const event of [`pre${name}`, name, `post${name}`]) {
    if (scripts[event] === undefined || (event !== name && settings.noScripts)) continue;
    const command = [scripts[event], ...(event === name ? words.map(quote) : [])].join(' ');
    if (!settings.silent) say(`\n> ${found.name ? `${found.name}${found.version ? `@${found.version}` : ''} ` : ''}${event}\n> ${command.trim().replace(/\n/g, '\n> ')}\n`);
    const code = shell(command, prefix, environment(prefix, settings, { npm_command: 'run-script', npm_lifecycle_event: event, npm_lifecycle_script: scripts[event],
      npm_package_json: path.join(prefix, 'package.json'), npm_package_name: found.name ?? '', npm_package_version: found.version ?? '' }));
    if (code !== 0) return code;
  }
  return 0;
}
/** Returns the installed program of a name, or of a package. */
function findProgram(prefix, name) {
  for (let at = prefix; ; at = path.dirname(at)) {
    const file = path.join(at, 'node_modules/.bin', name);
    if (exists(file)) return file;
    const own = path.join(at, 'node_modules', name, 'package.json');
    if (exists(own)) {
      const { bin } = JSON.parse(fs.readFileSync(own, 'utf8'));
      const [first] = typeof bin === 'string' ? [bin] : Object.values(bin ?? {});
      if (first) return path.join(path.dirname(own), first);
    }
    if (at === '/') return undefined;
  }
}
function execute(words, settings, all) {
  const prefix = settings.prefix ?? prefixOf(process.cwd());
  const env = environment(prefix, settings, { npm_command: 'exec', npm_lifecycle_event: 'npx' });
  if (settings.call !== undefined) return shell(settings.call, process.cwd(), env);
  const [name, ...rest] = words;
  if (name === undefined) { complain('npx has no interactive mode in this sandbox; pass the name of a program'); return 1; }
  const program = settings.packages.length > 0 ? undefined : findProgram(prefix, name.replace(/(?<=.)@[^@/]*$/, ''));
  if (program === undefined) return delegate(['exec', ...all]);
  return shell([quote(program), ...rest.map(quote)].join(' '), process.cwd(), env);
}

/** Unpacks an archive of npm into a directory. */
function unpack(bytes, to) {
  const text = (from, length) => bytes.toString('utf8', from, from + length).replace(/\0.*$/s, '');
  let long;
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0;) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const kind = String.fromCharCode(bytes[at + 156]);
    const content = bytes.subarray(at + 512, at + 512 + size);
    const name = long ?? [text(at + 345, 155), text(at, 100)].filter(Boolean).join('/');
    long = undefined;
    if (kind === 'x') long = /(?:^|\n)\d+ path=(.*)\n/.exec(content.toString('utf8'))?.[1];
    else if (kind === 'L') long = content.toString('utf8').replace(/\0.*$/s, '');
    else if (kind === '0' || kind === '\0') {
      const file = path.join(to, path.normalize(`/${name.slice(name.indexOf('/') + 1)}`));
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, content, { mode: Number.parseInt(text(at + 100, 8), 8) & 0o111 ? 0o755 : 0o644 });
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
}
/** Runs npm itself. It is fetched when it is first needed. */
async function delegate(words) {
  const dir = path.join(process.env.HOME ?? '/root', '.npm/_tidebox', `npm-${NPM.version}`);
  if (!exists(path.join(dir, 'bin/npm-cli.js'))) {
    const registry = (process.env.npm_config_registry ?? process.env.NPM_CONFIG_REGISTRY ?? 'https://registry.npmjs.org').replace(/\/$/, '');
    const url = `${registry}/npm/-/npm-${NPM.version}.tgz`;
    let bytes;
    try {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
      bytes = Buffer.from(await response.arrayBuffer());
    } catch (error) {
      complain(`npm ${words[0]} needs npm ${NPM.version}, which is fetched from its registry at first: ${(error.cause ?? error).message}`,
        'Allow the registry in the network policy (`--allow registry.npmjs.org`), or install the packages on the host and mount the directory.',
        'Without a network `npm run`, `npm test`, `npm start`, `npm exec` and `npx` of installed programs work.');
      return 1;
    }
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    if (integrity !== NPM.integrity) { complain(`${url} has the integrity ${integrity}, not ${NPM.integrity}`); return 1; }
    unpack(gunzipSync(bytes), `${dir}.new`);
    fs.renameSync(`${dir}.new`, dir);
  }
  const { status } = spawnSync(process.execPath, [path.join(dir, 'bin/npm-cli.js'), ...words], { stdio: 'inherit', env: { npm_config_update_notifier: 'false', ...process.env } });
  return status ?? 1;
}

const USAGE = `npm <command>

Usage:

npm run, test, start, stop, restart   run scripts of package.json
npm exec, npx                         run an installed program
npm root, prefix, bin, ls and others  are npm's own
npm install, ci and others            are npm's own: it is fetched from its registry, which the network policy must allow
`;
/** Reads the options of npm before the name of a command and after it. */
function parse(words) {
  const settings = { config: {}, packages: [], silent: false, optional: false, noScripts: false, prefix: undefined, call: undefined };
  const rest = [];
  let other = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === '--') { rest.push(...words.slice(at + 1)); break; }
    if (!word.startsWith('-') || word === '-') { rest.push(word); if (settings.stopAt !== undefined && rest.length > settings.stopAt) { rest.push(...words.slice(at + 1)); break; } continue; }
    const [name, value] = word.includes('=') ? [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] : [word];
    const next = () => value ?? words[++at];
    switch (name) {
      case '-s': case '--silent': settings.silent = true; break;
      case '--quiet': case '-q': case '--loglevel': case '--no-update-notifier': case '--yes': case '-y': case '--no': case '--no-install': case '--no-audit': case '--no-fund': break;
      case '--if-present': settings.optional = true; break;
      case '--ignore-scripts': settings.noScripts = true; break;
      case '--prefix': case '-C': settings.prefix = path.resolve(next()); break;
      case '-c': case '--call': settings.call = next(); break;
      case '-p': case '--package': settings.packages.push(next()); break;
      default: other = true;
    }
  }
  return { settings, rest, other };
}
async function main() {
  const [, , ...words] = process.argv;
  const asNpx = path.basename(process.argv0) === 'npx';
  if (asNpx) {
    if (words[0] === '--version' || words[0] === '-v') { say(NPM.version); return 0; }
    // The options after the name belong to the program.
    const first = words.findIndex((word, at) => !word.startsWith('-') && !['-c', '--call', '-p', '--package'].includes(words[at - 1]));
    const { settings } = parse(first < 0 ? words : words.slice(0, first));
    const program = first < 0 ? [] : words.slice(first);
    return execute(program, settings, words);
  }
  const { settings, rest, other } = parse(words);
  const [command, ...operands] = rest;
  if (words.length === 0 || (command === undefined && words.some((word) => word === '-h' || word === '--help'))) { say(USAGE); return words.length === 0 ? 1 : 0; }
  if (words[0] === '--version' || words[0] === '-v') { say(NPM.version); return 0; }
  if (!other) {
    if (command === 'run' || command === 'run-script' || command === 'rum' || command === 'urn') return runScript(operands[0], operands.slice(1), settings);
    if (RUN_ALIASES[command]) return runScript(RUN_ALIASES[command], operands, settings);
    if (command === 'exec' || command === 'x') return execute(operands, settings, words.slice(words.indexOf(command) + 1));
    const prefix = settings.prefix ?? prefixOf(process.cwd());
    if (command === 'prefix') { say(prefix); return 0; }
    if (command === 'root') { say(path.join(prefix, 'node_modules')); return 0; }
  }
  return delegate(words);
}
main().then((code) => { process.exitCode = code; });
