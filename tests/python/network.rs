//! HTTP clients: the host sends their requests if the sandbox's network policy allows them.

use tidebox::network::{AllowRule, NetworkLog, NetworkPolicy, RequestOutcome};
use tidebox::{ExecuteRequest, ExecuteResponse, Sandbox, SandboxBackend};

use super::server::Server;
use super::{fails, ready, sandbox};

/// Creates a sandbox that may use the server as `api.test`, with any method by http, and by https without a certificate.
fn connected(server: &Server) -> Option<Sandbox> {
    let rule = AllowRule::host("api.test").expect("a name").http().port(server.port).any_method();
    let policy = NetworkPolicy::new().allow(rule).pin_address("api.test", [127, 0, 0, 1].into()).expect("pinned");
    ready().then(|| tidebox::sandbox().and_then(|builder| builder.network(policy).build()).expect("a sandbox"))
}

/// Runs a program in which `U` is the URL of the server.
async fn run(sandbox: &Sandbox, server: &Server, program: &str) -> ExecuteResponse {
    let program = format!("U = 'http://api.test:{}'\n{program}", server.port);
    let request = ExecuteRequest::new("python3 -c \"$PROGRAM\"").with_env("PROGRAM", &program);
    sandbox.execute(request).await.expect("the command runs")
}

/// Runs a program and checks its output.
async fn check(sandbox: &Sandbox, server: &Server, program: &str, expected: &str) {
    let response = run(sandbox, server, program).await;
    assert_eq!((response.stdout_text().as_ref(), response.stderr_text().as_ref()), (expected, ""), "{program}");
}

fn denied(log: &NetworkLog) -> usize {
    log.events.iter().filter(|event| matches!(event.outcome, RequestOutcome::Denied(..))).count()
}

#[tokio::test]
async fn requests_fetches_from_an_allowed_host() {
    let server = Server::start();
    let Some(sandbox) = connected(&server) else { return };
    let program = "import requests
r = requests.get(U + '/hello', timeout=20)
print(r.status_code, r.reason, repr(r.text), r.headers['x-answer'])
print(requests.get(U + '/gzip').text, requests.get(U + '/to?/hello').url[-6:], requests.head(U + '/hello').text == '')
print(requests.post(U + '/count', data=b'x' * 300_000).text, requests.post(U + '/count', data=iter([b'ab'] * 9)).text)
with requests.Session() as session:
    session.get(U + '/login')
    print([line for line in session.get(U + '/echo').text.splitlines() if 'cookie' in line])
print(requests.put(U + '/echo', json={'a': 1}).text.splitlines()[-1], requests.get(U + '/nothing').ok)
print(sum(map(len, requests.get(U + '/big/3000000', stream=True).iter_content(10_000))))";
    let expected = "200 OK 'hello\\n' forty two\nhello\n /hello True\n300000\n 18\n\n['cookie: session=s1']\n\
        {\"a\": 1} False\n3000000\n";
    check(&sandbox, &server, program, expected).await;
    let sent = server.received_requests();
    assert!(sent[0].headers["user-agent"].starts_with("python-requests/"), "{:?}", sent[0]);
}

#[tokio::test]
async fn httpx_fetches_from_an_allowed_host() {
    let server = Server::start();
    let Some(sandbox) = connected(&server) else { return };
    let program = "import asyncio, httpx
r = httpx.get(U + '/hello')
print(r.status_code, repr(r.text), r.headers['x-answer'], r.http_version)
with httpx.Client(base_url=U, follow_redirects=True) as client:
    print(repr(client.get('/to?/hello').text), client.post('/count', content=b'x' * 300_000).text.strip())
    with client.stream('GET', '/big/3000000') as streamed:
        print(sum(map(len, streamed.iter_bytes())))
async def main():
    async with httpx.AsyncClient(base_url=U) as client:
        replies = await asyncio.gather(*(client.get(f'/status/{code}') for code in (200, 404, 503)))
        print([reply.status_code for reply in replies], len((await client.get('/big/3000000')).content))
        print((await client.post('/count', content=b'x' * 300_000)).text.strip())
asyncio.run(main())";
    let expected = "200 'hello\\n' forty two HTTP/1.1\n'hello\\n' 300000\n3000000\n[200, 404, 503] 3000000\n300000\n";
    check(&sandbox, &server, program, expected).await;
}

#[tokio::test]
async fn urllib_and_http_client_fetch_from_an_allowed_host() {
    let server = Server::start();
    let Some(sandbox) = connected(&server) else { return };
    let program = "import asyncio, http.client, urllib.error, urllib.request
print(urllib.request.urlopen(U + '/hello').read(), urllib.request.urlopen(U + '/count', data=b'x' * 70_000).read())
try: urllib.request.urlopen(U + '/nothing')
except urllib.error.HTTPError as error: print(error.code)
c = http.client.HTTPConnection(U[7:])
for path in '/hello', '/echo':
    c.request('GET', path, headers={'X-A': 'b'})
    print(c.getresponse().read()[:9])
async def main():
    reader, writer = await asyncio.open_connection(*U[7:].split(':'))
    writer.write(b'GET /hello HTTP/1.1\\r\\nHost: ' + U[7:].encode() + b'\\r\\n\\r\\n')
    print((await reader.read()).endswith(b'\\r\\n\\r\\nhello\\n'))
    writer.close()
asyncio.run(main())";
    check(&sandbox, &server, program, "b'hello\\n' b'70000\\n'\n404\nb'hello\\n'\nb'GET /echo'\nTrue\n").await;
}

