//! Our adapters beside the providers' own clients, on the same emulators in one run.
//!
//! `cargo bench --bench providers`, or with the name of a provider behind `--`. Medians of a command that prints a word and of a
//! MiB in each direction: what the emulated sandbox takes by itself, what our adapter takes and what the client for Python takes,
//! how many times as long the client's time ours is, and the same of what each adds to the sandbox's own time. The emulator has
//! threads of its own, our adapter one, and the client its process.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidebox::remote::PROVIDERS;
use tidebox::{ExecuteRequest, SandboxBackend, Selector, Upload};
use tidebox_emulators::Serving;
use tokio::runtime::{Builder, Runtime};

#[path = "../tests/remote_providers/driver.rs"]
mod driver;
#[path = "../tests/deepagents/install.rs"]
mod install;

/// What is measured, in the order in which it is.
const WORK: [&str; 3] = ["execute", "upload", "download"];

/// How often a command is run, and how many KiB are transferred at once.
#[derive(Clone, Copy)]
struct Amount {
    count: usize,
    kib: usize,
}

/// Deno's client for Python waits for ever for a file whose message is longer than a MiB.
const DENO_KIB: usize = 512;

/// Seconds for each of [`WORK`].
type Times = [f64; 3];

fn main() {
    // `cargo test --bench` only wants to know that it works.
    let is_once = std::env::args().any(|argument| argument == "--test") || !std::env::args().any(|a| a == "--bench");
    let amount = if is_once { Amount { count: 1, kib: 1024 } } else { Amount { count: 100, kib: 16 << 10 } };
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let runtime = Runtime::new().expect("a runtime");
    eprintln!("| provider | | sandbox alone | ours | its client | ratio | ratio of what is added |");
    eprintln!("|---|---|---|---|---|---|---|");
    for provider in PROVIDERS.iter().filter(|name| wanted.is_empty() || wanted.iter().any(|wanted| wanted == *name)) {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let serving = runtime.block_on(tidebox::emulate(provider, listen, "key-of-the-bench", tidebox::sandbox));
        let serving = serving.expect("the emulator serves");
        let amount = if *provider == "deno" { Amount { kib: DENO_KIB, ..amount } } else { amount };
        let alone = runtime.block_on(alone(&serving, amount));
        let client = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let ours = client.block_on(ours(&serving, amount));
        let theirs = theirs(&serving, amount);
        if let Err(missing) = &theirs {
            eprintln!("{provider}: its own client is not there: {missing}");
        }
        show(provider, alone, ours, theirs.ok());
        runtime.block_on(serving.end());
    }
}

fn show(provider: &str, alone: Times, ours: Times, theirs: Option<Times>) {
    for (at, what) in WORK.iter().enumerate() {
        let millis = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
        let ratios = theirs.map(|theirs| {
            // What is within the noise of the sandbox itself adds nothing.
            let added = |time: f64| (time - alone[at]).max(0.0);
            let [whole, added] = [ours[at] / theirs[at], added(ours[at]) / added(theirs[at])];
            (millis(theirs[at]), format!("{whole:.2}"), format!("{added:.2}"))
        });
        let (theirs, whole, added) = ratios.unwrap_or_else(|| ("-".to_owned(), "-".to_owned(), "-".to_owned()));
        let (alone, ours) = (millis(alone[at]), millis(ours[at]));
        eprintln!("| {provider} | {what} | {alone} | {ours} | {theirs} | {whole} | {added} |");
    }
}

/// The emulated sandbox by itself.
async fn alone(serving: &Serving, amount: Amount) -> Times {
    let sandbox = tidebox::sandbox().expect("the options are good").build().expect("it is made");
    times(&(Arc::new(sandbox) as Arc<dyn SandboxBackend>), driver::home(serving.provider()), amount).await
}

/// The same through our adapter.
async fn ours(serving: &Serving, amount: Amount) -> Times {
    let provider = tidebox::remote::provider(serving.provider(), serving.options()).expect("the options are good");
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("it is made");
    let times = times(&sandbox, driver::home(serving.provider()), amount).await;
    provider.delete(sandbox.id()).await.expect("it is deleted");
    times
}

async fn times(sandbox: &Arc<dyn SandboxBackend>, root: &str, Amount { count, kib }: Amount) -> Times {
    let path = format!("{root}/large").into_bytes();
    let content: Vec<u8> = (0..=255).cycle().take(kib << 10).collect();
    let (mut execute, mut upload, mut download) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..=count {
        let begun = Instant::now();
        let response = sandbox.execute(ExecuteRequest::new("echo hi")).await.expect("it runs");
        execute.push(begun.elapsed());
        assert_eq!(response.stdout_text(), "hi\n");
    }
    for _ in 0..=(count / 10).max(1) {
        let file = vec![Upload::new(path.clone(), content.clone())];
        let begun = Instant::now();
        let results = sandbox.upload_files(file).await.expect("a transfer");
        upload.push(begun.elapsed());
        results[0].result.as_ref().expect("it is stored");
        let paths = vec![path.clone()];
        let begun = Instant::now();
        let results = sandbox.download_files(paths).await.expect("a transfer");
        download.push(begun.elapsed());
        assert!(results[0].result.as_ref().is_ok_and(|got| *got == content), "every byte is there");
    }
    let mib = kib as f64 / 1024.0;
    [median(execute), median(upload) / mib, median(download) / mib]
}

/// The median in seconds, without the first, which opens connections.
fn median(mut times: Vec<Duration>) -> f64 {
    times.remove(0);
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64)
}

/// The same by the official client, which measures itself: its start is not counted.
fn theirs(serving: &Serving, Amount { count, kib }: Amount) -> Result<Times, String> {
    let mut command = driver::driver(serving.provider())?;
    command.args(["measure", &count.to_string(), &kib.to_string()]).envs(serving.variables().to_vec());
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Ok(WORK.map(|what| {
        let line = text.lines().find_map(|line| line.strip_prefix(what)).expect("the client says how long it took");
        line.trim().parse().expect("a number of seconds")
    }))
}
