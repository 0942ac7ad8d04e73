//! Output of `--help`, `--version` and `--copyright`.

use crate::message::program;

const OPTIONS: &str = "POSIX options:\t\tGNU long options: (standard)
\t-f progfile\t\t--file=progfile
\t-F fs\t\t\t--field-separator=fs
\t-v var=val\t\t--assign=var=val
Short options:\t\tGNU long options: (extensions)
\t-b\t\t\t--characters-as-bytes
\t-C\t\t\t--copyright
\t-e 'program-text'\t--source='program-text'
\t-E file\t\t\t--exec=file
\t-h\t\t\t--help
\t-i includefile\t\t--include=includefile
\t-n\t\t\t--non-decimal-data
\t-S\t\t\t--sandbox
\t-V\t\t\t--version
";

/// The text of `--copyright`.
pub(crate) const COPYRIGHT: &str = "This awk is part of Tidebox and free under MIT or Apache-2.0.\n";

/// The text of `--help`.
pub(crate) fn usage() -> String {
    let name = program();
    format!(
        "Usage: {name} [POSIX or GNU style options] -f progfile [--] file ...\n\
         Usage: {name} [POSIX or GNU style options] [--] 'program' file ...\n\
         {OPTIONS}\n\
         Examples:\n\
         \t{name} '{{ sum += $1 }}; END {{ print sum }}' file\n\
         \t{name} -F: '{{ print $1 }}' /etc/passwd\n"
    )
}

/// The text of `--version`. Scripts look at its first line.
pub(crate) fn version() -> String {
    format!("GNU Awk 5.2.1, API 3.2\nTidebox does what that version does. {COPYRIGHT}")
}