#[tokio::test]
async fn a_denied_request_raises_the_policys_reason() {
    let server = Server::start();
    let Some(sandbox) = connected(&server) else { return };
    let program = "import asyncio, httpx, requests, urllib.error, urllib.request
def attempt(call, *kinds):
    try: call()
    except kinds as error: print(type(error).__name__, error)
attempt(lambda: requests.get('https://example.com/'), requests.ConnectionError)
attempt(lambda: httpx.get('https://example.com/'), httpx.TransportError)
attempt(lambda: urllib.request.urlopen('http://example.com/'), urllib.error.URLError)
async def main():
    async with httpx.AsyncClient() as client: await client.get('https://example.com/')
attempt(lambda: asyncio.run(main()), httpx.TransportError)";
    let response = run(&sandbox, &server, program).await;
    let text = response.stdout_text().into_owned();
    let reason = "the sandbox's network policy does not allow example.com; it allows api.test";
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.iter().filter(|line| line.contains(reason)).count(), 4, "{text}\n{}", response.stderr_text());
    for (line, name) in lines.iter().zip(["ConnectionError", "ReadError", "URLError", "ReadError"]) {
        assert!(line.starts_with(name), "{line}");
    }
    assert_eq!(denied(&sandbox.network_log()), 4);
    assert!(server.received_requests().is_empty());
}

#[tokio::test]
async fn timeouts_and_broken_replies_raise_the_clients_errors() {
    let server = Server::start();
    let Some(sandbox) = connected(&server) else { return };
    let program = "import httpx, requests
for client, path in (requests, '/silent'), (httpx, '/silent'), (requests, '/cut'), (httpx, '/cut'), (requests, '/empty'):
    try: client.get(U + path, timeout=0.5)
    except Exception as error: print(path, type(error).__name__)";
    let expected = "/silent ReadTimeout\n/silent ReadTimeout\n/cut ChunkedEncodingError\n/cut ReadError\n\
        /empty ConnectionError\n";
    check(&sandbox, &server, program, expected).await;
}

#[tokio::test]
async fn https_is_encrypted_and_verified_by_the_host() {
    let server = Server::start();
    let Some(sandbox) = connected(&server) else { return };
    // The server has no certificate, so that a request by https fails, even if the program accepts every certificate.
    let program = "import httpx, requests, ssl
U = U.replace('http:', 'https:')
for get in (requests.get, httpx.get):
    for verify in True, False:
        try: get(U + '/hello', verify=verify)
        except (requests.RequestException, httpx.TransportError) as error: print(type(error).__name__)
print(ssl.create_default_context().verify_mode.name, ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).check_hostname)
try: ssl.create_default_context().load_cert_chain('client.pem')
except ssl.SSLError as error: print(error)";
    let response = run(&sandbox, &server, program).await;
    let text = response.stdout_text().into_owned();
    assert!(text.contains("SSLError\n"), "{text}\n{}", response.stderr_text());
    assert!(text.contains("CERT_REQUIRED True\nin this sandbox the host encrypts HTTP requests"), "{text}");
    assert!(server.received_requests().is_empty());
}

#[tokio::test]
async fn without_a_policy_http_clients_name_the_remedy() {
    let Some(sandbox) = sandbox() else { return };
    let reason = "in this sandbox the network is disabled; the application that created the sandbox can allow hosts";
    for call in [
        "requests; requests.get(\"https://example.com\")",
        "httpx; httpx.get(\"https://example.com\")",
        "urllib.request as u; u.urlopen(\"https://example.com\")",
        "socket; socket.create_connection((\"example.com\", 80))",
    ] {
        fails(&sandbox, &format!("python3 -c 'import {call}'"), 1, reason).await;
    }
}

#[tokio::test]
async fn other_uses_of_sockets_name_what_exists_instead() {
    let server = Server::start();
    let Some(sandbox) = connected(&server) else { return };
    for (call, reason) in [
        ("s.create_connection((\"api.test\", 25), 1).recv(9)", "in this sandbox sockets carry HTTP/1.1 requests only"),
        (
            "s.create_connection((\"api.test\", 6379)).sendall(b\"PING\\r\\n\")",
            "use urllib.request, requests, httpx or curl",
        ),
        (
            "s.create_connection((\"api.test\", 80)).sendall(b\"CONNECT a:1 HTTP/1.1\\r\\n\\r\\n\")",
            "HTTP proxies are not supported",
        ),
        ("s.socket().bind((\"10.0.0.1\", 80))", "Cannot assign requested address"),
        ("s.socket(s.AF_INET, s.SOCK_DGRAM)", "in this sandbox only stream sockets (SOCK_STREAM) exist"),
        ("s.socket(1)", "in this sandbox sockets have no paths"),
        ("s.gethostbyname(\"api.test\")", "in this sandbox programs cannot resolve names of other hosts"),
    ] {
        fails(&sandbox, &format!("python3 -c 'import socket as s; {call}'"), 1, reason).await;
    }
    assert!(server.received_requests().is_empty());
}
