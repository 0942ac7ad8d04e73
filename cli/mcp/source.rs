//! The sandboxes of the MCP server.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tidebox_mcp::{OpenSandbox, PythonException, PythonInterpreter, PythonRun, SandboxSource};

use tokio::sync::OnceCell;

use crate::cli::args::SandboxArgs;
use crate::cli::sandbox;
use crate::cli::serve::sandbox_error;
use crate::stores::open_log;
use crate::{
    BoxFuture, Dialect, Error, ErrorKind, OutputSink, Provider, ProviderBuilder, PythonExt as _, PythonSession, Result,
    Sandbox, SandboxBackend, SandboxBuilder, SandboxProvider as _, Selector,
};

/// Rules of the file tools: absolute paths in results, no directories from `glob`.
const DIALECT: Dialect = Dialect::Python;

/// Label with the name of a saved sandbox.
const NAME_LABEL: &str = "name";

/// Location of saved sandboxes.
#[derive(Debug)]
pub(super) enum Saving {
    /// Directory of `--save`, for one server at a time.
    Directory(PathBuf),
    /// URL of `--store`, for several servers.
    Store(String),
}

impl Saving {
    pub(super) fn new(save: Option<PathBuf>, store: Option<String>) -> Option<Self> {
        save.map(Self::Directory).or_else(|| store.map(Self::Store))
    }

    fn configure(&self, provider: ProviderBuilder) -> Result<ProviderBuilder> {
        Ok(match self {
            Self::Directory(dir) => provider.save_in(dir),
            Self::Store(url) => provider.save_log(open_log(url)?),
        })
    }
}

/// Creates sandboxes with the options of the command, or loads saved ones.
#[derive(Debug)]
pub(super) struct LocalSource {
    options: Arc<SandboxArgs>,
    saving: Option<Saving>,
    /// The saved sandboxes. Opened at the first use, because only one program can use the directory, and some clients start a second
    /// server only to read its capabilities.
    provider: OnceCell<Provider>,
}

impl LocalSource {
    pub(super) fn new(options: SandboxArgs, saving: Option<Saving>) -> Self {
        Self { options: Arc::new(options), saving, provider: OnceCell::new() }
    }

    async fn provider(&self, saving: &Saving) -> Result<&Provider> {
        self.provider
            .get_or_try_init(|| async {
                let options = Arc::clone(&self.options);
                saving.configure(crate::provider()?.sandbox_builder(move || builder(&options)))?.build()
            })
            .await
    }
}

fn builder(options: &SandboxArgs) -> Result<SandboxBuilder> {
    Ok(sandbox::builder_with_options(options).map_err(sandbox_error)?.dialect(DIALECT))
}

impl SandboxSource for LocalSource {
    fn open<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<OpenSandbox>> {
        Box::pin(async move {
            let Some(saving) = &self.saving else {
                let sandbox = Arc::new(builder(&self.options)?.build()?);
                let backend: Arc<dyn SandboxBackend> = Arc::<Sandbox>::clone(&sandbox);
                return Ok(OpenSandbox { backend, sandbox });
            };
            let provider = self.provider(saving).await?;
            let backend = provider.get_or_create(Selector::labels([(NAME_LABEL, name)])).await?;
            let sandbox = provider.sandbox(backend.id()).ok_or_else(|| {
                let message = "the sandbox was closed while it was opened; try again";
                Error::new(ErrorKind::SandboxNotFound, "open sandbox", message)
            })?;
            Ok(OpenSandbox { backend, sandbox })
        })
    }

    fn save(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            match self.provider.get() {
                Some(provider) => provider.save().await,
                None => Ok(()),
            }
        })
    }

    fn python(&self, sandbox: Arc<Sandbox>) -> Result<Box<dyn PythonInterpreter>> {
        Ok(Box::new(Interpreter(sandbox.python_session()?)))
    }
}

#[derive(Debug)]
struct Interpreter(PythonSession<Arc<Sandbox>>);

impl PythonInterpreter for Interpreter {
    fn run<'a>(
        &'a mut self,
        code: &'a str,
        timeout: Duration,
        sink: OutputSink<'a>,
    ) -> BoxFuture<'a, Result<PythonRun>> {
        Box::pin(async move {
            let response = self.0.run_with(code, Some(timeout), Some(sink)).await?;
            let error = response.error.map(|error| PythonException {
                name: error.name,
                message: error.message,
                traceback: error.traceback,
            });
            Ok(PythonRun { value: response.value, error, figures: response.figures, output: response.output })
        })
    }

    fn has_exited(&self) -> bool {
        self.0.has_exited()
    }
}
