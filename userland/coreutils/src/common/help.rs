//! Help and version texts.

use std::io::Write;

use crate::common::digest::Algorithm;

/// Prints a help text.
pub(crate) fn say(text: &str) -> i32 {
    i32::from(std::io::stdout().write_all(text.as_bytes()).is_err())
}

/// Prints the version.
pub(crate) fn version(tool: &str) -> i32 {
    say(&tidebox_gnu::command_line::core_version(tool))
}

/// The help of `base64` and related tools.
pub(crate) fn base(tool: &str) -> String {
    let name = match tool {
        "base64" => "Base64 encode or decode",
        "base32" => "Base32 encode or decode",
        _ => "basenc encode or decode",
    };
    let kinds = match tool {
        "basenc" => {
            "\
      --base64          same as 'base64' program (RFC4648 section 4)
      --base64url       file- and url-safe base64 (RFC4648 section 5)
      --base32          same as 'base32' program (RFC4648 section 6)
      --base32hex       extended hex alphabet base32 (RFC4648 section 7)
      --base16          hex encoding (RFC4648 section 8)
      --base2msbf       bit string with most significant bit (msb) first
      --base2lsbf       bit string with least significant bit (lsb) first
"
        }
        _ => "",
    };
    let z85 = match tool {
        "basenc" => "      --z85             ascii85-like encoding (ZeroMQ spec:32/Z85)\n",
        _ => "",
    };
    format!(
        "Usage: {tool} [OPTION]... [FILE]\n\
         {name} FILE, or standard input, to standard output.\n\n\
         With no FILE, or when FILE is -, read standard input.\n\n\
         Mandatory arguments to long options are mandatory for short options too.\n\
         {kinds}  -d, --decode          decode data\n  \
         -i, --ignore-garbage  when decoding, ignore non-alphabet characters\n  \
         -w, --wrap=COLS       wrap encoded lines after COLS character (default 76).\n                          \
         Use 0 to disable line wrapping\n\
         {z85}      --help        display this help and exit\n      \
         --version     output version information and exit\n"
    )
}

/// The help of `md5sum` and related tools.
pub(crate) fn sum(tool: &str, algorithm: Algorithm) -> String {
    let (name, bits) = (algorithm.name(), algorithm.bits());
    let (mandatory, length) = match tool {
        "b2sum" => (
            "Mandatory arguments to long options are mandatory for short options too.\n",
            "  -l, --length=BITS     digest length in bits; must not exceed the max for\n                          \
             the blake2 algorithm and must be a multiple of 8\n",
        ),
        _ => ("", ""),
    };
    format!(
        "Usage: {tool} [OPTION]... [FILE]...\n\
         Print or check {name} ({bits}-bit) checksums.\n\n\
         With no FILE, or when FILE is -, read standard input.\n{blank}{mandatory}  \
         -b, --binary          read in binary mode\n  \
         -c, --check           read checksums from the FILEs and check them\n\
         {length}      --tag             create a BSD-style checksum\n  \
         -t, --text            read in text mode (default)\n  \
         -z, --zero            end each output line with NUL, not newline,\n                          \
         and disable file name escaping\n\n\
         The following five options are useful only when verifying checksums:\n      \
         --ignore-missing  don't fail or report status for missing files\n      \
         --quiet           don't print OK for each successfully verified file\n      \
         --status          don't output anything, status code shows success\n      \
         --strict          exit non-zero for improperly formatted checksum lines\n  \
         -w, --warn            warn about improperly formatted checksum lines\n\n      \
         --help        display this help and exit\n      \
         --version     output version information and exit\n",
        blank = if mandatory.is_empty() { "" } else { "\n" },
    )
}
