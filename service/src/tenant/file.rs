//! The tenants' file.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;
use tidebox_core::network::AllowRule;

use super::{ALGORITHM, Tenant, Tenants, TokenHash};
use crate::quota::Quotas;

/// Maximum length of a tenant's name.
const MAX_NAME_BYTES: usize = 64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    tenants: BTreeMap<String, Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    tokens: Vec<String>,
    sandboxes: Option<u64>,
    memory: Option<Size>,
    cpu_seconds_per_hour: Option<u64>,
    cpu_seconds_total: Option<u64>,
    #[serde(default)]
    egress: Vec<String>,
    idle_seconds: Option<u64>,
    lifetime_seconds: Option<u64>,
}

/// `1073741824` or `"1G"`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Size {
    Bytes(u64),
    Text(String),
}

pub(super) fn parse(text: &str) -> Result<Tenants, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    if file.tenants.is_empty() {
        return Err("it has no tenants; add a table [tenants.NAME] with tokens".to_owned());
    }
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, entry) in file.tenants {
        let tenant = entry.tenant(name.clone()).map_err(|cause| format!("tenant {name:?}: {cause}"))?;
        for token in &tenant.tokens {
            if !seen.insert(*token) {
                return Err(format!("tenant {name:?}: a token is listed twice; each one belongs to one tenant"));
            }
        }
        all.push(tenant);
    }
    Ok(Tenants { all })
}

impl Entry {
    fn tenant(self, name: String) -> Result<Tenant, String> {
        let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if !(1..=MAX_NAME_BYTES).contains(&name.len()) || !name.bytes().all(is_name_byte) {
            return Err(format!("use 1 to {MAX_NAME_BYTES} letters, digits, hyphens and underscores as its name"));
        }
        if self.tokens.is_empty() {
            return Err("tokens is empty; add one with `tidebox serve --new-token`".to_owned());
        }
        for pattern in &self.egress {
            AllowRule::host(pattern).map_err(|error| format!("egress {pattern:?}: {}", error.message()))?;
        }
        let tokens = self.tokens.iter().map(|token| parse_hash(token)).collect::<Result<_, _>>()?;
        let quotas = Quotas {
            sandboxes: self.sandboxes,
            memory_bytes: self.memory.map(Size::bytes).transpose()?,
            cpu_per_hour: self.cpu_seconds_per_hour.map(Duration::from_secs),
            cpu_total: self.cpu_seconds_total.map(Duration::from_secs),
            egress: self.egress,
            idle: self.idle_seconds.map(Duration::from_secs),
            lifetime: self.lifetime_seconds.map(Duration::from_secs),
        };
        Ok(Tenant { name, tokens, quotas })
    }
}

/// Parses `sha256:HEX`, or the hexadecimal digits only, as `sha256sum` prints them.
fn parse_hash(text: &str) -> Result<TokenHash, String> {
    // The text may be a token, so the message does not repeat it.
    let invalid = || "a token is not a hash; expected sha256: and 64 hexadecimal digits".to_owned();
    let digits = text.strip_prefix(ALGORITHM).unwrap_or(text);
    if digits.len() != 64 || !digits.is_ascii() {
        return Err(invalid());
    }
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).map_err(|_| invalid())?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| invalid())?;
    }
    Ok(hash)
}

impl Size {
    fn bytes(self) -> Result<u64, String> {
        let text = match self {
            Self::Bytes(bytes) => return Ok(bytes),
            Self::Text(text) => text,
        };
        let (digits, shift) = match text.as_bytes().last() {
            Some(b'K' | b'k') => (text.get(..text.len() - 1), 10),
            Some(b'M' | b'm') => (text.get(..text.len() - 1), 20),
            Some(b'G' | b'g') => (text.get(..text.len() - 1), 30),
            _ => (Some(text.as_str()), 0),
        };
        let bytes = digits.and_then(|digits| digits.parse::<u64>().ok()?.checked_mul(1 << shift));
        bytes.ok_or_else(|| format!("memory {text:?} is not a size; expected bytes, or for example \"512M\" or \"8G\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

    #[test]
    fn every_quota_is_read() {
        let text = format!(
            "[tenants.research]\ntokens = [\"sha256:{HASH}\"]\nsandboxes = 20\nmemory = \"8G\"\n\
             cpu_seconds_per_hour = 60\ncpu_seconds_total = 70\negress = [\"api.example.com\"]\n\
             idle_seconds = 5\nlifetime_seconds = 6\n"
        );
        let tenants = parse(&text).unwrap();
        let tenant = tenants.find(b"test").unwrap();
        let expected = Quotas {
            sandboxes: Some(20),
            memory_bytes: Some(8 << 30),
            cpu_per_hour: Some(Duration::from_secs(60)),
            cpu_total: Some(Duration::from_secs(70)),
            egress: vec!["api.example.com".to_owned()],
            idle: Some(Duration::from_secs(5)),
            lifetime: Some(Duration::from_secs(6)),
        };
        assert_eq!((tenant.name.as_str(), &tenant.quotas), ("research", &expected));
    }

    #[test]
    fn errors_name_the_tenant_and_the_key() {
        for (text, expected) in [
            ("", "no tenants"),
            ("[tenants.a]\n", "missing field `tokens`"),
            ("[tenants.a]\ntokens = []\n", "tenant \"a\": tokens is empty"),
            ("[tenants.a]\ntokens = [\"secret-token\"]\n", "tenant \"a\": a token is not a hash"),
            ("[tenants.\"a b\"]\ntokens = []\n", "letters, digits"),
            ("[tenants.a]\ntokens = [\"HASH\"]\nsandbox = 3\n", "unknown field `sandbox`"),
            ("[tenants.a]\ntokens = [\"HASH\"]\nmemory = \"many\"\n", "tenant \"a\": memory \"many\" is not a size"),
            ("[tenants.a]\ntokens = [\"HASH\"]\negress = [\"not a host\"]\n", "egress \"not a host\""),
            ("[tenants.a]\ntokens = [\"HASH\"]\n[tenants.b]\ntokens = [\"HASH\"]\n", "tenant \"b\": a token is listed"),
        ] {
            let error = parse(&text.replace("HASH", HASH)).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
            assert!(!error.contains("secret-token"), "{error}");
        }
    }
}
