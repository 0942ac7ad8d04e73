//! Emulators of providers with local sandboxes.

use std::net::SocketAddr;
use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result};
use tidebox_emulators::{
    ConnectError, Emulator, FileSnapshot, HostPort, ImageUser, MadeSandbox, NewSandbox, PortConnection, ReadCpuTime,
    RestoreSnapshot, SandboxPorts, SandboxRegistry, Serving, TakeSnapshot,
};
use tidebox_kernel::Errno;
use tidebox_vfs_backend::{SandboxBuilder, Snapshot, VfsBackend};

use crate::{PortExt as _, PortStream};

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
    let made = move |new| make().and_then(|builder| make_unsaved(builder, new));
    SandboxRegistry::new(Arc::new(move |new| Box::pin(std::future::ready(made(new)))))
}

/// Returns the function that creates the sandboxes of a [`tidebox_service::Service`]. `make` creates the builder of each one; its
/// argument has the hosts that its commands may read from.
#[cfg(feature = "service")]
pub fn service_sandboxes(
    make: impl Fn(&[String]) -> Result<SandboxBuilder> + Send + Sync + 'static,
) -> tidebox_service::MakeSandbox {
    Arc::new(move |spec| {
        let made = make(&spec.egress).and_then(|builder| make_unsaved(builder, spec.new));
        Box::pin(std::future::ready(made))
    })
}

/// Creates a sandbox that ends with the process.
pub(crate) fn make_unsaved(builder: SandboxBuilder, new: NewSandbox) -> Result<MadeSandbox> {
    let user = new.user;
    let backend = Arc::new(configure(builder, new).build()?);
    prepare(&backend, user)?;
    parts(&backend)
}

/// Applies the options of a new sandbox.
pub(crate) fn configure(mut builder: SandboxBuilder, new: NewSandbox) -> SandboxBuilder {
    if let Some(bytes) = new.memory_bytes {
        let mut limits = builder.current_limits().clone();
        limits.sandbox_memory_bytes = limits.sandbox_memory_bytes.min(bytes);
        limits.process_memory_bytes = limits.process_memory_bytes.min(bytes);
        limits.background_memory_bytes = limits.background_memory_bytes.min(bytes);
        builder = builder.limits(limits);
    }
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
    builder
}

/// Installs what every sandbox of a user has.
pub(crate) fn prepare(backend: &VfsBackend, user: Option<ImageUser>) -> Result<()> {
    user.map_or(Ok(()), |user| install_user(backend, user))
}

/// Returns a sandbox with access to its snapshots and ports.
pub(crate) fn parts(backend: &Arc<VfsBackend>) -> Result<MadeSandbox> {
    let snapshot = {
        let backend = Arc::clone(backend);
        Arc::new(move || Ok(FileSnapshot(Arc::new(backend.snapshot()?)))) as TakeSnapshot
    };
    let restore = {
        let backend = Arc::clone(backend);
        Arc::new(move |snapshot: &FileSnapshot| match snapshot.0.downcast_ref::<Snapshot>() {
            Some(files) => backend.restore(files),
            None => {
                let message = "the snapshot is not one of a local sandbox";
                Err(Error::new(ErrorKind::InvalidRequest, "restore", message))
            }
        }) as RestoreSnapshot
    };
    let cpu_time = {
        let backend = Arc::clone(backend);
        Arc::new(move || backend.cpu_time()) as ReadCpuTime
    };
    let (sandbox, ports) = (Arc::clone(backend) as _, Some(sandbox_ports(backend)?));
    Ok(MadeSandbox { sandbox, snapshot: Some(snapshot), restore: Some(restore), ports, cpu_time, saved: None })
}

/// Returns access to the servers of a sandbox. It does not keep the sandbox alive.
fn sandbox_ports(backend: &Arc<VfsBackend>) -> Result<SandboxPorts> {
    let connector = backend.connector()?;
    let connect = move |port| match connector.connect(port) {
        Ok(stream) => Ok(Box::new(PortStream::new(stream)) as Box<dyn PortConnection>),
        Err(Errno::Again) => Err(ConnectError::QueueFull),
        Err(Errno::Nfile) => Err(ConnectError::Limit),
        Err(_) => Err(ConnectError::Closed),
    };
    let backend = Arc::downgrade(backend);
    let expose = move |port| {
        let backend = backend.upgrade();
        let exposed = async move {
            let backend = backend.ok_or_else(|| Error::closed("expose"))?;
            let exposed = backend.expose(port).await?;
            Ok(HostPort { address: exposed.address(), guard: Box::new(exposed) })
        };
        Box::pin(exposed) as tidebox_core::BoxFuture<'static, Result<HostPort>>
    };
    Ok(SandboxPorts { connect: Arc::new(connect), expose: Arc::new(expose) })
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
