//! GNU's text of messages that differ in uutils.
//!
//! GNU quotes arguments with the quotes of the locale and file names with those of the shell. uutils has only the latter. The
//! texts are in Fluent syntax.

/// Ordered by name.
pub(crate) const MESSAGES: &[(&str, &str)] = &[
    ("basename-error-extra-operand", "extra operand ‘{ $operand }’"),
    ("comm-error-multiple-conflicting-delimiters", "multiple output delimiters specified"),
    ("csplit-error-invalid-number", "invalid number: ‘{ $number }’"),
    ("csplit-error-invalid-pattern", "‘{ $pattern }’: invalid pattern"),
    (
        "csplit-error-line-number-smaller-than-previous",
        "line number ‘{ $current }’ is smaller than preceding line number, { $previous }",
    ),
    ("csplit-error-line-out-of-range", "‘{ $pattern }’: line number out of range"),
    (
        "csplit-error-line-out-of-range-on-repetition",
        "‘{ $pattern }’: line number out of range on repetition { $repetition }",
    ),
    ("csplit-error-match-not-found", "‘{ $pattern }’: match not found"),
    ("csplit-error-match-not-found-on-repetition", "‘{ $pattern }’: match not found on repetition { $repetition }"),
    (
        "csplit-warning-line-number-same-as-previous",
        "line number ‘{ $line_number }’ is the same as preceding line number",
    ),
    ("cut-error-delimiter-only-with-fields", "an input delimiter may be specified only when operating on fields"),
    ("cut-error-field-number-too-large", "field number ‘{ $value }’ is too large"),
    ("cut-error-invalid-field-value", "invalid field value ‘{ $value }’"),
    ("cut-error-invalid-position-value", "invalid byte/character position ‘{ $value }’"),
    ("cut-error-position-too-large", "byte/character offset ‘{ $value }’ is too large"),
    ("expand-error-invalid-character", "tab size contains invalid character(s): ‘{ $char }’"),
    ("expr-error-expected-closing-brace-after", "syntax error: expecting ')' after ‘{ $arg }’"),
    ("expr-error-expected-closing-brace-instead-of", "syntax error: expecting ')' instead of ‘{ $arg }’"),
    ("expr-error-missing-argument", "syntax error: missing argument after ‘{ $arg }’"),
    ("expr-error-unexpected-argument", "syntax error: unexpected argument ‘{ $arg }’"),
    ("factor-error-invalid-int", "is not a valid positive integer"),
    ("join-error-both-files-stdin", "both files cannot be standard input: No such file or directory"),
    ("join-error-invalid-field-number", "invalid field number: ‘{ $value }’"),
    ("join-error-invalid-field-specifier", "invalid field specifier: ‘{ $spec }’"),
    ("join-error-invalid-file-number", "invalid file number in field spec: ‘{ $spec }’"),
    ("join-error-invalid-file-number-simple", "invalid file number: ‘{ $value }’"),
    ("join-error-multi-character-tab", "multi-character tab ‘{ $value }’"),
    ("mktemp-error-invalid-template", "invalid template, ‘{ $template }’; with --tmpdir, it may not be absolute"),
    ("mktemp-error-must-end-in-x", "with --suffix, template ‘{ $template }’ must end in X"),
    (
        "mktemp-error-not-found",
        "failed to create { $template_type } via template ‘{ $template }’: No such file or directory",
    ),
    ("mktemp-error-prefix-contains-separator", "invalid template, ‘{ $template }’, contains directory separator"),
    ("mktemp-error-suffix-contains-separator", "invalid suffix ‘{ $suffix }’, contains directory separator"),
    ("mktemp-error-too-few-xs", "too few X's in template ‘{ $template }’"),
    (
        "od-error-invalid-size",
        r##"invalid type string ‘{ $spec }’;{"\u000A"}this system doesn't provide a { $size }-byte integral type"##,
    ),
    ("od-error-radix-invalid", "invalid output address radix '{ $radix }'; it must be one character from [doxn]"),
    ("od-error-unexpected-char", "invalid character '{ $char }' in type string ‘{ $spec }’"),
    ("printf-warning-ignoring-excess-arguments", "ignoring excess arguments, starting with ‘{ $arg }’"),
    ("ptx-error-extra-operand", "extra operand ‘{ $operand }’"),
    ("seq-error-parse", "invalid { $type } argument: ‘{ $arg }’"),
    ("seq-error-zero-increment", "invalid Zero increment value: ‘{ $arg }’"),
    ("seq-parse-error-type-nan", "‘not-a-number’"),
    ("shred-failed-to-open-for-writing", "{ $file }: failed to open for writing"),
    ("shred-invalid-file-size", "invalid file size: ‘{ $size }’"),
    ("shred-invalid-number-of-passes", "invalid number of passes: ‘{ $passes }’"),
    ("shuf-error-unexpected-argument", "extra operand ‘{ $arg }’"),
    (
        "tr-error-class-except-lower-upper-in-set2",
        r##"when translating, the only character classes that may appear in{"\u000A"}string2 are 'upper' and 'lower'"##,
    ),
    ("tr-error-class-in-set2-not-matched", "misaligned [:upper:] and/or [:lower:] construct"),
    (
        "tr-error-extra-operand-deleting-without-squeezing",
        r##"extra operand ‘{ $operand }’{"\u000A"}Only one string may be given when deleting without squeezing repeats."##,
    ),
    ("tr-error-extra-operand-simple", "extra operand ‘{ $operand }’"),
    ("tr-error-invalid-char-class", "invalid character class ‘{ $class }’"),
    ("tr-error-invalid-repeat-count", "invalid repeat count ‘{ $count }’ in [c*n] construct"),
    (
        "tr-error-missing-operand-deleting-squeezing",
        r##"missing operand after ‘{ $set }’{"\u000A"}Two strings must be given when both deleting and squeezing repeats."##,
    ),
    (
        "tr-error-missing-operand-translating",
        r##"missing operand after ‘{ $set }’{"\u000A"}Two strings must be given when translating."##,
    ),
    ("tr-error-read-error", "read error"),
    (
        "tr-warning-ambiguous-octal-escape",
        r##"the ambiguous octal escape \{ $origin_octal } is being{"\u000A\u0009"}interpreted as the 2-byte sequence \0{ $actual_octal_tail }, { $outstand_char }"##,
    ),
    ("truncate-error-invalid-number", "Invalid number: ‘{ $error }’"),
    ("truncate-error-must-specify-relative-size", "you must specify a relative ‘--size’ with ‘--reference’"),
    ("tsort-error-extra-operand", "extra operand ‘{ $operand }’"),
];

#[cfg(test)]
mod tests {
    use super::MESSAGES;

    /// Messages that uutils uses, but does not define.
    const MISSING: [&str; 1] = ["tr-error-read-error"];

    #[test]
    fn corrected_messages_exist_or_are_missing_in_uutils() {
        assert!(MESSAGES.is_sorted_by(|a, b| a.0 < b.0));
        for (name, _) in MESSAGES {
            let component = name.split_once('-').map_or("", |(component, _)| component);
            let file = format!("{component}/en-US.ftl");
            let known = uucore::locale::get_embedded_locale(&file).unwrap_or_default();
            let defines = |text: &str| text.lines().any(|line| line.starts_with(&format!("{name} =")));
            assert_eq!(defines(known), !MISSING.contains(name), "{name}");
        }
    }
}
