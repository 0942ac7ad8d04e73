//! Clients that know what was acknowledged.
//!
//! Each has a sandbox with one file, to which it alone appends numbers. A number that was acknowledged, or was read once, must be in
//! every later read, at its position. One that is missing was lost, or another node has served from old memory.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::failures::Random;
use super::http;

/// Writes after which a sandbox is replaced by another one.
const WRITES: usize = 60;

/// Time in which the fleet must serve after the last failure.
const LAST_TIME: Duration = Duration::from_secs(60);

/// Time without a response that counts as an outage.
const OUTAGE: Duration = Duration::from_millis(500);

/// Errors that are printed, and their maximum length in characters.
const ERRORS: usize = 8;
const ERROR_LENGTH: usize = 200;

/// Counts of all clients.
#[derive(Debug, Default)]
pub(super) struct Report {
    acknowledged: usize,
    unknown: usize,
    reads: usize,
    sandboxes: usize,
    deleted: usize,
    /// Times between two responses of the fleet to one client above [`OUTAGE`], in seconds.
    outages: Vec<f64>,
    /// Errors of requests, with their numbers.
    errors: BTreeMap<String, usize>,
    /// Descriptions of what must not happen.
    missing: Vec<String>,
    two_owners: Vec<String>,
}

/// A sandbox with the numbers in its file.
#[derive(Debug, Default)]
struct Sandbox {
    path: String,
    /// Numbers in the file, as acknowledged or read.
    known: Vec<u64>,
    /// Numbers whose writes had an unknown outcome.
    unknown: Vec<u64>,
    next: u64,
}

pub(super) struct Client {
    address: SocketAddr,
    random: Random,
    report: Report,
    sandboxes: Vec<Sandbox>,
    current: Option<Sandbox>,
    deleted: Vec<String>,
    /// Time of the last successful response.
    served: Instant,
}

impl Client {
    pub(super) fn new(number: usize, address: SocketAddr) -> Self {
        Self {
            address,
            random: Random::new(number as u64 + 1),
            report: Report::default(),
            sandboxes: Vec::new(),
            current: None,
            deleted: Vec::new(),
            served: Instant::now(),
        }
    }

    /// Works until the end.
    pub(super) fn run(mut self, is_over: &AtomicBool) -> Self {
        while !is_over.load(Ordering::Acquire) {
            let is_done = match self.current.take() {
                None => self.create(),
                Some(sandbox) => self.work(sandbox),
            };
            self.note(is_done);
        }
        self
    }

