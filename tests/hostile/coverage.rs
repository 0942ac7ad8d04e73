//! Completeness of the table: every limit and boundary has a guest, and every file has a test.

use std::collections::BTreeSet;
use std::fs;

use tidebox::Limits;

use crate::guest::{Table, guests_dir};

pub(crate) fn check(table: &Table) {
    let attacked: BTreeSet<&str> = table.guests.iter().flat_map(|guest| &guest.limits).map(String::as_str).collect();
    let printed = format!("{:#?}", Limits::default());
    let limits: BTreeSet<&str> = printed.lines().filter_map(|line| Some(line.trim().split_once(": ")?.0)).collect();
    assert!(limits.len() > 10, "the limits are read wrongly: {limits:?}");
    // A guest here is one command. Processes that outlive theirs are attacked in another file.
    let (background, limits): (BTreeSet<&str>, _) =
        limits.into_iter().partition(|name| name.starts_with("background_"));
    let attacks = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/background_processes.rs"));
    let attacks = attacks.expect("the file exists");
    for limit in background {
        assert!(attacks.contains(&format!("limits.{limit} = ")), "no test attacks {limit}");
    }
    assert_eq!(
        attacked, limits,
        "every limit has a guest in userland/hostile/guests.json that attacks it, and no other"
    );

    let attacked: BTreeSet<&String> = table.guests.iter().flat_map(|guest| &guest.boundaries).collect();
    let boundaries: BTreeSet<&String> = table.boundaries.keys().collect();
    assert_eq!(attacked, boundaries, "every boundary has a guest that attacks it, and every guest a known boundary");

    let tested: BTreeSet<String> = table.guests.iter().map(|guest| guest.file.clone()).collect();
    let entries = fs::read_dir(guests_dir()).expect("the guests exist").map(|entry| entry.expect("it can be listed"));
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let there: BTreeSet<String> =
        names.filter(|name| [".sh", ".wat", ".py"].iter().any(|suffix| name.ends_with(suffix))).collect();
    assert_eq!(tested, there, "every file of userland/hostile has an entry in guests.json, and every entry a file");

    let mut promises = BTreeSet::new();
    for guest in &table.guests {
        assert!(promises.insert(&guest.promise), "two guests have the same promise: {}", guest.promise);
        assert!(!guest.exit.is_empty(), "{} does not say how it ends", guest.file);
        assert!(!guest.limits.is_empty() || !guest.boundaries.is_empty(), "{} attacks nothing", guest.file);
        let reported = !guest.stderr.is_empty() || guest.stdout.is_some() || guest.truncated;
        assert!(reported, "{} has no expected output", guest.file);
    }
}
