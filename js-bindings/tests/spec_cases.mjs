// Recorded cases of real bash and the GNU tools; `tests/spec/format.rs` documents their format.

const NEWLINE = 10;
const ESCAPES = { n: 10, t: 9, r: 13, "\\": 92, "'": 39, '"': 34 };

/** The cases of a file: name, files, script, stdout, stderr, exit, and why the sandbox differs if it does. */
export function parseCases(text) {
  const cases = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at];
    if (line === "" || line.startsWith("#")) continue;
    if (line.startsWith("=== ")) {
      cases.push({ name: line.slice(4), files: {}, script: "", stdout: [], stderr: [], exit: undefined, differs: undefined });
      continue;
    }
    const current = cases.at(-1);
    if (current === undefined || !line.startsWith("--- ")) throw new Error(`line ${at + 1}: expected a part: ${line}`);
    const content = [];
    while (lines[at + 1]?.startsWith("  ")) content.push(lines[++at].slice(2));
    const [, part, escaped] = /^--- (.*?)( \(escaped\))?$/.exec(line);
    const bytes = escaped ? unescape(content) : plain(content);
    const [word, ...rest] = part.split(" ");
    if (word === "file") current.files[rest.join(" ")] = Uint8Array.from(bytes);
    else if (word === "script") current.script = new TextDecoder().decode(Uint8Array.from(bytes));
    else if (word === "stdout" || word === "stderr") current[word] = bytes;
    else if (word === "exit") current.exit = Number(rest[0]);
    else if (word === "differs:") current.differs = rest.join(" ");
    else throw new Error(`line ${at + 1}: an unknown part: ${line}`);
  }
  return cases;
}

function plain(lines) {
  const encoder = new TextEncoder();
  return lines.flatMap((line) => [...encoder.encode(line), NEWLINE]);
}

function unescape(lines) {
  const bytes = [];
  for (const line of lines) {
    for (let at = 0; at < line.length; at++) {
      const char = line[at];
      if (char !== "\\") {
        bytes.push(char.charCodeAt(0));
      } else if (line[++at] === "x") {
        bytes.push(Number.parseInt(line.slice(at + 1, at + 3), 16));
        at += 2;
      } else {
        bytes.push(ESCAPES[line[at]]);
      }
    }
  }
  return bytes;
}