    /// Notes whether a request had a response of the fleet.
    fn note(&mut self, is_done: bool) {
        if is_done {
            let time = self.served.elapsed();
            if time > OUTAGE {
                self.report.outages.push(time.as_secs_f64());
            }
            self.served = Instant::now();
        }
        if !is_done {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn create(&mut self) -> bool {
        let Ok(path) = http::create(self.address).map_err(|error| self.report.note(&error)) else { return false };
        self.report.sandboxes += 1;
        self.current = Some(Sandbox { path, ..Sandbox::default() });
        true
    }

    fn work(&mut self, mut sandbox: Sandbox) -> bool {
        if sandbox.next as usize >= WRITES {
            return self.put_aside(sandbox);
        }
        let is_done = match self.random.below(4) {
            0 => self.read(&mut sandbox),
            _ => self.write(&mut sandbox),
        };
        self.current = Some(sandbox);
        is_done
    }

    /// Keeps a sandbox for the last check, or deletes it.
    fn put_aside(&mut self, sandbox: Sandbox) -> bool {
        if self.random.below(3) > 0 {
            self.sandboxes.push(sandbox);
            return true;
        }
        let deleted = http::send(self.address, "DELETE", &sandbox.path, "", "");
        if !deleted.is_ok_and(|reply| reply.status == 204) {
            // The outcome is unknown: the sandbox cannot be checked any more.
            return false;
        }
        self.report.deleted += 1;
        self.deleted.push(sandbox.path);
        true
    }

    fn write(&mut self, sandbox: &mut Sandbox) -> bool {
        let number = sandbox.next;
        sandbox.next += 1;
        match execute(self.address, &sandbox.path, &format!("echo {number} >> log")) {
            Ok(_) => {
                self.report.acknowledged += 1;
                sandbox.known.push(number);
                true
            }
            Err(error) => {
                self.report.unknown += 1;
                self.report.note(&error);
                sandbox.unknown.push(number);
                false
            }
        }
    }

    fn read(&mut self, sandbox: &mut Sandbox) -> bool {
        let text = match execute(self.address, &sandbox.path, "cat log 2> /dev/null || :") {
            Ok(text) => text,
            Err(error) => {
                self.report.note(&error);
                return false;
            }
        };
        self.report.reads += 1;
        self.check(sandbox, &text);
        true
    }

    /// Compares a read with what is known.
    fn check(&mut self, sandbox: &mut Sandbox, text: &str) {
        let read: Vec<u64> = text.lines().filter_map(|line| line.parse().ok()).collect();
        let path = &sandbox.path;
        for number in &sandbox.known {
            if !read.contains(number) {
                self.report
                    .missing
                    .push(format!("{path}: {number} was acknowledged or read, and is missing in {read:?}"));
            }
        }
        // A write whose client was given up may be done later than the next one, but only once.
        let acknowledged: Vec<u64> = read.iter().copied().filter(|number| !sandbox.unknown.contains(number)).collect();
        let is_mixed = acknowledged.windows(2).any(|pair| pair[0] >= pair[1]);
        let is_repeated = read.iter().any(|number| read.iter().filter(|other| *other == number).count() > 1);
        if is_mixed || is_repeated || read.len() != text.lines().count() {
            self.report.two_owners.push(format!("{path}: writes of two owners are mixed: {text:?}"));
        }
        let is_foreign = |number: &&u64| !sandbox.unknown.contains(number) && !sandbox.known.contains(number);
        if let Some(number) = read.iter().find(is_foreign) {
            self.report.two_owners.push(format!("{path}: {number} was there neither before nor written since"));
        }
        sandbox.known = read;
    }

    /// Reads everything back.
    pub(super) fn finish(mut self) -> Report {
        let all: Vec<Sandbox> = std::mem::take(&mut self.sandboxes).into_iter().chain(self.current.take()).collect();
        for mut sandbox in all {
            let (address, path) = (self.address, sandbox.path.clone());
            match http::eventually(LAST_TIME, || execute(address, &path, "cat log 2> /dev/null || :")) {
                Ok(text) => {
                    self.report.reads += 1;
                    self.check(&mut sandbox, &text);
                }
                Err(error) => self.report.missing.push(format!("{path}: cannot be read: {error:#}")),
            }
        }
        for path in std::mem::take(&mut self.deleted) {
            let address = self.address;
            let gone = http::eventually(LAST_TIME, || match http::send(address, "GET", &path, "", "")?.status {
                404 => Ok(()),
                status => bail!("status {status}"),
            });
            if let Err(error) = gone {
                self.report.missing.push(format!("{path} was deleted and is there again: {error:#}"));
            }
        }
        self.report
    }
}

/// Runs a command and returns its output.
fn execute(address: SocketAddr, path: &str, command: &str) -> Result<String> {
    let body = json!({ "command": command }).to_string();
    let reply = http::send(address, "POST", &format!("{path}/execute"), "", &body)?;
    if reply.status != 200 {
        bail!("status {}: {}", reply.status, reply.body);
    }
    let result = reply.json()?;
    if result["exit_code"] != 0 {
        bail!("the command failed: {result}");
    }
    result["stdout"].as_str().map(str::to_owned).context("the response has no output")
}

impl Report {
    /// Counts an error by its text.
    fn note(&mut self, error: &anyhow::Error) {
        *self.errors.entry(format!("{error:#}").chars().take(ERROR_LENGTH).collect()).or_default() += 1;
    }

    pub(super) fn add(&mut self, other: Self) {
        self.acknowledged += other.acknowledged;
        self.unknown += other.unknown;
        self.reads += other.reads;
        self.sandboxes += other.sandboxes;
        self.deleted += other.deleted;
        self.outages.extend(other.outages);
        for (error, count) in other.errors {
            *self.errors.entry(error).or_default() += count;
        }
        self.missing.extend(other.missing);
        self.two_owners.extend(other.two_owners);
    }

    pub(super) fn is_right(&self) -> bool {
        self.missing.is_empty() && self.two_owners.is_empty() && self.acknowledged > 0
    }

    pub(super) fn print(&mut self) {
        println!(
            "{} sandboxes, {} writes acknowledged, {} with unknown outcome, {} reads compared, {} sandboxes deleted",
            self.sandboxes, self.acknowledged, self.unknown, self.reads, self.deleted
        );
        let mut errors: Vec<(&String, &usize)> = self.errors.iter().collect();
        errors.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (error, count) in errors.into_iter().take(ERRORS) {
            println!("  {count} times: {error}");
        }
        println!("missing: {}, two owners: {}", self.missing.len(), self.two_owners.len());
        for line in self.missing.iter().chain(&self.two_owners).take(20) {
            println!("  {line}");
        }
        self.outages.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let last = self.outages.len().saturating_sub(1);
            self.outages.get((last as f64 * share) as usize).copied().unwrap_or_default()
        };
        println!(
            "times without a response to a client: {} above 0.5 s, p50 {:.2} s, p90 {:.2} s, most {:.2} s",
            self.outages.len(),
            at(0.5),
            at(0.9),
            at(1.0)
        );
    }
}
