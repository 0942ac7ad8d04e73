//! What a caller may ask of any provider.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tidebox_core::{Dialect, Error, ErrorKind, Limits, Result, SandboxPath, Secret};

use crate::address::{Address, without_password};
use crate::plane::Names;
use crate::transport::Transport;

/// Which hosts programs in the sandbox reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkAccess {
    /// What the provider does when nothing is said; at all of them this is the whole internet.
    #[default]
    Default,
    /// None.
    Blocked,
    /// These and no others. A provider that cannot do it refuses.
    Only(Vec<String>),
}

/// How sandboxes are made and used. The same for all providers; one that cannot do what is asked says so when it is made, and
/// never ignores it.
///
/// Its `Debug` shows neither the key, nor values of variables and of what only one provider knows, nor the password of a proxy.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The credential. `None` takes the provider's own variable of the environment.
    pub api_key: Option<Secret>,
    /// Where the provider's control plane is. `None` takes the provider's own variable, else its public address.
    pub api_url: Option<String>,
    /// The region, where the provider has some.
    pub region: Option<String>,
    /// A proxy for all requests. Variables of the environment are not heeded.
    pub proxy: Option<String>,
    /// What new sandboxes begin with: a template, snapshot or image, as the provider calls it. `None` is its default.
    pub image: Option<String>,
    /// Variables of the environment of every command.
    pub env: Vec<(String, String)>,
    /// Labels of new sandboxes, beside those of a selector.
    pub labels: BTreeMap<String, String>,
    /// Processors of new sandboxes.
    pub cpus: Option<u32>,
    /// Memory of new sandboxes, in MiB. Rounded up to what the provider counts in.
    pub memory_mib: Option<u32>,
    /// Disk of new sandboxes, in MiB. Rounded up to what the provider counts in.
    pub disk_mib: Option<u32>,
    /// How long a sandbox lives. Default 30 minutes, so that nothing forgotten runs on. Rounded up to what the provider
    /// counts in.
    pub time_to_live: Duration,
    /// Which hosts programs reach.
    pub network: NetworkAccess,
    /// A script that is run once in every new sandbox. When it fails, the sandbox is deleted again.
    pub setup: Option<String>,
    /// Where commands run that name no directory. `None` is the provider's choice.
    pub cwd: Option<SandboxPath>,
    /// Whose rules the file operations follow.
    pub dialect: Dialect,
    /// What one `execute` keeps of its output, in bytes. Default 8 MiB, as of local sandboxes.
    pub output_bytes: u64,
    /// How long a command may run that names no time. Default 30 minutes, as in LangChain's integrations.
    pub command_time: Duration,
    /// How long a new sandbox may take until it is ready. Default 3 minutes.
    pub ready_time: Duration,
    /// What carries requests. `None` is HTTP.
    pub transport: Option<Arc<dyn Transport>>,
    /// What only one provider knows. Each lists its names on its page and refuses others.
    pub extra: BTreeMap<String, String>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("api_key", &self.api_key)
            .field("api_url", &self.api_url.as_deref().map(without_password))
            .field("region", &self.region)
            .field("proxy", &self.proxy.as_deref().map(without_password))
            .field("image", &self.image)
            .field("env", &Names(&self.env))
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
            // A script may name a password; whether there is one is enough.
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
    /// Takes the credential from here instead of from the environment.
    #[must_use]
    pub fn with_api_key(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.api_key = Some(Secret::new(key));
        self
    }

    /// Speaks to the control plane at this address, such as an emulator's.
    #[must_use]
    pub fn with_api_url(mut self, url: impl Into<String>) -> Self {
        self.api_url = Some(url.into());
        self
    }

    /// Sets what only one provider knows.
    #[must_use]
    pub fn with_extra(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extra.insert(name.into(), value.into());
        self
    }

    /// The credential, or the first of these variables that is set and not empty.
    pub(crate) fn key(&self, provider: &'static str, variables: &[&str]) -> Result<Secret> {
        let from_environment = || variables.iter().find_map(|name| variable(name)).map(Secret::new);
        self.api_key.clone().or_else(from_environment).ok_or_else(|| {
            let message =
                format!("there is no key for {provider}; set {} or the option api_key", variables.join(" or "));
            Error::new(ErrorKind::Unauthenticated, "set up a provider", message)
        })
    }

    /// Where the control plane is.
    pub(crate) fn url(&self, variables: &[&str], otherwise: &str) -> Address {
        let named = self.api_url.clone().or_else(|| variables.iter().find_map(|name| variable(name)));
        Address::new(named.as_deref().unwrap_or(otherwise))
    }

    /// Refuses what this provider does not know.
    pub(crate) fn only_extra(&self, provider: &'static str, known: &[&str]) -> Result<()> {
        match self.extra.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(unknown) => {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(unsupported(provider, &format!("an option `{unknown}`; those of its own are: {known}")))
            }
        }
    }

    /// The transport, or a new one over HTTP.
    pub(crate) fn transport(&self) -> Result<Arc<dyn Transport>> {
        match &self.transport {
            Some(transport) => Ok(Arc::clone(transport)),
            None => Ok(crate::transport::HttpTransport::new(self.proxy.as_deref())?),
        }
    }
}

/// That a provider cannot do what is asked.
pub(crate) fn unsupported(provider: &'static str, what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, "set up a provider", format!("{provider} does not have {what}"))
}

/// A variable of the environment that is set and not empty.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A variable of the environment that is set and not empty, as Node and Deno tell them. A browser has none, and Deno throws
/// where the program has no leave to read it.
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
    fn a_missing_key_names_the_variable_and_a_planted_one_is_never_shown() {
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
            time: Duration::from_secs(1),
        };
        let shown = format!("{options:?} {:?} {settings:?} {command:?}", options.key("e2b", &[]));
        assert!(!shown.contains("planted"), "{shown}");
        for told in ["NAME", "password", "http://proxy:8080/", "https://api/v1@2"] {
            assert!(shown.contains(told), "{told} in {shown}");
        }
    }

    #[test]
    fn an_option_that_nobody_knows_is_refused_by_its_name() {
        let options = Options::default().with_extra("flavour", "mint");
        let error = options.only_extra("e2b", &["user"]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains("flavour") && error.message().contains("user"), "{error}");
    }
}
