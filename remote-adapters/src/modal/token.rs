//! The token required by sandbox calls, cached until half of its lifetime has passed.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::lock::Mutex;
use serde::Deserialize;
use tidebox_core::{Result, Secret};
use web_time::{SystemTime, UNIX_EPOCH};

use super::call::{self, RpcResult};
use super::config::ModalConfig;
use super::messages::{AuthTokenGetResponse, Empty};
use super::wire::{self, control};
use crate::transport::{Client, Instant, now};

/// Lifetime of a token without an expiry time, as in the official client.
const LIFE: Duration = Duration::from_secs(20 * 60);

/// A token fetched on first use.
#[derive(Debug, Default)]
pub(super) struct Token(Mutex<Option<(Secret, Instant)>>);

impl Token {
    /// Returns the token. Concurrent callers share one request.
    pub(super) async fn get(&self, config: &ModalConfig, client: &Client) -> Result<RpcResult<Secret>> {
        let mut kept = self.0.lock().await;
        if let Some((token, until)) = &*kept
            && now() < *until
        {
            return Ok(Ok(token.clone()));
        }
        let request = wire::control(config, control::TOKEN, &Empty {}, None);
        let token = match call::unary::<AuthTokenGetResponse>(client, &request).await? {
            Ok(response) => response.token,
            Err(status) => return Ok(Err(status)),
        };
        let used = life(&token).unwrap_or(LIFE) / 2;
        let token = Secret::new(token);
        *kept = Some((token.clone(), now() + used));
        Ok(Ok(token))
    }

    /// Discards a rejected token.
    pub(super) async fn invalidate(&self) {
        *self.0.lock().await = None;
    }
}

/// Returns the remaining lifetime of a token, if it has an expiry time.
fn life(token: &str) -> Option<Duration> {
    #[derive(Deserialize)]
    struct Claims {
        exp: f64,
    }
    let claims = token.split('.').nth(1)?.trim_end_matches('=');
    let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    let end = Duration::try_from_secs_f64(claims.exp).ok()?;
    let today = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(end.saturating_sub(today))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_expiry_is_parsed() {
        let token = |exp: f64| format!("e30.{}.sig", URL_SAFE_NO_PAD.encode(format!("{{\"exp\":{exp}}}")));
        let today = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let left = life(&token(today + 600.0)).unwrap();
        assert!(left > Duration::from_secs(500) && left <= Duration::from_secs(600), "{left:?}");
        assert_eq!(life(&token(1000.0)), Some(Duration::ZERO));
        assert_eq!((life("planted"), life("a.b.c"), life(&token(f64::MAX))), (None, None, None));
    }
}
