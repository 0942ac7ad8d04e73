// The network: what a policy allows, and what it does not.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";

import { Sandbox, SandboxError } from "tidebox";

const suspends = typeof WebAssembly.Suspending === "function";
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("a sandbox without a policy", () => {
  test("has no network", async () => {
    const sandbox = await Sandbox.create();
    assert.equal((await sandbox.execute("curl -sS https://example.com/")).exitCode, 6);
    assert.deepEqual(await sandbox.networkLog(), { events: [], omitted: 0 });
    await sandbox.close();
  });
});

describe("a policy", () => {
  const requests = [];
  const cut = [];
  let server;
  let port;
  let sandbox;
  before(async () => {
    server = createServer((request, response) => {
      const pieces = [];
      request.on("data", (piece) => pieces.push(piece));
      request.on("end", () => {
        const { method, url, rawHeaders, headers } = request;
        requests.push({ method, url, rawHeaders, headers, body: Buffer.concat(pieces) });
        if (url === "/redirect") return response.writeHead(302, { Location: "/to" }).end();
        if (url === "/away") return response.writeHead(302, { Location: "http://10.0.0.9:1/secret" }).end();
        if (url === "/echo") return response.end(Buffer.concat(pieces));
        if (url === "/mirror") return response.end(`you are ${headers.authorization}\n`);
        if (url === "/big") return response.end(Buffer.alloc(5_000_000, "x"));
        if (url === "/cut") return response.writeHead(200, { "Content-Length": "100" }).write("half", () => response.destroy());
        if (url === "/reset") return request.socket.destroy();
        if (url === "/never") return void request.socket.on("close", () => cut.push(url));
        if (url === "/nonsense") return request.socket.end("this is no HTTP\r\n\r\n");
        if (url === "/odd") return response.writeHead(299, "Odd Words", { "X-Odd": "\xff", "Set-Cookie": ["a=1", "b=2"] }).end("odd");
        response.end(`hello from ${url}\n`);
      });
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = server.address().port;
    sandbox = await Sandbox.create({
      network: {
        allow: [{ host: "api.test", http: true, ports: [port], methods: ["GET", "HEAD", "POST", "PUT"] }],
        inject: [{ host: "api.test", header: "authorization", value: "Bearer planted-token", overHttp: true }],
        resolve: { "api.test": "127.0.0.1" },
        limits: { requestTimeMs: 20_000 },
      },
    });
    await sandbox.execute(`echo "http://api.test:${port}" > /tmp/base`);
  });
  after(async () => {
    await sandbox.close();
    server.closeAllConnections();
    server.close();
  });

  const run = async (command, options) => {
    requests.length = 0;
    const { output, exitCode } = await sandbox.execute(`u=$(cat /tmp/base); ${command}`, options);
    return [output, exitCode];
  };

  test("allows curl and wget to reach the allowed hosts", async () => {
    assert.deepEqual(await run("curl -sS $u/one?x=1"), ["hello from /one?x=1\n", 0]);
    assert.deepEqual(await run("wget -qO- $u/two"), ["hello from /two\n", 0]);
    assert.deepEqual(await run("curl -sSI $u/three | head -n 1 | tr -d '\\r'"), ["HTTP/1.1 200 OK\n", 0]);
    assert.deepEqual(await run("(for n in 1 2 3; do curl -sS $u/$n & done; wait) | sort"), [
      "hello from /1\nhello from /2\nhello from /3\n", 0,
    ]);
  });

  test("adds credentials outside, in place of the guest's, and masks them where they come back", async () => {
    assert.deepEqual(await run("curl -sS -H 'Authorization: mine' $u/mirror; env; cat /proc/*/environ /proc/*/cmdline | tr '\\0' ' '").then(
      ([output]) => [/planted/.test(output), output.split("\n")[0]],
    ), [false, `you are Bearer ${"*".repeat("planted-token".length)}`]);
    assert.equal(requests[0].headers.authorization, "Bearer planted-token");
  });

  test("sends bodies and headers as they are", async () => {
    const body = Uint8Array.from({ length: 300_000 }, (_, n) => n % 256);
    await sandbox.uploadFiles([["/tmp/body", body]]);
    const { stdoutBytes, exitCode } = await sandbox.execute(
      "curl -sS -X PUT -H 'X-Mixed-Case: yes' -H 'x-twice: 1' -H 'x-twice: 2' --data-binary @/tmp/body $(cat /tmp/base)/echo",
    );
    assert.equal(exitCode, 0);
    assert.deepEqual(stdoutBytes, body);
    const { rawHeaders, method } = requests.at(-1);
    assert.equal(method, "PUT");
    assert.equal(rawHeaders[rawHeaders.indexOf("X-Mixed-Case") + 1], "yes");
    assert.equal(rawHeaders.filter((word) => word === "x-twice").length, 2);
    assert.equal(rawHeaders[rawHeaders.indexOf("Host") + 1], `api.test:${port}`);
  });

  test("shows status, words and headers of the reply as they came", async () => {
    const { stdoutBytes } = await sandbox.execute("curl -sSi $(cat /tmp/base)/odd");
    const text = Buffer.from(stdoutBytes).toString("latin1");
    assert.match(text, /^HTTP\/1.1 299 Odd Words\r\n/);
    assert.match(text, /\r\nX-Odd: \xff\r\n/);
    assert.match(text, /\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n/);
  });

  test("streams a large response, also if it is not read to its end", async () => {
    assert.deepEqual(await run("curl -sS $u/big | wc -c | tr -d ' '"), ["5000000\n", 0]);
    assert.deepEqual(await run("curl -sS $u/big 2>/dev/null | head -c 3"), ["xxx", 0]);
  });

  test("checks each step of a redirect", async () => {
    assert.deepEqual(await run("curl -sS -o /dev/null -w '%{http_code}' $u/redirect"), ["302", 0]);
    assert.deepEqual(await run("curl -sSL $u/redirect"), ["hello from /to\n", 0]);
    const [output, exitCode] = await run("curl -sSL $u/away");
    assert.equal(exitCode, 7);
    assert.match(output, /does not allow 10.0.0.9/);
  });

  test("denies other hosts, schemes, ports and methods with a hint", async () => {
    for (const [command, words] of [
      ["curl -sS http://other.test/", /does not allow other.test; it allows api.test/],
      ["curl -sS https://api.test/", /does not allow port 443 of api.test/],
      ["curl -sS http://api.test/", /does not allow port 80 of api.test/],
      ["curl -sS -X DELETE $u/", /does not allow DELETE/],
      [`curl -sS http://10.0.0.9:${port}/`, /does not allow 10.0.0.9/],
      // The loopback is the sandbox's own, without the server of this test.
      [`curl -sS http://127.0.0.1:${port}/`, /Failed to connect to 127.0.0.1 port/],
      [`curl -sS http://localhost:${port}/`, /Failed to connect to localhost port/],
    ]) {
      const [output, exitCode] = await run(command);
      assert.equal(exitCode, 7, command);
      assert.match(output, words);
      assert.equal(requests.length, 0, command);
    }
  });

  test("distinguishes failures of a response", async () => {
    assert.equal((await run("curl -sS $u/reset"))[1], 52);
    assert.equal((await run("curl -sS $u/cut"))[1], 18);
    assert.notEqual((await run("curl -sS $u/nonsense"))[1], 0);
    assert.equal((await run("curl -sS -m 1 $u/never"))[1], 28);
  });

  test("ends a request with the command that sent it", async () => {
    cut.length = 0;
    const { exitCode } = await sandbox.execute("curl -sS $(cat /tmp/base)/never", { timeoutMs: 300 });
    assert.equal(exitCode, 124);
    for (let n = 0; cut.length === 0 && n < 100; n++) await pause(20);
    assert.deepEqual(cut.length > 0, true);
  });

  test("keeps a log without credentials, and a separate one for a fork", async () => {
    const before = (await sandbox.networkLog()).events.length;
    await run("curl -sS $u/logged; curl -sS http://other.test/");
    const { events, omitted } = await sandbox.networkLog();
    const [answered, refused] = events.slice(before);
    assert.equal(omitted, 0);
    assert.deepEqual([answered.method, answered.url, answered.decision, answered.status, answered.credentials], [
      "GET", `http://api.test:${port}/logged`, "answered", 200, ["authorization for api.test"],
    ]);
    assert.ok(answered.sentBytes > 0 && answered.receivedBytes > 0 && answered.atMs > 1e12);
    assert.deepEqual([refused.decision, refused.cause], ["refused", "host"]);
    assert.doesNotMatch(JSON.stringify(events), /planted/);
    const fork = await sandbox.fork();
    assert.equal((await fork.networkLog()).events.length, 0);
    assert.equal((await fork.execute("curl -sS $(cat /tmp/base)/fork")).output, "hello from /fork\n");
    await fork.close();
  });
});

describe("addresses", () => {
  test("that are not public are denied for all names and spellings", async () => {
    const sandbox = await Sandbox.create({ network: { allow: [{ host: "*", http: true, ports: [80, 8080] }] } });
    for (const host of ["127.1", "0x7f000001", "2130706433", "[::ffff:10.0.0.1]", "169.254.169.254", "10.0.0.1"]) {
      const { output, exitCode } = await sandbox.execute(`curl -sS 'http://${host}/'`);
      assert.equal(exitCode, 7, host);
      assert.match(output, /has no address of the public internet/, host);
    }
    for (const host of ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "a.localhost"]) {
      const { output, exitCode } = await sandbox.execute(`curl -sS 'http://${host}/'`);
      assert.equal(exitCode, 7, host);
      assert.match(output, /Failed to connect/, host);
    }
    await sandbox.close();
  });

  test("that cannot be resolved are reported as such", async () => {
    const sandbox = await Sandbox.create({ network: { allow: ["*.invalid"] } });
    assert.equal((await sandbox.execute("curl -sS https://nowhere.invalid/")).exitCode, 6);
    await sandbox.close();
  });
});

describe("a fetch of the caller's", () => {
  const made = async (context, answer, options = {}) => {
    const asked = [];
    const sandbox = await Sandbox.create({
      network: {
        allow: ["api.test", { host: "post.test", methods: "any" }],
        inject: [{ host: "api.test", header: "x-key", value: "planted-key" }],
        fetch: async (url, init) => {
          asked.push({ url, ...init, headers: Object.fromEntries(init.headers) });
          return answer(url, init);
        },
        ...options,
      },
    });
    context.after(() => sandbox.close());
    return { sandbox, asked };
  };

  test("replaces the network", async (context) => {
    const { sandbox, asked } = await made(context, () => new Response("from a test\n", { status: 201 }));
    assert.equal((await sandbox.execute("curl -sS -w '%{http_code}' https://api.test/x")).output, "from a test\n201");
    assert.deepEqual([asked[0].url, asked[0].headers["x-key"], asked[0].redirect, asked[0].credentials], [
      "https://api.test/x", "planted-key", "manual", "omit",
    ]);
    assert.equal((await sandbox.execute("curl -sS -d a=1 https://post.test/")).exitCode, 0);
    assert.equal(new TextDecoder().decode(asked[1].body), "a=1");
    assert.equal(asked[1].headers["x-key"], undefined);
  });

  test("receives no denied requests", async (context) => {
    const { sandbox, asked } = await made(context, () => new Response("no"));
    assert.equal((await sandbox.execute("curl -sS https://other.test/")).exitCode, 7);
    assert.equal((await sandbox.execute("curl -sS http://api.test/")).exitCode, 7);
    assert.equal((await sandbox.execute("curl -sS https://10.0.0.9/")).exitCode, 7);
    assert.equal(asked.length, 0);
  });

  test("that fails is a failure of the request, and its words stay outside", async (context) => {
    const { sandbox } = await made(context, () => {
      throw new Error("the token planted-key was refused");
    });
    const { output, exitCode } = await sandbox.execute("curl -sS https://api.test/");
    assert.equal(exitCode, 7);
    assert.doesNotMatch(output, /planted/);
  });

  test("is given up with the command", async (context) => {
    let gone;
    const { sandbox } = await made(context, (_, { signal }) => new Promise((_, reject) => {
      gone = signal;
      signal.addEventListener("abort", () => reject(signal.reason));
    }));
    assert.equal((await sandbox.execute("curl -sS https://api.test/", { timeoutMs: 300 })).exitCode, 124);
    await pause(50);
    assert.ok(gone.aborted);
  });

  test("rejects pinned addresses", async () => {
    await assert.rejects(Sandbox.create({ network: { fetch, resolve: { "a.test": "127.0.0.1" } } }), /resolves host names itself/);
  });
});

describe("network options that cannot be", () => {
  test("are refused by name", async () => {
    for (const [network, words] of [
      [{ allow: ["https://example.com"] }, /is not a host pattern/],
      [{ allow: "example.com" }, /allow must be an array/],
      [{ allow: [{ hosts: ["x"] }] }, /unknown field of an allow rule 'hosts'/],
      [{ allow: [{ host: "x.test", ports: [0] }] }, /from 1 to 65535/],
      [{ inject: [{ host: "*", header: "a", value: "b" }] }, /a credential for every host/],
      [{ inject: [{ host: "x.test", header: "host", value: "b" }] }, /set by the host/],
      [{ inject: [{ host: "x.test", header: "a", value: "b\r\nc: d" }] }, /newline/],
      [{ resolve: { "x.test": "nowhere" } }, /not an IP address/],
      [{ limits: { request: 1 } }, /unknown limit of network 'request'/],
      [{ hosts: [] }, /unknown option of network 'hosts'/],
      ["example.com", /network must be an object/],
    ]) {
      await assert.rejects(Sandbox.create({ network }), (error) => {
        assert.match(error.message, words);
        assert.doesNotMatch(error.message, /c: d/);
        return SandboxError.isInstance(error) && error.code === "INVALID_OPTIONS";
      });
    }
  });
});
