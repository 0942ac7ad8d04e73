// Servers in a sandbox: connections to them, and ports of this computer that lead to them.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { connect as connectTcp, createServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

import { Sandbox } from "tidebox";
import { listPacks } from "tidebox/packs";

import { isCaller, jspi, noWorkers } from "./engine.mjs";

const skip = jspi ? false : "this engine cannot suspend WebAssembly";
const isDeno = "Deno" in globalThis;

/** A server that sends a page to one client after the other. */
const page = (port, text) => {
  const response = `HTTP/1.0 200 OK\\r\\nContent-Length: ${text.length}\\r\\n\\r\\n${text}`;
  return `while :; do printf '${response}' | nc -lN ${port} >> requests; done`;
};

/** Works with a new sandbox. */
async function within(work, options = {}) {
  const sandbox = await Sandbox.create(options);
  try {
    await work(sandbox);
  } finally {
    await sandbox.close();
  }
}

/** Starts a server and waits until it listens. */
async function serve(sandbox, port, command) {
  const server = await sandbox.spawn(command, { stdin: false });
  await sandbox.waitForPort(port);
  return server;
}

/** Requests a page until a server responds: between two clients nothing listens. */
async function get(url) {
  for (let n = 0; ; n += 1) {
    try {
      const response = await fetch(url);
      return await response.text();
    } catch (error) {
      if (n === 200) throw error;
      await pause(20);
    }
  }
}

/** Sends a request with another name of the host, and returns the status and the page. */
function getAs(host, port) {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path: "/", headers: { host } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => (text += chunk)).on("end", () => resolve([response.statusCode, text]));
    });
    sent.on("error", reject).end();
  });
}

/** A connection of the host, its data until its end, and whether it was reset. */
async function client(port) {
  const socket = connectTcp({ host: "127.0.0.1", port, allowHalfOpen: true });
  const chunks = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  const ended = new Promise((resolve) => {
    socket.on("error", () => {});
    socket.on("end", () => resolve(Buffer.concat(chunks)));
    socket.on("close", () => resolve(Buffer.concat(chunks)));
  });
  await once(socket, "connect");
  return { socket, ended };
}

describe("a port without a server", { skip }, () => {
  test("is reported", () => within(async (sandbox) => {
    assert.deepEqual(await sandbox.ports(), []);
    await assert.rejects(sandbox.connect(8000), { code: "UNAVAILABLE", message: /nothing listens at port 8000/ });
    const started = performance.now();
    await assert.rejects(sandbox.waitForPort(8000, { timeoutMs: 100 }), { code: "TIMEOUT", message: /nothing listens at port 8000 .* after 100 ms/ });
    assert.ok(performance.now() - started >= 95);
    const controller = new AbortController();
    const waiting = sandbox.waitForPort(8000, { signal: controller.signal });
    controller.abort();
    await assert.rejects(waiting, { code: "ABORTED" });
    const exposed = await sandbox.expose(8000);
    await assert.rejects(fetch(exposed.url));
  }));

  test("that is in use on this computer is not opened", () => within(async (sandbox) => {
    const other = createServer();
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address();
    await assert.rejects(sandbox.expose(8000, { hostPort: port }), { code: "UNAVAILABLE", message: new RegExp(`127.0.0.1:${port}`) });
    other.close();
    await once(other, "close");
    const exposed = await sandbox.expose(8000, { hostPort: port });
    assert.equal(exposed.port, port);
  }));
});

