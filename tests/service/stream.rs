//! Commands as a stream of events.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::sandbox_shared;

#[test]
fn output_arrives_while_the_command_runs() {
    let client = sandbox_shared().client("token-a");
    let sandbox = client.create();
    let body = json!({ "command": "echo one; sleep 1; echo two >&2; exit 4" }).to_string();
    let headers = "content-type: application/json\r\naccept: text/event-stream\r\n";
    let mut stream = TcpStream::connect(client.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(&client.request("POST", &format!("{sandbox}/execute"), headers, body.as_bytes())).unwrap();
    let (mut events, mut first) = (Vec::new(), None);
    let mut name = String::new();
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        if let Some(event) = line.strip_prefix("event: ") {
            name = event.to_owned();
            first.get_or_insert_with(Instant::now);
        } else if let Some(data) = line.strip_prefix("data: ") {
            events.push((name.clone(), data.to_owned()));
        }
    }
    assert!(first.unwrap().elapsed() > Duration::from_millis(800), "the first event came before the end");
    assert_eq!(events[0], ("stdout".to_owned(), "b25lCg==".to_owned()), "{events:?}");
    assert_eq!(events[1], ("stderr".to_owned(), "dHdvCg==".to_owned()), "{events:?}");
    let (name, result) = events.last().unwrap();
    let result: Value = serde_json::from_str(result).unwrap();
    assert_eq!((name.as_str(), &result["exit_code"], events.len()), ("result", &json!(4), 3), "{events:?}");
}

#[test]
fn a_client_that_disconnects_ends_its_command() {
    let client = sandbox_shared().client("token-a");
    let sandbox = client.create();
    let body = json!({ "command": "echo start; sleep 100" }).to_string();
    let headers = "content-type: application/json\r\naccept: text/event-stream\r\n";
    let mut stream = TcpStream::connect(client.address).unwrap();
    stream.write_all(&client.request("POST", &format!("{sandbox}/execute"), headers, body.as_bytes())).unwrap();
    let mut lines = BufReader::new(stream).lines();
    while !lines.next().unwrap().unwrap().starts_with("event: stdout") {}
    drop(lines);
    let deadline = Instant::now() + Duration::from_secs(20);
    while client.execute(&sandbox, "ps | grep -c '[s]leep 100' || true") != "0\n" {
        assert!(Instant::now() < deadline, "the command still runs");
        std::thread::sleep(Duration::from_millis(100));
    }
}
