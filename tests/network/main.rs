//! Network access through the real shell, `curl` and `wget`, and enforcement of a sandbox's policy.

mod differential;
mod git;
mod git_server;
mod limits;
mod server;

use std::sync::Arc;
use std::time::{Duration, Instant};

use server::Server;
use tidebox::network::{AllowRule, DenyReason, HeaderInjection, NetworkLimits, NetworkPolicy, RequestOutcome};
use tidebox::{ExecuteRequest, ExecuteResponse, Sandbox, SandboxBackend, Secret};

const NAME: &str = "api.test";

/// A policy that allows all requests to the server, named `api.test` and `other.test` in the sandbox.
fn policy(server: &Server) -> NetworkPolicy {
    let mut policy = NetworkPolicy::new();
    for name in [NAME, "other.test"] {
        policy = policy
            .allow(AllowRule::host(name).expect("a name").http().port(server.port).any_method())
            .pin_address(name, [127, 0, 0, 1].into())
            .expect("a name can be pinned");
    }
    policy
}

fn sandbox(policy: NetworkPolicy) -> Sandbox {
    tidebox::sandbox().and_then(|sandbox| sandbox.network(policy).build()).expect("a sandbox is created")
}

/// Runs a command in which `$U` is the server.
async fn run(sandbox: &Sandbox, server: &Server, command: &str) -> ExecuteResponse {
    let command = format!("U=http://{NAME}:{}; {command}", server.port);
    sandbox.execute(ExecuteRequest::new(command)).await.expect("the command runs")
}

#[tokio::test]
async fn without_a_policy_there_is_no_network() {
    let sandbox = tidebox::sandbox().and_then(|sandbox| sandbox.build()).expect("a sandbox is created");
    let command = "curl -sS https://example.com; echo $?; wget -q https://example.com; echo $?; \
                   wget https://example.com 2>&1 | tail -1; ls /usr/libexec";
    let response = sandbox.execute(ExecuteRequest::new(command)).await.expect("it runs");
    let stderr = response.stderr_text();
    assert!(
        stderr.starts_with("curl: (6) Could not resolve host: example.com (the network is disabled in this sandbox)\n"),
        "{stderr}"
    );
    assert_eq!(
        response.stdout_text(),
        "6\n4\nwget: unable to resolve host address 'example.com' (the network is disabled in this sandbox)\n"
    );
    assert_eq!(sandbox.network_log().events.len(), 0);
}

#[tokio::test]
async fn a_disallowed_host_is_rejected_with_the_reason() {
    let server = Server::start();
    let sandbox = sandbox(policy(&server));
    let response =
        run(&sandbox, &server, "curl -sS https://example.com/; echo $?; wget -nv https://example.com/; echo $?").await;
    assert_eq!(response.stdout_text(), "7\n4\n");
    let expected = "curl: (7) the sandbox's network policy does not allow example.com; it allows api.test, other.test\n\
                    wget: the sandbox's network policy does not allow example.com; it allows api.test, other.test\n";
    assert_eq!(response.stderr_text(), expected);
    let log = sandbox.network_log();
    assert!(log.events.iter().all(|event| matches!(event.outcome, RequestOutcome::Denied(DenyReason::Host, _))));
    assert_eq!(log.events.len(), 2);
}

#[tokio::test]
async fn a_disallowed_method_is_rejected() {
    let server = Server::start();
    let policy = NetworkPolicy::new()
        .allow(AllowRule::host(NAME).expect("a name").http().port(server.port))
        .pin_address(NAME, [127, 0, 0, 1].into())
        .expect("pinned");
    let response = run(&sandbox(policy), &server, "curl -s $U/hello; curl -sS -d x $U/echo; echo $?").await;
    assert_eq!(response.stdout_text(), "hello\n7\n");
    assert_eq!(
        response.stderr_text(),
        "curl: (7) the sandbox's network policy does not allow POST to api.test, only GET, HEAD\n"
    );
    assert_eq!(server.received_requests().len(), 1);
}

