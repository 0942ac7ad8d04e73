//! One target for `cargo fuzz`: `TIDEBOX_FUZZ=shell_parser cargo +nightly fuzz run any --features libfuzzer`.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tidebox_fuzz::{TARGETS, Target};

static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("TIDEBOX_FUZZ").unwrap_or_default();
    let names = TARGETS.map(|target| target.name).join(", ");
    *TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| panic!("TIDEBOX_FUZZ is one of {names}"))
});

fuzz_target!(|input: &[u8]| (CHOSEN.run)(input));
