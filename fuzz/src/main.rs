//! `tidebox-fuzz`: runs the targets on a stable compiler, with the same inputs for the same seed.
//!
//! Each target runs in a separate process, so that stack overflows and exits are detected. A failing input is written to
//! `fuzz/findings`, and `tidebox-fuzz TARGET FILE` runs it again.

#![allow(clippy::print_stdout, reason = "the program says what it does")]

use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tidebox_fuzz::{Dice, TARGETS, Target, examples, mutate};

const USAGE: &str = "\
usage: tidebox-fuzz [--minutes N] [--seed N] [TARGET...]   feeds all targets, or these, for a while or a few inputs each
       tidebox-fuzz TARGET FILE                            feeds one input
       tidebox-fuzz --list                                 names the targets";

/// Timeout of one input: many times the time of the slowest one on a loaded host.
const HANGS: Duration = Duration::from_secs(60);

/// Stack size of a target in bytes, as for an ordinary thread.
const STACK_BYTES: usize = 64 << 20;

/// The directory of findings.
const FINDINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/findings");

#[derive(Clone, Debug, Default)]
struct Wanted {
    minutes: Option<f64>,
    seed: u64,
    targets: Vec<&'static Target>,
    file: Option<String>,
    /// Run the target in this process.
    here: bool,
}

fn wanted() -> Option<Wanted> {
    let mut wanted = Wanted { seed: 1, ..Wanted::default() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--minutes" => wanted.minutes = Some(arguments.next()?.parse().ok()?),
            "--seed" => wanted.seed = arguments.next()?.parse().ok()?,
            "--here" => wanted.here = true,
            name => match TARGETS.iter().find(|target| target.name == name) {
                Some(target) => wanted.targets.push(target),
                None if std::path::Path::new(name).is_file() => wanted.file = Some(name.to_owned()),
                None => return None,
            },
        }
    }
    if wanted.targets.is_empty() {
        wanted.targets.extend(&TARGETS);
    }
    Some(wanted)
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--list") {
        for target in &TARGETS {
            println!("{}", target.name);
        }
        return ExitCode::SUCCESS;
    }
    let Some(wanted) = wanted() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match (&wanted.file, wanted.targets.as_slice()) {
        (Some(file), [target]) => {
            let input = std::fs::read(file).expect("the file can be read");
            on_a_thread(target.run, input);
            println!("{}: the input was answered", target.name);
            ExitCode::SUCCESS
        }
        (None, [target]) if wanted.here => {
            feed(target, &wanted);
            ExitCode::SUCCESS
        }
        (None, targets) => {
            let failed = targets.iter().filter(|target| !apart(target, &wanted)).count();
            ExitCode::from(u8::from(failed > 0))
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs one target in a separate process and returns whether it succeeded.
fn apart(target: &Target, wanted: &Wanted) -> bool {
    let program = std::env::current_exe().expect("the program knows its file");
    let mut command = Command::new(program);
    command.args([target.name, "--here", "--seed", &wanted.seed.to_string()]);
    if let Some(minutes) = wanted.minutes {
        command.args(["--minutes", &(minutes / wanted.targets.len() as f64).to_string()]);
    }
    // A fuzzed guest must not depend on the host's environment.
    let status = command.env_clear().env("PATH", "/nonexistent").env("RUST_BACKTRACE", "1").status();
    let well = status.as_ref().is_ok_and(std::process::ExitStatus::success);
    if !well {
        println!("{}: {status:?}; the input is in {FINDINGS}/{}", target.name, target.name);
    }
    well
}

/// Runs inputs until the number or time is reached. A watchdog knows the current input and saves it if it hangs.
fn feed(target: &'static Target, wanted: &Wanted) {
    let begun = Instant::now();
    let until = wanted.minutes.map(|minutes| begun + Duration::from_secs_f64(minutes * 60.0));
    let current = Arc::new(Mutex::new(Vec::new()));
    let count = Arc::new(AtomicU64::new(0));
    watch(target, Arc::clone(&current), Arc::clone(&count));
    let hook = std::panic::take_hook();
    let panicked = Arc::clone(&current);
    std::panic::set_hook(Box::new(move |what| {
        hook(what);
        keep(target, &panicked.lock().unwrap_or_else(PoisonError::into_inner));
    }));
    let seed = wanted.seed;
    let fed = Arc::clone(&count);
    let body = move || {
        let examples = examples(target.name);
        let mut dice = Dice::new(seed);
        let mut inputs = examples.clone();
        inputs.push(Vec::new());
        loop {
            let number = fed.load(Ordering::Relaxed);
            // The unchanged seeds come first.
            let input = inputs.pop().unwrap_or_else(|| mutate(&examples, &mut dice));
            if until.map_or(number >= target.inputs + examples.len() as u64, |until| Instant::now() >= until) {
                break;
            }
            current.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&input);
            if std::env::var_os("TIDEBOX_FUZZ_KEEP").is_some() {
                keep(target, &input);
            }
            (target.run)(&input);
            fed.fetch_add(1, Ordering::Relaxed);
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(body).expect("a thread starts");
    let well = thread.join().is_ok();
    let took = begun.elapsed().as_secs_f64();
    println!("{}: {} inputs in {took:.1} s", target.name, count.load(Ordering::Relaxed));
    if !well {
        std::process::exit(1);
    }
}

fn on_a_thread(run: fn(&[u8]), input: Vec<u8>) {
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
            } else if since.elapsed() > HANGS {
                println!("{}: an input takes longer than {HANGS:?}", target.name);
                keep(target, &current.lock().unwrap_or_else(PoisonError::into_inner));
                std::process::exit(1);
            }
        }
    });
}

fn keep(target: &Target, input: &[u8]) {
    let file = std::path::Path::new(FINDINGS).join(target.name);
    if let Err(error) = std::fs::create_dir_all(FINDINGS).and_then(|()| std::fs::write(&file, input)) {
        eprintln!("{}: {error}", file.display());
    }
}
