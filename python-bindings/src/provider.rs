//! Providers: many sandboxes with ids and labels, local ones or those of a cloud provider, and emulators of the latter.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use tidebox::emulators::Serving;
use tidebox::remote::{NetworkAccess, Options};
use tidebox::{
    Dialect, ExecuteRequest, ListRequest, ProviderBuilder, SandboxBackend, SandboxId, SandboxPath, SandboxProvider,
    Selector,
};
use tokio::sync::Mutex;

use crate::arguments::{PathArgument, duration};
use crate::cassette::NativeCassette;
use crate::errors::{checked, invalid, sandbox_error};
use crate::options::SandboxOptions;
use crate::runtime;
use crate::sandbox::{LocalSandbox, NativeSandbox};

/// Options of a cloud provider.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RemoteOptions {
    api_key: Option<String>,
    api_url: Option<String>,
    region: Option<String>,
    proxy: Option<String>,
    image: Option<String>,
    env: Vec<(String, String)>,
    labels: BTreeMap<String, String>,
    cpus: Option<u32>,
    memory_mib: Option<u32>,
    disk_mib: Option<u32>,
    time_to_live: Option<f64>,
    blocked: bool,
    allow: Vec<String>,
    setup: Option<String>,
    cwd: Option<PathArgument>,
    extra: BTreeMap<String, String>,
}

impl RemoteOptions {
    fn into_options(self) -> PyResult<Options> {
        let mut options = Options::default();
        if let Some(key) = self.api_key {
            options = options.with_api_key(key);
        }
        (options.api_url, options.region, options.proxy) = (self.api_url, self.region, self.proxy);
        (options.image, options.setup, options.extra) = (self.image, self.setup, self.extra);
        (options.env, options.labels) = (self.env, self.labels);
        (options.cpus, options.memory_mib, options.disk_mib) = (self.cpus, self.memory_mib, self.disk_mib);
        if let Some(seconds) = self.time_to_live {
            options.time_to_live = duration(seconds, "time_to_live")?;
        }
        options.network = match (self.blocked, self.allow.is_empty()) {
            (true, _) => NetworkAccess::Blocked,
            (false, true) => NetworkAccess::Default,
            (false, false) => NetworkAccess::Only(self.allow),
        };
        let path = |path: PathArgument| SandboxPath::parse(&path.0);
        options.cwd = self.cwd.map(path).transpose().map_err(|error| invalid(format!("cwd: {}", error.message)))?;
        options.dialect = Dialect::Python;
        Ok(options)
    }
}

/// Options of a provider in this process.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct LocalOptions {
    sandbox: SandboxOptions,
    save_in: Option<PathBuf>,
    store: Option<String>,
    idle_timeout: Option<f64>,
    max_lifetime: Option<f64>,
    labels: BTreeMap<String, String>,
}

impl LocalOptions {
    fn apply(self, mut builder: ProviderBuilder) -> PyResult<ProviderBuilder> {
        builder = builder.sandbox_builder(self.sandbox.repeatable()?).labels(self.labels);
        if let Some(dir) = self.save_in {
            builder = builder.save_in(dir);
        }
        if let Some(url) = self.store {
            builder = builder.save_log(checked(tidebox::stores::open_log(&url))?);
        }
        if let Some(seconds) = self.idle_timeout {
            builder = builder.idle_timeout(duration(seconds, "idle_timeout")?);
        }
        if let Some(seconds) = self.max_lifetime {
            builder = builder.max_lifetime(duration(seconds, "max_lifetime")?);
        }
        Ok(builder)
    }
}

/// Many sandboxes with ids and labels.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct NativeProvider {
    provider: Arc<dyn SandboxProvider>,
    /// `provider` as its type, if its sandboxes are in this process.
    local: Option<Arc<tidebox::Provider>>,
    /// Working directory of the options for a cloud provider. `None`: that of its image.
    cwd: Option<SandboxPath>,
}

#[pymethods]
impl NativeProvider {
    /// Returns a provider of sandboxes in this process.
    #[staticmethod]
    fn local(py: Python<'_>, options: LocalOptions) -> PyResult<Self> {
        let builder = checked(py.detach(tidebox::provider))?;
        let provider = Arc::new(checked(options.apply(builder)?.build())?);
        Ok(Self { provider: Arc::<tidebox::Provider>::clone(&provider), local: Some(provider), cwd: None })
    }

    /// Returns a provider by its name whose requests are recorded in a cassette, or replayed from it without the provider.
    #[staticmethod]
    fn recorded(py: Python<'_>, name: String, options: RemoteOptions, cassette: &NativeCassette) -> PyResult<Self> {
        let options = options.into_options()?;
        let cwd = options.cwd.clone();
        let cassette = Arc::clone(&cassette.0);
        let provider = runtime::block_on(py, async move {
            let live = || async { tidebox::provider_by_name(&name, options) };
            checked(cassette.provider(live).await)
        })?;
        Ok(Self { provider, local: None, cwd })
    }

