//! Options common to all providers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tidebox_core::{Dialect, Error, ErrorKind, Limits, Result, SandboxPath, Secret};

use crate::address::{BaseUrl, redact_userinfo};
use crate::data_plane::EnvNames;
use crate::transport::Transport;

/// Network access of sandboxes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkAccess {
    /// The provider's default: unrestricted internet at all supported providers.
    #[default]
    Default,
    /// Blocks all hosts.
    Blocked,
    /// Allows only these hosts. A provider without support returns an error.
    Only(Vec<String>),
}

/// Options for creating and using sandboxes, common to all providers. A provider that cannot apply an option returns an
/// error when it is created, and never ignores the option.
///
/// `Debug` omits the key, the values of variables and extra options, and the password of a proxy.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// Credential. `None` reads the provider's environment variable.
    pub api_key: Option<Secret>,
    /// Control plane URL. `None` uses the provider's environment variable, else its public URL.
    pub api_url: Option<String>,
    /// Region, if the provider has several.
    pub region: Option<String>,
    /// Proxy for all requests. Proxy environment variables are ignored.
    pub proxy: Option<String>,
    /// Source of new sandboxes: a template, snapshot or image, depending on the provider. `None` uses its default.
    pub image: Option<String>,
    /// Environment variables of every command.
    pub env: Vec<(String, String)>,
    /// Labels of new sandboxes, in addition to those of a selector.
    pub labels: BTreeMap<String, String>,
    /// Processors of new sandboxes.
    pub cpus: Option<u32>,
    /// Memory of new sandboxes, in MiB. Rounded up to the provider's unit.
    pub memory_mib: Option<u32>,
    /// Disk of new sandboxes, in MiB. Rounded up to the provider's unit.
    pub disk_mib: Option<u32>,
    /// Lifetime of a sandbox. Default 30 minutes, so that no abandoned sandbox keeps running. Rounded up to the
    /// provider's unit.
    pub time_to_live: Duration,
    /// Network access of new sandboxes.
    pub network: NetworkAccess,
    /// Script run once in every new sandbox. If it fails, the sandbox is deleted.
    pub setup: Option<String>,
    /// Working directory of commands that specify none. `None` uses the provider's default.
    pub cwd: Option<SandboxPath>,
    /// Dialect of the file operations.
    pub dialect: Dialect,
    /// Maximum bytes of output kept per `execute`. Default 8 MiB, as for local sandboxes.
    pub output_bytes: u64,
    /// Timeout of commands that specify none. Default 30 minutes, as in LangChain's integrations.
    pub command_time: Duration,
    /// Timeout for a new sandbox to become ready. Default 3 minutes.
    pub ready_time: Duration,
    /// Transport of requests. `None` uses HTTP.
    pub transport: Option<Arc<dyn Transport>>,
    /// Provider-specific options. Each provider documents its names and rejects others.
    pub extra: BTreeMap<String, String>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("api_key", &self.api_key)
            .field("api_url", &self.api_url.as_deref().map(redact_userinfo))
            .field("region", &self.region)
            .field("proxy", &self.proxy.as_deref().map(redact_userinfo))
            .field("image", &self.image)
            .field("env", &EnvNames(&self.env))
            .field("labels", &self.labels)
            .field("cpus", &self.cpus)
            .field("memory_mib", &self.memory_mib)
            .field("disk_mib", &self.disk_mib)
            .field("time_to_live", &self.time_to_live)
            .field("network", &self.network)
            .field("cwd", &self.cwd)
            .field("dialect", &self.dialect)
            .field("output_bytes", &self.output_bytes)
            .field("command_time", &self.command_time)
            .field("ready_time", &self.ready_time)
            .field("extra", &self.extra.keys().collect::<Vec<_>>())
            // A script may contain a password; print only its presence.
            .field("setup", &self.setup.is_some())
            .finish_non_exhaustive()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            api_key: None,
            api_url: None,
            region: None,
            proxy: None,
            image: None,
            env: Vec::new(),
            labels: BTreeMap::new(),
            cpus: None,
            memory_mib: None,
            disk_mib: None,
            time_to_live: Duration::from_secs(30 * 60),
            network: NetworkAccess::Default,
            setup: None,
            cwd: None,
            dialect: Dialect::default(),
            output_bytes: Limits::default().output_bytes,
            command_time: Duration::from_secs(30 * 60),
            ready_time: Duration::from_secs(3 * 60),
            transport: None,
            extra: BTreeMap::new(),
        }
    }
}

