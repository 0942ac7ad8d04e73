//! `tidebox backend`: a sandbox for programs in other languages.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::run::{PLANTED, command, tidebox, tidebox_reading};

/// Sends requests, numbered from 0, and returns the replies in this order.
fn ask(options: &[&str], requests: &[Value]) -> Vec<Value> {
    let lines = requests.iter().enumerate().map(|(id, request)| {
        let mut request = request.clone();
        request["id"] = json!(id);
        format!("{request}\n")
    });
    let ran = tidebox_reading(&[&["backend"], options].concat(), lines.collect::<String>().as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr());
    let responses: HashMap<u64, Value> = ran
        .stdout()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a response is JSON"))
        .map(|response| (response["id"].as_u64().expect("the response has the id"), response))
        .collect();
    (0..requests.len() as u64).map(|id| responses[&id].clone()).collect()
}

fn execute(command: &str) -> Value {
    json!({ "method": "execute", "params": { "command": command } })
}

#[test]
fn requests_run_concurrently_and_complete_before_exit() {
    // Each waits until all have started.
    let wait = "while set -- begun.*; [ $# -lt 5 ]; do sleep 0.1; done";
    let requests: Vec<Value> = (0..5).map(|n| execute(&format!("touch begun.{n}; {wait}; echo {n}"))).collect();
    for (n, response) in ask(&[], &requests).iter().enumerate() {
        assert_eq!(response["result"]["output"], format!("{n}\n"));
        assert_eq!((&response["result"]["exit_code"], &response["result"]["stopped_by"]), (&json!(0), &Value::Null));
    }
}

#[test]
fn requests_above_the_concurrency_limit_are_queued() {
    let requests: Vec<Value> = (0..400).map(|n| execute(&format!("echo {n}"))).collect();
    for (n, response) in ask(&[], &requests).iter().enumerate() {
        assert_eq!(response["result"]["stdout"], format!("{n}\n"), "{response}");
    }
}

#[test]
fn an_argument_list_is_not_read_by_a_shell() {
    let run = |params: Value| json!({ "method": "execute", "params": params });
    let responses = ask(
        &["--env", "A=1"],
        &[
            run(json!({ "argv": ["printf", "%s|", "$A", "a b", "*"], "env": { "B": "2" } })),
            run(json!({ "argv": ["printenv", "A", "B"], "env": { "B": "2" } })),
            run(json!({ "argv": ["no-such-program"] })),
            run(json!({ "argv": [] })),
            run(json!({ "argv": ["true"], "command": "true" })),
            run(json!({})),
        ],
    );
    assert_eq!(responses[0]["result"]["stdout"], "$A|a b|*|");
    assert_eq!(responses[1]["result"]["stdout"], "1\n2\n");
    assert_eq!(responses[2]["result"]["exit_code"], 127);
    for response in &responses[3..] {
        assert_eq!(response["error"]["kind"], "invalid_request", "{response}");
    }
}

#[test]
fn file_errors_are_results_and_invalid_requests_are_errors() {
    let responses = ask(
        &[],
        &[
            json!({ "method": "read", "params": { "path": "none" } }),
            json!({ "method": "fly" }),
            json!({ "method": "execute", "params": { "command": "x", "env": { "A=B": "" } } }),
            execute("exit 3"),
        ],
    );
    assert_eq!(
        responses[0]["result"]["error"],
        json!({ "code": "file_not_found", "message": "File '/workspace/none' not found" })
    );
    for response in &responses[1..3] {
        assert_eq!(
            (&response["error"]["kind"], &response["error"]["retryable"]),
            (&json!("invalid_request"), &json!(false))
        );
    }
    assert_eq!(responses[3]["result"]["exit_code"], 3);
    let ran = tidebox_reading(&["backend"], b"not json\n\n");
    assert!(ran.stdout().starts_with("{\"id\":null,\"error\":{\"kind\":\"invalid_request\""), "{}", ran.stdout());
}

