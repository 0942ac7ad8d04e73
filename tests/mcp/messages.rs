//! Sessions over the standard streams.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Tests;
use crate::client::Server;

/// A PNG image of one pixel, in base64.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub(crate) const TESTS: Tests = &[
    ("commands_persist_state_and_report_their_end", commands_persist_state_and_report_their_end),
    ("files_are_written_edited_read_and_found", files_are_written_edited_read_and_found),
    ("long_output_is_clipped_and_marked", long_output_is_clipped_and_marked),
    ("images_of_commands_are_image_content", images_of_commands_are_image_content),
    ("snapshots_are_limited_and_named", snapshots_are_limited_and_named),
    ("restore_ends_processes_and_the_interpreter", restore_ends_processes_and_the_interpreter),
    ("python_keeps_its_variables_or_reports_the_pack", python_keeps_its_variables_or_reports_the_pack),
    ("processes_left_by_a_command_are_named", processes_left_by_a_command_are_named),
    ("a_background_command_starts_in_the_session_directory", a_background_command_starts_in_the_session_directory),
    ("progress_has_the_output_and_rises", progress_has_the_output_and_rises),
    ("a_slow_client_does_not_grow_the_server", a_slow_client_does_not_grow_the_server),
    ("a_cancelled_call_ends_its_command", a_cancelled_call_ends_its_command),
    ("invalid_calls_are_errors_of_the_protocol", invalid_calls_are_errors_of_the_protocol),
    ("failed_calls_are_results_with_a_reason", failed_calls_are_results_with_a_reason),
    ("resources_are_listed_in_pages_and_read", resources_are_listed_in_pages_and_read),
    ("a_request_without_a_session_is_served", a_request_without_a_session_is_served),
    ("a_saved_sandbox_continues_in_the_next_server", a_saved_sandbox_continues_in_the_next_server),
    ("two_servers_start_before_one_uses_the_directory", two_servers_start_before_one_uses_the_directory),
    ("a_server_takes_a_shared_sandbox_over", a_server_takes_a_shared_sandbox_over),
    ("the_server_ends_with_its_input", the_server_ends_with_its_input),
    ("options_configure_the_sandbox", options_configure_the_sandbox),
];

