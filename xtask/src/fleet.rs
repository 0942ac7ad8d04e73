//! `cargo xtask fleet`: three nodes of `tidebox serve` and a round-robin proxy, while nodes, servers, links and clocks fail.
//! Clients check that every acknowledged write stays, and that no two nodes serve a sandbox.

mod checker;
mod clock;
mod failures;
mod http;
mod link;
mod nats;
mod node;
mod official;
mod proxy;
mod s3;
mod services;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::project::{Project, empty_dir};
use crate::step::Progress;
use checker::{Client, Report};
use node::Nodes;
use official::Official;
use proxy::Proxy;
use services::Services;

/// Clients that write at the same time.
const CLIENTS: usize = 6;

/// Requests for the measurement of a hop.
const HOP_REQUESTS: usize = 300;

/// Kills for the measurement of a failover.
const FAILOVERS: usize = 3;

/// Time in which the other nodes must take the sandboxes of a killed one.
const FAILOVER_TIME: Duration = Duration::from_secs(60);

/// Arguments of the command.
struct Arguments<'a> {
    over: &'a str,
    minutes: f64,
}

impl<'a> Arguments<'a> {
    fn parse(mut words: &[&'a str]) -> Result<Self> {
        let mut arguments = Self { over: "folder", minutes: 10.0 };
        while let [name, value, rest @ ..] = words {
            match *name {
                "--over" => arguments.over = value,
                "--minutes" => arguments.minutes = value.parse().context("--minutes needs a number")?,
                other => bail!("unknown option of `cargo xtask fleet`: {other}"),
            }
            words = rest;
        }
        ensure!(words.is_empty(), "the option {} of `cargo xtask fleet` needs a value", words.join(" "));
        Ok(arguments)
    }
}

/// Runs the fleet for some minutes and prints the counts.
pub(crate) fn fleet(project: &Project, progress: &mut Progress, words: &[&str]) -> Result<()> {
    let Arguments { over, minutes } = Arguments::parse(words)?;
    let build = project.cargo(&["build", "--locked", "--bin", "tidebox", "--features", "nats,object-store"]);
    progress.run("build the command", build, "cargo xtask fleet")?;
    let official = official::install(project, progress)?;
    let dir = empty_dir(project.target.join(format!("fleet-{over}")))?;
    let services = Arc::new(Services::start(project, progress, over, &dir)?);
    let nodes = Arc::new(Nodes::new(project.tidebox(), &dir, services)?);
    let proxy = |provider: &str| Proxy::start(nodes.addresses(provider));
    let (rest, e2b, daytona) = (proxy("rest")?, proxy("e2b")?, proxy("daytona")?);
    nodes.start(daytona.address())?;
    let hop = measure_hop(&nodes)?;
    let failovers = measure_failover(&nodes)?;
    progress.print(&format!("{CLIENTS} clients, three nodes over {over}, {minutes} minutes, seed {}", nodes.seed()));
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let is_over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let (is_over, address) = (Arc::clone(&is_over), rest.address());
            thread::spawn(move || Client::new(number, address).run(&is_over).finish())
        })
        .collect();
    let official = Official::start(&official, e2b.address(), daytona.address(), end)?;
    let happened = failures::cause(&nodes, end);
    is_over.store(true, Ordering::Release);
    nodes.restart_all()?;
    let mut report = Report::default();
    for client in clients {
        report.add(client.join().map_err(|_| anyhow::anyhow!("a client has panicked"))?);
    }
    println!("failures: {happened}");
    report.print();
    println!("time of a request: {:.2} ms at the node of the sandbox, {:.2} ms passed on (p50)", hop.0, hop.1);
    println!("time until another node serves a sandbox of a killed one: {failovers:.1?} s");
    let official = official.finish()?;
    nodes.end()?;
    ensure!(
        report.is_right(),
        "acknowledged writes are missing, or two nodes have served one sandbox; see the lines above"
    );
    ensure!(official, "an official client has found errors; see the lines above");
    Ok(())
}

/// Returns the times from a kill of the node of a sandbox until another one serves it, in seconds.
fn measure_failover(nodes: &Nodes) -> Result<Vec<f64>> {
    let addresses = nodes.rest_addresses();
    let mut times = Vec::new();
    for number in 0..FAILOVERS {
        let first = addresses[number % addresses.len()];
        let sandbox = http::eventually(Duration::from_secs(30), || http::create(first))?;
        let is_there = |address: &_| {
            http::send(*address, "GET", &sandbox, "x-tidebox-hop: 1\r\n", "").is_ok_and(|r| r.status == 200)
        };
        let there = addresses.iter().position(is_there).context("no node serves the sandbox")?;
        let other = addresses[(there + 1) % addresses.len()];
        // Nodes that have just got a shard make the next one wait for a second lease.
        thread::sleep(Duration::from_secs(u64::from(nodes.services().lease()) + 2));
        nodes.kill(there)?;
        let start = Instant::now();
        http::eventually(FAILOVER_TIME, || {
            let reply = http::send(other, "GET", &sandbox, "", "")?;
            ensure!(reply.status == 200, "status {}", reply.status);
            Ok(())
        })?;
        times.push(start.elapsed().as_secs_f64());
        nodes.launch(there)?;
        nodes.wait_until_ready(there)?;
    }
    Ok(times)
}

/// Returns the median time of a request to the node of a sandbox and to another one, in milliseconds.
fn measure_hop(nodes: &Nodes) -> Result<(f64, f64)> {
    let addresses = nodes.rest_addresses();
    let sandbox = http::eventually(Duration::from_secs(30), || http::create(addresses[0]))?;
    let is_there =
        |address| http::send(address, "GET", &sandbox, "x-tidebox-hop: 1\r\n", "").is_ok_and(|r| r.status == 200);
    let there = *addresses.iter().find(|address| is_there(**address)).context("no node serves the sandbox")?;
    let other = *addresses.iter().find(|address| **address != there).context("there is one node")?;
    let median = |address| -> Result<f64> {
        let mut connection = http::Connection::open(address)?;
        let mut times = Vec::new();
        for _ in 0..HOP_REQUESTS {
            let start = Instant::now();
            let reply = connection.send("GET", &sandbox, "", "")?;
            ensure!(reply.status == 200, "the sandbox was not found: {}", reply.body);
            times.push(start.elapsed().as_secs_f64() * 1000.0);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    };
    Ok((median(there)?, median(other)?))
}