#[test]
fn binary_data_is_transferred_as_base64() {
    let mut child = command(&["backend"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
    let mut ask = |request: Value| {
        writeln!(stdin, "{request}").expect("it reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it responds");
        serde_json::from_str::<Value>(&line).expect("JSON")["result"].clone()
    };
    let file = json!({ "path": "/workspace/b", "content_base64": "/wAK" });
    let uploaded =
        ask(json!({ "method": "upload_files", "params": { "files": [file, { "path": "b", "content_base64": "" }] } }));
    assert_eq!(
        (&uploaded["files"][0]["error"], &uploaded["files"][1]["error"]),
        (&Value::Null, &json!("invalid_path"))
    );
    let ran = ask(json!({ "method": "execute", "params": { "command": "cat b -", "stdin_base64": "/g==" } }));
    assert_eq!((&ran["stdout"], &ran["stdout_base64"]), (&json!("\u{fffd}\0\n\u{fffd}"), &json!("/wAK/g==")));
    let read = ask(json!({ "method": "read", "params": { "path": "b" } }));
    assert_eq!((&read["content"], &read["encoding"]), (&json!("/wAK"), &json!("base64")));
    let odd = ask(json!({ "method": "execute", "params": { "command": "mkdir d; touch d/$'\\xff'" } }));
    assert_eq!(odd["exit_code"], 0);
    let listed = ask(json!({ "method": "ls", "params": { "path": "d" } }));
    assert_eq!(listed["entries"][0]["path_base64"], "L3dvcmtzcGFjZS9kL/8=");
    let closed = ask(json!({ "method": "close" }));
    assert_eq!(closed, json!({}));
    drop(stdin);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn options_and_dialect_apply_and_the_host_is_invisible() {
    let options = ["--dialect", "python", "--env", "A=1", "--cwd", "/tmp/new", "--timeout", "0.3"];
    let responses = ask(
        &options,
        &[
            json!({ "method": "info" }),
            execute(&format!("echo $A; pwd; echo ${{{}-hidden}}", PLANTED.0)),
            execute("sleep 9"),
            json!({ "method": "ls", "params": { "path": "/nowhere" } }),
        ],
    );
    let info = &responses[0]["result"];
    assert_eq!((&info["dialect"], &info["cwd"]), (&json!("python"), &json!("/tmp/new")));
    assert_eq!(responses[1]["result"]["output"], "1\n/tmp/new\nhidden\n");
    assert_eq!(
        (&responses[2]["result"]["exit_code"], &responses[2]["result"]["stopped_by"]),
        (&json!(124), &json!("timeout"))
    );
    assert!(responses[3]["result"]["error"]["message"].as_str().is_some_and(|text| text.contains("path_not_found")));
    assert_eq!(tidebox(&["backend", "--dialect", "klingon"]).code, Some(125));
}

#[test]
fn persistent_commands_share_a_shell_session() {
    let mut child = command(&["backend"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
    for (command, expected) in [("cd /tmp; a=1", ""), ("pwd; echo $a", "/tmp\n1\n")] {
        let params = json!({ "command": command, "shell_mode": "persistent" });
        writeln!(stdin, "{}", json!({ "method": "execute", "params": params })).expect("it reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it responds");
        assert_eq!(serde_json::from_str::<Value>(&line).expect("JSON")["result"]["output"], expected);
    }
    drop(stdin);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn it_exits_when_its_output_is_closed() {
    let mut child = command(&["backend"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    writeln!(stdin, "{}", execute("echo answered")).expect("it reads");
    let end = Instant::now() + Duration::from_secs(20);
    while child.try_wait().expect("it can be requested").is_none() {
        assert!(Instant::now() < end, "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn named_python_sessions_keep_their_variables() {
    if !tidebox::Packs::user().ready().iter().any(|pack| pack.name() == "python") {
        assert!(
            std::env::var_os("CI").is_none(),
            "the pack python is not installed; add it with `tidebox pack add python`"
        );
        return;
    }
    let python =
        |session: &str, code: &str| json!({ "method": "python", "params": { "session": session, "code": code } });
    let responses = ask(
        &[],
        &[
            python("a", "x = 1; print('set')"),
            python("a", "x + 1"),
            python("b", "x"),
            python("a", "exit(4)"),
            python("a", "x"),
            json!({ "method": "python_end", "params": { "session": "b" } }),
            json!({ "method": "python_end", "params": { "session": "c" } }),
        ],
    );
    let result = |n: usize, name: &str| responses[n]["result"][name].clone();
    assert_eq!(
        (result(0, "stdout"), result(0, "begun"), result(0, "value")),
        (json!("set\n"), json!(true), Value::Null)
    );
    assert_eq!((result(1, "value"), result(1, "begun"), result(1, "ended")), (json!("2"), json!(false), json!(false)));
    assert_eq!(result(2, "error")["name"], "NameError");
    assert_eq!((result(3, "exit_code"), result(3, "ended")), (json!(4), json!(true)));
    assert_eq!((result(4, "error")["name"].clone(), result(4, "begun")), (json!("NameError"), json!(true)));
    assert_eq!((result(5, "ended"), result(6, "ended")), (json!(true), json!(false)));
}

#[test]
fn processes_outlive_their_request() {
    let mut child = command(&["backend"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
    let mut call = |method: &str, params: Value| {
        writeln!(stdin, "{}", json!({ "method": method, "params": params })).expect("it reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it responds");
        serde_json::from_str::<Value>(&line).expect("JSON")["result"].clone()
    };
    let spawned =
        call("spawn", json!({ "command": "while read -r x; do echo got $x; done", "input": true, "tag": "t" }));
    let id = spawned["id"].as_str().expect("the process has an id").to_owned();
    assert_eq!(call("processes", json!({}))["processes"][0]["tag"], "t");
    call("write_process", json!({ "id": id, "input_base64": "b25lCg==" }));
    let page = call("read_process", json!({ "id": id, "wait_ms": 20000 }));
    assert_eq!(
        (&page["output"], &page["next"], &page["state"]["running"]),
        (&json!("got one\n"), &json!(8), &json!(true))
    );
    call("signal_process", json!({ "id": id, "signal": "KILL" }));
    let page = call("read_process", json!({ "id": id, "after": 8, "wait_ms": 20000 }));
    assert_eq!((&page["output"], &page["state"]["exit_code"]), (&json!(""), &json!(137)));
    let size = json!({ "rows": 30, "columns": 90 });
    let spawned = call("spawn", json!({ "command": "read x; stty size; echo $x", "terminal": size }));
    let id = spawned["id"].as_str().expect("the process has an id").to_owned();
    call("resize_process", json!({ "id": id, "rows": 40, "columns": 100 }));
    call("write_process", json!({ "id": id, "input_base64": "b25lDQ==" }));
    let mut output = String::new();
    while !output.ends_with("40 100\r\none\r\n") {
        let page = call("read_process", json!({ "id": id, "after": output.len(), "wait_ms": 20000 }));
        output.push_str(page["output"].as_str().expect("the output is text"));
        assert_ne!(page["output"], "", "the process has ended: {output:?}");
    }
    let kept = call("execute", json!({ "command": "sleep 100 & echo x", "background": "keep" }));
    assert_eq!(kept["output"], "x\n");
    assert!(kept["process"].is_string(), "{kept}");
    call(
        "spawn",
        json!({ "command": "while :; do printf 'HTTP/1.0 200 OK\\r\\n\\r\\nserved' | nc -lN 8000 >/dev/null; done" }),
    );
    let endpoint = call("port_endpoint", json!({ "port": 8000 }));
    assert_eq!(call("port_endpoint", json!({ "port": 8000 })), endpoint, "the address stays the same");
    assert_eq!(endpoint["headers"], json!({}));
    assert!(fetch(endpoint["url"].as_str().expect("a URL")).ends_with("\r\n\r\nserved"));
    drop(stdin);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

/// Sends a request until the server responds.
fn fetch(url: &str) -> String {
    let address = url.strip_prefix("http://").expect("a URL without TLS");
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let mut stream = std::net::TcpStream::connect(address).expect("the port is open");
        let mut reply = String::new();
        let sent = stream.write_all(format!("GET / HTTP/1.0\r\nHost: {address}\r\n\r\n").as_bytes());
        if sent.and_then(|()| stream.read_to_string(&mut reply)).is_ok() && !reply.is_empty() {
            return reply;
        }
        assert!(Instant::now() < deadline, "the server does not respond");
        std::thread::sleep(Duration::from_millis(20));
    }
}
