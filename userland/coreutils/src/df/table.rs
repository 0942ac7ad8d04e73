//! Output table of `df`.

use super::{Mount, Options};
use crate::common::block_size::{Unit, format_size};

fn header(field: &str, options: &Options) -> String {
    let human = matches!(options.unit, Unit::Human(_));
    match field {
        "source" => "Filesystem".to_owned(),
        "fstype" => "Type".to_owned(),
        "itotal" => "Inodes".to_owned(),
        "iused" => "IUsed".to_owned(),
        "iavail" => "IFree".to_owned(),
        "ipcent" => "IUse%".to_owned(),
        "size" => match options.unit {
            Unit::Human(_) => "Size".to_owned(),
            Unit::Bytes(size) | Unit::Lettered(size, _) if options.posix => format!("{size}-blocks"),
            Unit::Bytes(size) | Unit::Lettered(size, _) => format!("{}-blocks", block_name(size)),
        },
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

/// Formats a block size: `1K`, `1MB`, `512B`.
fn block_name(size: u64) -> String {
    let scaled = |base: u64| {
        let (mut count, mut power) = (size, 0);
        while count > 0 && count.is_multiple_of(base) {
            (count, power) = (count / base, power + 1);
        }
        (count, power)
    };
    let letter = |letters: &str, power: usize| letters.chars().nth(power).map(String::from).unwrap_or_default();
    match (scaled(1024), scaled(1000)) {
        ((count, power), (_, other)) if power > 0 && power >= other => format!("{count}{}", letter(" KMGTPE", power)),
        (_, (count, 0)) => format!("{count}B"),
        (_, (count, power)) => format!("{count}{}B", letter(" kMGTPE", power)),
    }
}

fn percent(used: u64, all: u64) -> String {
    if all == 0 { "-".to_owned() } else { format!("{}%", (u128::from(used) * 100).div_ceil(u128::from(all))) }
}

fn value(field: &str, mount: &Mount, options: &Options) -> String {
    let dash = || "-".to_owned();
    let sized = |part: &dyn Fn(u64, u64) -> u64| {
        mount.bytes.map_or_else(dash, |(all, used)| format_size(part(all, used), options.unit))
    };
    let counted = |part: &dyn Fn(u64, u64) -> u64| {
        mount.inodes.map_or_else(dash, |(all, used)| match options.unit {
            Unit::Human(_) => format_size(part(all, used), options.unit),
            _ => part(all, used).to_string(),
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

fn columns(options: &Options) -> Vec<&'static str> {
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

/// Minimum width of a column.
fn min_width(field: &str) -> usize {
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
        // The label is in the first column, or in the last one without a source column.
        let target = if columns.contains(&"source") { dash() } else { "total".to_owned() };
        mounts.push(Mount { source: "total".to_owned(), kind: dash(), target, file: dash(), bytes, inodes });
    }
    let mut rows = vec![columns.iter().map(|field| header(field, options)).collect::<Vec<String>>()];
    rows.extend(mounts.iter().map(|mount| columns.iter().map(|field| value(field, mount, options)).collect()));
    let width = |column: usize| {
        let widest = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
        columns.get(column).map_or(widest, |field| widest.max(min_width(field)))
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
