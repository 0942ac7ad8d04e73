//! The texts about the command line itself.

pub(crate) const VERSION: &str = "ripgrep 13.0.0\n";

/// Text after each usage error.
pub(crate) const USAGE: &str = "
USAGE:
    
    rg [OPTIONS] PATTERN [PATH ...]
    rg [OPTIONS] -e PATTERN ... [PATH ...]
    rg [OPTIONS] -f PATTERNFILE ... [PATH ...]
    rg [OPTIONS] --files [PATH ...]
    rg [OPTIONS] --type-list
    command | rg [OPTIONS] PATTERN
    rg [OPTIONS] --help
    rg [OPTIONS] --version

For more information try --help
";

/// Text of `-h` and `--help`.
pub(crate) const HELP: &str = "ripgrep 13.0.0

Searches folders for lines that match a pattern, without what .gitignore excludes,
hidden files and binary files.

USAGE:
    rg [OPTIONS] PATTERN [PATH ...]
    rg [OPTIONS] -e PATTERN ... [PATH ...]
    rg [OPTIONS] -f PATTERNFILE ... [PATH ...]
    rg [OPTIONS] --files [PATH ...]
    rg [OPTIONS] --type-list
    command | rg [OPTIONS] PATTERN

PATTERNS:
    -e, --regexp PATTERN          a pattern; may be given several times
    -f, --file FILE               patterns from a file, one a line
    -F, --fixed-strings           patterns are plain text
    -P, --pcre2                   look-around and back-references
    -i, --ignore-case             letters match in either case
    -S, --smart-case              as -i unless a pattern has a capital letter
    -s, --case-sensitive          letters match as they are (the default)
    -w, --word-regexp             only whole words
    -x, --line-regexp             only whole lines
    -v, --invert-match            lines that do not match
    -U, --multiline               matches may reach over lines
        --multiline-dotall        and a dot matches the end of a line
        --crlf                    lines may end with CR LF
        --no-unicode              classes are ASCII

OUTPUT:
    -n, --line-number             with line numbers (-N: without)
    -H, --with-filename           with file names (-I: without)
    -c, --count                   how many lines match in each file
        --count-matches           how many matches each file has
        --include-zero            also for files without any
    -l, --files-with-matches      names of files that match
        --files-without-match     names of files that do not
    -o, --only-matching           only what matches
    -r, --replace TEXT            what matches is shown as TEXT
    -A, -B, -C NUM                lines of context after, before, around
        --passthru                all lines
    -m, --max-count NUM           at most NUM lines of a file
    -M, --max-columns NUM         longer lines are left out
        --max-columns-preview     or cut
        --column, -b, --byte-offset, --vimgrep, --trim, --heading, --no-heading
        --json                    one JSON object a line
        --stats                   figures at the end
        --color WHEN, --colors SPEC, -p, --pretty
        --context-separator, --field-match-separator, --field-context-separator
    -0, --null                    NUL after file names
    -q, --quiet                   nothing but the exit code

FILES:
    -g, --glob GLOB               files that match, or with ! do not
        --iglob GLOB              in either case
    -t, --type TYPE               files of a type (-T: not of it)
        --type-list, --type-add, --type-clear
    -., --hidden                  hidden files, too
        --no-ignore, --no-ignore-vcs, --no-ignore-parent, --no-ignore-dot, --no-ignore-exclude,
        --no-ignore-global, --no-ignore-files, --ignore-file FILE, --no-require-git
    -u                            --no-ignore; -uu --hidden; -uuu --binary
    -a, --text                    binary files as text
    -L, --follow                  follow symbolic links
        --max-depth NUM, --max-filesize NUM, --one-file-system
        --files                   the names of what would be searched
        --sort, --sortr BY        path, modified, accessed, created, none
";