fn commands_persist_state_and_report_their_end() {
    let mut server = Server::start(&[]);
    let result =
        server.value("bash", json!({"command": "cd /tmp; A=1; f() { echo f$A; }; echo out; echo err >&2; exit 7"}));
    assert_eq!(
        (&result["stdout"], &result["stderr"], &result["exit_code"]),
        (&json!("out\n"), &json!("err\n"), &json!(7))
    );
    assert_eq!(server.bash("pwd; f"), "/tmp\nf1\n");
    let result = server.call("bash", json!({"command": "echo part; sleep 60", "timeout": 200, "description": "wait"}));
    let value = &result["structuredContent"];
    assert_eq!((&value["timed_out"], &value["exit_code"]), (&json!(true), &json!(124)), "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("part\n") && text.contains("[killed after "), "{text}");
    assert!(text.contains("[exit code 124]"), "{text}");
    assert_eq!(server.call("bash", json!({"command": "true"}))["content"][0]["text"], "(no output)");
}

fn files_are_written_edited_read_and_found() {
    let mut server = Server::start(&[]);
    let written = server.value("write", json!({"file_path": "src/a.rs", "content": "fn one() {}\nfn two() {}\n"}));
    assert_eq!(written, json!({"file_path": "/workspace/src/a.rs", "bytes": 24, "created": true}));
    let read = server.call("read", json!({"file_path": "src/a.rs", "limit": 1}));
    assert_eq!(read["structuredContent"]["next_offset"], 2, "{read}");
    assert_eq!(read["content"][0]["text"], "     1\tfn one() {}\n[2 lines in the file; continue with offset 2]");
    let edited = server.value(
        "edit",
        json!({"file_path": "src/a.rs", "old_string": "fn", "new_string": "pub fn", "replace_all": true}),
    );
    assert_eq!(edited["occurrences"], 2);
    server.bash(
        "touch .hidden; echo 'pub fn x' > src/b.txt; touch -d 2001-01-01 src/a.rs; mkdir .git; echo 'pub fn' > .git/x",
    );
    let newest_first = server.value("glob", json!({"pattern": "src/**"}));
    assert_eq!(newest_first["files"], json!(["/workspace/src/b.txt", "/workspace/src/a.rs"]));
    assert_eq!(server.value("glob", json!({"pattern": "/workspace/s*/*.rs"}))["files"], json!(["/workspace/src/a.rs"]));
    let files = server.value("grep", json!({"pattern": "pub fn"}));
    let paths: Vec<_> = files["matches"].as_array().unwrap().iter().map(|one| one["path"].clone()).collect();
    assert_eq!(paths, ["/workspace/src/a.rs", "/workspace/src/b.txt"], "files of .git are not searched");
    let lines = server.call("grep", json!({"pattern": r"two\(\)", "glob": "*.rs", "output_mode": "content", "-C": 1}));
    assert_eq!(
        lines["content"][0]["text"],
        "/workspace/src/a.rs-1-pub fn one() {}\n/workspace/src/a.rs:2:pub fn two() {}"
    );
    let first = server.value("grep", json!({"pattern": "pub", "output_mode": "count", "head_limit": 1}));
    assert_eq!((&first["matches"][0]["count"], &first["truncated"]), (&json!(2), &json!(true)));
    assert_eq!(server.call("grep", json!({"pattern": "absent"}))["content"][0]["text"], "No matches found");
    let listed = server.call("ls", json!({"path": "."}));
    assert_eq!(listed["content"][0]["text"], ".git/\n.hidden\t0\nsrc/");
    let uploaded = server.call("upload", json!({"path": "bin/x", "content_base64": "AP8="}));
    assert_eq!(uploaded["content"][1]["uri"], "file:///workspace/bin/x", "{uploaded}");
    let downloaded = server.call("download", json!({"path": "/workspace/bin/x"}));
    assert_eq!(downloaded["structuredContent"]["content_base64"], "AP8=");
    assert_eq!(downloaded["content"][1]["resource"]["blob"], "AP8=");
}

fn long_output_is_clipped_and_marked() {
    let mut server = Server::start(&[]);
    let result = server.value("bash", json!({"command": "echo first; yes | head -c 1000000; echo last"}));
    let stdout = result["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("first\n") && stdout.ends_with("last\n"), "both ends are kept");
    assert!(stdout.contains("bytes omitted") && stdout.len() < 110_000, "{}", stdout.len());
    assert_eq!(result["truncated"], true);
    server.bash("seq 100000 > long");
    let page = server.value("read", json!({"file_path": "long", "limit": 90_000}));
    let (end, next) = (page["end_line"].as_u64().unwrap(), page["next_offset"].as_u64().unwrap());
    assert!(end < 90_000 && next == end + 1, "{end} {next}");
    assert!(page["content"].as_str().unwrap().ends_with(&format!("\n{end}\n")), "the page ends with its last line");
    let rest = server.value("read", json!({"file_path": "long", "offset": next, "limit": 1}));
    assert_eq!(rest["start_line"].as_u64(), Some(next));
}

fn images_of_commands_are_image_content() {
    let mut server = Server::start(&[]);
    let made = server.call(
        "bash",
        json!({"command": format!("echo {PNG} | base64 -d | tee a.png b.PNG > c.txt; echo text > d.png")}),
    );
    assert_eq!(made["structuredContent"]["images"], json!(["/workspace/a.png", "/workspace/b.PNG"]), "{made}");
    for at in [1, 2] {
        assert_eq!(made["content"][at], json!({"type": "image", "data": PNG, "mimeType": "image/png"}));
    }
    assert_eq!(server.value("bash", json!({"command": "touch a.png"}))["images"], json!([]), "the content is the same");
    let shown = server.call("read", json!({"file_path": "c.txt"}));
    assert_eq!(shown["content"][1]["mimeType"], "image/png", "the content decides, not the name: {shown}");
    server.bash("cat a.png > big.png; head -c 1000000 /dev/zero >> big.png");
    let shown = server.call("read", json!({"file_path": "big.png"}));
    assert_eq!(shown["content"][1]["type"], "image", "larger than the limit for other binary files");
    server.bash("printf '\\0\\1' > data");
    assert!(server.failure("read", json!({"file_path": "data"})).contains("binary file of 2 bytes"));
}

fn snapshots_are_limited_and_named() {
    let mut server = Server::start(&[]);
    assert_eq!(server.value("snapshot", json!({})), json!({"name": "1", "replaced": false}));
    server.bash("echo x > x");
    assert_eq!(server.value("snapshot", json!({"name": "1"})), json!({"name": "1", "replaced": true}));
    assert_eq!(server.value("diff", json!({"name": "1"}))["changes"], json!([]));
    let since_start = server.call("diff", json!({}));
    assert_eq!(since_start["structuredContent"]["changes"][0]["path"], "/workspace/x");
    assert!(since_start["content"][0]["text"].as_str().unwrap().contains("+++ b/workspace/x\n@@ -0,0 +1 @@\n+x"));
    for number in 2..=32 {
        assert_eq!(server.value("snapshot", json!({}))["name"], number.to_string());
    }
    let full = server.failure("snapshot", json!({"name": "one more"}));
    assert!(full.contains("32 snapshots, the maximum") && full.contains("start, 1, 10"), "{full}");
    assert_eq!(server.value("snapshot", json!({"name": "32"}))["replaced"], true);
    assert!(server.failure("restore", json!({"name": "absent"})).contains("existing snapshots: start, 1,"));
    assert!(server.failure("snapshot", json!({"name": "start"})).contains("choose another name"));
    server.value("restore", json!({"name": "start"}));
    assert_eq!(server.bash("ls"), "");
}

fn restore_ends_processes_and_the_interpreter() {
    let mut server = Server::start(&[]);
    server.value("snapshot", json!({"name": "s"}));
    let process =
        server.value("bash", json!({"command": "sleep 1000", "run_in_background": true}))["process_id"].clone();
    let running =
        server.begin("tools/call", json!({"name": "bash", "arguments": {"command": "echo > started; sleep 1000"}}));
    while !server.bash("ls").contains("started") {
        thread::sleep(Duration::from_millis(20));
    }
    let python = server.call("run_python", json!({"code": "x = 1"}));
    let restore = server.begin("tools/call", json!({"name": "restore", "arguments": {"name": "s"}}));
    let (mut stopped, mut restored) = (Value::Null, Value::Null);
    while stopped.is_null() || restored.is_null() {
        let message = server.read();
        if message["id"] == running {
            stopped = message;
        } else if message["id"] == restore {
            restored = message;
        }
    }
    assert_eq!(stopped["result"]["structuredContent"]["stopped_by"], "cancelled", "{stopped}");
    assert_eq!(restored["result"]["isError"], false, "{restored}");
    let output = server.value("output", json!({"process_id": process, "wait": 10_000}));
    assert_eq!(output["running"], false, "{output}");
    if python["isError"] == true {
        println!("skipped: the interpreter after a restore: the pack python is not installed");
        return;
    }
    let python = server.value("run_python", json!({"code": "x"}));
    assert_eq!((&python["new_interpreter"], &python["error"]["name"]), (&json!(true), &json!("NameError")), "{python}");
}

fn python_keeps_its_variables_or_reports_the_pack() {
    let mut server = Server::start(&[]);
    let first = server.call("run_python", json!({"code": "x = 20"}));
    if first["isError"] == true {
        let message = first["content"][0]["text"].as_str().unwrap();
        assert!(message.contains("tidebox pack add python"), "{message}");
        println!("skipped: Python code: the pack python is not installed");
        return;
    }
    let second = server.call("run_python", json!({"code": "print('a')\nx + 1"}));
    assert_eq!(second["structuredContent"]["value"], "21", "{second}");
    assert_eq!(second["content"][0]["text"], "a\n21");
    let slow = server.value("run_python", json!({"code": "while True: pass", "timeout": 300}));
    assert_eq!((&slow["timed_out"], &slow["exited"]), (&json!(true), &json!(true)), "{slow}");
    let again = server.value("run_python", json!({"code": "x"}));
    assert_eq!(again["error"]["name"], "NameError", "{again}");
    let cancelled =
        server.begin("tools/call", json!({"name": "run_python", "arguments": {"code": "while True: pass"}}));
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}}));
    let after = server.value("run_python", json!({"code": "1 + 1"}));
    assert_eq!(after["value"], "2", "{after}");
}

