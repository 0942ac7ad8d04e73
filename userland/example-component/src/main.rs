//! The program of `examples/component.rs`: adds up the numbers of lines like `apple,5`, by name. It uses only the standard
//! library, so it is an ordinary component when it is built for `wasm32-wasip2`.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without a reader of standard error, the error cannot be reported.
            let _ = writeln!(io::stderr(), "totals: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the files that the arguments name, or standard input, and prints the totals by name.
fn run() -> io::Result<()> {
    let mut totals = BTreeMap::new();
    let files: Vec<String> = env::args().skip(1).collect();
    if files.is_empty() {
        add(io::stdin().lock(), &mut totals)?;
    }
    for file in files {
        let open = fs::File::open(&file).map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))?;
        add(BufReader::new(open), &mut totals)?;
    }
    let mut out = io::stdout().lock();
    totals.iter().try_for_each(|(name, total)| writeln!(out, "{name},{total}"))
}

fn add(input: impl BufRead, totals: &mut BTreeMap<String, i64>) -> io::Result<()> {
    for line in input.lines() {
        let line = line?;
        let number = line.split_once(',').and_then(|(name, number)| Some((name, number.trim().parse::<i64>().ok()?)));
        let Some((name, number)) = number else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("cannot read {line:?} as NAME,NUMBER")));
        };
        let total = totals.entry(name.to_owned()).or_default();
        *total = i64::saturating_add(*total, number);
    }
    Ok(())
}
