//! Checksums, text that encodes bytes, and character sets.

use tidebox_coreutils as coreutils;
use tidebox_gnu::tool::ToolMain;

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain)] = &[
    ("b2sum", |arguments| coreutils::md5sum("b2sum", arguments)),
    ("base32", |arguments| coreutils::base64("base32", arguments)),
    ("base64", |arguments| coreutils::base64("base64", arguments)),
    ("basenc", |arguments| coreutils::base64("basenc", arguments)),
    ("cksum", coreutils::cksum),
    ("iconv", tidebox_glibc::iconv),
    ("md5sum", |arguments| coreutils::md5sum("md5sum", arguments)),
    ("sha1sum", |arguments| coreutils::md5sum("sha1sum", arguments)),
    ("sha224sum", |arguments| coreutils::md5sum("sha224sum", arguments)),
    ("sha256sum", |arguments| coreutils::md5sum("sha256sum", arguments)),
    ("sha384sum", |arguments| coreutils::md5sum("sha384sum", arguments)),
    ("sha512sum", |arguments| coreutils::md5sum("sha512sum", arguments)),
    ("shasum", tidebox_perl::shasum),
    ("sum", coreutils::sum),
];

tidebox_gnu::multicall!("encode", TOOLS);