impl Options {
    /// Sets the credential instead of reading it from the environment.
    #[must_use]
    pub fn with_api_key(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.api_key = Some(Secret::new(key));
        self
    }

    /// Sets the control plane URL, such as an emulator's.
    #[must_use]
    pub fn with_api_url(mut self, url: impl Into<String>) -> Self {
        self.api_url = Some(url.into());
        self
    }

    /// Sets a provider-specific option.
    #[must_use]
    pub fn with_extra(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extra.insert(name.into(), value.into());
        self
    }

    /// Returns the credential, or the first of these variables that is set and not empty.
    pub(crate) fn key(&self, provider: &'static str, variables: &[&str]) -> Result<Secret> {
        let from_environment = || variables.iter().find_map(|name| variable(name)).map(Secret::new);
        self.api_key.clone().or_else(from_environment).ok_or_else(|| {
            let message = format!("missing key for {provider}; set {} or the option api_key", variables.join(" or "));
            Error::new(ErrorKind::Unauthenticated, "set up a provider", message)
        })
    }

    /// Returns the control plane URL.
    pub(crate) fn url(&self, variables: &[&str], otherwise: &str) -> BaseUrl {
        let named = self.api_url.clone().or_else(|| variables.iter().find_map(|name| variable(name)));
        BaseUrl::new(named.as_deref().unwrap_or(otherwise))
    }

    /// Rejects extra options that this provider does not support.
    pub(crate) fn check_extra(&self, provider: &'static str, known: &[&str]) -> Result<()> {
        match self.extra.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(unknown) => {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(unsupported(provider, &format!("the option `{unknown}`; its extra options are: {known}")))
            }
        }
    }

    /// Returns the transport, or a new one over HTTP.
    pub(crate) fn transport(&self) -> Result<Arc<dyn Transport>> {
        match &self.transport {
            Some(transport) => Ok(Arc::clone(transport)),
            None => Ok(crate::transport::HttpTransport::new(self.proxy.as_deref())?),
        }
    }
}

/// Error for an option that a provider does not support.
pub(crate) fn unsupported(provider: &'static str, what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, "set up a provider", format!("{provider} does not support {what}"))
}

/// Reads an environment variable; `None` if it is unset or empty.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Reads an environment variable of Node or Deno; `None` if it is unset or empty. Browsers have none, and Deno throws
/// without read permission.
#[cfg(target_family = "wasm")]
pub(crate) fn variable(name: &str) -> Option<String> {
    let inside = |object: wasm_bindgen::JsValue, name: &str| js_sys::Reflect::get(&object, &name.into()).ok();
    let process = inside(js_sys::global().into(), "process")?;
    inside(inside(process, "env")?, name)?.as_string().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_key_names_its_variable_and_a_key_is_never_shown() {
        let error = Options::default().key("e2b", &["TIDEBOX_NO_SUCH_KEY"]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthenticated);
        assert!(error.message().contains("TIDEBOX_NO_SUCH_KEY"), "{error}");
        let mut options = Options::default().with_api_key("planted-key").with_extra("password", "planted-extra");
        options.env.push(("NAME".to_owned(), "planted-variable".to_owned()));
        options.proxy = Some("http://user:planted-password@proxy:8080/".to_owned());
        options.api_url = Some("https://user:planted@word@api/v1@2".to_owned());
        options.setup = Some("login planted-script".to_owned());
        let settings = crate::Settings::from(&options);
        let command = crate::Command {
            script: "true".to_owned(),
            cwd: None,
            env: options.env.clone(),
            timeout: Duration::from_secs(1),
        };
        let shown = format!("{options:?} {:?} {settings:?} {command:?}", options.key("e2b", &[]));
        assert!(!shown.contains("planted"), "{shown}");
        for reported in ["NAME", "password", "http://proxy:8080/", "https://api/v1@2"] {
            assert!(shown.contains(reported), "{reported} in {shown}");
        }
    }

    #[test]
    fn an_unknown_option_is_rejected_by_name() {
        let options = Options::default().with_extra("flavour", "mint");
        let error = options.check_extra("e2b", &["user"]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains("flavour") && error.message().contains("user"), "{error}");
    }
}
