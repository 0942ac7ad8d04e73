//! TLS client configuration: protocol versions and root certificates.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_pki_types::CertificateDer;
use rustls_platform_verifier::Verifier;
use tidebox_core::network::GatewayError;

use crate::error::internal;

/// Creates the configuration for TLS 1.2 and 1.3 with the platform's roots and the given ones. Certificate checks cannot be
/// disabled: an attacker on the network could read the credentials that the host adds.
pub(crate) fn client_config(roots: &[CertificateDer<'static>]) -> Result<Arc<ClientConfig>, GatewayError> {
    let provider = Arc::new(ring::default_provider());
    let failed = |error: rustls::Error| internal("cannot set up TLS", &error);
    let verifier = Verifier::new_with_extra_roots(roots.iter().cloned(), Arc::clone(&provider)).map_err(failed)?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        // rustls calls every verifier other than its own "dangerous"; this is the platform's.
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // A resumed session would carry state from one sandbox to another.
    config.resumption = rustls::client::Resumption::disabled();
    Ok(Arc::new(config))
}
