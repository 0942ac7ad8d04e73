//! Signed URLs of files, which clients use without other credentials.

use std::time::SystemTime;

use axum::http::HeaderMap;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{Shared, error_response};
use crate::registry::SandboxRecord;

/// Query of a file request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FileQuery {
    pub(super) path: Option<String>,
    username: Option<String>,
    signature: Option<String>,
    signature_expiration: Option<u64>,
}

impl FileQuery {
    /// Returns the signature that the holder of a token computes.
    fn sign(&self, operation: &str, token: &str) -> String {
        let path = self.path.as_deref().unwrap_or_default();
        let user = self.username.as_deref().unwrap_or_default();
        let mut text = format!("{path}:{operation}:{user}:{token}");
        if let Some(end) = self.signature_expiration {
            text = format!("{text}:{end}");
        }
        format!("v1_{}", BASE64.encode(Sha256::digest(text)))
    }
}

impl Shared {
    /// Returns the sandbox of a file request: named by a header, or the one whose token signed the URL.
    pub(super) async fn authorized_files(
        &self,
        headers: &HeaderMap,
        query: &FileQuery,
        operation: &str,
    ) -> Result<SandboxRecord, Box<Response>> {
        let Some(signature) = query.signature.as_ref().filter(|_| !headers.contains_key("x-access-token")) else {
            return self.authorized_sandbox(headers).await.map(|(_, sandbox)| sandbox);
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        if query.signature_expiration.is_some_and(|end| end < now) {
            return Err(Box::new(error_response(401, "signature is already expired")));
        }
        // At E2B the host name selects the sandbox. Here all sandboxes have one address.
        let sandboxes = self.registry.list_loaded(&std::collections::BTreeMap::new()).await;
        let signed = sandboxes.into_iter().find(|(_, sandbox)| query.sign(operation, &sandbox.token) == *signature);
        match signed {
            Some((_, sandbox)) if !sandbox.paused => Ok(sandbox),
            _ => Err(Box::new(error_response(401, "invalid signature"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_equals_that_of_the_client() {
        // Computed with `e2b.get_signature` 2.63.0.
        let query = FileQuery { path: Some("/home/user/a b".to_owned()), ..FileQuery::default() };
        assert_eq!(query.sign("read", "token"), "v1_89i1CdL10IxsNEUmvQmokwWMZvXEcyPUSmtaHQ34VYI");
        let query = FileQuery { username: Some("root".to_owned()), signature_expiration: Some(17), ..query };
        assert_eq!(query.sign("write", "token"), "v1_oUVLGfUYz2A6p1XZYpPAamp3tyRhTzABCgniEP1Mjxk");
    }
}