describe("an exposed port", { skip }, () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create();
  });
  after(() => sandbox.close());

  test("leads to a server until it is closed", async () => {
    const server = await serve(sandbox, 8001, page(8001, "served"));
    assert.deepEqual(await sandbox.ports(), [8001]);
    const exposed = await sandbox.expose(8001);
    assert.deepEqual([exposed.host, exposed.sandboxPort], ["127.0.0.1", 8001]);
    assert.equal(exposed.url, `http://127.0.0.1:${exposed.port}`);
    for (let n = 0; n < 3; n += 1) assert.equal(await get(exposed.url), "served");
    assert.equal((await sandbox.execute("until curl -sf localhost:8001; do sleep 0.01; done")).output, "served");
    assert.match((await sandbox.execute("cat requests")).output, /^GET \/ HTTP\/1.1\r\n/);
    await exposed[Symbol.asyncDispose]();
    await exposed.close();
    await assert.rejects(fetch(exposed.url));
    await server.kill();
  });

  test("refuses requests for other hosts, also from clients that speak late", async () => {
    const server = await serve(sandbox, 8002, "nc -lk 8002 > secret");
    const exposed = await sandbox.expose(8002);
    const refused = [403, "this port of a sandbox serves 127.0.0.1 and localhost only\n"];
    for (const host of ["evil.example", `evil.example:${exposed.port}`, "127.0.0.1:1", "localhost"]) {
      assert.deepEqual(await getAs(host, exposed.port), refused);
    }
    const late = await client(exposed.port);
    await pause(300);
    late.socket.write("GET / HTTP/1.1\r\nHo");
    await pause(50);
    late.socket.write("st: evil.example\r\n\r\n");
    assert.equal((await late.ended).length, 0);
    assert.equal((await sandbox.execute("cat secret")).output, "");
    const good = await client(exposed.port);
    good.socket.end(`GET /good HTTP/1.1\r\nHost: LocalHost:${exposed.port}\r\n\r\n`);
    await good.ended;
    assert.match((await sandbox.execute("cat secret")).output, /^GET \/good HTTP/);
    await server.kill();
  });

  test("leads to a server that speaks first, and passes each end of the data on", async () => {
    const server = await serve(sandbox, 8003, "(echo hello; sleep 0.2; cat part; echo bye) | nc -lN 8003 > got");
    await sandbox.write("/workspace/part", "part\n");
    const exposed = await sandbox.expose(8003);
    const first = await client(exposed.port);
    // The server ends its data, and then still reads.
    assert.equal((await first.ended).toString(), "hello\npart\nbye\n");
    first.socket.end("late data\n");
    await once(first.socket, "close");
    assert.equal((await server.wait()).exitCode, 0);
    assert.equal((await sandbox.execute("cat got")).output, "late data\n");
  });

  test("passes large data on without a change", async () => {
    const server = await serve(sandbox, 8004, "head -c 3000000 /dev/zero | tr '\\0' x | nc -lN 8004 > large");
    const exposed = await sandbox.expose(8004);
    const { socket, ended } = await client(exposed.port);
    const sent = Buffer.alloc(2_000_000, "0123456789");
    socket.write(sent);
    const got = await ended;
    // nc ends when its client does.
    socket.end();
    assert.equal(got.length, 3_000_000);
    assert.ok(got.every((byte) => byte === 120));
    assert.equal((await server.wait()).exitCode, 0);
    await sandbox.write("/workspace/sent", sent);
    assert.equal((await sandbox.execute("cmp sent large; echo $?")).output, "0\n");
  });

  test("slows a client down whose data is not read", async () => {
    const server = await serve(sandbox, 8005, "sleep 1000 | nc -l 8005 | sleep 1000");
    const exposed = await sandbox.expose(8005);
    const { socket } = await client(exposed.port);
    let written = 0;
    const chunk = Buffer.alloc(1 << 20);
    const write = () => {
      while (socket.write(chunk)) written += chunk.length;
      written += chunk.length;
    };
    socket.on("drain", write);
    write();
    await pause(500);
    const before = written;
    await pause(300);
    assert.equal(written, before, "the client waits");
    assert.ok(written < 32 << 20, `${written} bytes were buffered`);
    socket.destroy();
    await server.kill();
  });

  test("serves 256 connections at a time, and the others afterwards", async () => {
    const server = await serve(sandbox, 8006, "nc -lk 8006 > all");
    const exposed = await sandbox.expose(8006);
    const clients = await Promise.all(Array.from({ length: 260 }, () => client(exposed.port)));
    clients.forEach(({ socket }, n) => socket.end(`${n}\n`));
    await Promise.all(clients.map(({ ended }) => ended));
    for (let n = 0; n < 100 && (await sandbox.execute("wc -l < all")).output !== "260\n"; n += 1) await pause(50);
    assert.equal((await sandbox.execute("sort -nu all | wc -l")).output, "260\n");
    await server.kill();
  });

  test("of two sandboxes with the same port leads to its own", () => within(async (other) => {
    const server = await serve(sandbox, 8007, page(8007, "one"));
    assert.deepEqual(await other.ports(), []);
    const none = await other.expose(8007);
    await assert.rejects(fetch(none.url));
    await serve(other, 8007, page(8007, "other"));
    const exposed = await sandbox.expose(8007);
    assert.deepEqual([await get(exposed.url), await get(none.url)], ["one", "other"]);
    await server.kill();
  }));

  test("is closed with its sandbox, and so are its connections", async () => {
    const closed = await Sandbox.create();
    await serve(closed, 8000, "nc -lk 8000");
    const exposed = await closed.expose(8000);
    const { url } = await closed.portEndpoint(8000);
    const { ended } = await client(exposed.port);
    const open = await closed.connect(8000);
    const reader = open.readable.getReader();
    // The server may end first.
    const isEnd = ({ code }) => ["CLOSED", "UNAVAILABLE"].includes(code);
    const reading = reader.read().then(({ done }) => done, isEnd);
    await closed.close();
    await ended;
    assert.equal(await reading, true);
    await assert.rejects(open.writable.getWriter().write(new Uint8Array(1)), isEnd);
    await assert.rejects(fetch(exposed.url));
    await assert.rejects(fetch(url));
  });

  test("is the address of an endpoint, which later calls return again", async () => {
    const early = await sandbox.portEndpoint(8008);
    assert.deepEqual(early.headers, {});
    const server = await serve(sandbox, 8008, page(8008, "endpoint"));
    assert.equal(await get(early.url), "endpoint");
    assert.deepEqual(await sandbox.portEndpoint(8008), early);
    await server.kill();
  });
});

