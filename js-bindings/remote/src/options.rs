//! Reads options that `js/remote_options.ts` has checked; missing ones are `undefined`.

use tidebox_core::{Dialect, Error, ErrorKind, Result, SandboxPath};
use tidebox_js_values::value::{count, duration, entries, get, list, text, variables};
use tidebox_remote_adapters::transport::HttpTransport;
use tidebox_remote_adapters::{NetworkAccess, Options};
use wasm_bindgen::{JsCast, JsValue};

pub(crate) fn read(given: &JsValue) -> Result<Options> {
    let mut options = Options::default();
    options.dialect = Dialect::Js;
    if let Some(key) = text(given, "apiKey") {
        options = options.with_api_key(key);
    }
    options.api_url = text(given, "apiUrl");
    options.region = text(given, "region");
    options.image = text(given, "image");
    options.env = variables(&get(given, "env"));
    options.labels = variables(&get(given, "labels")).into_iter().collect();
    options.cpus = small(given, "cpus")?;
    options.memory_mib = small(given, "memoryMiB")?;
    options.disk_mib = small(given, "diskMiB")?;
    options.network = network(&get(given, "network"));
    options.setup = text(given, "setup");
    options.cwd = text(given, "cwd").map(SandboxPath::parse).transpose().map_err(Error::from)?;
    options.extra = variables(&get(given, "extra")).into_iter().collect();
    if let Some(bytes) = count(given, "outputBytes") {
        options.output_bytes = bytes;
    }
    for (name, time) in [
        ("timeToLiveMs", &mut options.time_to_live),
        ("commandTimeMs", &mut options.command_time),
        ("readyTimeMs", &mut options.ready_time),
    ] {
        if let Some(value) = duration(given, name) {
            *time = value;
        }
    }
    if let Ok(fetch) = get(given, "fetch").dyn_into() {
        options.transport = Some(HttpTransport::with_fetch(fetch));
    }
    Ok(options)
}

fn small(given: &JsValue, name: &'static str) -> Result<Option<u32>> {
    let Some(number) = count(given, name) else { return Ok(None) };
    let too_large = |_| Error::new(ErrorKind::InvalidRequest, "set up a provider", format!("{name} is too large"));
    u32::try_from(number).map(Some).map_err(too_large)
}

fn network(given: &JsValue) -> NetworkAccess {
    if given.as_string().as_deref() == Some("blocked") {
        return NetworkAccess::Blocked;
    }
    match entries(given).into_iter().find(|(name, _)| name == "only") {
        Some((_, hosts)) => NetworkAccess::Only(list(&hosts).iter().filter_map(JsValue::as_string).collect()),
        None => NetworkAccess::Default,
    }
}
