//! Malicious programs: one test for each guest of `userland/hostile`, named after the guarantee that stops it.
//!
//! Every guest reaches a limit or a security boundary, ends with a message as the table specifies and leaves no resources in its
//! sandbox, which stays usable. One more test compares the table with the limits and the files: a limit without a guest, a
//! boundary without a guest, or a file without a test fails.
//!
//! `TIDEBOX_HOSTILE=show cargo test --test hostile` prints how each guest ends instead.

mod compile_time;
mod coverage;
mod guest;
mod neighbor;
mod run;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};

use guest::Table;

fn main() -> ExitCode {
    let table = Arc::new(Table::read());
    if let Ok(wanted) = std::env::var("TIDEBOX_HOSTILE") {
        run::show(&table, wanted.strip_prefix("show").unwrap_or_default().trim_start_matches('='));
        return ExitCode::SUCCESS;
    }
    let trials = table.guests.iter().cloned().map(|guest| {
        Trial::test(guest.promise.clone(), move || {
            run::hold(&guest);
            Ok(())
        })
    });
    let every = [
        Trial::test("compiling a large module delays no other sandbox and stops with its command", || {
            neighbor::hold();
            Ok(())
        }),
        Trial::test("compilation counts toward the processor time of its command", || {
            compile_time::hold();
            Ok(())
        }),
        Trial::test("every limit, boundary and file of userland/hostile has a guest and a test", {
            let table = Arc::clone(&table);
            move || {
                coverage::check(&table);
                Ok(())
            }
        }),
        Trial::test("repetitions in a guest file are expanded", || {
            assert_eq!(guest::written_out("a@bc*3@d @ e@@x@y*2@"), "abcbcbcd @ e@@xyy");
            Ok(())
        }),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials.chain(every).collect()).exit_code()
}
