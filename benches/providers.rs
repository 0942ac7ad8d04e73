//! Our adapters beside the providers' own clients, on the same emulators in one run.
//!
//! `cargo bench --bench providers`, or with the names of providers behind `--`. Medians of a command that prints a word and of a
//! MiB in each direction. Three things are told apart:
//! - wall time: what the emulated sandbox takes by itself, what our adapter takes and what the client for Python takes, and what ours adds
//!   to the sandbox's own time as a share of what the client adds. The emulator's receiving and answering is in both;
//! - processor time of the client's side alone, where nothing is the emulator's: of the one thread that our adapter has, and of
//!   the process of the client, and ours as a share of it. What the system takes to hand bytes to a connection is in both, and stands
//!   in the first lines for a program that does nothing else;
//! - round trips: how often a call waits for the other side, which is what it costs over a distance.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::time::ClockId;
use tidebox::remote::PROVIDERS;
use tidebox::{ExecuteRequest, SandboxBackend, Selector, Upload};
use tidebox_emulators::{Emulator, House, Serving};
use tokio::runtime::{Builder, Runtime};

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

/// Everything that is said of one side.
struct Side {
    near: Costs,
    far: Costs,
}

fn main() {
    // `cargo test --bench` only wants to know that it works.
    let is_once = std::env::args().any(|argument| argument == "--test") || !std::env::args().any(|a| a == "--bench");
    let amount = if is_once { Amount { count: 1, kib: 1024 } } else { Amount { count: 100, kib: 16 << 10 } };
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let runtime = Runtime::new().expect("a runtime");
    eprintln!("processor time of a bare program for a MiB, {}", bare(amount));
    eprintln!(
        "| provider | | sandbox alone | ours | its client | ratio of what is added | ours, processor | its client | ratio | \
         ours, round trips | its client |"
    );
    eprintln!("|---|---|---|---|---|---|---|---|---|---|---|");
    for provider in PROVIDERS.iter().filter(|name| wanted.is_empty() || wanted.iter().any(|wanted| wanted == *name)) {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let near = runtime.block_on(tidebox::emulate(provider, listen, "key-of-the-bench", tidebox::sandbox));
        let near = near.expect("the emulator serves");
        let far = runtime.block_on(far(provider)).expect("the emulator serves");
        let amount = if *provider == "deno" { Amount { kib: DENO_KIB, ..amount } } else { amount };
        let seldom = Amount { count: FAR_COUNT.min(amount.count), ..amount };
        let alone = runtime.block_on(alone(&near, amount));
        let client = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let ours = Side { near: client.block_on(ours(&near, amount)), far: client.block_on(ours(&far, seldom)) };
        let theirs = theirs(&near, amount).and_then(|near| Ok(Side { near, far: theirs(&far, seldom)? }));
        if let Err(missing) = &theirs {
            eprintln!("{provider}: its own client is not there: {missing}");
        }
        show(provider, amount, alone, &ours, theirs.ok().as_ref());
        runtime.block_on(near.end());
        runtime.block_on(far.end());
    }
}

fn show(provider: &str, amount: Amount, alone: Costs, ours: &Side, theirs: Option<&Side>) {
    for (at, what) in WORK.iter().enumerate() {
        // A transfer is told by the MiB, its round trips as they were.
        let unit = if *what == "execute" { 1.0 } else { amount.kib as f64 / 1024.0 };
        let millis = |seconds: f64| format!("{:.3} ms", seconds / unit * 1e3);
        let trips = |side: &Side| format!("{:.1}", distance::round_trips(side.far[at].wall - side.near[at].wall));
        let share = |ours: f64, theirs: f64| format!("{:.2}", ours / theirs);
        // What is within the noise of the sandbox itself adds nothing.
        let added = |side: &Side| (side.near[at].wall - alone[at].wall).max(0.0);
        let client = theirs.map(|theirs| {
            let (own, their) = (ours.near[at].processor, theirs.near[at].processor);
            let added = share(added(ours), added(theirs));
            [millis(theirs.near[at].wall), added, millis(their), share(own, their), trips(theirs)]
        });
        let [wall, added, processor, ratio, far] = client.unwrap_or_else(|| std::array::from_fn(|_| "-".to_owned()));
        let (alone, whole, own) = (millis(alone[at].wall), millis(ours.near[at].wall), millis(ours.near[at].processor));
        let away = trips(ours);
        eprintln!(
            "| {provider} | {what} | {alone} | {whole} | {wall} | {added} | {own} | {processor} | {ratio} | {away} | {far} |"
        );
    }
}

/// What the system itself takes to hand over bytes, and to take them: everything else is a client's own.
fn bare(Amount { count, kib }: Amount) -> String {
    let content = vec![7; kib << 10];
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("an address");
    let address = listener.local_addr().expect("an address");
    let echo = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("a client");
        let mut buffer = vec![0; kib << 10];
        while client.read_exact(&mut buffer).is_ok() {
            client.write_all(&buffer).expect("the client reads");
        }
    });
    let mut connection = TcpStream::connect(address).expect("it listens");
    let mut buffer = vec![0; kib << 10];
    let [mut sent, mut received] = [Vec::new(), Vec::new()];
    for _ in 0..=(count / 10).max(1) {
        sent.push(clocked(|| connection.write_all(&content).expect("it reads")));
        received.push(clocked(|| connection.read_exact(&mut buffer).expect("it writes")));
    }
    drop(connection);
    echo.join().expect("it ends with its client");
    let [sent, received] = [sent, received].map(|costs| median(costs).processor / kib as f64 * 1024.0 * 1e3);
    format!("sent {sent:.3} ms, received {received:.3} ms")
}

fn clocked<T>(work: impl FnOnce() -> T) -> Cost {
    let (begun, processor) = (Instant::now(), processor_time());
    work();
    Cost { wall: begun.elapsed().as_secs_f64(), processor: (processor_time() - processor).as_secs_f64() }
}

/// What this thread has worked.
fn processor_time() -> Duration {
    ClockId::CLOCK_THREAD_CPUTIME_ID.now().expect("the system counts it").into()
}

/// The emulator at a distance.
async fn far(provider: &str) -> std::io::Result<Serving> {
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

/// The same through our adapter.
async fn ours(serving: &Serving, amount: Amount) -> Costs {
    let provider = tidebox::remote::provider(serving.provider(), serving.options()).expect("the options are good");
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("it is made");
    let costs = costs(&sandbox, driver::home(serving.provider()), amount).await;
    provider.delete(sandbox.id()).await.expect("it is deleted");
    costs
}

async fn costs(sandbox: &Arc<dyn SandboxBackend>, root: &str, Amount { count, kib }: Amount) -> Costs {
    let path = format!("{root}/large").into_bytes();
    let content: Vec<u8> = (0..=255).cycle().take(kib << 10).collect();
    let (mut execute, mut upload, mut download) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..=count {
        let (cost, response) = timed(sandbox.execute(ExecuteRequest::new("echo hi"))).await;
        execute.push(cost);
        assert_eq!(response.expect("it runs").stdout_text(), "hi\n");
    }
    for _ in 0..=(count / 10).max(1) {
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
