//! `tidebox exec --backend NAME`: a sandbox at a provider, with the key of the environment.

use std::fs;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};

use crate::cli::args::Exec;
use crate::cli::sandbox::is_executable;
use crate::remote::{NetworkAccess, Options};
use crate::{ExecuteRequest, SandboxBackend, SandboxPath, SandboxProvider, Selector, Upload};

/// A sandbox at a provider, which [`delete`](Self::delete) must delete. The provider deletes it after its time to live otherwise.
pub(crate) struct RemoteSandbox {
    provider: Arc<dyn SandboxProvider>,
    pub(crate) sandbox: Arc<dyn SandboxBackend>,
}

impl RemoteSandbox {
    /// Creates a sandbox with the options of the command.
    pub(crate) async fn create(name: &str, exec: &Exec) -> Result<Self> {
        reject_unsupported(name, exec)?;
        let network = match exec.options.allow.as_slice() {
            [] => NetworkAccess::Default,
            hosts => NetworkAccess::Only(hosts.to_vec()),
        };
        let mut options = Options::default();
        options.network = network;
        let provider = crate::provider_by_name(name, options)?;
        let sandbox = provider.get_or_create(Selector::any_new()).await?;
        Ok(Self { provider, sandbox })
    }

    /// Uploads the files of `--file`, keeping the execute bit. Returns the directory of `--cwd`.
    pub(crate) async fn prepare(&self, exec: &Exec) -> Result<Option<SandboxPath>> {
        let options = &exec.options;
        let guests = options.files.iter().map(|file| file.guest.as_str()).chain(options.cwd.as_deref());
        let base = match guests.into_iter().any(|path| !path.starts_with('/')) {
            true => self.working_directory().await?,
            false => SandboxPath::parse("/")?,
        };
        let (mut uploads, mut executable) = (Vec::new(), Vec::new());
        for file in &options.files {
            let host = file.host.display();
            let metadata = fs::metadata(&file.host).with_context(|| format!("cannot read {host}"))?;
            let path = base.resolve(&file.guest)?;
            if is_executable(&metadata) {
                executable.push(path.to_text().into_owned());
            }
            let content = fs::read(&file.host).with_context(|| format!("cannot read {host}"))?;
            uploads.push(Upload::new(path.as_bytes(), content));
        }
        if !uploads.is_empty() {
            for result in self.sandbox.upload_files(uploads).await? {
                let path = String::from_utf8_lossy(&result.path).into_owned();
                result.result.with_context(|| format!("cannot upload {path}"))?;
            }
        }
        if !executable.is_empty() {
            let quoted: Vec<String> = executable.iter().map(|path| crate::shell_backend::quote(path)).collect();
            let request = ExecuteRequest::new(format!("chmod +x -- {}", quoted.join(" ")));
            self.sandbox.execute(request).await?.into_success().context("cannot set the execute bit")?;
        }
        Ok(options.cwd.as_deref().map(|cwd| base.resolve(cwd)).transpose()?)
    }

    /// Returns the directory in which the provider starts commands, for relative paths.
    async fn working_directory(&self) -> Result<SandboxPath> {
        let response = self.sandbox.execute(ExecuteRequest::new("pwd")).await?.into_success()?;
        Ok(SandboxPath::parse(response.stdout_text().trim_end_matches('\n'))?)
    }

    /// Deletes the sandbox.
    pub(crate) async fn delete(self) -> Result<()> {
        let id = self.sandbox.id().clone();
        self.provider
            .delete(&id)
            .await
            .with_context(|| format!("cannot delete the sandbox {id}; delete it at the provider"))
    }
}

/// Rejects the options that only local sandboxes have.
fn reject_unsupported(name: &str, exec: &Exec) -> Result<()> {
    let options = &exec.options;
    let unsupported = [
        ("--mount", !options.mounts.is_empty(), "; upload files with --file"),
        ("--snapshot", options.snapshot.is_some(), ""),
        ("--allow-git", !options.allow_git.is_empty(), ""),
        ("--allow-git-push", !options.allow_git_push.is_empty(), ""),
        ("--pip", options.pip, ""),
        ("--limits", !options.limit_changes.is_empty(), "; --timeout is"),
        ("--publish", !exec.publish.is_empty(), ""),
    ];
    match unsupported.into_iter().find(|(_, is_set, _)| *is_set) {
        Some((option, _, hint)) => bail!("{option} is not supported with --backend {name}{hint}"),
        None => Ok(()),
    }
}
