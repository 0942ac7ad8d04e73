//! The table that is printed.

use super::{Mount, Options, Unit};

pub(super) fn header(field: &str, options: &Options) -> String {
    let human = matches!(options.unit, Unit::Human(_));
    match field {
        "source" => "Filesystem".to_owned(),
        "fstype" => "Type".to_owned(),
        "itotal" => "Inodes".to_owned(),
        "iused" => "IUsed".to_owned(),
        "iavail" => "IFree".to_owned(),
        "ipcent" => "IUse%".to_owned(),
        "size" if human => "Size".to_owned(),
        "size" if options.posix => match options.unit {
            Unit::Bytes(size) => format!("{size}-blocks"),
            Unit::Human(_) => "Size".to_owned(),
        },
        "size" => options.unit_name.clone(),
        "used" => "Used".to_owned(),
        "avail" if human => "Avail".to_owned(),
        "avail" if options.fields.is_some() => "Avail".to_owned(),
        "avail" => "Available".to_owned(),
        "pcent" if options.posix && !human => "Capacity".to_owned(),
        "pcent" => "Use%".to_owned(),
        "file" => "File".to_owned(),
        _ => "Mounted on".to_owned(),
    }
}

pub(super) fn amount(bytes: u64, unit: Unit) -> String {
    let base = match unit {
        Unit::Bytes(size) => return bytes.div_ceil(size).to_string(),
        Unit::Human(base) => base,
    };
    let letters = if base == 1000 { "kMGTPE" } else { "KMGTPE" };
    if bytes < base {
        return bytes.to_string();
    }
    let (mut scale, mut unit) = (base, 0);
    while bytes / scale >= base && unit < 5 {
        scale = scale.saturating_mul(base);
        unit += 1;
    }
    // Sizes are rounded up, to one digit behind the point below ten.
    let tenths = (u128::from(bytes) * 10).div_ceil(u128::from(scale));
    let letter = letters.chars().nth(unit).unwrap_or('E');
    if tenths < 100 {
        return format!("{}.{}{letter}", tenths / 10, tenths % 10);
    }
    format!("{}{letter}", u128::from(bytes).div_ceil(u128::from(scale)))
}

pub(super) fn percent(used: u64, all: u64) -> String {
    if all == 0 { "-".to_owned() } else { format!("{}%", (u128::from(used) * 100).div_ceil(u128::from(all))) }
}

pub(super) fn value(field: &str, mount: &Mount, options: &Options) -> String {
    let dash = || "-".to_owned();
    let sized = |part: &dyn Fn(u64, u64) -> u64| {
        mount.bytes.map_or_else(dash, |(all, used)| amount(part(all, used), options.unit))
    };
    let counted = |part: &dyn Fn(u64, u64) -> u64| {
        mount.inodes.map_or_else(dash, |(all, used)| match options.unit {
            Unit::Human(_) => amount(part(all, used), options.unit),
            Unit::Bytes(_) => part(all, used).to_string(),
        })
    };
    match field {
        "source" => mount.source.clone(),
        "fstype" => mount.kind.clone(),
        "itotal" => counted(&|all, _| all),
        "iused" => counted(&|_, used| used),
        "iavail" => counted(&|all, used| all.saturating_sub(used)),
        "ipcent" => mount.inodes.map_or_else(dash, |(all, used)| percent(used, all)),
        "size" => sized(&|all, _| all),
        "used" => sized(&|_, used| used),
        "avail" => sized(&|all, used| all - used),
        "pcent" => mount.bytes.map_or_else(dash, |(all, used)| percent(used, all)),
        "file" => mount.file.clone(),
        _ => mount.target.clone(),
    }
}

pub(super) fn columns(options: &Options) -> Vec<&'static str> {
    if let Some(fields) = &options.fields {
        return fields.clone();
    }
    let mut columns = vec!["source"];
    columns.extend(options.types.then_some("fstype"));
    columns.extend(match options.inodes {
        true => ["itotal", "iused", "iavail", "ipcent"],
        false => ["size", "used", "avail", "pcent"],
    });
    columns.push("target");
    columns
}

/// The narrowest that a column is.
pub(super) fn narrowest(field: &str) -> usize {
    match field {
        "source" => 14,
        "fstype" | "ipcent" | "pcent" => 4,
        "file" | "target" => 0,
        _ => 5,
    }
}

pub(super) fn table(options: &Options, mut mounts: Vec<Mount>) -> String {
    let columns = columns(options);
    if options.total {
        let sum = |pick: &dyn Fn(&Mount) -> Option<(u64, u64)>| {
            mounts.iter().filter_map(pick).reduce(|a, b| (a.0.saturating_add(b.0), a.1.saturating_add(b.1)))
        };
        let dash = || "-".to_owned();
        let (bytes, inodes) = (sum(&|mount| mount.bytes), sum(&|mount| mount.inodes));
        // It is called so in the first column that can tell.
        let target = if columns.contains(&"source") { dash() } else { "total".to_owned() };
        mounts.push(Mount { source: "total".to_owned(), kind: dash(), target, file: dash(), bytes, inodes });
    }
    let mut rows = vec![columns.iter().map(|field| header(field, options)).collect::<Vec<String>>()];
    rows.extend(mounts.iter().map(|mount| columns.iter().map(|field| value(field, mount, options)).collect()));
    let width = |column: usize| {
        let widest = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
        columns.get(column).map_or(widest, |field| widest.max(narrowest(field)))
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut out = String::new();
    for row in &rows {
        for (at, ((cell, field), width)) in row.iter().zip(&columns).zip(&widths).enumerate() {
            let last = at + 1 == columns.len();
            let is_text = matches!(*field, "source" | "fstype" | "file" | "target");
            match (is_text, last) {
                (true, true) => out.push_str(cell),
                (true, false) => out.push_str(&format!("{cell:<width$} ")),
                (false, true) => out.push_str(&format!("{cell:>width$}")),
                (false, false) => out.push_str(&format!("{cell:>width$} ")),
            }
        }
        out.push('\n');
    }
    out
}