#[tokio::test]
async fn a_private_address_is_rejected_in_urls_and_redirects() {
    let server = Server::start();
    let open = policy(&server).allow(AllowRule::host("*").expect("any").http().port(server.port).port(80).any_method());
    let sandbox = sandbox(open);
    let command = format!(
        "for h in 127.0.0.1 127.1 0x7f000001 2130706433 '[::1]' '[::ffff:127.0.0.1]' 0.0.0.0 localhost; do \
         curl -sg \"http://$h:{}/hello\"; echo \"$h $?\"; done; \
         curl -sSL \"$U/to?http://169.254.169.254/latest/meta-data/\"; echo $?",
        server.port
    );
    let response = run(&sandbox, &server, &command).await;
    let stdout = response.stdout_text();
    assert!(!stdout.contains("hello\n") && stdout.lines().all(|line| line.ends_with('7')), "{stdout}");
    assert!(response.stderr_text().contains("169.254.169.254 has no address of the public internet"));
    assert_eq!(server.received_requests().len(), 1, "only the redirect itself was asked for");
}

#[tokio::test]
async fn a_credential_is_used_and_invisible() {
    const TOKEN: &str = "planted-token-7f3a";
    let server = Server::start();
    let secret = Secret::new(format!("Bearer {TOKEN}"));
    let injection =
        HeaderInjection::new(NAME, "Authorization", secret).expect("it can be sent").over_http().with_name("the token");
    let sandbox = sandbox(policy(&server).with_injection(injection));
    let command = format!(
        "curl -sS $U/hello; curl -sSv -H 'Authorization: Bearer mine' $U/echo 2>&1; \
         curl -sSL \"$U/to?http://other.test:{}/echo\"; wget -S -O - $U/echo 2>&1; curl -sS $U/no 2>&1; curl -sS --max-filesize 1 $U/echo 2>&1; \
         env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null; cat /usr/libexec/tidebox/http; set",
        server.port
    );
    let response = run(&sandbox, &server, &command).await;
    let seen = server.received_requests();
    let sent = |at: usize| seen[at].headers.get("authorization").map(String::as_str);
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(sent(0), Some(bearer.as_str()), "the server was given the credential");
    assert_eq!(sent(1), Some(bearer.as_str()), "and not the guest's own");
    assert_eq!(seen[3].headers.get("host"), Some(&format!("other.test:{}", server.port)));
    assert_eq!(sent(3), None, "the redirect led elsewhere");
    let output = response.output_text();
    assert!(output.contains("hello\n") && output.contains("authorization: Bearer ****"), "{output}");
    assert!(!output.contains(TOKEN), "{output}");
    let log = sandbox.network_log();
    assert!(!format!("{log:?} {sandbox:?}").contains(TOKEN));
    assert_eq!(log.events[0].credentials, ["the token"]);
    assert!(log.events[3].credentials.is_empty());
}

#[tokio::test]
async fn every_request_is_in_the_log() {
    let server = Server::start();
    let sandbox = sandbox(policy(&server));
    run(
        &sandbox,
        &server,
        "curl -s $U/hello?q=1; curl -s -d abc $U/echo >f; curl -sL $U/to?/status/404; curl -s $U/empty",
    )
    .await;
    let port = server.port;
    let events = sandbox.network_log().events;
    let reported: Vec<(String, String, Option<u16>)> =
        events.iter().map(|event| (event.method.clone(), event.url.clone(), event.status)).collect();
    let line = |method: &str, path: &str, status| (method.to_owned(), format!("http://{NAME}:{port}{path}"), status);
    assert_eq!(
        reported,
        [
            line("GET", "/hello?q=1", Some(200)),
            line("POST", "/echo", Some(200)),
            line("GET", "/to?/status/404", Some(302)),
            line("GET", "/status/404", Some(404)),
            line("GET", "/empty", None),
        ]
    );
    assert!(events[..4].iter().all(|event| event.outcome == RequestOutcome::Completed), "{events:#?}");
    assert!(matches!(events[4].outcome, RequestOutcome::Failed(..)));
    assert!(events[1].sent_bytes > 3 && events[1].received_bytes > 10 && events[1].duration > Duration::ZERO);
}

