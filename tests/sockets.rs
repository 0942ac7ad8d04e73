//! Connections within a sandbox, by the shell and its tools.

use tidebox::{ExecuteRequest, ExecuteResponse, Sandbox, SandboxBackend};

fn sandbox() -> Sandbox {
    tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is built")
}

async fn run(sandbox: &Sandbox, command: &str) -> ExecuteResponse {
    sandbox.execute(ExecuteRequest::new(command)).await.expect("the command runs")
}

/// Runs a command in a new sandbox and compares its output.
async fn prints(command: &str, expected: &str) {
    let response = run(&sandbox(), command).await;
    let (out, err) = (String::from_utf8_lossy(&response.stdout), String::from_utf8_lossy(&response.stderr));
    assert_eq!((out.as_ref(), err.as_ref()), (expected, ""), "{command}");
}

/// Waits until a program listens, without connecting to it.
const WAIT: &str = "until ss -Htln | grep -q :9000; do sleep 0.01; done;";

#[tokio::test]
async fn nc_transfers_a_file_in_both_directions() {
    let command =
        format!("seq 100000 > a; nc -lN 9000 < a > b & {WAIT} seq 5 | nc localhost 9000 | cmp - a; wait; cat b");
    prints(&command, "1\n2\n3\n4\n5\n").await;
}

#[tokio::test]
async fn nc_reports_open_and_closed_ports() {
    let command = "nc -lk 9000 >/dev/null & until nc -z localhost 9000; do sleep 0.01; done; nc -zv localhost 8999-9001 2>&1; echo $?; \
                   nc -z localhost 9; echo $?; kill %1";
    let expected = "nc: connect to localhost port 8999 (tcp) failed: Connection refused\n\
                    Connection to localhost 9000 port [tcp/*] succeeded!\n\
                    nc: connect to localhost port 9001 (tcp) failed: Connection refused\n0\n1\n";
    prints(command, expected).await;
}

#[tokio::test]
async fn bash_opens_connections_by_dev_tcp() {
    let command = format!(
        "(printf 'hello\\n' | nc -lN 9000 > got) & {WAIT} \
         exec 3<>/dev/tcp/localhost/9000; echo question >&3; cat <&3; exec 3>&-; wait; cat got"
    );
    prints(&command, "hello\nquestion\n").await;
    let response = run(&sandbox(), "(: </dev/tcp/127.0.0.1/9) 2>&1 || echo closed; : </dev/tcp/example.com/80").await;
    let out = String::from_utf8_lossy(&response.stdout);
    let expected = "connect: Connection refused\nbash: line 1: /dev/tcp/127.0.0.1/9: Connection refused\nclosed\n";
    assert!(out.ends_with(expected), "{out}");
    let err = String::from_utf8_lossy(&response.stderr);
    assert!(err.contains("in this sandbox only localhost can be reached"), "{err}");
}

#[tokio::test]
async fn ss_netstat_and_lsof_list_the_servers() {
    let command = format!(
        "nc -lk 9000 & {WAIT} ss -tlnp | sed 's/pid=[0-9]*/pid=N/'; netstat -tln; \
         test $(lsof -ti :9000) = $! && kill $(lsof -ti:9000); wait; ss -Htan"
    );
    let expected = "\
State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process
LISTEN 0      0            0.0.0.0:9000         0.0.0.0:* users:((\"nc\",pid=N,fd=3))
Active Internet connections (only servers)
Proto Recv-Q Send-Q Local Address           Foreign Address         State
tcp        0      0 0.0.0.0:9000            0.0.0.0:*               LISTEN
";
    prints(&command, expected).await;
}

#[tokio::test]
async fn two_sandboxes_never_meet() {
    let (one, other) = (sandbox(), sandbox());
    let server = run(&one, "timeout 1 nc -l 9000");
    let client = async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        run(&other, &format!("nc -z localhost 9000; echo $?; nc -l 9000 & {WAIT} echo listens; kill %1")).await
    };
    let (server, response) = tokio::join!(server, client);
    assert_eq!(server.exit_code, Some(124), "the server waited, and no client came: {server:?}");
    assert_eq!(String::from_utf8_lossy(&response.stdout), "1\nlistens\n");
}

#[tokio::test]
async fn a_flood_of_connections_ends_at_the_limit() {
    let mut limits = tidebox::Limits::default();
    limits.sockets = 64;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is built");
    // A connection that is never read is full after some bytes, and the client waits.
    let command = "sleep 100 | nc -lk 9000 >/dev/null & until nc -z localhost 9000; do sleep 0.01; done; \
                   for n in {1..200}; do nc localhost 9000 </dev/null & done 2>err; sleep 0.2; kill $(jobs -p); wait; echo end";
    let response = run(&sandbox, command).await;
    assert!(String::from_utf8_lossy(&response.stdout).ends_with("end\n"), "{response:?}");
    let left = sandbox.resource_usage();
    assert_eq!((left.processes, left.pipes, left.open_files), (0, 0, 0), "{left:?}");
}

/// Programs of the host that listen at its loopback are out of reach, however the address is written.
#[tokio::test]
async fn the_loopback_of_the_host_is_out_of_reach_in_every_spelling() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("it is a socket");
    let port = listener.local_addr().expect("bound").port();
    let sandbox = sandbox();
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.0.2",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "0",
        "0.0.0.0",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:1]",
    ] {
        let bare = host.trim_matches(['[', ']']);
        let command = format!(
            "curl -s -m 5 http://{host}:{port}/ && echo reached; wget -q -T 5 -O- http://{host}:{port}/ && echo reached; \
             nc -w 5 -z {bare} {port} && echo reached; (: </dev/tcp/{bare}/{port}) && echo reached"
        );
        let response = run(&sandbox, &command).await;
        assert_eq!(String::from_utf8_lossy(&response.stdout), "", "{host}");
    }
    let accepted = listener.accept().expect_err("no connection arrived");
    assert_eq!(accepted.kind(), std::io::ErrorKind::WouldBlock);
}
