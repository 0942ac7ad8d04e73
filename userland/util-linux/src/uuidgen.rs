//! `uuidgen`: random UUIDs.

use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::print;

tidebox_gnu::options! {
    /// Options of `uuidgen`.
    enum Flag {
        Random = "-r, --random", "generate random-based uuid";
        Time = "-t, --time", "", unsupported "UUIDs of the time (-t) are not supported";
        Hex = "-x, --hex", "interpret name as hex string";
        Help = "-h, --help", "display this help";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax {
    indent: 1,
    ..Syntax::new("uuidgen", "\nUsage:\n uuidgen [options]\n\nCreate a new UUID value.\n\nOptions:\n", 16)
};

/// Runs `uuidgen`.
pub fn uuidgen(arguments: Vec<Vec<u8>>) -> i32 {
    if let Err(code) = SYNTAX.parse::<i32>(arguments, |_, _| Ok(())) {
        return code;
    }
    let mut bytes = [0; 16];
    if let Err(errno) = tidebox_rt::random(&mut bytes) {
        print_error("uuidgen", &format!("cannot read random data: {}", errno.text()));
        return 1;
    }
    // Version 4, variant 1.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let text = [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-");
    print("uuidgen", format!("{text}\n").as_bytes())
}