#[tokio::test]
async fn exceeded_network_limits_are_named_in_the_message() {
    let server = Server::start();
    let mut limits = NetworkLimits::default();
    (limits.reply_bytes, limits.request_bytes, limits.requests) = (100_000, 1000, 4);
    limits.request_time = Duration::from_millis(700);
    let sandbox = sandbox(policy(&server).with_limits(limits));
    let command = "curl -sS $U/big/200000 -o big; echo $?; head -c 2000 /dev/zero | curl -sS -T - $U/count; echo $?; \
                   curl -sS $U/silent; echo $?; curl -sS $U/hello; echo $?; curl -sS $U/hello; echo $?";
    let started = Instant::now();
    let response = run(&sandbox, &server, command).await;
    assert_eq!(response.stdout_text(), "63\n7\n28\nhello\n0\n7\n");
    let stderr = response.stderr_text();
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines[0], "curl: (63) the response body exceeds the limit of 100000 bytes");
    assert_eq!(lines[1], "curl: (7) the request body exceeds the limit of 1000 bytes");
    assert!(lines[2].starts_with("curl: (28) Operation timed out after "), "{stderr}");
    assert_eq!(lines[3], "curl: (7) this sandbox has used up its 4 requests");
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn large_data_streams_both_ways_in_bounded_memory() {
    const BYTES: u64 = 64 << 20;
    let server = Server::start();
    let sandbox = sandbox(policy(&server));
    let command = format!(
        "curl -sS $U/big/{BYTES} -o big && wc -c < big && curl -sS -T big $U/count; \
         curl -sS $U/big/{BYTES} | head -c 3; cat big | curl -sS -T - $U/count"
    );
    let response = run(&sandbox, &server, &command).await;
    assert_eq!(response.stdout_text(), format!("{BYTES}\n{BYTES}\nbbb{BYTES}\n"), "{}", response.stderr_text());
    assert!(response.peak_memory_bytes < 64 << 20, "{} bytes of memory", response.peak_memory_bytes);
}

#[tokio::test]
async fn killing_a_client_cancels_its_request() {
    let server = Server::start();
    let sandbox = sandbox(policy(&server));
    let started = Instant::now();
    let command = "timeout 0.5 curl -sS $U/silent; echo $?; curl -sS $U/silent & sleep 0.3; kill -9 $!; wait $! 2>/dev/null; echo $?; \
                   curl -sS -m 0.4 $U/silent 2>/dev/null; echo $?";
    let response = run(&sandbox, &server, command).await;
    assert_eq!(response.stdout_text(), "124\n137\n28\n");
    assert!(started.elapsed() < Duration::from_secs(20), "nothing waited for the silent server");
    let decisions: Vec<RequestOutcome> = sandbox.network_log().events.into_iter().map(|event| event.outcome).collect();
    assert!(
        matches!(&decisions[..], [RequestOutcome::Cancelled, RequestOutcome::Cancelled, RequestOutcome::Failed(..)]),
        "{decisions:?}"
    );
    // The deadline of the whole command ends it, too.
    let mut request = ExecuteRequest::new(format!("curl -sS http://{NAME}:{}/silent", server.port));
    request.timeout = Some(Duration::from_millis(500));
    let response = sandbox.execute(request).await.expect("it runs");
    assert_eq!(response.exit_code, Some(124));
    assert!(matches!(sandbox.network_log().events[3].outcome, RequestOutcome::Cancelled));
}

#[tokio::test]
async fn a_fork_has_the_same_policy_and_a_separate_log() {
    let server = Server::start();
    let sandbox = Arc::new(sandbox(policy(&server)));
    run(&sandbox, &server, "curl -s $U/hello").await;
    let fork = sandbox.fork().expect("forked");
    let response = run(&fork, &server, "curl -s $U/hello; curl -s $U/hello").await;
    assert_eq!(response.stdout_text(), "hello\nhello\n");
    assert_eq!((sandbox.network_log().events.len(), fork.network_log().events.len()), (1, 2));
}
