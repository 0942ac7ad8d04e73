//! Reads the network policy from JavaScript. `js/network_options.ts` has checked the types; hosts, headers and addresses are
//! validated here, as for all languages.

use std::net::IpAddr;
use std::time::Duration;

use tidebox_core::network::{AllowRule, HeaderInjection, NetworkLimits, NetworkPolicy};
use tidebox_core::{Error, ErrorKind, Result, Secret};
use wasm_bindgen::JsValue;

use crate::options::{count, duration, get, list, text};

pub(crate) fn policy(given: &JsValue) -> Result<NetworkPolicy> {
    let mut policy = NetworkPolicy::new().with_limits(limits(&get(given, "limits")));
    for rule in list(&get(given, "allow")) {
        policy = policy.allow(allow(&rule)?);
    }
    for injection in list(&get(given, "inject")) {
        policy = policy.with_injection(inject(&injection)?);
    }
    for pin in list(&get(given, "resolve")) {
        let address = text(&pin, "address").unwrap_or_default();
        let address: IpAddr = address.parse().map_err(|_| {
            let message = format!("cannot pin a host to '{}': not an IP address", address.escape_debug());
            Error::new(ErrorKind::InvalidRequest, "pin host", message)
        })?;
        policy = policy.pin_address(&text(&pin, "host").unwrap_or_default(), address)?;
    }
    Ok(policy)
}

fn allow(given: &JsValue) -> Result<AllowRule> {
    let host = text(given, "host").unwrap_or_default();
    let repository = || match text(given, "path") {
        Some(path) => format!("{host}/{}", path.strip_prefix('/').unwrap_or(&path)),
        None => host.clone(),
    };
    let mut rule = match text(given, "git").as_deref() {
        Some("push") => AllowRule::git_push(&repository())?,
        Some(_) => AllowRule::git_fetch(&repository())?,
        None => AllowRule::host(&host)?,
    };
    let methods = get(given, "methods");
    if methods.as_string().is_some() {
        rule = rule.any_method();
    } else if methods.is_object() {
        rule = rule.methods(list(&methods).iter().filter_map(JsValue::as_string));
    }
    for port in list(&get(given, "ports")).iter().filter_map(JsValue::as_f64) {
        rule = rule.port(port as u16);
    }
    Ok(if get(given, "http").is_truthy() { rule.http() } else { rule })
}

fn inject(given: &JsValue) -> Result<HeaderInjection> {
    let word = |name| text(given, name).unwrap_or_default();
    let mut injection = HeaderInjection::new(&word("host"), &word("header"), Secret::new(word("value")))?;
    if let Some(name) = text(given, "name") {
        injection = injection.with_name(name);
    }
    Ok(if get(given, "overHttp").is_truthy() { injection.over_http() } else { injection })
}

fn limits(given: &JsValue) -> NetworkLimits {
    let mut limits = NetworkLimits::default();
    let wide: [(&str, &mut u64); 5] = [
        ("requests", &mut limits.requests),
        ("requestBytes", &mut limits.request_bytes),
        ("replyBytes", &mut limits.reply_bytes),
        ("totalSentBytes", &mut limits.total_sent_bytes),
        ("totalReceivedBytes", &mut limits.total_received_bytes),
    ];
    for (name, limit) in wide {
        if let Some(value) = count(given, name) {
            *limit = value;
        }
    }
    for (name, limit) in [("concurrent", &mut limits.concurrent), ("headBytes", &mut limits.header_bytes)] {
        if let Some(value) = count(given, name) {
            *limit = u32::try_from(value).unwrap_or(u32::MAX);
        }
    }
    let times: [(&str, &mut Duration); 2] =
        [("requestTimeMs", &mut limits.request_time), ("connectTimeMs", &mut limits.connect_time)];
    for (name, limit) in times {
        if let Some(value) = duration(given, name) {
            *limit = value;
        }
    }
    limits
}
