//! Our adapters compared with the providers' clients, on the same emulators in one run.
//!
//! `cargo bench --bench providers`, or with the names of providers after `--`. Medians of a command that prints one line and of one
//! MiB in each direction, for the whole call and for the client side:
//! - the whole call: the bare request, through our adapter, and through the Python client, and our overhead relative to the client's.
//!   The bare request is the adapter's request, sent again by a program without other work. Where requests cannot be repeated (frames
//!   of Deno and Modal are numbered, and so are commands except at E2B), it is a call of the emulated sandbox without an emulator;
//! - the CPU time of the client side: of the bare program, of the thread of our adapter, and of the client's process; ours relative to
//!   the client's, in total and above the bare program;
//! - round trips: the number of times that a call waits for the other side, which determines its cost over a distance.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::time::ClockId;
use tidebox::remote::PROVIDERS;
use tidebox::{ExecuteRequest, SandboxBackend, Selector, Upload};
use tidebox_emulators::{Emulator, Serving};
use tokio::runtime::{Builder, Runtime};

#[path = "providers/bare.rs"]
mod bare;
#[path = "providers/distance.rs"]
mod distance;
#[path = "../tests/remote_providers/driver.rs"]
mod driver;
#[path = "../tests/deepagents/install.rs"]
mod install;

/// The measured operations, in order.
const WORK: [&str; 3] = ["execute", "upload", "download"];

/// Number of commands, and KiB of one transfer.
#[derive(Clone, Copy)]
struct Amount {
    count: usize,
    kib: usize,
}

impl Amount {
    /// Number of transfers in each direction.
    fn transfers(self) -> usize {
        (self.count / 5).max(1)
    }
}

/// Deno's Python client never returns for a file whose message is longer than one MiB.
const DENO_KIB: usize = 512;

/// Number of commands over a distance.
const FAR_COUNT: usize = 5;

/// Times of one call, in seconds.
#[derive(Clone, Copy, Default)]
struct Cost {
    wall: f64,
    processor: f64,
}

/// The cost of each of [`WORK`]: of one command, and of one transfer.
type Costs = [Cost; 3];

/// Number of rounds. Each round measures everything, so that a temporarily slow host affects all figures.
const ROUNDS: usize = 5;

/// The figures of one provider.
struct Figures {
    alone: Costs,
    bare: [Option<Cost>; 3],
    ours: Costs,
    theirs: Result<Costs, String>,
    ours_far: Costs,
    theirs_far: Result<Costs, String>,
}

fn main() {
    // `cargo test --bench` only checks that it works.
    let is_once = std::env::args().any(|argument| argument == "--test") || !std::env::args().any(|a| a == "--bench");
    let amount = if is_once { Amount { count: 1, kib: 1024 } } else { Amount { count: 100, kib: 16 << 10 } };
    let rounds = if is_once { 1 } else { ROUNDS };
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let runtime = Runtime::new().expect("a runtime");
    eprintln!(
        "| provider | | without emulator | ours | its client | ratio of the overhead | processor: bare | ours | its client | ratio \
         | ratio of the overhead | ours, round trips | its client |"
    );
    eprintln!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for provider in PROVIDERS.iter().filter(|name| wanted.is_empty() || wanted.iter().any(|wanted| wanted == *name)) {
        let amount = if *provider == "deno" { Amount { kib: DENO_KIB, ..amount } } else { amount };
        let figures = measure(&runtime, provider, amount, rounds);
        if let Err(missing) = &figures.theirs {
            eprintln!("{provider}: its own client is not installed: {missing}");
        }
        show(provider, amount, &figures);
    }
}

