//! `tidebox-fuzz`: runs the targets on a stable compiler, with the same inputs for the same seed.
//!
//! Each target runs in a separate process, so that stack overflows and exits are detected. A failing input is written to
//! `fuzz/findings`, and `tidebox-fuzz TARGET FILE` runs it again.

#![allow(clippy::print_stdout, reason = "progress on stdout is the purpose of this program")]

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tidebox_fuzz::{Dice, TARGETS, Target, examples, mutate};

const USAGE: &str = "\
usage: tidebox-fuzz [--minutes N] [--seed N] [TARGET...]   run all targets, or these, for N minutes or a few inputs each
       tidebox-fuzz TARGET FILE                            run one input
       tidebox-fuzz --list                                 list the targets
       tidebox-fuzz --seeds DIR                            write the seeds of each target to DIR/TARGET, for libFuzzer";

/// Timeout of one input: many times the time of the slowest one on a loaded host.
const INPUT_TIMEOUT: Duration = Duration::from_secs(60);

/// Stack size of a target in bytes, as for an ordinary thread.
const STACK_BYTES: usize = 64 << 20;

/// The directory of findings.
const FINDINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/findings");

#[derive(Clone, Debug, Default)]
struct Args {
    minutes: Option<f64>,
    seed: u64,
    targets: Vec<&'static Target>,
    file: Option<String>,
    /// Run the target in this process.
    in_process: bool,
}

fn parse_args() -> Option<Args> {
    let mut args = Args { seed: 1, ..Args::default() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--minutes" => args.minutes = Some(arguments.next()?.parse().ok()?),
            "--seed" => args.seed = arguments.next()?.parse().ok()?,
            "--here" => args.in_process = true,
            name => match TARGETS.iter().find(|target| target.name == name) {
                Some(target) => args.targets.push(target),
                None if Path::new(name).is_file() => args.file = Some(name.to_owned()),
                None => return None,
            },
        }
    }
    if args.targets.is_empty() {
        args.targets.extend(&TARGETS);
    }
    Some(args)
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--list") {
        for target in &TARGETS {
            println!("{}", target.name);
        }
        return ExitCode::SUCCESS;
    }
    if let (Some("--seeds"), Some(dir)) = (std::env::args().nth(1).as_deref(), std::env::args_os().nth(2)) {
        return write_seeds(Path::new(&dir));
    }
    let Some(args) = parse_args() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match (&args.file, args.targets.as_slice()) {
        (Some(file), [target]) => {
            let input = std::fs::read(file).expect("the file can be read");
            run_in_thread(target.run, input);
            println!("{}: the input was handled", target.name);
            ExitCode::SUCCESS
        }
        (None, [target]) if args.in_process => {
            run_inputs(target, &args);
            ExitCode::SUCCESS
        }
        (None, targets) => {
            let failed = targets.iter().filter(|target| !run_in_process(target, &args)).count();
            ExitCode::from(u8::from(failed > 0))
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs one target in a separate process and returns whether it succeeded.
fn run_in_process(target: &Target, args: &Args) -> bool {
    let program = std::env::current_exe().expect("the program has a path");
    let mut command = Command::new(program);
    command.args([target.name, "--here", "--seed", &args.seed.to_string()]);
    if let Some(minutes) = args.minutes {
        command.args(["--minutes", &(minutes / args.targets.len() as f64).to_string()]);
    }
    // A fuzzed guest must not depend on the host's environment.
    let status = command.env_clear().env("PATH", "/nonexistent").env("RUST_BACKTRACE", "1").status();
    let succeeded = status.as_ref().is_ok_and(std::process::ExitStatus::success);
    if !succeeded {
        println!("{}: {status:?}; the input is in {FINDINGS}/{}", target.name, target.name);
    }
    succeeded
}

/// Runs inputs until the number or time is reached. A watchdog saves the current input if it hangs.
fn run_inputs(target: &'static Target, args: &Args) {
    let start = Instant::now();
    let deadline = args.minutes.map(|minutes| start + Duration::from_secs_f64(minutes * 60.0));
    let current = Arc::new(Mutex::new(Vec::new()));
    let count = Arc::new(AtomicU64::new(0));
    watch(target, Arc::clone(&current), Arc::clone(&count));
    let hook = std::panic::take_hook();
    let panicked = Arc::clone(&current);
    std::panic::set_hook(Box::new(move |info| {
        hook(info);
        save_finding(target, &panicked.lock().unwrap_or_else(PoisonError::into_inner));
    }));
    let seed = args.seed;
    let finished = Arc::clone(&count);
    let body = move || {
        let examples = examples(target.name);
        let mut dice = Dice::new(seed);
        let mut inputs = examples.clone();
        inputs.push(Vec::new());
        loop {
            let number = finished.load(Ordering::Relaxed);
            // The unchanged seeds come first.
            let input = inputs.pop().unwrap_or_else(|| mutate(&examples, &mut dice));
            if deadline.map_or(number >= target.inputs + examples.len() as u64, |deadline| Instant::now() >= deadline) {
                break;
            }
            current.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&input);
            if std::env::var_os("TIDEBOX_FUZZ_KEEP").is_some() {
                save_finding(target, &input);
            }
            (target.run)(&input);
            finished.fetch_add(1, Ordering::Relaxed);
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(body).expect("a thread starts");
    let succeeded = thread.join().is_ok();
    let took = start.elapsed().as_secs_f64();
    println!("{}: {} inputs in {took:.1} s", target.name, count.load(Ordering::Relaxed));
    if !succeeded {
        std::process::exit(1);
    }
}

fn run_in_thread(run: fn(&[u8]), input: Vec<u8>) {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || run(&input));
    if thread.expect("a thread starts").join().is_err() {
        std::process::exit(1);
    }
}

/// Ends the process if one input exceeds its timeout.
fn watch(target: &'static Target, current: Arc<Mutex<Vec<u8>>>, count: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = count.load(Ordering::Relaxed);
            if now != last {
                (last, since) = (now, Instant::now());
            } else if since.elapsed() > INPUT_TIMEOUT {
                println!("{}: an input takes longer than {INPUT_TIMEOUT:?}", target.name);
                save_finding(target, &current.lock().unwrap_or_else(PoisonError::into_inner));
                std::process::exit(1);
            }
        }
    });
}

fn write_seeds(dir: &Path) -> ExitCode {
    for target in &TARGETS {
        let dir = dir.join(target.name);
        let written = std::fs::create_dir_all(&dir).and_then(|()| {
            let mut seeds = examples(target.name).into_iter().enumerate();
            seeds.try_for_each(|(number, seed)| std::fs::write(dir.join(number.to_string()), seed))
        });
        if let Err(error) = written {
            eprintln!("cannot write the seeds to {}: {error}", dir.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn save_finding(target: &Target, input: &[u8]) {
    let file = Path::new(FINDINGS).join(target.name);
    if let Err(error) = std::fs::create_dir_all(FINDINGS).and_then(|()| std::fs::write(&file, input)) {
        eprintln!("{}: {error}", file.display());
    }
}
