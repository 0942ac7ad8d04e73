//! `--confine`: restricts this process to what the options of the command need.

#[cfg(target_os = "linux")]
use std::path::Path;

use anyhow::{Result, bail};

#[cfg(target_os = "linux")]
use crate::LOCAL;
#[cfg(target_os = "linux")]
use crate::cli::args::SnapshotCommand;
use crate::cli::args::{Command, SandboxArgs};

/// Restricts the process if the command has `--confine`. Must run before any thread starts.
pub(crate) fn confine(command: &Command) -> Result<()> {
    let Some(options) = command.sandbox_options().filter(|options| options.confine) else { return Ok(()) };
    if options.pip {
        bail!(
            "cannot use --confine with --pip: --pip starts the pip of the host, and a confined process starts no program"
        );
    }
    apply(command, options)
}

#[cfg(target_os = "linux")]
fn apply(command: &Command, options: &SandboxArgs) -> Result<()> {
    use crate::{Confinement, MountMode};

    let mut confinement = Confinement::new();
    for file in &options.files {
        confinement = confinement.read(&file.host);
    }
    if let Some(snapshot) = &options.snapshot {
        confinement = confinement.read(snapshot);
    }
    for mount in &options.mounts {
        confinement = match mount.mode {
            MountMode::ReadWrite => confinement.write(&mount.host),
            _ => confinement.read(&mount.host),
        };
    }
    if [&options.allow, &options.allow_git, &options.allow_git_push].iter().any(|hosts| !hosts.is_empty()) {
        confinement = confinement.connect();
    }
    Ok(with_files_of(command, confinement).apply()?)
}

/// Adds the files and ports of a command itself.
#[cfg(target_os = "linux")]
fn with_files_of(command: &Command, mut confinement: crate::Confinement) -> crate::Confinement {
    match command {
        Command::Exec(exec) => {
            if !exec.publish.is_empty() {
                confinement = confinement.listen();
            }
            if exec.backend == LOCAL { confinement } else { confinement.connect() }
        }
        // The file is written next to the old one and replaces it.
        Command::Snapshot(SnapshotCommand::Create(create)) => {
            let dir = create.file.parent().filter(|dir| !dir.as_os_str().is_empty());
            confinement.write(dir.unwrap_or(Path::new(".")))
        }
        Command::Serve(serve) => {
            for path in [&serve.tenants, &serve.tls_cert, &serve.tls_key].into_iter().flatten() {
                confinement = confinement.read(path);
            }
            // Exporters of traces and metrics connect.
            confinement.listen().connect()
        }
        #[cfg(feature = "mcp")]
        Command::Mcp(mcp) => {
            if let Some(dir) = &mcp.server.save {
                confinement = confinement.write(dir);
            }
            if let Some(url) = &mcp.server.store {
                confinement = match url.strip_prefix("file://") {
                    Some(dir) => confinement.write(Path::new(dir)),
                    None => confinement.connect(),
                };
            }
            if mcp.http.address.is_some() { confinement.listen() } else { confinement }
        }
        _ => confinement,
    }
}

#[cfg(not(target_os = "linux"))]
fn apply(_: &Command, _: &SandboxArgs) -> Result<()> {
    bail!("cannot use --confine: it needs Landlock and seccomp of Linux; run without it, or in a container")
}