fn measure(runtime: &Runtime, provider: &str, amount: Amount, rounds: usize) -> Figures {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let near = runtime.block_on(tidebox::emulate(provider, listen, "key-of-the-bench", tidebox::sandbox));
    let near = near.expect("the emulator serves");
    let (far, traffic) = runtime.block_on(far(provider)).expect("the emulator serves");
    let client = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let requests = client.block_on(requests(&far, &traffic, amount));
    let again = |request: &Option<Vec<u8>>| {
        let cost = bare::cost(far.address(), request.as_ref()?, amount.transfers());
        Some(cost.expect("the emulator accepts the request again"))
    };
    let (mut alone_costs, mut bare_costs, mut our_costs, mut their_costs) = (vec![], vec![], vec![], vec![]);
    for _ in 0..rounds {
        alone_costs.push(runtime.block_on(alone(amount)));
        bare_costs.push(requests.each_ref().map(again));
        our_costs.push(client.block_on(ours(&near, amount)));
        their_costs.push(theirs(&near, amount));
    }
    let seldom = Amount { count: FAR_COUNT.min(amount.count), ..amount };
    let figures = Figures {
        alone: middles(alone_costs),
        bare: [0, 1, 2].map(|at| bare_costs.iter().map(|costs| costs[at]).collect::<Option<Vec<_>>>().map(middle)),
        ours: middles(our_costs),
        theirs: their_costs.into_iter().collect::<Result<Vec<_>, _>>().map(middles),
        ours_far: client.block_on(ours(&far, seldom)),
        theirs_far: theirs(&far, seldom),
    };
    runtime.block_on(near.end());
    runtime.block_on(far.end());
    figures
}

fn show(provider: &str, amount: Amount, figures: &Figures) {
    for (at, what) in WORK.iter().enumerate() {
        // Transfers are reported per MiB, round trips unscaled.
        let unit = if *what == "execute" { 1.0 } else { amount.kib as f64 / 1024.0 };
        let millis = |seconds: f64| format!("{:.3} ms", seconds / unit * 1e3);
        let trips = |near: Costs, far: Costs| format!("{:.1}", distance::round_trips(far[at].wall - near[at].wall));
        let (bare, ours) = (figures.bare[at], figures.ours[at]);
        let least = Cost {
            wall: bare.map_or(figures.alone[at].wall, |bare| bare.wall),
            processor: bare.map_or(0.0, |bare| bare.processor),
        };
        let client = figures.theirs.as_ref().ok().zip(figures.theirs_far.as_ref().ok()).map(|(near, far)| {
            let theirs = near[at];
            [
                millis(theirs.wall),
                added(ours.wall, theirs.wall, least.wall),
                millis(theirs.processor),
                added(ours.processor, theirs.processor, 0.0),
                added(ours.processor, theirs.processor, least.processor),
                trips(*near, *far),
            ]
        });
        let [wall, added, processor, whole_ratio, ratio, their_trips] =
            client.unwrap_or_else(|| std::array::from_fn(|_| "-".to_owned()));
        let bare = bare.map_or_else(|| "-".to_owned(), |bare| millis(bare.processor));
        let (least, whole, own) = (millis(least.wall), millis(ours.wall), millis(ours.processor));
        let our_trips = trips(figures.ours, figures.ours_far);
        eprintln!(
            "| {provider} | {what} | {least} | {whole} | {wall} | {added} | {bare} | {own} | {processor} | {whole_ratio} \
             | {ratio} | {our_trips} | {their_trips} |"
        );
    }
}

/// Returns our overhead above the minimum relative to the client's overhead. Differences within the noise count as zero.
fn added(ours: f64, theirs: f64, least: f64) -> String {
    if theirs <= least { "none".to_owned() } else { format!("{:.2}", (ours - least).max(0.0) / (theirs - least)) }
}

fn clocked<T>(work: impl FnOnce() -> T) -> (Cost, T) {
    let (started, processor) = (Instant::now(), processor_time());
    let done = work();
    (Cost { wall: started.elapsed().as_secs_f64(), processor: (processor_time() - processor).as_secs_f64() }, done)
}

/// Returns the CPU time of this thread.
fn processor_time() -> Duration {
    ClockId::CLOCK_THREAD_CPUTIME_ID.now().expect("the system counts it").into()
}

/// The emulator at a distance, and the recorder of its traffic.
async fn far(provider: &str) -> std::io::Result<(Serving, bare::RecordedTraffic)> {
    let emulator = Emulator { provider: provider.to_owned(), key: "key-of-the-bench".to_owned() };
    let serve = |listen, url: String| async move {
        emulator.serve_at_url(listen, tidebox::emulated_sandboxes(tidebox::sandbox), &url).await
    };
    distance::serve_with_delay(serve).await
}

/// The emulated sandbox without an emulator.
async fn alone(amount: Amount) -> Costs {
    let sandbox = tidebox::sandbox().expect("the options are valid").build().expect("it is built");
    costs(&(Arc::new(sandbox) as Arc<dyn SandboxBackend>), "/workspace", amount).await
}

