//! Special variables.

/// Special variables. The index in this list is the slot.
pub(crate) const SPECIAL: &[&str] = &[
    "NF",
    "FS",
    "OFS",
    "ORS",
    "RS",
    "SUBSEP",
    "CONVFMT",
    "OFMT",
    "IGNORECASE",
    "FIELDWIDTHS",
    "FPAT",
    "NR",
    "FNR",
    "FILENAME",
    "RSTART",
    "RLENGTH",
    "RT",
    "ARGIND",
    "ERRNO",
    "ARGC",
    "ARGV",
    "ENVIRON",
    "PROCINFO",
    "BINMODE",
    "LINT",
    "TEXTDOMAIN",
    "PREC",
    "ROUNDMODE",
];

/// Number of variables stored or watched by the interpreter.
pub(crate) const WATCHED: u32 = 11;

/// The slot of a special variable.
pub(crate) const fn slot(name: &str) -> u32 {
    let mut at = 0;
    while at < SPECIAL.len() {
        if same(SPECIAL[at].as_bytes(), name.as_bytes()) {
            return at as u32;
        }
        at += 1;
    }
    panic!("no special variable has this name")
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    if one.len() != other.len() {
        return false;
    }
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}
