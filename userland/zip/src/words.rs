//! Output with names as bytes.

/// Buffered standard output.
#[derive(Debug, Default)]
pub(crate) struct Out {
    held: Vec<u8>,
    /// A write has failed.
    pub(crate) failed: bool,
}

impl Out {
    pub(crate) fn put(&mut self, parts: &[&[u8]]) {
        self.held.extend(parts.concat());
        if self.held.len() > 16 * 1024 {
            self.flush();
        }
    }

    pub(crate) fn flush(&mut self) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() && tidebox_rt::write_all(1, &held).is_err() {
            self.failed = true;
        }
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Writes to standard error. A failure cannot be reported.
pub(crate) fn print_parts(parts: &[&[u8]]) {
    let _ = tidebox_rt::write_all(2, &parts.concat());
}

/// Formats a name for display: control characters appear as `^X`.
pub(crate) fn display(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    for byte in name {
        match byte {
            0..=31 => out.extend_from_slice(&[b'^', byte + 64]),
            _ => out.push(*byte),
        }
    }
    out
}

/// Returns the space saved, in whole percent.
pub(crate) fn percent(large: u64, small: u64) -> i64 {
    let (large, small) = (i128::from(large), i128::from(small));
    if large == 0 {
        return 0;
    }
    let twice = 200 * (large - small) / large;
    i64::try_from(if twice >= 0 { (twice + 1) / 2 } else { (twice - 1) / 2 }).unwrap_or(0)
}
