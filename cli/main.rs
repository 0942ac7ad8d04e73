//! The command `tidebox`.

use std::process::ExitCode;

/// Directory of native code next to the binary of a release.
const ARCHIVE: &str = "tidebox-programs";

fn main() -> ExitCode {
    let binary = std::env::current_exe().ok();
    let archive = binary.and_then(|binary| tidebox::ProgramArchive::open(binary.parent()?.join(ARCHIVE)));
    if let Some(archive) = archive {
        tidebox::set_installation(archive, tidebox::report_compilation);
    }
    tidebox::set_pack_support(None, tidebox::prepare_pack, tidebox::report_pack_compilation);
    ExitCode::from(tidebox::run_command(std::env::args_os().skip(1)))
}
