// A terminal in a page: commands run in a sandbox in a Worker of this page.

import { Sandbox } from "tidebox";

const WORKSPACE = "/workspace";

const element = (id) => document.getElementById(id);
const [terminal, screen, line, prompt, command] = ["terminal", "screen", "line", "prompt", "command"].map(element);
const [files, upload, limit, stop] = ["files", "upload", "limit", "stop"].map(element);

/** Prints text; `kind` selects its style. */
function show(text, kind) {
  const piece = document.createElement("span");
  piece.className = kind;
  piece.textContent = text;
  screen.append(piece);
  terminal.scrollTop = terminal.scrollHeight;
}

/** Aborts the running command; unset while none runs. */
let running;

async function runCommand(sandbox, text) {
  running = new AbortController();
  stop.hidden = false;
  const { exitCode, stoppedBy, truncated } = await sandbox.execute(text, {
    timeoutMs: limit.valueAsNumber * 1000,
    signal: running.signal,
    onStdout: (piece) => show(piece, "stdout"),
    onStderr: (piece) => show(piece, "stderr"),
  });
  running = undefined;
  stop.hidden = true;
  if (!screen.textContent.endsWith("\n")) show("\n", "note");
  if (truncated) show("[the rest of the output was dropped]\n", "note");
  // A stopped command has already printed a message.
  if (exitCode !== 0 && stoppedBy === undefined) show(`[exit code ${exitCode}]\n`, "note");
}

/** Shows the prompt with the working directory. */
async function ask(sandbox) {
  const { stdout } = await sandbox.execute("pwd");
  prompt.textContent = `${stdout.trimEnd().replace(WORKSPACE, "~")} $`;
  await list(sandbox);
  command.disabled = false;
  command.focus();
  terminal.scrollTop = terminal.scrollHeight;
}

/** Lists the files of the workspace; a click downloads one. */
async function list(sandbox) {
  const found = await sandbox.ls(WORKSPACE);
  const items = (found.files ?? []).filter(({ is_dir }) => !is_dir).map(({ path, size }) => {
    const button = document.createElement("button");
    button.textContent = path.slice(WORKSPACE.length + 1);
    button.title = `Download ${size} bytes`;
    button.addEventListener("click", () => download(sandbox, path));
    const item = document.createElement("li");
    item.append(button);
    return item;
  });
  files.replaceChildren(...items);
}

async function download(sandbox, path) {
  const [{ content, error }] = await sandbox.downloadFiles([path]);
  if (error !== null) return show(`[${path} cannot be downloaded: ${error}]\n`, "note");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = path.slice(path.lastIndexOf("/") + 1);
  link.click();
  URL.revokeObjectURL(link.href);
}

async function put(sandbox, chosen) {
  const pairs = await Promise.all([...chosen].map(async (file) => [`${WORKSPACE}/${file.name}`, new Uint8Array(await file.arrayBuffer())]));
  for (const { path, error } of await sandbox.uploadFiles(pairs)) {
    show(error === null ? `[uploaded ${path}]\n` : `[${path} cannot be uploaded: ${error}]\n`, "note");
  }
  await list(sandbox);
}

/** History of lines for the arrow keys. */
const typed = [];
let at = 0;

function recall(step) {
  at = Math.min(Math.max(at + step, 0), typed.length);
  command.value = typed[at] ?? "";
}

async function start() {
  show("Starting a sandbox in this page...\n", "note");
  // A session keeps its working directory and variables between lines.
  const sandbox = await Sandbox.create({
    shellMode: "persistent",
    files: { "poem.txt": "The tide comes in,\nthe tide goes out,\nthe box stays dry.\n" },
  });
  line.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = command.value;
    show(`${prompt.textContent} ${text}\n`, "typed");
    if (text.trim() !== "") typed.push(text);
    at = typed.length;
    command.value = "";
    command.disabled = true;
    await runCommand(sandbox, text);
    await ask(sandbox);
  });
  command.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    recall(step);
  });
  stop.addEventListener("click", () => running?.abort());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === "c" && getSelection().isCollapsed) running?.abort();
  });
  upload.addEventListener("change", async () => {
    await put(sandbox, upload.files);
    upload.value = "";
  });
  show("Ready. Try: ls /bin | wc -l\n", "note");
  await ask(sandbox);
}

start().catch((error) => show(`${error.message}\n`, "stderr"));
