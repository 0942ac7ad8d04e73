// Requests to servers in sandboxes, by the addresses that the clients return.

const assert = require("node:assert/strict");
const http = require("node:http");

const PATIENCE = 60_000;

// The same servers as in previews.py.
const SERVES = `mkdir -p /tmp/www; cd /tmp/www; echo hello > a.txt
if command -v python3 >/dev/null; then exec python3 -m http.server 8000; fi
while :; do printf 'HTTP/1.0 200 OK\\r\\n\\r\\nhello\\n' | nc -lN 8000 >/dev/null; done`;

const ECHOES = `rm -f /tmp/echo; mkfifo /tmp/echo; exec 3<>/tmp/echo; nc -l 8001 <&3 | {
while IFS= read -r line && [ "$line" != $'\\r' ]; do :; done
printf 'HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\n'; exec cat; } >&3`;

// Returns the options of a request. Not every resolver knows names below `localhost`.
function options(address, path, headers) {
  const url = new URL(address.includes("//") ? address : `http://${address}`);
  const host = url.hostname.endsWith("localhost") ? "127.0.0.1" : url.hostname;
  return { host, port: url.port, path, headers: { Host: url.host, ...headers }, agent: false };
}

// Resolves to the status and the body of one request to a preview.
function request(address, path = "/a.txt", headers = {}) {
  return new Promise((resolve, reject) => {
    const sent = http.get(options(address, path, headers), (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => (body += piece));
      response.on("end", () => resolve([response.statusCode, body]));
      response.on("error", reject);
    });
    sent.on("error", reject);
  });
}

// Resolves to the body, when the server has started.
async function fetchPreview(address, path = "/a.txt", headers = {}) {
  for (const patience = Date.now() + PATIENCE; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    const [status, body] = await request(address, path, headers);
    if (status === 200) return body;
    assert.ok(status === 502 && Date.now() < patience, `${status}: ${body}`);
  }
}

function tryUpgrade(address, headers) {
  return new Promise((resolve, reject) => {
    const sent = http.get(options(address, "/socket", { Connection: "Upgrade", Upgrade: "websocket", ...headers }));
    sent.on("upgrade", (response, socket) => resolve(socket));
    sent.on("response", (response) => {
      response.resume();
      if (response.statusCode === 502) resolve(undefined);
      else reject(new Error(`status ${response.statusCode}`));
    });
    sent.on("error", reject);
  });
}

// Resolves to an upgraded connection, when the server has started, after an exchange of bytes.
async function upgrade(address, headers = {}) {
  let socket;
  for (const patience = Date.now() + PATIENCE; !(socket = await tryUpgrade(address, headers)); ) {
    assert.ok(Date.now() < patience, "it does not start");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const frame = Buffer.alloc(200_000, Buffer.from([...Array(256).keys()]));
  socket.write(frame);
  const pieces = [];
  let length = 0;
  for await (const piece of socket.iterator({ destroyOnReturn: false })) {
    pieces.push(piece);
    length += piece.length;
    if (length >= frame.length) break;
  }
  assert.ok(Buffer.concat(pieces).equals(frame));
  return socket;
}

module.exports = { ECHOES, SERVES, fetchPreview, request, upgrade };
