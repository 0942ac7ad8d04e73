//! Output of matches.

use std::io::{self, BufWriter, Write};

use grep_printer::{
    ColorSpecs, JSON, JSONBuilder, Standard, StandardBuilder, Stats, Summary, SummaryBuilder, SummaryKind,
    UserColorSpec, default_color_specs,
};
use termcolor::{Ansi, NoColor, WriteColor};

use crate::options::{Options, Show};
use crate::walk::Roots;

/// Standard output, with colours or without.
pub(crate) type Out = Box<dyn WriteColor>;

/// Printers.
pub(crate) enum Printer {
    Standard(Box<Standard<Out>>),
    Summary(Box<Summary<Out>>),
    Json(Box<JSON<Out>>),
}

/// Handles a write error: a closed reader ends the program silently.
pub(crate) fn failed(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::BrokenPipe { String::new() } else { crate::message::reason(error) }
}

fn out(options: &Options) -> Out {
    let writer = BufWriter::with_capacity(64 << 10, io::stdout());
    if options.color { Box::new(Ansi::new(writer)) } else { Box::new(NoColor::new(writer)) }
}

fn colors(options: &Options) -> Result<ColorSpecs, String> {
    let mut specs = default_color_specs();
    // The library colors names only on Unix.
    specs.insert(0, "path:fg:magenta".parse::<UserColorSpec>().map_err(|error| error.to_string())?);
    for spec in &options.colors {
        specs.push(spec.parse::<UserColorSpec>().map_err(|error| error.to_string().replace("|highlight", ""))?);
    }
    Ok(ColorSpecs::new(&specs))
}

impl Printer {
    pub(crate) fn new(options: &Options, roots: &Roots) -> Result<Self, String> {
        let names = options.file_names.unwrap_or(options.vimgrep || !roots.is_one_file());
        let kind = match options.show {
            _ if options.quiet && options.show != Show::Json => SummaryKind::QuietWithMatch,
            Show::Json => {
                let mut builder = JSONBuilder::new();
                return Ok(Self::Json(Box::new(builder.pretty(false).always_begin_end(false).build(out(options)))));
            }
            Show::Lines => return standard(options, names),
            Show::Count => SummaryKind::Count,
            Show::CountMatches => SummaryKind::CountMatches,
            Show::Matching => SummaryKind::PathWithMatch,
            Show::NotMatching => SummaryKind::PathWithoutMatch,
        };
        let mut builder = SummaryBuilder::new();
        builder
            .kind(kind)
            .color_specs(colors(options)?)
            .stats(options.stats)
            .path(names)
            .exclude_zero(!options.include_zero)
            .separator_field(b":".to_vec())
            .separator_path(options.path_separator)
            .path_terminator(options.null.then_some(0));
        Ok(Self::Summary(Box::new(builder.build(out(options)))))
    }

    pub(crate) fn writer(&mut self) -> &mut Out {
        match self {
            Self::Standard(printer) => printer.get_mut(),
            Self::Summary(printer) => printer.get_mut(),
            Self::Json(printer) => printer.get_mut(),
        }
    }
}

fn standard(options: &Options, names: bool) -> Result<Printer, String> {
    let (before, after) = options.context();
    let between = options.context_separator.clone().unwrap_or_else(|| Some(b"--".to_vec()));
    let between_files = if options.heading {
        Some(Vec::new())
    } else if before + after > 0 {
        between.clone()
    } else {
        None
    };
    let mut builder = StandardBuilder::new();
    builder
        .color_specs(colors(options)?)
        .stats(options.stats)
        .heading(options.heading)
        .path(names)
        .only_matching(options.only_matching)
        .per_match(options.vimgrep)
        .per_match_one_line(true)
        .replacement(options.replacement.clone())
        .max_columns(options.max_columns)
        .max_columns_preview(options.preview)
        .byte_offset(options.byte_offset)
        .trim_ascii(options.trim)
        .column(options.column || options.vimgrep)
        .separator_search(between_files)
        .separator_context(between)
        .separator_field_match(options.match_separator.clone().unwrap_or_else(|| b":".to_vec()))
        .separator_field_context(options.field_separator.clone().unwrap_or_else(|| b"-".to_vec()))
        .separator_path(options.path_separator)
        .path_terminator(options.null.then_some(0));
    Ok(Printer::Standard(Box::new(builder.build(out(options)))))
}

/// The statistics after all other output.
pub(crate) fn figures(out: &mut Out, stats: &Stats, elapsed: std::time::Duration, json: bool) -> io::Result<()> {
    let (searching, total) = (stats.elapsed().as_secs_f64(), elapsed.as_secs_f64());
    if json {
        let time = |time: std::time::Duration| {
            let (seconds, nanos) = (time.as_secs(), time.subsec_nanos());
            format!("{{\"human\":\"{:.6}s\",\"nanos\":{nanos},\"secs\":{seconds}}}", time.as_secs_f64())
        };
        return writeln!(
            out,
            "{{\"data\":{{\"elapsed_total\":{},\"stats\":{{\"bytes_printed\":{},\"bytes_searched\":{},\"elapsed\":{},\
             \"matched_lines\":{},\"matches\":{},\"searches\":{},\"searches_with_match\":{}}}}},\"type\":\"summary\"}}",
            time(elapsed),
            stats.bytes_printed(),
            stats.bytes_searched(),
            time(stats.elapsed()),
            stats.matched_lines(),
            stats.matches(),
            stats.searches(),
            stats.searches_with_match(),
        );
    }
    writeln!(
        out,
        "\n{} matches\n{} matched lines\n{} files contained matches\n{} files searched\n{} bytes printed\n{} bytes searched\n\
         {searching:.6} seconds spent searching\n{total:.6} seconds",
        stats.matches(),
        stats.matched_lines(),
        stats.searches_with_match(),
        stats.searches(),
        stats.bytes_printed(),
        stats.bytes_searched(),
    )
}

/// Prints the file types and their globs.
pub(crate) fn types(options: &Options) -> Result<(), String> {
    let types = crate::walk::types(options)?;
    let mut out = BufWriter::new(io::stdout());
    for definition in types.definitions() {
        let line = format!("{}: {}\n", definition.name(), definition.globs().join(", "));
        out.write_all(line.as_bytes()).map_err(|error| failed(&error))?;
    }
    out.flush().map_err(|error| failed(&error))
}