/// Records the request of each of [`WORK`] for the bare program.
async fn requests(far: &Serving, traffic: &bare::RecordedTraffic, amount: Amount) -> [Option<Vec<u8>>; 3] {
    let provider = tidebox::remote::provider(far.provider(), far.options()).expect("the options are valid");
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("it is built");
    let path = format!("{}/large", driver::home(far.provider())).into_bytes();
    let file = || vec![Upload::new(path.clone(), content(amount.kib))];
    // The first calls open connections.
    sandbox.execute(ExecuteRequest::new("echo hi")).await.expect("it runs");
    sandbox.upload_files(file()).await.expect("a transfer");
    traffic.listen();
    sandbox.execute(ExecuteRequest::new("echo hi")).await.expect("it runs");
    // A repeated command id would make the second request a different operation.
    let command = traffic.take_request().filter(|_| far.provider() == "e2b");
    traffic.listen();
    sandbox.upload_files(file()).await.expect("a transfer");
    let upload = traffic.take_request();
    traffic.listen();
    sandbox.download_files(vec![path.clone()]).await.expect("a transfer");
    [command, upload, traffic.take_request()]
}

fn content(kib: usize) -> Vec<u8> {
    (0..=255).cycle().take(kib << 10).collect()
}

/// Measures the calls through our adapter.
async fn ours(serving: &Serving, amount: Amount) -> Costs {
    let provider = tidebox::remote::provider(serving.provider(), serving.options()).expect("the options are valid");
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("it is built");
    let costs = costs(&sandbox, driver::home(serving.provider()), amount).await;
    provider.delete(sandbox.id()).await.expect("it is deleted");
    costs
}

async fn costs(sandbox: &Arc<dyn SandboxBackend>, root: &str, amount: Amount) -> Costs {
    let path = format!("{root}/large").into_bytes();
    let content = content(amount.kib);
    let (mut execute, mut upload, mut download) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..=amount.count {
        let (cost, response) = timed(sandbox.execute(ExecuteRequest::new("echo hi"))).await;
        execute.push(cost);
        assert_eq!(response.expect("it runs").stdout_text(), "hi\n");
    }
    for _ in 0..=amount.transfers() {
        let file = vec![Upload::new(path.clone(), content.clone())];
        let (cost, results) = timed(sandbox.upload_files(file)).await;
        upload.push(cost);
        results.expect("a transfer")[0].result.as_ref().expect("it is stored");
        let (cost, results) = timed(sandbox.download_files(vec![path.clone()])).await;
        download.push(cost);
        assert!(
            results.expect("a transfer")[0].result.as_ref().is_ok_and(|got| *got == content),
            "the download equals the upload"
        );
    }
    [execute, upload, download].map(median)
}

async fn timed<T>(work: impl Future<Output = T>) -> (Cost, T) {
    let (started, processor) = (Instant::now(), processor_time());
    let done = work.await;
    (Cost { wall: started.elapsed().as_secs_f64(), processor: (processor_time() - processor).as_secs_f64() }, done)
}

/// Returns the median of each figure without the first call, which opens connections.
fn median(mut costs: Vec<Cost>) -> Cost {
    costs.remove(0);
    middle(costs)
}

/// Returns the median over rounds.
fn middles(rounds: Vec<Costs>) -> Costs {
    [0, 1, 2].map(|at| middle(rounds.iter().map(|costs| costs[at]).collect()))
}

fn middle(costs: Vec<Cost>) -> Cost {
    let middle = |figure: fn(&Cost) -> f64| {
        let mut figures: Vec<f64> = costs.iter().map(figure).collect();
        figures.sort_unstable_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied().unwrap_or_default()
    };
    Cost { wall: middle(|cost| cost.wall), processor: middle(|cost| cost.processor) }
}

/// Measures the calls of the official client, which measures itself: its start is not counted.
fn theirs(serving: &Serving, Amount { count, kib }: Amount) -> Result<Costs, String> {
    let mut command = driver::driver(serving.provider())?;
    command.args(["measure", &count.to_string(), &kib.to_string()]).envs(serving.variables().to_vec());
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Ok(WORK.map(|what| {
        let line = text.lines().find_map(|line| line.strip_prefix(what)).expect("the client prints its times");
        let figures: Vec<f64> = line.split_whitespace().map(|word| word.parse().expect("seconds")).collect();
        let [wall, processor] = figures.as_slice() else { panic!("two figures, and not {line}") };
        Cost { wall: *wall, processor: *processor }
    }))
}
