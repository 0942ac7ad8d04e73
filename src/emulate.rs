//! Emulators of providers with local sandboxes.

use std::net::SocketAddr;
use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result};
use tidebox_emulators::{
    Emulator, FileSnapshot, ImageUser, MadeSandbox, NewSandbox, SandboxRegistry, Serving, TakeSnapshot,
};
use tidebox_vfs_backend::{SandboxBuilder, Snapshot, VfsBackend};

/// Serves the protocol of a provider at `listen` with sandboxes of this process, until the returned value is dropped. Clients
/// must send `key`. `make` creates the builder of each sandbox, for example `tidebox::sandbox`.
///
/// It requires a Tokio runtime. The providers are [`tidebox_emulators::EMULATORS`].
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for an unknown provider and an unavailable address.
///
/// ```no_run
/// # async fn run() -> tidebox::Result<()> {
/// let listen = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
/// let serving = tidebox::emulate("e2b", listen, "any-key", tidebox::sandbox).await?;
/// for (name, value) in serving.variables() {
///     println!("export {name}={value}");
/// }
/// # Ok(())
/// # }
/// ```
pub async fn emulate(
    provider: &str,
    listen: SocketAddr,
    key: &str,
    make: impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static,
) -> Result<Serving> {
    let registry = emulated_sandboxes(make);
    let emulator = Emulator { provider: provider.to_owned(), key: key.to_owned() };
    let failed = |error: std::io::Error| {
        Error::new(ErrorKind::InvalidRequest, "serve an emulator", format!("{provider} at {listen}: {error}"))
    };
    emulator.serve(listen, registry).await.map_err(failed)
}

/// Returns the registry of an emulator, for [`tidebox_emulators::Emulator`]. `make` creates the builder of each sandbox. The
/// sandboxes have the user and the home directory of the provider's image, and snapshots.
pub fn emulated_sandboxes(make: impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static) -> SandboxRegistry {
    SandboxRegistry::new(Arc::new(move |new| Box::pin(std::future::ready(make_sandbox(&make, new)))))
}

fn make_sandbox(make: &impl Fn() -> Result<SandboxBuilder>, new: NewSandbox) -> Result<MadeSandbox> {
    let mut builder = make()?;
    if let Some(files) = new.snapshot.as_ref().and_then(|snapshot| snapshot.0.downcast_ref::<Snapshot>()) {
        builder = builder.snapshot(files);
    }
    if let Some(user) = new.user {
        for (name, value) in [("HOME", user.home), ("USER", user.name), ("LOGNAME", user.name)] {
            builder = builder.env(name, value);
        }
    }
    for (name, value) in new.env {
        builder = builder.env(name, value);
    }
    let backend = Arc::new(builder.build()?);
    if let Some(user) = new.user {
        install_user(&backend, user)?;
    }
    let snapshot = {
        let backend = Arc::clone(&backend);
        Arc::new(move || Ok(FileSnapshot(Arc::new(backend.snapshot()?)))) as TakeSnapshot
    };
    Ok(MadeSandbox { sandbox: backend, snapshot: Some(snapshot) })
}

/// Number of the user that runs every command of a local sandbox.
const USER_ID: u32 = 1000;

/// Names the user of a sandbox and creates its home directory.
fn install_user(backend: &VfsBackend, user: ImageUser) -> Result<()> {
    let ImageUser { name, home } = user;
    let passwd = format!("root:x:0:0:root:/root:/bin/bash\n{name}:x:{USER_ID}:{USER_ID}::{home}:/bin/bash\n");
    let group = format!("root:x:0:\n{name}:x:{USER_ID}:\n");
    let installed = backend.with_fs(|fs, _| {
        fs.install(b"/etc/passwd", passwd.into_bytes().into(), 0o644, 0)?;
        fs.install(b"/etc/group", group.into_bytes().into(), 0o644, 0)?;
        fs.install_dir(home.as_bytes(), 0o755, USER_ID).map(drop)
    })?;
    installed.map_err(|errno| {
        let message = format!("cannot create the home directory {home} of {name}: {errno}");
        Error::new(ErrorKind::InvalidRequest, "create sandbox", message)
    })
}
