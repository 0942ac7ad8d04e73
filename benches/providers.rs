//! Our adapters beside the providers' own clients, on the same emulators in one run.
//!
//! `cargo bench --bench providers`, or with the names of providers behind `--`. Medians of a command that prints a word and of a
//! MiB in each direction, of the whole call and of the work of the client's side:
//! - the whole call: what it takes by itself, through our adapter and through the client for Python, and what ours adds as a share of what
//!   the client adds. By itself a call is the adapter's own request, sent again by a program that does nothing else, so that
//!   receiving and answering are in it. Where that cannot be done it is a call of the emulated sandbox, without an emulator: frames
//!   of Deno and Modal are numbered, and so are commands anywhere but at E2B;
//! - the processor time of the client's side: of that bare program, of the one thread that our adapter has, and of the process of
//!   the client; ours as a share of the client's, in all and in what is added to the bare program's;
//! - round trips: how often a call waits for the other side, which is what it costs over a distance.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::time::ClockId;
use tidebox::remote::PROVIDERS;
use tidebox::{ExecuteRequest, SandboxBackend, Selector, Upload};
use tidebox_emulators::{Emulator, House, Serving};
use tokio::runtime::{Builder, Runtime};

#[path = "providers/bare.rs"]
mod bare;
#[path = "providers/distance.rs"]
mod distance;
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

impl Amount {
    /// How often a file goes each way.
    fn transfers(self) -> usize {
        (self.count / 5).max(1)
    }
}

/// Deno's client for Python waits for ever for a file whose message is longer than a MiB.
const DENO_KIB: usize = 512;

/// How often a command is run over a distance.
const FAR_COUNT: usize = 5;

/// What one call took, in seconds.
#[derive(Clone, Copy, Default)]
struct Cost {
    wall: f64,
    processor: f64,
}

/// The cost of each of [`WORK`]: of one command, and of one transfer.
type Costs = [Cost; 3];

/// How often everything near is measured, one after the other, so that a machine that is slower for a while is so for all.
const ROUNDS: usize = 5;

/// What one provider's figures are.
struct Figures {
    alone: Costs,
    bare: [Option<Cost>; 3],
    ours: Costs,
    theirs: Result<Costs, String>,
    ours_far: Costs,
    theirs_far: Result<Costs, String>,
}

fn main() {
    // `cargo test --bench` only wants to know that it works.
    let is_once = std::env::args().any(|argument| argument == "--test") || !std::env::args().any(|a| a == "--bench");
    let amount = if is_once { Amount { count: 1, kib: 1024 } } else { Amount { count: 100, kib: 16 << 10 } };
    let rounds = if is_once { 1 } else { ROUNDS };
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let runtime = Runtime::new().expect("a runtime");
    eprintln!(
        "| provider | | by itself | ours | its client | ratio of what is added | processor: bare | ours | its client | ratio \
         | ratio of what is added | ours, round trips | its client |"
    );
    eprintln!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for provider in PROVIDERS.iter().filter(|name| wanted.is_empty() || wanted.iter().any(|wanted| wanted == *name)) {
        let amount = if *provider == "deno" { Amount { kib: DENO_KIB, ..amount } } else { amount };
        let figures = measure(&runtime, provider, amount, rounds);
        if let Err(missing) = &figures.theirs {
            eprintln!("{provider}: its own client is not there: {missing}");
        }
        show(provider, amount, &figures);
    }
}