describe("a sandbox with connections", { skip }, () => {
  test("reports them as ended if its Worker ends, and its exposed port leads to the next one", { skip: noWorkers }, async (context) => {
    const workers = [];
    const post = Worker.prototype.postMessage;
    context.mock.method(Worker.prototype, "postMessage", function (...message) {
      if (!workers.includes(this)) workers.push(this);
      post.apply(this, message);
    });
    await within(async (sandbox) => {
      await serve(sandbox, 9000, "nc -lk 9000");
      const exposed = await sandbox.expose(9000);
      const { ended } = await client(exposed.port);
      const { readable } = await sandbox.connect(9000);
      const reading = assert.rejects(readable.getReader().read(), { code: "RESTARTED" });
      await workers[0].terminate();
      await reading;
      await ended;
      await assert.rejects(fetch(exposed.url));
      await serve(sandbox, 9000, page(9000, "again"));
      assert.equal(await get(exposed.url), "again");
    });
  });

  test("does not keep the application running, unless a connection waits", { skip: isDeno ? "Deno runs no file of its own here" : false }, async () => {
    const thread = isCaller ? "caller" : "pool";
    const start = `
      import { Sandbox } from "tidebox";
      const sandbox = await Sandbox.create({ thread: "${thread}" });
      await sandbox.spawn("nc -lk 9000; sleep 1000");
      await sandbox.waitForPort(9000);
      await sandbox.expose(9000);
      await sandbox.portEndpoint(9000);
      const connection = await sandbox.connect(9000);`;
    const run = (program) => promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], { timeout: 30_000 });
    assert.equal((await run(`${start} console.log("end");`)).stdout, "end\n");
    const waits = `${start}
      await sandbox.execute("(sleep 0.5; kill $(pgrep nc)) &", { background: "keep" });
      const { done } = await connection.readable.getReader().read();
      console.log("done", done);`;
    assert.equal((await run(waits)).stdout, "done true\n");
  });

  test("costs nothing while they are idle", { skip: isDeno ? "Deno does not report the processor time of this process" : false }, () => within(async (sandbox) => {
    await serve(sandbox, 9000, "nc -lk 9000");
    const exposed = await sandbox.expose(9000);
    const clients = await Promise.all(Array.from({ length: 20 }, () => client(exposed.port)));
    const connection = await sandbox.connect(9000);
    const reading = connection.readable.getReader().read().catch(() => {});
    await pause(1500);
    const before = process.cpuUsage();
    await pause(2000);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 100_000, `${(user + system) / 1000} ms of processor time in two seconds`);
    for (const { socket } of clients) socket.destroy();
    await connection.close();
    await reading;
  }));
});

const [python] = await listPacks();
const missing = "the pack python is not installed; install it with `npx tidebox pack add python`";
const withoutPython = !python.ready ? missing : isCaller ? "sandboxes in the caller's thread have no packs" : skip;

test("Python serves files to curl in the sandbox and to fetch outside", { skip: withoutPython }, () => within(async (sandbox) => {
  const server = await sandbox.spawn("echo hello > a.txt; exec python3 -u -m http.server 8000");
  await sandbox.waitForPort(8000);
  assert.equal((await sandbox.execute("curl -s localhost:8000/a.txt")).output, "hello\n");
  const first = await server.waitForOutput('"GET /a.txt HTTP/1.1" 200');
  const exposed = await sandbox.expose(8000);
  const response = await fetch(`${exposed.url}/a.txt`);
  assert.deepEqual([response.status, await response.text()], [200, "hello\n"]);
  assert.equal((await fetch(`${exposed.url}/none`)).status, 404);
  await server.waitForOutput('"GET /none HTTP/1.1" 404', { after: first });
  const log = await server.read({ after: first });
  assert.equal(log.text.match(/GET \/a.txt/g).length, 1, log.text);
  assert.deepEqual(await getAs("evil.example", exposed.port).then(([status]) => status), 403);
  await server.signal("TERM");
  assert.equal((await server.wait()).exitCode, 143);
  await assert.rejects(fetch(exposed.url));
}, { packs: ["python"] }));
