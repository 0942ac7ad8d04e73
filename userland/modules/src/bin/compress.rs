//! The compressors with all their names.

use tidebox_compressors as compressors;
use tidebox_gnu::tool::ToolMain;

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain)] = &[
    ("bunzip2", |arguments| compressors::bzip2("bunzip2", arguments)),
    ("bzcat", |arguments| compressors::bzip2("bzcat", arguments)),
    ("bzip2", |arguments| compressors::bzip2("bzip2", arguments)),
    ("gunzip", |arguments| compressors::gzip("gunzip", arguments)),
    ("gzip", |arguments| compressors::gzip("gzip", arguments)),
    ("lzcat", |arguments| compressors::xz("lzcat", arguments)),
    ("lzma", |arguments| compressors::xz("lzma", arguments)),
    ("unlzma", |arguments| compressors::xz("unlzma", arguments)),
    ("unxz", |arguments| compressors::xz("unxz", arguments)),
    ("unzstd", |arguments| compressors::zstd("unzstd", arguments)),
    ("xz", |arguments| compressors::xz("xz", arguments)),
    ("xzcat", |arguments| compressors::xz("xzcat", arguments)),
    ("zcat", |arguments| compressors::gzip("zcat", arguments)),
    ("zstd", |arguments| compressors::zstd("zstd", arguments)),
    ("zstdcat", |arguments| compressors::zstd("zstdcat", arguments)),
    ("zstdmt", |arguments| compressors::zstd("zstdmt", arguments)),
];

tidebox_gnu::multicall!("compress", TOOLS);
