// The page: sandboxes of one tenant, their processes and files, a terminal, and figures over time.

import { connect } from "./terminal.js";

const INTERVAL = 2000;
const HISTORY = 120;
const find = (id) => document.getElementById(id);

let selected = null;
let directory = "/workspace";
let disconnect = null;
const history = new Map();

const token = () => sessionStorage.getItem("token") ?? "";

async function call(method, path, body) {
  const headers = {};
  if (token() !== "") headers.authorization = `Bearer ${token()}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  if (!response.ok) {
    const { error } = await response.json().catch(() => ({ error: { message: response.statusText } }));
    throw new Error(error.message);
  }
  const kind = response.headers.get("content-type") ?? "";
  return kind.startsWith("application/json") ? response.json() : response.text();
}

const report = (text, isOk = false) => {
  find("status").textContent = text;
  find("status").className = isOk ? "ok" : "";
};

// Runs an action and shows its error.
const act = (action) => async (event) => {
  event?.preventDefault();
  try {
    await action(event);
  } catch (error) {
    report(error.message);
  }
};

function cell(content, kind = "") {
  const cell = document.createElement("td");
  cell.className = kind;
  cell.append(content);
  return cell;
}

function row(...cells) {
  const row = document.createElement("tr");
  row.append(...cells);
  return row;
}

function button(text, action, kind = "") {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.className = kind;
  button.addEventListener("click", act(action));
  return button;
}

const duration = (seconds) => {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
};

const size = (bytes) => {
  if (bytes === null) return "";
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) [bytes, unit] = [bytes / 1024, unit + 1];
  return `${unit === 0 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`;
};

async function showSandboxes() {
  const { sandboxes } = await call("GET", "/v1/sandboxes");
  find("sandboxes").replaceChildren(...sandboxes.map((sandbox) => {
    const labels = Object.entries(sandbox.labels).map(([name, value]) => `${name}=${value}`).join(" ");
    const line = row(
      cell(button(sandbox.id, () => select(sandbox.id), "link"), "id"), cell(labels),
      cell(duration(sandbox.age_seconds), "number"), cell(duration(sandbox.idle_seconds), "number"),
      cell(button("Delete", async () => {
        await call("DELETE", `/v1/sandboxes/${sandbox.id}`);
        await refresh();
      })),
    );
    if (sandbox.id === selected) line.className = "selected";
    return line;
  }));
  if (selected !== null && !sandboxes.some(({ id }) => id === selected)) await select(null);
}

async function select(id) {
  disconnect?.();
  disconnect = null;
  find("terminal").replaceChildren();
  [selected, directory] = [id, "/workspace"];
  find("sandbox").hidden = id === null;
  find("sandbox-title").textContent = id ?? "";
  await refresh();
}

async function showProcesses() {
  const { processes } = await call("GET", `/v1/sandboxes/${selected}/processes`);
  find("processes").replaceChildren(...processes.map((process) => row(
    cell(process.id, "id"), cell(process.command, "name"),
    cell(process.running ? "running" : `ended (${process.exit_code})`),
    cell(process.running ? button("Kill", async () => {
      await call("DELETE", `/v1/sandboxes/${selected}/processes/${encodeURIComponent(process.id)}`);
      await refresh();
    }) : ""),
  )));
}

async function showFiles() {
  const query = new URLSearchParams({ path: directory });
  const { entries } = await call("GET", `/v1/sandboxes/${selected}/files/list?${query}`);
  find("directory").textContent = directory;
  const open = (path) => button(path.split("/").pop() || "/", () => {
    directory = path;
    return showFiles();
  }, "link");
  const parent = directory === "/" ? [] : [row(cell(button("..", () => {
    directory = directory.slice(0, directory.lastIndexOf("/")) || "/";
    return showFiles();
  }, "link"), "name"), cell(""))];
  find("files").replaceChildren(...parent, ...entries.map((entry) => row(
    cell(entry.kind === "directory" ? open(entry.path) : button(entry.path.split("/").pop(), () => download(entry.path), "link"), "name"),
    cell(entry.kind === "file" ? size(entry.size) : entry.kind, "number"),
  )));
}

async function download(path) {
  const query = new URLSearchParams({ path });
  const headers = token() === "" ? {} : { authorization: `Bearer ${token()}` };
  const response = await fetch(`/v1/sandboxes/${selected}/files?${query}`, { headers });
  if (!response.ok) throw new Error(`cannot download ${path}: ${response.status}`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = path.split("/").pop();
  link.click();
  URL.revokeObjectURL(link.href);
}

// Adds up the series of a family in Prometheus' text format.
function total(text, name) {
  let sum = 0;
  for (const line of text.split("\n")) {
    if (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) sum += Number(line.slice(line.lastIndexOf(" ") + 1));
  }
  return sum;
}

const FIGURES = [
  { title: "Sandboxes", name: "tidebox_sandboxes", show: String },
  { title: "Commands per second", name: "tidebox_commands_total", isRate: true, show: (value) => value.toFixed(1) },
  { title: "Processor time per second", name: "tidebox_command_cpu_seconds_sum", isRate: true, show: (value) => `${value.toFixed(2)} s` },
  { title: "Bytes per second", name: "tidebox_transferred_bytes_total", isRate: true, show: size },
  { title: "Denied by quotas", name: "tidebox_quota_refusals_total", show: String },
];

function sparkline(values) {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("viewBox", `0 0 ${HISTORY} 20`);
  svg.setAttribute("preserveAspectRatio", "none");
  const max = Math.max(...values, 1e-9);
  const line = document.createElementNS(namespace, "polyline");
  const points = values.map((value, index) => `${HISTORY - values.length + index},${19 - (18 * value) / max}`);
  line.setAttribute("points", points.join(" "));
  svg.append(line);
  return svg;
}

async function showFigures() {
  const text = await call("GET", "/metrics");
  const now = performance.now() / 1000;
  find("figures").replaceChildren(...FIGURES.map(({ title, name, isRate, show }) => {
    const state = history.get(name) ?? { values: [] };
    const current = total(text, name);
    let value = current;
    if (isRate) value = state.at === undefined ? 0 : Math.max(0, (current - state.last) / (now - state.at));
    Object.assign(state, { at: now, last: current });
    state.values = [...state.values, value].slice(-HISTORY);
    history.set(name, state);
    const figure = document.createElement("figure");
    const [caption, number] = [document.createElement("figcaption"), document.createElement("strong")];
    caption.textContent = title;
    number.textContent = show(value);
    figure.append(caption, number, sparkline(state.values));
    return figure;
  }));
}

async function refresh() {
  await Promise.all([showSandboxes(), showFigures()]);
  if (selected !== null) await Promise.all([showProcesses(), showFiles()]);
  report("connected", true);
}

find("login").addEventListener("submit", act(async () => {
  sessionStorage.setItem("token", find("token").value);
  find("token").value = "";
  history.clear();
  await select(null);
}));
find("create").addEventListener("click", act(async () => {
  const { id } = await call("POST", "/v1/sandboxes", {});
  await select(id);
}));
find("connect").addEventListener("click", act(() => {
  disconnect?.();
  const address = new URL(`/v1/sandboxes/${selected}/terminal?rows=24&columns=100`, location.href);
  address.protocol = address.protocol.replace("http", "ws");
  disconnect = connect(find("terminal"), address, token(), (reason) => report(reason || "disconnected"));
  find("terminal").focus();
}));

// One refresh at a time, the next one after the previous has ended.
const loop = async () => {
  if (!document.hidden) await act(refresh)();
  setTimeout(loop, INTERVAL);
};
loop();