    /// Returns a provider by its name.
    #[staticmethod]
    fn by_name(name: &str, options: RemoteOptions) -> PyResult<Self> {
        let options = options.into_options()?;
        let cwd = options.cwd.clone();
        let _guard = runtime::handle()?.enter();
        Ok(Self { provider: checked(tidebox::provider_by_name(name, options))?, local: None, cwd })
    }

    fn get_or_create<'py>(
        &self,
        py: Python<'py>,
        id: Option<String>,
        labels: Option<BTreeMap<String, String>>,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let selector = match (id, labels) {
            (Some(id), None) => checked(Selector::id(id))?,
            (None, Some(labels)) => Selector::labels(labels),
            (None, None) => Selector::any_new(),
            (Some(_), Some(_)) => return Err(invalid("pass either id or labels, not both")),
        };
        let (provider, local, cwd) = (Arc::clone(&self.provider), self.local.clone(), self.cwd.clone());
        runtime::run(py, asynchronous, async move {
            let backend = checked(provider.get_or_create(selector).await)?;
            let own = local.and_then(|local| local.sandbox(backend.id()));
            let cwd = match (&own, cwd) {
                (Some(sandbox), _) => sandbox.cwd().clone(),
                (None, Some(cwd)) => cwd,
                (None, None) => working_directory(&*backend).await?,
            };
            Ok(NativeSandbox::new(backend, own.map_or(LocalSandbox::No, LocalSandbox::Created), cwd))
        })
    }

    /// Durability of saved changes: `memory`, `local` or `shared`. `None` for a cloud provider, which does not report it.
    #[getter]
    fn durability(&self) -> Option<&'static str> {
        self.local.as_ref().map(|local| local.durability().as_str())
    }

    /// Returns the sandboxes as pairs of id and labels.
    fn list<'py>(
        &self,
        py: Python<'py>,
        labels: BTreeMap<String, String>,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let provider = Arc::clone(&self.provider);
        runtime::run(py, asynchronous, async move {
            let mut sandboxes = Vec::new();
            let mut cursor = None;
            loop {
                let mut request = ListRequest::default();
                (request.labels, request.cursor) = (labels.clone(), cursor);
                let page = checked(provider.list(request).await)?;
                sandboxes.extend(page.sandboxes.into_iter().map(|one| (one.id.as_str().to_owned(), one.labels)));
                cursor = page.cursor;
                if cursor.is_none() {
                    return Ok(sandboxes);
                }
            }
        })
    }

    fn delete<'py>(&self, py: Python<'py>, id: String, asynchronous: bool) -> PyResult<Bound<'py, PyAny>> {
        let id = checked(SandboxId::parse(id))?;
        let provider = Arc::clone(&self.provider);
        runtime::run(py, asynchronous, async move { checked(provider.delete(&id).await) })
    }
}

/// Asks a sandbox for its working directory, so that files and commands have the same base of relative paths.
async fn working_directory(backend: &dyn SandboxBackend) -> PyResult<SandboxPath> {
    let response = checked(backend.execute(ExecuteRequest::new("pwd")).await)?;
    let path = response.stdout.strip_suffix(b"\n").unwrap_or(&response.stdout);
    SandboxPath::parse(path).map_err(|_| {
        let message = format!("`pwd` printed no directory but {:?}; set RemoteOptions.cwd", response.output_text());
        sandbox_error(&tidebox::Error::new(tidebox::ErrorKind::Protocol, "get working directory", message))
    })
}

/// A server that speaks the protocol of a provider, with sandboxes of this process.
#[pyclass(frozen, module = "tidebox")]
pub(crate) struct NativeEmulator {
    serving: Mutex<Option<Serving>>,
    /// Address of the server.
    #[pyo3(get)]
    url: String,
    /// Environment variables that point the provider's own clients to it.
    #[pyo3(get)]
    variables: Vec<(String, String)>,
}

#[pymethods]
impl NativeEmulator {
    /// Starts the server on a port of the loopback interface; 0 chooses a free one.
    #[staticmethod]
    fn start(py: Python<'_>, provider: String, key: String, port: u16, options: SandboxOptions) -> PyResult<Self> {
        let make = options.repeatable()?;
        let serving = runtime::block_on(py, async move {
            checked(tidebox::emulate(&provider, SocketAddr::from(([127, 0, 0, 1], port)), &key, make).await)
        })?;
        let (url, variables) = (serving.url(), serving.variables().to_vec());
        Ok(Self { serving: Mutex::new(Some(serving)), url, variables })
    }

    /// Stops the server and closes its sandboxes.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        runtime::block_on(py, async {
            if let Some(serving) = self.serving.lock().await.take() {
                serving.end().await;
            }
            Ok(())
        })
    }
}
