//! Source code detection by keywords.

use crate::text::{Text, contains, head};

/// Number of bytes in which most keywords are searched.
const LOOKED_AT: usize = 8192;

/// Returns the programming language of a text.
pub(crate) fn find(text: &[u8]) -> Option<Text> {
    let text = head(text, LOOKED_AT);
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let small = |name, mime| Some(Text::encoded(name, mime));
    if is_javascript(text, &lines) {
        return small("JavaScript source", "application/javascript");
    }
    if is_python(text, &lines) {
        let mime = if is_python_by_doc(text, &lines) { "text/plain" } else { "text/x-script.python" };
        return Some(Text::executable("Python script", mime));
    }
    if is_ruby(&lines) {
        return small("Ruby script", "text/x-ruby");
    }
    if is_cpp(&lines) {
        return small("C++ source", "text/x-c++");
    }
    if is_c(text, &lines) {
        return small("C source", "text/x-c");
    }
    if lines.iter().any(|line| line.starts_with(b"import") && line.ends_with(b";")) {
        return small("Java source", "text/x-java");
    }
    if contains(head(text, 4096), b"\\documentclass") {
        return small("LaTeX 2e document", "text/x-tex");
    }
    if is_makefile(&lines) {
        return small("makefile script", "text/x-makefile");
    }
    let batch = head(text, 16).to_ascii_lowercase();
    let is_batch = batch.starts_with(b"@echo off") || batch.starts_with(b"@rem ") || batch.starts_with(b"@set ");
    is_batch.then(|| Text::encoded("DOS batch file", "text/x-msdos-batch"))
}

fn starts(lines: &[&[u8]], wanted: &[u8]) -> bool {
    lines.iter().any(|line| line.starts_with(wanted))
}

/// Returns the text after a keyword and white space at the start of a line.
fn after<'a>(line: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(word)?;
    rest.first().filter(|byte| byte.is_ascii_whitespace())?;
    Some(rest.trim_ascii_start())
}

fn is_javascript(text: &[u8], lines: &[&[u8]]) -> bool {
    let strict = [b"\"use strict\"".as_slice(), b"'use strict'"];
    let exports = [b"function".as_slice(), b"class", b"default", b"const", b"var", b"let", b"async"];
    let declares = |line: &&[u8]| {
        let named = [b"const".as_slice(), b"var", b"let"].iter().any(|word| line.starts_with(word));
        named
            && memchr::memmem::find(line, b"=")
                .is_some_and(|at| contains(line.get(at..).unwrap_or_default(), b"require("))
    };
    let exporting = |line: &&[u8]| {
        line.strip_prefix(b"export ").is_some_and(|rest| {
            exports.iter().any(|word| rest.strip_prefix(*word).is_some_and(|rest| rest.starts_with(b" ")))
        })
    };
    let importing = |line: &&[u8]| {
        line.starts_with(b"import") && contains(line, b" from ")
            || line.starts_with(b"import './")
            || line.starts_with(b"import \"./")
    };
    let module = |line: &&[u8]| {
        memchr::memmem::find(line, b"module.exports")
            .is_some_and(|at| contains(line.get(at..).unwrap_or_default(), b"="))
    };
    strict.iter().any(|word| contains(text, word))
        || [b"(function(".as_slice(), b"(function ", b"(async function(", b"(async function "]
            .iter()
            .any(|word| contains(text, word))
        || lines.iter().any(|line| declares(line) || exporting(line) || importing(line) || module(line))
        || starts(lines, b"require('")
        || starts(lines, b"require(\"")
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_python(text: &[u8], lines: &[&[u8]]) -> bool {
    let from = |line: &&[u8]| {
        let Some(rest) = after(line, b"from") else {
            return false;
        };
        let name = rest.iter().take_while(|byte| is_word(**byte) || **byte == b'.').count();
        name > 0
            && after(rest.get(name..).unwrap_or_default().trim_ascii_start(), b"import").is_some()
            && rest.get(name).is_some_and(u8::is_ascii_whitespace)
    };
    let class = |line: &&[u8]| {
        let Some(rest) = line.strip_prefix(b"class ") else {
            return false;
        };
        let name = rest.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_').count();
        let mut rest = rest.get(name..).unwrap_or_default();
        if rest.starts_with(b"(") {
            let end = rest.iter().rposition(|byte| *byte == b')').map_or(0, |at| at + 1);
            rest = rest.get(end..).unwrap_or_default();
        }
        let rest = rest.trim_ascii_start();
        name > 0 && rest.strip_prefix(b":").is_some_and(|rest| matches!(rest.trim_ascii(), b"" | b"pass"))
    };
    let def = |line: &&[u8]| {
        let Some(rest) = after(line.trim_ascii_start(), b"def") else {
            return false;
        };
        let name = rest.iter().take_while(|byte| is_word(**byte)).count();
        let arguments = rest.get(name..).unwrap_or_default();
        let Some(end) = arguments.iter().position(|byte| *byte == b')').filter(|_| arguments.starts_with(b"(")) else {
            return false;
        };
        let plain = arguments.get(1..end).unwrap_or_default();
        let plain = plain.iter().all(|byte| byte.is_ascii_alphabetic() || b", ".contains(byte));
        let behind = arguments.get(end + 1..).unwrap_or_default();
        name > 0 && plain && behind.strip_prefix(b":").is_some_and(|rest| rest.trim_ascii().is_empty())
    };
    let main = memchr::memmem::find(text, b"if __name__").is_some_and(|at| {
        let rest = text.get(at..).unwrap_or_default();
        contains(head(rest, 80), b"'__main__'") || contains(head(rest, 80), b"\"__main__\"")
    });
    let init = memchr::memmem::find(text, b"def __init__")
        .is_some_and(|at| contains(head(text.get(at..).unwrap_or_default(), 76), b"self"));
    let except = |line: &&[u8]| {
        let line = line.trim_ascii();
        line.starts_with(b"except") && line.ends_with(b":")
    };
    let trying = contains(text, b"try:") && (lines.iter().any(except) || contains(text, b"finally:"));
    main || init
        || trying
        || lines.iter().any(|line| from(line) || class(line) || def(line))
        || is_python_by_doc(text, lines)
}

/// Detects a documentation string at the start of a line.
fn is_python_by_doc(_text: &[u8], lines: &[&[u8]]) -> bool {
    lines.first().is_some_and(|line| line.starts_with(b"\"\"\"") || line.starts_with(b"'''"))
}

fn is_ruby(lines: &[&[u8]]) -> bool {
    let class = |line: &&[u8]| {
        let line = line.trim_ascii_start();
        let rest = line.strip_prefix(b"class ").or_else(|| line.strip_prefix(b"module "));
        rest.is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_uppercase))
    };
    let def = |line: &&[u8]| {
        let line = line.trim_ascii_start();
        line.strip_prefix(b"def ").is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_lowercase))
            || line.starts_with(b"include ")
    };
    let end = |line: &&[u8]| line.trim_ascii() == b"end";
    let require = |line: &&[u8]| line.trim_ascii_start().starts_with(b"require '");
    let block = |line: &&[u8]| line.trim_ascii_end().ends_with(b" do");
    let any = |test: &dyn Fn(&&[u8]) -> bool| lines.iter().any(test);
    any(&end) && (any(&class) && any(&def) || any(&require) && (any(&def) || any(&block)))
}

