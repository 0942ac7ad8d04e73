// Runs a script by the command `js-exec` of just-bash in one process, and prints the shortest time in milliseconds. Ends with 1 if the
// script fails. Usage: js_exec.mjs DIRECTORY SCRIPT RUNS; the directory has the package.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
const [, , directory, script, runs] = process.argv;
// The package's form for `require` cannot start its worker.
const { Bash } = await import(pathToFileURL(join(directory, 'node_modules/just-bash/dist/bundle/index.js')));
const bash = new Bash({ javascript: true, files: { '/script.js': script } });
let best = Infinity;
for (let run = 0; run < Number(runs); run++) {
  const start = performance.now();
  const { exitCode } = await bash.exec('js-exec /script.js');
  if (exitCode !== 0) process.exit(1);
  best = Math.min(best, performance.now() - start);
}
console.log(best);
process.exit(0);