fn processes_left_by_a_command_are_named() {
    let mut server = Server::start(&[]);
    assert_eq!(server.value("processes", json!({})), json!({"processes": []}));
    let left = server.value("bash", json!({"command": "(echo one; sleep 0.2; echo two; sleep 1000) & echo done"}));
    assert_eq!(left["exit_code"], 0, "{left}");
    let process = left["process_id"].clone();
    assert!(process.is_string(), "{left}");
    let mut output = String::new();
    let mut cursor = json!(0);
    while !output.contains("two") {
        let page = server.value("output", json!({"process_id": process, "cursor": cursor, "wait": 5000}));
        assert_eq!(page["running"], true, "{page}");
        output.push_str(page["output"].as_str().unwrap());
        cursor = page["cursor"].clone();
    }
    let killed = server.value("kill", json!({"shell_id": process, "signal": "sigkill"}));
    assert_eq!(killed["running"], false, "{killed}");
    assert_eq!(server.value("processes", json!({}))["processes"][0]["running"], false);
    assert!(server.failure("kill", json!({"process_id": process, "signal": "NOPE"})).contains("use one of HUP, INT"));
    assert!(server.failure("output", json!({"process_id": "99999"})).contains("no process has the id"));
}

fn a_background_command_starts_in_the_session_directory() {
    let mut server = Server::start(&[]);
    server.bash("mkdir -p '/tmp/a b'; cd '/tmp/a b'; V=1");
    let process = server.value("bash", json!({"command": "pwd", "background": true}))["process_id"].clone();
    let page = server.value("output", json!({"process_id": process, "wait": 5000}));
    assert_eq!(page["output"], "/tmp/a b\n", "{page}");
    assert_eq!(server.bash("pwd; echo $V"), "/tmp/a b\n1\n", "the session is unchanged");
}

