//! Object storage by URL: S3, Google Cloud Storage and Azure.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{HttpClient, HttpConnector};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tidebox_core::{Error, ErrorKind, Result};
use tidebox_vfs_backend::Durability;

use super::ObjectStorage;
use crate::stores::log::GenerationLog;

/// Connect timeout.
const CONNECT_TIME: Duration = Duration::from_secs(20);

/// Time for one request, with its body. Objects have up to some hundred megabytes.
const REQUEST_TIME: Duration = Duration::from_secs(120);

/// Attempts to repeat a request that the store or the network has refused.
const RETRIES: usize = 3;

/// Time from the first attempt after which none is repeated. A save waits for it.
const RETRY_TIME: Duration = Duration::from_secs(20);

impl GenerationLog<ObjectStorage> {
    /// Opens a log by the URL of a bucket; see [`ObjectStorage::from_url`].
    ///
    /// # Errors
    /// Those of [`ObjectStorage::from_url`].
    pub fn from_url(url: &str) -> Result<Self> {
        ObjectStorage::from_url(url).map(Self::new)
    }

    /// As [`from_url`](Self::from_url), with settings; see [`ObjectStorage::from_url_with`].
    ///
    /// # Errors
    /// Those of [`ObjectStorage::from_url_with`].
    pub fn from_url_with<'a>(url: &str, settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        ObjectStorage::from_url_with(url, settings).map(Self::new)
    }
}

impl ObjectStorage {
    /// Opens a bucket by its URL, with an optional path: `s3://bucket/path`, `gs://bucket/path` or `az://container/path`.
    ///
    /// Credentials, region and endpoint are those of the environment, with the names of the provider's own tools
    /// (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME`, ...).
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for another URL or invalid settings.
    pub fn from_url(url: &str) -> Result<Self> {
        Self::from_url_with(url, [])
    }

    /// As [`from_url`](Self::from_url), with settings that take precedence over the environment. Their names are those of the crate
    /// `object_store`, such as `aws_endpoint` and `aws_allow_http`.
    ///
    /// # Errors
    /// As [`from_url`](Self::from_url), also for an unknown setting.
    pub fn from_url_with<'a>(url: &str, settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let invalid = |why: String| {
            let message = format!("cannot use '{url}' as a store: {why}; give s3://, gs:// or az:// with a bucket");
            Error::new(ErrorKind::InvalidRequest, "open store", message)
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| invalid("it is not a URL".to_owned()))?;
        let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(invalid("it names no bucket".to_owned()));
        }
        let store = match scheme {
            "s3" => s3(bucket, settings),
            "gs" => google(bucket, settings),
            "az" => azure(bucket, settings),
            _ => return Err(invalid(format!("the scheme '{scheme}' is not supported"))),
        };
        let store = store.map_err(|error| invalid(error.to_string()))?;
        Ok(Self::new(store, path, Durability::Shared))
    }
}

fn s3<'a>(bucket: &str, settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> StoreResult {
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    for (name, value) in settings {
        builder = builder.with_config(name.parse()?, value);
    }
    let setting = |key| builder.get_config_value(&key).unwrap_or_default();
    let allows_http = setting(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp)) == "true";
    if setting(AmazonS3ConfigKey::Endpoint).starts_with("http://") && !allows_http {
        let source = "the endpoint has no TLS; set AWS_ALLOW_HTTP=true if the network is trusted".into();
        return Err(object_store::Error::Generic { store: "S3", source });
    }
    Ok(Arc::new(builder.with_retry(retries()).with_http_connector(Connector).build()?))
}

fn google<'a>(bucket: &str, settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> StoreResult {
    let mut builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
    for (name, value) in settings {
        builder = builder.with_config(name.parse()?, value);
    }
    Ok(Arc::new(builder.with_retry(retries()).with_http_connector(Connector).build()?))
}

fn azure<'a>(container: &str, settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> StoreResult {
    let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(container);
    for (name, value) in settings {
        builder = builder.with_config(name.parse()?, value);
    }
    Ok(Arc::new(builder.with_retry(retries()).with_http_connector(Connector).build()?))
}

/// Returns bounds of repeated requests that fit into one call of a sandbox.
fn retries() -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries: RETRIES, retry_timeout: RETRY_TIME }
}

type StoreResult = object_store::Result<Arc<dyn ObjectStore>>;

/// Connects with ring and the platform's root certificates, which the rest of the program already links. Addresses without TLS
/// need the setting that allows them.
#[derive(Debug)]
struct Connector;

impl Connector {
    fn client(options: &ClientOptions) -> Result<reqwest::Client, Box<dyn std::error::Error + Send + Sync>> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let tls = builder.with_safe_default_protocol_versions()?.with_platform_verifier()?.with_no_client_auth();
        let allows_http = options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|value| value == "true");
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .https_only(!allows_http)
            .user_agent(concat!("tidebox/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIME)
            .timeout(REQUEST_TIME)
            .redirect(reqwest::redirect::Policy::none());
        Ok(client.build()?)
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = Self::client(options);
        client.map(HttpClient::new).map_err(|source| object_store::Error::Generic { store: "HTTP client", source })
    }
}
