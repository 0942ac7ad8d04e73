//! `cargo xtask fleet`: three nodes of `tidebox serve` over one directory, over a round-robin proxy, while nodes are killed and
//! stopped. Clients check that every acknowledged write stays, and that no two nodes serve a sandbox.

mod checker;
mod failures;
mod http;
mod node;
mod official;
mod proxy;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::project::{Project, empty_dir};
use crate::step::Progress;
use checker::{Client, Report};
use node::Nodes;
use proxy::Proxy;

/// Clients that write at the same time.
const CLIENTS: usize = 6;

/// Requests for the measurement of a hop.
const HOP_REQUESTS: usize = 300;

/// Runs the fleet for some minutes and prints the counts.
pub(crate) fn fleet(project: &Project, progress: &mut Progress, minutes: &str) -> Result<()> {
    let minutes: f64 = minutes.parse().context("--minutes needs a number")?;
    let build = project.cargo(&["build", "--locked", "--bin", "tidebox"]);
    progress.run("build the command", build, "cargo xtask fleet")?;
    let dir = empty_dir(project.target.join("fleet"))?;
    let nodes = Arc::new(Nodes::start(project.tidebox(), &dir)?);
    let (rest, e2b) = (Proxy::start(nodes.rest_addresses())?, Proxy::start(nodes.e2b_addresses())?);
    let hop = measure_hop(&nodes)?;
    progress.print(&format!("{CLIENTS} clients, three nodes, {minutes} minutes, seed {}", nodes.seed()));
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let is_over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let (is_over, address) = (Arc::clone(&is_over), rest.address());
            thread::spawn(move || Client::new(number, address).run(&is_over))
        })
        .collect();
    let official = official::start(project, e2b.address(), end)?;
    let happened = failures::cause(&nodes, end);
    is_over.store(true, Ordering::Release);
    nodes.restart_all()?;
    let mut report = Report::default();
    for client in clients {
        let client = client.join().map_err(|_| anyhow::anyhow!("a client has panicked"))?;
        report.add(client.finish());
    }
    println!("failures: {happened}");
    report.print();
    println!("time of a request: {:.2} ms at the node of the sandbox, {:.2} ms passed on (p50)", hop.0, hop.1);
    let official = official.finish()?;
    nodes.end()?;
    ensure!(
        report.is_right(),
        "acknowledged writes are missing, or two nodes have served one sandbox; see the lines above"
    );
    ensure!(official, "the official client has found errors; see the lines above");
    Ok(())
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