fn progress_has_the_output_and_rises() {
    let mut server = Server::start(&[]);
    let params = json!({
        "name": "bash",
        "arguments": {"command": "for i in 1 2 3 4 5; do echo line $i; sleep 0.25; done"},
        "_meta": {"progressToken": "token-1"},
    });
    let response = server.request("tools/call", params);
    assert_eq!(response["result"]["structuredContent"]["exit_code"], 0, "{response}");
    let (mut last, mut text) = (-1.0, String::new());
    assert!(server.notifications.len() >= 2, "{:?}", server.notifications);
    for notification in &server.notifications {
        assert_eq!(notification["method"], "notifications/progress");
        assert_eq!(notification["params"]["progressToken"], "token-1");
        let progress = notification["params"]["progress"].as_f64().unwrap();
        assert!(progress > last, "{:?}", server.notifications);
        last = progress;
        text.push_str(notification["params"]["message"].as_str().unwrap_or_default());
    }
    for line in 1..=4 {
        assert!(text.contains(&format!("line {line}\n")), "{text}");
    }
    server.notifications.clear();
    server.bash("echo quiet");
    assert!(server.notifications.is_empty(), "no token, no notifications");
}

/// The client reads nothing while the command prints, so the pipe from the server is full.
fn a_slow_client_does_not_grow_the_server() {
    let mut server = Server::start(&["--limits", "output=1M"]);
    server.bash("true");
    let Some(before) = server.memory() else {
        println!("skipped: the memory of a process is only read on Linux");
        return;
    };
    let arguments = json!({"command": "for i in $(seq 60); do yes $i | head -c 4000000; sleep 0.1; done"});
    let params = json!({"name": "bash", "arguments": arguments, "_meta": {"progressToken": 1}});
    let id = server.begin("tools/call", params);
    thread::sleep(Duration::from_secs(6));
    let during = server.memory().unwrap();
    let response = server.wait(id);
    assert_eq!(response["result"]["structuredContent"]["truncated"], true, "240 MB of output");
    let notified: usize = server.notifications.iter().map(|one| one.to_string().len()).sum();
    assert!((1..2_000_000).contains(&notified), "240 MB of output became {notified} bytes of notifications");
    let after = server.memory().unwrap();
    assert!(during.max(after) < before + 64_000_000, "{before} bytes became {during} and {after}");
}

fn a_cancelled_call_ends_its_command() {
    let mut server = Server::start(&[]);
    let command = "while :; do echo >> ticks; sleep 0.02; done";
    let id = server
        .begin("tools/call", json!({"name": "bash", "arguments": {"command": command}, "_meta": {"progressToken": 7}}));
    while server.bash("cat ticks 2>/dev/null").is_empty() {
        thread::sleep(Duration::from_millis(20));
    }
    server.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "test"}}),
    );
    let mut counts = vec![server.bash("wc -l < ticks")];
    let start = Instant::now();
    loop {
        thread::sleep(Duration::from_millis(300));
        // `wait` in the client fails if the cancelled request gets a response.
        counts.push(server.bash("wc -l < ticks"));
        if counts[counts.len() - 2..].windows(2).all(|pair| pair[0] == pair[1]) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "the command still runs: {counts:?}");
    }
}

