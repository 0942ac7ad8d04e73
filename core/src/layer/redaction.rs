//! Redaction of secrets in cassettes.

use std::fmt;
use std::sync::Arc;

use crate::secret::Secret;

type Rule = dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync;

/// Replacements applied to everything that is recorded.
///
/// It covers commands, paths, file contents, variables, output, messages, labels and ids. A replay needs the same redaction, so
/// that a request with the secret matches the recording without it.
///
/// Limitation: a secret that the sandbox encodes is not detected (base64, a hash, one character per line).
#[derive(Clone, Default)]
pub struct Redaction {
    /// Longest first, so that a secret that contains another is replaced as a whole.
    secrets: Vec<(Secret, Vec<u8>)>,
    variables: Vec<String>,
    rules: Vec<Arc<Rule>>,
}

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redaction")
            .field("secrets", &self.secrets.len())
            .field("variables", &self.variables)
            .field("rules", &self.rules.len())
            .finish()
    }
}

impl Redaction {
    /// Creates a redaction that replaces nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces `value` by `[redacted:NAME]` in every text and byte string. An empty value is ignored.
    #[must_use]
    pub fn secret(mut self, name: &str, value: Secret) -> Self {
        if !value.expose().is_empty() {
            self.secrets.push((value, placeholder(name).into_bytes()));
            self.secrets.sort_by_key(|(value, _)| std::cmp::Reverse(value.expose().len()));
        }
        self
    }

    /// Replaces every value of the environment variable `name` in requests. Copies of the value elsewhere, for example in output,
    /// are not detected: use [`secret`](Self::secret) for those.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>) -> Self {
        self.variables.push(name.into());
        self
    }

    /// Applies `rule` to every recorded text and byte string; it returns the replacement, or `None` for no change. It must be
    /// deterministic.
    #[must_use]
    pub fn rule(mut self, rule: impl Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        self.rules.push(Arc::new(rule));
        self
    }

    pub(super) fn bytes(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        for (secret, placeholder) in &self.secrets {
            if let Some(replaced) = replace(&bytes, secret.expose(), placeholder) {
                bytes = replaced;
            }
        }
        for rule in &self.rules {
            if let Some(replaced) = rule(&bytes) {
                bytes = replaced;
            }
        }
        bytes
    }

    /// Redacts a text. The result is a text, even if a rule returns invalid UTF-8.
    pub(super) fn text(&self, text: String) -> String {
        String::from_utf8(self.bytes(text.into_bytes()))
            .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
    }

    pub(super) fn environment(&self, name: String, value: String) -> (String, String) {
        if self.variables.contains(&name) {
            let value = placeholder(&name);
            return (name, value);
        }
        (self.text(name), self.text(value))
    }
}

fn placeholder(name: &str) -> String {
    format!("[redacted:{name}]")
}

/// Returns `None` if nothing matches, to avoid copying large contents.
fn replace(bytes: &[u8], secret: &[u8], by: &[u8]) -> Option<Vec<u8>> {
    let mut replaced = Vec::new();
    let mut rest = bytes;
    let mut any = false;
    while let Some(at) = rest.windows(secret.len()).position(|window| window == secret) {
        any = true;
        let (before, behind) = rest.split_at_checked(at)?;
        replaced.extend_from_slice(before);
        replaced.extend_from_slice(by);
        rest = behind.get(secret.len()..)?;
    }
    replaced.extend_from_slice(rest);
    any.then_some(replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occurrence_is_replaced_and_the_longer_secret_wins() {
        let redaction = Redaction::new()
            .secret("SHORT", Secret::new("key"))
            .secret("LONG", Secret::new("key-123"))
            .secret("EMPTY", Secret::new(""));
        assert_eq!(redaction.text("a key-123, a key, keykey".into()), {
            "a [redacted:LONG], a [redacted:SHORT], [redacted:SHORT][redacted:SHORT]"
        });
        assert_eq!(redaction.bytes(b"\xffkey\xff".to_vec()), b"\xff[redacted:SHORT]\xff");
        assert_eq!(redaction.text(String::new()), "");
        assert!(!format!("{redaction:?}").contains("123"));
    }

    #[test]
    fn variables_are_redacted_by_name_and_rules_apply_to_all() {
        let redaction =
            Redaction::new().variable("TOKEN").rule(|bytes| bytes.starts_with(b"sk-").then(|| b"[key]".to_vec()));
        assert_eq!(redaction.environment("TOKEN".into(), "x".into()).1, "[redacted:TOKEN]");
        assert_eq!(redaction.environment("OTHER".into(), "sk-1".into()), ("OTHER".into(), "[key]".into()));
    }
}
