//! The search itself.

use std::fs::File;
use std::io;
use std::time::Instant;

use grep_matcher::{LineTerminator, Matcher};
use grep_printer::Stats;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Encoding, Searcher, SearcherBuilder};

use crate::message;
use crate::options::{Case, Options, Show};
use crate::output::{self, Printer};
use crate::perl::PerlMatcher;
use crate::walk::{self, Subject};

/// Searches all files. Returns whether any matched.
pub(crate) fn all(options: &Options) -> Result<bool, String> {
    if options.patterns.is_empty() || options.max_count == Some(0) {
        return Ok(false);
    }
    if options.perl { search(options, &PerlMatcher::new(options)?) } else { search(options, &matcher(options)?) }
}

fn matcher(options: &Options) -> Result<RegexMatcher, String> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(!options.ascii)
        .octal(false)
        .fixed_strings(options.fixed)
        .whole_line(options.line)
        .word(options.word)
        .case_smart(options.case == Case::Smart)
        .case_insensitive(options.case == Case::Ignored);
    if options.multiline {
        builder.dot_matches_new_line(options.dot_all);
        if options.crlf {
            builder.crlf(true).line_terminator(None);
        }
    } else {
        builder.line_terminator(Some(b'\n')).dot_matches_new_line(false);
        if options.crlf {
            builder.crlf(true);
        }
        if options.null_data {
            builder.line_terminator(Some(0));
        }
    }
    builder.build_many(&options.patterns).map_err(|error| {
        let text = error.to_string();
        if text.contains("the literal \"\\n\" is not allowed") {
            return "the literal '\"\\n\"' is not allowed in a regex\n\nConsider enabling multiline mode with the --multiline flag \
                    (or -U for short).\nWhen multiline mode is enabled, new line characters can be matched."
                .to_owned();
        }
        wrong_pattern(options).unwrap_or(text)
    })
}

/// The error of a pattern as written: the library wraps it in a group before parsing.
fn wrong_pattern(options: &Options) -> Option<String> {
    let mut parser = regex_syntax::ParserBuilder::new();
    parser.utf8(false).unicode(!options.ascii).multi_line(true);
    let mut errors = options.patterns.iter().filter_map(|pattern| parser.build().parse(pattern).err());
    errors.next().map(|error| error.to_string())
}

fn searcher(options: &Options) -> Result<Searcher, String> {
    let (before, after) = options.context();
    let numbers = options.line_number.unwrap_or(options.column || options.vimgrep || options.show == Show::Json);
    let mut builder = SearcherBuilder::new();
    let terminator = match (options.null_data, options.crlf) {
        (true, _) => LineTerminator::byte(0),
        (false, true) => LineTerminator::crlf(),
        (false, false) => LineTerminator::byte(b'\n'),
    };
    builder
        .line_terminator(terminator)
        .invert_match(options.invert)
        .line_number(numbers)
        .multi_line(options.multiline)
        .passthru(options.passthru)
        .max_matches(options.max_count);
    if !options.passthru {
        builder.before_context(before).after_context(after);
    }
    match options.encoding.as_deref() {
        Some("none") => {
            builder.bom_sniffing(false);
        }
        Some(label) => {
            builder.encoding(Some(Encoding::new(label).map_err(|error| error.to_string())?));
        }
        None => {}
    }
    Ok(builder.build())
}

/// Handling of binary data.
fn binary(options: &Options, subject: &Subject) -> BinaryDetection {
    if options.text || options.null_data {
        BinaryDetection::none()
    } else if options.binary || subject.is_explicit {
        BinaryDetection::convert(0)
    } else {
        BinaryDetection::quit(0)
    }
}

fn search<M: Matcher>(options: &Options, matcher: &M) -> Result<bool, String>
where
    M::Error: std::fmt::Display,
{
    let began = Instant::now();
    let roots = walk::roots(options);
    let mut searcher = searcher(options)?;
    let mut printer = Printer::new(options, &roots)?;
    let wants_stats = options.stats || options.show == Show::Json;
    let mut stats = Stats::new();
    let (mut matched, mut searched) = (false, false);
    for subject in roots.walk(options)? {
        searched = true;
        searcher.set_binary_detection(binary(options, &subject));
        match one(&mut searcher, &mut printer, matcher, &subject) {
            Ok((found, figures)) => {
                matched |= found;
                if let Some(figures) = figures {
                    stats += figures;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(String::new()),
            Err(error) if options.no_messages => {
                let _ = error;
                message::note();
            }
            Err(error) => {
                flush(&mut printer)?;
                let name = subject.path.as_deref().map_or_else(|| "<stdin>".into(), |path| path.display().to_string());
                message::print(&format!("{name}: {}", message::reason(&error)));
            }
        }
        if matched && options.quiet && !wants_stats {
            break;
        }
    }
    if roots.is_default && !searched && !options.no_messages {
        message::print(
            "No files were searched, which means ripgrep probably applied a filter you didn't expect.\n\
             Running with --debug will show why files are being skipped.",
        );
    }
    if wants_stats && !(options.quiet && options.show != Show::Json) || options.stats {
        let json = options.show == Show::Json;
        output::figures(printer.writer(), &stats, began.elapsed(), json).map_err(|error| output::failed(&error))?;
    }
    flush(&mut printer)?;
    Ok(matched)
}

fn flush(printer: &mut Printer) -> Result<(), String> {
    printer.writer().flush().map_err(|error| output::failed(&error))
}

/// Searches one file. Returns whether it matched, and its statistics.
fn one<M: Matcher>(
    searcher: &mut Searcher,
    printer: &mut Printer,
    matcher: &M,
    subject: &Subject,
) -> io::Result<(bool, Option<Stats>)>
where
    M::Error: std::fmt::Display,
{
    let name = subject.path.as_deref().unwrap_or(std::path::Path::new("<stdin>"));
    match printer {
        Printer::Standard(printer) => {
            let mut sink = printer.sink_with_path(matcher, name);
            read(searcher, matcher, subject, &mut sink)?;
            Ok((sink.has_match(), sink.stats().cloned()))
        }
        Printer::Summary(printer) => {
            let mut sink = printer.sink_with_path(matcher, name);
            read(searcher, matcher, subject, &mut sink)?;
            Ok((sink.has_match(), sink.stats().cloned()))
        }
        Printer::Json(printer) => {
            let mut sink = printer.sink_with_path(matcher, name);
            read(searcher, matcher, subject, &mut sink)?;
            Ok((sink.has_match(), Some(sink.stats().clone())))
        }
    }
}

fn read<M: Matcher, S: grep_searcher::Sink<Error = io::Error>>(
    searcher: &mut Searcher,
    matcher: &M,
    subject: &Subject,
    sink: &mut S,
) -> io::Result<()>
where
    M::Error: std::fmt::Display,
{
    match &subject.path {
        None => searcher.search_reader(matcher, io::stdin().lock(), sink),
        Some(path) => searcher.search_reader(matcher, File::open(path)?, sink),
    }
}