fn invalid_calls_are_errors_of_the_protocol() {
    let mut server = Server::start(&[]);
    let mut error = |name: &str, arguments: Value| {
        let response = server.request("tools/call", json!({"name": name, "arguments": arguments}));
        assert_eq!(response["error"]["code"], -32602, "{response}");
        response["error"]["message"].as_str().unwrap().to_owned()
    };
    assert!(error("nothing", json!({})).contains("expected one of: bash, read,"));
    assert!(error("bash", json!({})).contains("missing field `command`"));
    assert!(error("bash", json!({"command": 1})).contains("invalid arguments of the tool bash"));
    assert!(error("grep", json!({"pattern": "x", "output_mode": "lines"})).contains("files_with_matches"));
    let missing = server.request("prompts/list", json!({}));
    assert_eq!(missing["error"]["code"], -32601, "{missing}");
    // Unknown arguments are ignored, because built-in tools of clients have more.
    assert_eq!(server.value("bash", json!({"command": "echo x", "dangerouslyDisableSandbox": true}))["stdout"], "x\n");
}

fn failed_calls_are_results_with_a_reason() {
    let mut server = Server::start(&[]);
    server.bash("echo x > file; mkdir dir");
    let cases = [
        ("read", json!({"file_path": "none"}), "none"),
        ("read", json!({"file_path": "dir"}), "dir"),
        ("read", json!({"file_path": ""}), "it is empty"),
        ("read", json!({"file_path": "a\u{0}b"}), "NUL byte"),
        ("read", json!({"file_path": "file", "offset": 9}), "exceeds file length"),
        ("write", json!({"file_path": "/bin/x", "content": ""}), "Permission denied"),
        ("edit", json!({"file_path": "file", "old_string": "absent", "new_string": ""}), "absent"),
        ("glob", json!({"pattern": "x", "path": "none"}), "path_not_found"),
        ("grep", json!({"pattern": "("}), "regex parse error"),
        ("grep", json!({"pattern": "x", "type": "nonsense"}), "nonsense"),
        ("ls", json!({"path": "file"}), "file"),
        ("upload", json!({"path": "x", "content_base64": "%"}), "not base64"),
        ("download", json!({"path": "none"}), "none"),
    ];
    for (tool, arguments, reason) in cases {
        let message = server.failure(tool, arguments.clone());
        assert!(message.contains(reason), "{tool} {arguments}: {message}");
    }
}

