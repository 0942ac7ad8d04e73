//! Servers within the sandbox, and requests to other hosts, which the policy decides on.

use tidebox::network::{AllowRule, NetworkPolicy};
use tidebox::{ExecuteResponse, Sandbox};

use crate::server::Server;
use crate::{is_ready, run, sandbox};

const NAME: &str = "api.test";

/// A sandbox that may send requests to the server, as `api.test`.
fn networked(server: &Server) -> Sandbox {
    let policy = NetworkPolicy::new()
        .allow(AllowRule::host(NAME).expect("a name").http().port(server.port).any_method())
        .pin_address(NAME, [127, 0, 0, 1].into())
        .expect("a name can be pinned");
    tidebox::sandbox().and_then(|sandbox| sandbox.network(policy).build()).expect("a sandbox is created")
}

/// Runs a script in which `url` is the address of the server.
async fn script(sandbox: &Sandbox, port: u16, text: &str) -> ExecuteResponse {
    let text = format!("const url = 'http://{NAME}:{port}';\n{text}").replace('\'', r"'\''");
    run(sandbox, &format!("node --input-type=module -e '{text}'")).await
}

#[tokio::test]
async fn a_server_and_its_clients_talk_within_the_sandbox() {
    if !is_ready() {
        return;
    }
    let sandbox = sandbox();
    let text = "
        import http from 'node:http';
        import net from 'node:net';
        const server = http.createServer(async (request, response) => {
          let body = '';
          for await (const part of request) body += part;
          response.setHeader('x-method', request.method);
          response.end(`${request.url} ${body.length}`);
        });
        await new Promise((resolve) => server.listen(0, resolve));
        const { port } = server.address();
        const answer = await fetch(`http://localhost:${port}/large?a=1`, { method: 'POST', body: 'x'.repeat(300000) });
        console.log(answer.status, answer.headers.get('x-method'), await answer.text());
        const all = await Promise.all(Array.from({ length: 200 }, (_, at) => fetch(`http://127.0.0.1:${port}/${at}`).then((one) => one.text())));
        console.log(all.length, all[0], all[199]);
        http.get({ port, path: '/agent', agent: new http.Agent({ keepAlive: true }) }, (response) => {
          response.resume().on('end', () => {
            console.log(response.statusCode, response.headers['x-method']);
            const socket = net.connect(port, '127.0.0.1', () => socket.end('GET / HTTP/9\\r\\n\\r\\n'));
            socket.on('data', (data) => console.log(String(data).split('\\r\\n')[0])).on('close', () => { server.closeAllConnections(); server.close(); });
          });
        });";
    let response = script(&sandbox, 1, text).await;
    let expected = "200 POST /large?a=1 300000\n200 /0 0 /199 0\n200 GET\nHTTP/1.1 400 Bad Request\n";
    assert_eq!((response.stdout_text(), response.stderr_text()), (expected.into(), "".into()));
}

#[tokio::test]
async fn curl_reaches_a_server_in_another_process() {
    if !is_ready() {
        return;
    }
    let command = "cat > server.js <<'END'
const server = require('http').createServer((request, response) => response.end(`hello ${request.url}\\n`));
server.listen(8123, () => console.log('ready'));
process.on('SIGTERM', () => server.close(() => console.log('closed')));
END
node server.js & pid=$!; for i in $(seq 50); do curl -s localhost:8123/a && break; sleep 0.1; done; curl -s 127.0.0.1:8123/b; kill $pid; wait $pid; echo $?";
    let response = run(&sandbox(), command).await;
    assert_eq!(response.stdout_text(), "ready\nhello /a\nhello /b\nclosed\n0\n", "{}", response.stderr_text());
}

#[tokio::test]
async fn allowed_hosts_are_reached_by_fetch_and_http() {
    if !is_ready() {
        return;
    }
    let server = Server::start();
    let sandbox = networked(&server);
    let text = "
        import http from 'node:http';
        const response = await fetch(`${url}/echo`, { method: 'POST', body: 'a body', headers: { 'X-Own': 'kept' } });
        console.log(response.status, await response.text());
        console.log(await (await fetch(`${url}/gzip`)).text(), await (await fetch(`${url}/to?/hello`)).text());
        http.get(`${url}/hello`, (answer) => {
          let text = '';
          answer.on('data', (part) => { text += part; });
          answer.on('end', () => console.log(answer.statusCode, JSON.stringify(text)));
        });";
    let response = script(&sandbox, server.port, text).await;
    assert_eq!(response.stderr_text(), "");
    let seen = server.received_requests();
    assert_eq!(seen.len(), 5, "{seen:?}");
    let first = seen.first().expect("a request");
    assert_eq!((first.method.as_str(), first.body.as_slice()), ("POST", b"a body".as_slice()));
    assert_eq!(first.headers.get("x-own").map(String::as_str), Some("kept"));
    let stdout = response.stdout_text();
    assert!(stdout.starts_with("200 ") && stdout.ends_with("hello\n hello\n\n200 \"hello\\n\"\n"), "{stdout}");
}

#[tokio::test]
async fn other_hosts_are_refused_with_the_reason() {
    if !is_ready() {
        return;
    }
    let server = Server::start();
    let text = "
        const told = (error) => console.log(error.message, error.cause.code, error.cause.message);
        await fetch('https://example.com/').catch(told);
        (await import('node:https')).get('https://example.com/', () => {}).on('error', (error) => console.log(error.code));";
    let refused = script(&networked(&server), server.port, text).await;
    let expected = "fetch failed EACCES GET https://example.com/: the sandbox's network policy does not allow example.com; it allows api.test\n\
                    EACCES\n";
    assert_eq!(refused.stdout_text(), expected, "{}", refused.stderr_text());
    let disabled = script(&sandbox(), server.port, text).await;
    let expected = "fetch failed ENOTFOUND getaddrinfo ENOTFOUND example.com (the network is disabled in this sandbox)\nENOTFOUND\n";
    assert_eq!(disabled.stdout_text(), expected, "{}", disabled.stderr_text());
    assert_eq!(server.received_requests().len(), 0);
}