fn is_cpp(lines: &[&[u8]]) -> bool {
    let has_include = lines.iter().any(|line| line.starts_with(b"#include"));
    lines.iter().any(|line| {
        let trimmed = line.trim_ascii();
        let namespace = after(line, b"namespace").is_some_and(|rest| {
            let name = rest.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_').count();
            name > 0 && rest.get(name..).unwrap_or_default().trim_ascii_start().starts_with(b"{")
        });
        let using = after(line, b"using").is_some_and(|rest| {
            let rest = rest.strip_prefix(b"namespace ").unwrap_or(rest);
            rest.starts_with(b"std") && trimmed.ends_with(b";")
        });
        let template = after(trimmed, b"template").is_some_and(|rest| rest.starts_with(b"<") && rest.ends_with(b">"));
        let member = [b"public:".as_slice(), b"private:", b"protected:"].iter().any(|word| trimmed.starts_with(word));
        let method = after(trimmed, b"virtual").is_some() && trimmed.ends_with(b";");
        let class = has_include && after(line, b"class").is_some();
        namespace || using || template || member || method || class
    })
}

fn is_c(text: &[u8], lines: &[&[u8]]) -> bool {
    let directive = |line: &&[u8], words: &[&[u8]]| {
        line.strip_prefix(b"#")
            .map(<[u8]>::trim_ascii_start)
            .is_some_and(|rest| words.iter().any(|word| rest.starts_with(word)))
    };
    let guarded = lines.iter().any(|line| directive(line, &[b"ifdef", b"ifndef"]));
    let variable = |line: &&[u8], kind: &[u8]| {
        let line = line.trim_ascii();
        line.strip_prefix(kind)
            .is_some_and(|rest| rest.starts_with(b" *") || rest.starts_with(b"*") || rest.starts_with(b" "))
            && line.ends_with(b";")
            && (contains(line, b"*") || kind != b"char")
    };
    let main = memchr::memmem::find_iter(text, b"main(").any(|at| {
        let rest = text.get(at..).unwrap_or_default();
        rest.iter()
            .position(|byte| *byte == b')')
            .is_some_and(|end| rest.get(end + 1..).unwrap_or_default().trim_ascii_start().starts_with(b"{"))
    });
    main || guarded && lines.iter().any(|line| directive(line, &[b"endif", b"define"]))
        || lines.iter().any(|line| {
            directive(line, &[b"include", b"pragma"])
                || after(line.trim_ascii_start(), b"extern").is_some()
                || after(line, b"struct").is_some()
                || after(line, b"union").is_some()
                || [b"char".as_slice(), b"double", b"float"].iter().any(|kind| variable(line, kind))
        })
}

fn is_makefile(lines: &[&[u8]]) -> bool {
    let words = [
        b"CFLAGS".as_slice(),
        b"VPATH",
        b"LDFLAGS",
        b"all:",
        b".PRECIOUS",
        b".PHONY",
        b"SUBDIRS",
        b".BEGIN",
        b".SUFFIXES",
    ];
    lines.iter().take(100).any(|line| words.iter().any(|word| line.starts_with(word)))
}