fn resources_are_listed_in_pages_and_read() {
    let mut server = Server::start(&[]);
    server.bash("for i in $(seq 100 249); do echo $i > f$i; done; mkdir 'a b'; printf '\\377' > 'a b/x%'");
    let first = server.request("resources/list", json!({}))["result"].clone();
    let second = server.request("resources/list", json!({"cursor": first["nextCursor"]}))["result"].clone();
    assert!(second.get("nextCursor").is_none(), "{second}");
    let all: Vec<_> = [&first, &second].into_iter().flat_map(|page| page["resources"].as_array().unwrap()).collect();
    assert_eq!((first["resources"].as_array().unwrap().len(), all.len()), (100, 151));
    let encoded = all.iter().find(|file| file["uri"] == "file:///workspace/a%20b/x%25").expect("its name is encoded");
    assert_eq!((&encoded["size"], &encoded["name"]), (&json!(1), &json!("x%")), "{encoded}");
    let read = |server: &mut Server, uri: &str| server.request("resources/read", json!({"uri": uri}));
    let blob = read(&mut server, "file:///workspace/a%20b/x%25")["result"]["contents"][0].clone();
    assert_eq!(blob["blob"], "/w==", "{blob}");
    let text = read(&mut server, "file:///workspace/f100")["result"]["contents"][0].clone();
    assert_eq!((&text["text"], &text["mimeType"]), (&json!("100\n"), &json!("text/plain")));
    assert_eq!(read(&mut server, "file:///none")["error"]["code"], -32002);
    assert_eq!(read(&mut server, "http://host/")["error"]["code"], -32002);
    assert_eq!(read(&mut server, "file:///workspace")["error"]["code"], -32602);
    assert_eq!(server.request("resources/list", json!({"cursor": "x"}))["error"]["code"], -32602);
    let templates = server.request("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "file:///{+path}");
}

/// Version 2026-07-28: the first message is a call, and every request has its own metadata.
fn a_request_without_a_session_is_served() {
    let mut server = Server::spawn(&[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let called = server
        .request("tools/call", json!({"name": "bash", "arguments": {"command": "echo hi > f; cat f"}, "_meta": meta}));
    assert_eq!(called["result"]["structuredContent"]["stdout"], "hi\n", "{called}");
    assert_eq!(called["result"]["resultType"], "complete", "{called}");
    let discovered = server.request("server/discover", json!({"_meta": meta}));
    let versions = discovered["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{discovered}");
    let again = server.request("tools/call", json!({"name": "bash", "arguments": {"command": "cat f"}, "_meta": meta}));
    assert_eq!(again["result"]["structuredContent"]["stdout"], "hi\n", "the sandbox is the same: {again}");
    let ping = server.request("ping", json!({"_meta": meta}));
    assert_eq!(ping["error"]["code"], -32601, "{ping}");
}

fn a_saved_sandbox_continues_in_the_next_server() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let save = dir.path().to_str().expect("its name is UTF-8");
    let mut server = Server::start(&["--save", save]);
    server.bash("echo kept > file; cd /tmp; V=1");
    server.value("snapshot", json!({"name": "s"}));
    server.bash("rm /workspace/file");
    server.value("restore", json!({"name": "s"}));
    server.value("write", json!({"file_path": "second", "content": "x"}));
    server.value("bash", json!({"command": "sleep 1000", "run_in_background": true}));
    let (status, _) = server.close();
    assert!(status.success(), "{status}");
    let mut server = Server::start(&["--save", save, "--sandbox", "other"]);
    assert_eq!(server.bash("ls"), "");
    server.close();
    let mut server = Server::start(&["--save", save]);
    assert_eq!(server.bash("pwd; echo $V; cd /workspace; ls; cat file"), "/tmp\n1\nfile\nsecond\nkept\n");
    assert!(server.failure("restore", json!({"name": "s"})).contains("existing snapshots: start"));
}

/// Some clients start a server only to read its capabilities, while another one runs.
fn two_servers_start_before_one_uses_the_directory() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let save = dir.path().to_str().expect("its name is UTF-8");
    let (mut one, mut two) = (Server::start(&["--save", save]), Server::start(&["--save", save]));
    one.bash("true");
    assert_eq!(two.request("tools/list", json!({}))["result"]["tools"].as_array().map(Vec::len), Some(16));
    let message = two.failure("bash", json!({"command": "true"}));
    assert!(message.contains("used by another program"), "{message}");
    one.close();
    assert_eq!(two.bash("echo now"), "now\n", "the next use tries again");
}

fn a_server_takes_a_shared_sandbox_over() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let url = format!("file://{}", dir.path().display());
    let (mut one, mut two) = (Server::start(&["--store", &url]), Server::start(&["--store", &url]));
    one.bash("echo one > who");
    assert_eq!(two.bash("cat who; echo two > who"), "one\n");
    let message = one.failure("bash", json!({"command": "echo lost > who"}));
    assert!(message.contains("another program has taken the sandbox over"), "{message}");
    one.close();
    let mut again = Server::start(&["--store", &url]);
    assert_eq!(again.bash("cat who"), "two\n");
}

fn the_server_ends_with_its_input() {
    let (status, _) = Server::spawn(&[]).close();
    assert!(status.success(), "without a message: {status}");
    let mut server = Server::start(&[]);
    server.value("bash", json!({"command": "sleep 1000", "run_in_background": true}));
    let (status, took) = server.close();
    assert!(status.success() && took < Duration::from_secs(20), "{status} after {took:?}");
    let mut server = Server::start(&[]);
    server.begin("tools/call", json!({"name": "bash", "arguments": {"command": "sleep 1000"}}));
    let (status, took) = server.close();
    assert!(status.success() && took < Duration::from_secs(30), "{status} after {took:?}");
}

fn options_configure_the_sandbox() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(dir.path().join("readme"), "host\n").expect("the file is written");
    let mount = format!("{}:/workspace/repo:cow", dir.path().display());
    let mut server = Server::start(&[
        "--mount",
        &mount,
        "--env",
        "A=1",
        "--cwd",
        "repo",
        "--timeout",
        "0.5",
        "--allow",
        "example.com",
    ]);
    assert_eq!(server.bash("cat readme; echo $A; echo changed > readme"), "host\n1\n");
    let result = server.value("bash", json!({"command": "sleep 60", "timeout": 60_000}));
    assert_eq!(result["timed_out"], true, "--timeout is also the maximum");
    let kept = std::fs::read_to_string(dir.path().join("readme")).expect("the file is read");
    assert_eq!(kept, "host\n", "a copy-on-write mount does not change the host");
    let tools = server.request("tools/list", json!({}));
    let bash = tools["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "bash").unwrap();
    assert_eq!(bash["annotations"]["openWorldHint"], true, "a sandbox with a network");
}
