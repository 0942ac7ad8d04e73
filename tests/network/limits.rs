//! One guest per network limit: a script, its outcome, and a check that the sandbox stays usable.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::time::Duration;

use tidebox::network::{AllowRule, NetworkLimits};

use super::server::Server;
use super::{NAME, policy, run, sandbox};

/// A guest and the limit that it attacks.
struct Guest {
    limit: &'static str,
    /// Changes to the default limits.
    with: fn(&mut NetworkLimits),
    script: &'static str,
    stdout: &'static str,
    stderr: &'static str,
}

const GUESTS: [Guest; 10] = [
    Guest {
        limit: "requests",
        with: |limits| limits.requests = 5,
        script: "for i in 1 2 3 4 5 6 7; do curl -s $U/hello || echo $?; done; curl -sS $U/hello",
        stdout: "hello\nhello\nhello\nhello\nhello\n7\n7\n",
        stderr: "this sandbox has used up its 5 requests",
    },
    Guest {
        limit: "concurrent",
        with: |limits| limits.concurrent = 2,
        script: "curl -s $U/silent & curl -s $U/silent & sleep 0.5; curl -sS $U/hello; echo $?; kill %1 %2; wait; curl -s $U/hello",
        stdout: "7\nhello\n",
        stderr: "this sandbox already has 2 concurrent requests; wait for one to end",
    },
    Guest {
        limit: "request_bytes",
        with: |limits| limits.request_bytes = 10_000,
        script: "yes | curl -sS -T - $U/count; echo $?; head -c 100000 /dev/zero > f; curl -s -T f $U/count; echo $?",
        stdout: "7\n7\n",
        stderr: "the request body exceeds the limit of 10000 bytes",
    },
    Guest {
        limit: "reply_bytes",
        with: |limits| limits.reply_bytes = 100_000,
        script: "curl -sS $U/big/1000000000 > f; echo $?; [ $(wc -c < f) -le 100000 ] && echo bounded; curl -s $U/hello",
        stdout: "63\nbounded\nhello\n",
        stderr: "the response body exceeds the limit of 100000 bytes",
    },
    Guest {
        limit: "total_sent_bytes",
        with: |limits| limits.total_sent_bytes = 20_000,
        script: "head -c 9000 /dev/zero > f; for i in 1 2 3 4; do curl -sS -T f $U/count || echo $?; done",
        stdout: "9000\n9000\n7\n7\n",
        stderr: "this sandbox has used up its total of 20000 sent bytes",
    },
    Guest {
        limit: "total_received_bytes",
        with: |limits| limits.total_received_bytes = 150_000,
        script: "for i in 1 2 3; do curl -sS $U/big/90000 -o f; echo $?; done",
        stdout: "0\n63\n7\n",
        stderr: "this sandbox has used up its total of 150000 received bytes",
    },
    Guest {
        limit: "header_bytes",
        with: |limits| limits.header_bytes = 4096,
        script: "curl -sS -H \"X: $(printf %09000d 1)\" $U/hello; echo $?",
        stdout: "7\n",
        stderr: "and the limit is 4096; send less",
    },
    // The other direction: headers sent by a server.
    Guest {
        limit: "header_bytes",
        with: |limits| limits.header_bytes = 4096,
        script: "curl -sS $U/long-head > f 2> e; test $? != 0 && echo refused; cat e >&2; wc -c < f",
        stdout: "refused\n0\n",
        stderr: "",
    },
    Guest {
        limit: "request_time",
        with: |limits| limits.request_time = Duration::from_millis(300),
        script: "curl -sS $U/silent; echo $?; curl -sS -m 1000 $U/silent; echo $?",
        stdout: "28\n28\n",
        stderr: "Operation timed out after ",
    },
    // A server that accepts the connection and never starts TLS.
    Guest {
        limit: "connect_time",
        with: |limits| limits.connect_time = Duration::from_millis(300),
        script: "curl -sS --connect-timeout 1000 https://mute.test:$P/; echo $?",
        stdout: "28\n",
        stderr: "",
    },
];

#[tokio::test]
async fn every_network_limit_stops_its_guest() {
    for guest in &GUESTS {
        let server = Server::start();
        let mut limits = NetworkLimits::default();
        (guest.with)(&mut limits);
        // The kernel completes connections that no process accepts.
        let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = silent.local_addr().expect("its address").port();
        let mute = AllowRule::host("mute.test").expect("a name").port(port);
        let policy =
            policy(&server).allow(mute).pin_address("mute.test", [127, 0, 0, 1].into()).expect("a name can be pinned");
        let sandbox = sandbox(policy.with_limits(limits));
        let response = run(&sandbox, &server, &format!("P={port}; {}", guest.script)).await;
        let reported =
            format!("{} against {NAME}: {}\n{}", guest.limit, response.stdout_text(), response.stderr_text());
        assert_eq!(response.stdout_text(), guest.stdout, "{reported}");
        assert!(response.stderr_text().contains(guest.stderr), "{reported}");
        let left = sandbox.resource_usage();
        assert_eq!((left.processes, left.open_files, left.pipes), (0, 0, 0), "{reported}");
        let after = run(&sandbox, &server, "echo alive").await;
        assert_eq!(after.stdout_text(), "alive\n", "{reported}");
    }
}

#[test]
fn every_network_limit_has_a_guest() {
    let printed = format!("{:#?}", NetworkLimits::default());
    let fields: BTreeMap<&str, &str> = printed.lines().filter_map(|line| line.trim().split_once(": ")).collect();
    let fields: BTreeSet<&str> = fields.into_keys().collect();
    let attacked: BTreeSet<&str> = GUESTS.iter().map(|guest| guest.limit).collect();
    assert_eq!(attacked, fields);
}