fn measure(runtime: &Runtime, provider: &str, amount: Amount, rounds: usize) -> Figures {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let near = runtime.block_on(tidebox::emulate(provider, listen, "key-of-the-bench", tidebox::sandbox));
    let near = near.expect("the emulator serves");
    let (far, heard) = runtime.block_on(far(provider)).expect("the emulator serves");
    let client = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let requests = client.block_on(requests(&far, &heard, amount));
    let again = |request: &Option<Vec<u8>>| {
        let cost = bare::cost(far.address(), request.as_ref()?, amount.transfers());
        Some(cost.expect("the emulator takes the request again"))
    };
    let (mut alone_costs, mut bare_costs, mut our_costs, mut their_costs) = (vec![], vec![], vec![], vec![]);
    for _ in 0..rounds {
        alone_costs.push(runtime.block_on(alone(&near, amount)));
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
        // A transfer is told by the MiB, its round trips as they were.
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

/// What ours adds to the least, as a share of what the client adds. What is within the noise of the least adds nothing.
fn added(ours: f64, theirs: f64, least: f64) -> String {
    if theirs <= least { "none".to_owned() } else { format!("{:.2}", (ours - least).max(0.0) / (theirs - least)) }
}

fn clocked<T>(work: impl FnOnce() -> T) -> (Cost, T) {
    let (begun, processor) = (Instant::now(), processor_time());
    let done = work();
    (Cost { wall: begun.elapsed().as_secs_f64(), processor: (processor_time() - processor).as_secs_f64() }, done)
}

/// What this thread has worked.
fn processor_time() -> Duration {
    ClockId::CLOCK_THREAD_CPUTIME_ID.now().expect("the system counts it").into()
}

/// The emulator at a distance, and who can hear what is sent to it.
async fn far(provider: &str) -> std::io::Result<(Serving, bare::Heard)> {
    let make = |_| {
        let made = tidebox::sandbox().and_then(|builder| Ok(Arc::new(builder.build()?) as Arc<dyn SandboxBackend>));
        Box::pin(std::future::ready(made)) as tidebox::BoxFuture<'static, _>
    };
    let emulator = Emulator { provider: provider.to_owned(), key: "key-of-the-bench".to_owned() };
    let serve =
        |listen, url: String| async move { emulator.serve_behind(listen, House::new(Arc::new(make)), &url).await };
    distance::behind(serve).await
}

/// The emulated sandbox by itself.
async fn alone(serving: &Serving, amount: Amount) -> Costs {
    let sandbox = tidebox::sandbox().expect("the options are good").build().expect("it is made");
    costs(&(Arc::new(sandbox) as Arc<dyn SandboxBackend>), driver::home(serving.provider()), amount).await
}

/// What each of [`WORK`] sends, for a program that does nothing else.
async fn requests(far: &Serving, heard: &bare::Heard, amount: Amount) -> [Option<Vec<u8>>; 3] {
    let provider = tidebox::remote::provider(far.provider(), far.options()).expect("the options are good");
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("it is made");
    let path = format!("{}/large", driver::home(far.provider())).into_bytes();
    let file = || vec![Upload::new(path.clone(), content(amount.kib))];
    // The first calls open connections.
    sandbox.execute(ExecuteRequest::new("echo hi")).await.expect("it runs");
    sandbox.upload_files(file()).await.expect("a transfer");
    heard.listen();
    sandbox.execute(ExecuteRequest::new("echo hi")).await.expect("it runs");
    // A number by which a service knows a command that it was asked for before makes the second one another thing.
    let command = heard.take_request().filter(|_| far.provider() == "e2b");
    heard.listen();
    sandbox.upload_files(file()).await.expect("a transfer");
    let upload = heard.take_request();
    heard.listen();
    sandbox.download_files(vec![path.clone()]).await.expect("a transfer");
    [command, upload, heard.take_request()]
}

fn content(kib: usize) -> Vec<u8> {
    (0..=255).cycle().take(kib << 10).collect()
}

/// The same through our adapter.
async fn ours(serving: &Serving, amount: Amount) -> Costs {
    let provider = tidebox::remote::provider(serving.provider(), serving.options()).expect("the options are good");
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("it is made");
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
            "every byte is there"
        );
    }
    [execute, upload, download].map(median)
}

async fn timed<T>(work: impl Future<Output = T>) -> (Cost, T) {
    let (begun, processor) = (Instant::now(), processor_time());
    let done = work.await;
    (Cost { wall: begun.elapsed().as_secs_f64(), processor: (processor_time() - processor).as_secs_f64() }, done)
}

/// The median of each figure, without the first call, which opens connections.
fn median(mut costs: Vec<Cost>) -> Cost {
    costs.remove(0);
    middle(costs)
}

/// The median over rounds.
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

/// The same by the official client, which measures itself: its start is not counted.
fn theirs(serving: &Serving, Amount { count, kib }: Amount) -> Result<Costs, String> {
    let mut command = driver::driver(serving.provider())?;
    command.args(["measure", &count.to_string(), &kib.to_string()]).envs(serving.variables().to_vec());
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Ok(WORK.map(|what| {
        let line = text.lines().find_map(|line| line.strip_prefix(what)).expect("the client says how long it took");
        let figures: Vec<f64> = line.split_whitespace().map(|word| word.parse().expect("seconds")).collect();
        let [wall, processor] = figures.as_slice() else { panic!("two figures, and not {line}") };
        Cost { wall: *wall, processor: *processor }
    }))
}
