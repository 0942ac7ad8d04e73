//! Tenants and their tokens.

mod file;

use std::fmt;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::quota::Quotas;

/// A digest of a token.
pub(crate) type TokenHash = [u8; 32];

/// Prefix of a digest in the tenants' file.
const ALGORITHM: &str = "sha256:";

/// Tenants with their tokens and quotas.
#[derive(Clone, Debug, Default)]
pub struct Tenants {
    pub(crate) all: Vec<Tenant>,
}

/// One tenant.
#[derive(Clone, Debug)]
pub(crate) struct Tenant {
    pub(crate) name: String,
    /// Several are valid at the same time, so that a token can be replaced without an interruption.
    pub(crate) tokens: Vec<TokenHash>,
    pub(crate) quotas: Quotas,
}

/// A tenants' file that cannot be used.
#[derive(Debug)]
pub struct TenantError(String);

impl fmt::Display for TenantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TenantError {}

impl Tenants {
    /// Returns one tenant `default` with this token and without quotas.
    pub fn single(token: &str) -> Self {
        let tenant =
            Tenant { name: "default".to_owned(), tokens: vec![hash(token.as_bytes())], quotas: Quotas::default() };
        Self { all: vec![tenant] }
    }

    /// Reads a tenants' file.
    ///
    /// # Errors
    /// If it cannot be read, or its content is invalid. The message names the file, the tenant and the key.
    pub fn read(path: &Path) -> Result<Self, TenantError> {
        let invalid = |cause: String| TenantError(format!("cannot read tenants from {}: {cause}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| invalid(error.to_string()))?;
        Self::parse(&text).map_err(|error| invalid(error.0))
    }

    /// Parses the text of a tenants' file.
    ///
    /// # Errors
    /// If the text is invalid.
    pub fn parse(text: &str) -> Result<Self, TenantError> {
        file::parse(text).map_err(TenantError)
    }

    /// Returns the tenant of a token. The time does not depend on the number of equal bytes, or on the tenant.
    pub(crate) fn find(&self, token: &[u8]) -> Option<&Tenant> {
        let sent = hash(token);
        let mut found = None;
        for tenant in &self.all {
            for known in &tenant.tokens {
                if is_same(&sent, known) {
                    found = Some(tenant);
                }
            }
        }
        found
    }
}

/// A new random token.
#[derive(Clone)]
pub struct NewToken {
    /// For the tenant.
    pub token: String,
    /// For the tenants' file.
    pub hash: String,
}

impl fmt::Debug for NewToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewToken").field("hash", &self.hash).finish_non_exhaustive()
    }
}

impl NewToken {
    /// Creates a token of 256 random bits.
    ///
    /// # Errors
    /// If the operating system has no random numbers.
    pub fn create() -> Result<Self, TenantError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| TenantError(format!("cannot create a token: {error}")))?;
        let token = format!("tbx_{}", hex(&bytes));
        Ok(Self { hash: format!("{ALGORITHM}{}", hex(&hash(token.as_bytes()))), token })
    }
}

pub(crate) fn hash(token: &[u8]) -> TokenHash {
    Sha256::digest(token).into()
}

/// Compares all bytes, so that the time does not depend on where they differ.
fn is_same(one: &TokenHash, other: &TokenHash) -> bool {
    one.iter().zip(other).fold(0, |differences, (one, other)| differences | (one ^ other)) == 0
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_token_matches_its_hash_in_a_file() {
        let new = NewToken::create().unwrap();
        let tenants = Tenants::parse(&format!("[tenants.a]\ntokens = [\"{}\"]\n", new.hash)).unwrap();
        assert_eq!(tenants.find(new.token.as_bytes()).unwrap().name, "a");
        assert!(tenants.find(b"").is_none());
        assert!(tenants.find(new.hash.as_bytes()).is_none());
        assert!(!format!("{new:?}").contains(&new.token));
    }

    #[test]
    fn a_single_tenant_has_its_token() {
        let tenants = Tenants::single("secret");
        assert_eq!(tenants.find(b"secret").unwrap().name, "default");
        assert!(tenants.find(b"secret ").is_none());
    }
}
