//! Examples of inputs, which are changed at random: those below `corpus/`, and files of the repository that are such inputs already.

use std::fs;
use std::path::{Path, PathBuf};

/// Longest example.
const LONGEST: u64 = 32 << 10;

/// Examples of one target at most, so that each is used now and then.
const MOST: usize = 2000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What a target's inputs are made of.
pub fn examples(target: &str) -> Vec<Vec<u8>> {
    let own = files(&root().join("fuzz/corpus").join(target), "");
    let more = match target {
        "shell_parser" => after(&[0], scripts()),
        "shell_expansion" => words(),
        "shell_matching" => {
            words().into_iter().zip(words().into_iter().skip(1)).map(|(one, two)| [one, two].join(&b'\n')).collect()
        }
        "shell_session" => vec![session()],
        _ => Vec::new(),
    };
    own.into_iter().chain(more).take(MOST).collect()
}

/// Files of a folder whose names end so, in the order of their names.
fn files(folder: &Path, end: &str) -> Vec<Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(end) && path.is_file());
    paths.sort();
    let short = |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.len() <= LONGEST);
    paths.iter().filter(|path| short(path)).filter_map(|path| fs::read(path).ok()).collect()
}

fn after(start: &[u8], texts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    texts.into_iter().map(|text| [start, &text].concat()).collect()
}

/// The scripts of the conformance cases that are about the shell, and those of the hostile guests.
fn scripts() -> Vec<Vec<u8>> {
    let mut scripts = files(&root().join("userland/hostile"), ".sh");
    for cases in files(&root().join("tests/spec/cases"), ".spec") {
        let text = String::from_utf8_lossy(&cases).into_owned();
        scripts.extend(text.split("\n--- ").filter(|part| part.len() < 600).map(|part| part.as_bytes().to_vec()));
    }
    // From all files and not from the first ones only.
    let step = scripts.len().div_ceil(MOST).max(1);
    scripts.into_iter().step_by(step).collect()
}

/// Words of those scripts that expand to something.
fn words() -> Vec<Vec<u8>> {
    let scripts = scripts();
    let words = scripts.iter().flat_map(|script| script.split(|byte| b" \n;".contains(byte)));
    words
        .filter(|word| word.contains(&b'$') || word.contains(&b'{') || word.contains(&b'['))
        .map(<[u8]>::to_vec)
        .collect()
}

/// A state of a session: a directory, a variable that is gone, a function, an alias and a stack of directories, each with its length.
fn session() -> Vec<u8> {
    b"tbsh\x01\x01\x04/tmp\x01\x04HOME\x00\x00\x01\x01f\x06{ :; }\x04bash\x01\x03\x01\x02ll\x05ls -l\x01\x01/".to_vec()
}
