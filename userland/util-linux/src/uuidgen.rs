//! `uuidgen` and `mcookie`: numbers by chance.

use tidebox_gnu::getopt::{Spec, Takes, long};
use tidebox_gnu::message::print_error;
use tidebox_gnu::tool::{command_line, usage};

use tidebox_gnu::tool::print;

fn bytes(tool: &str) -> Result<[u8; 16], i32> {
    let mut bytes = [0; 16];
    match tidebox_rt::random(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(errno) => {
            print_error(tool, &format!("cannot read random data: {}", errno.text()));
            Err(1)
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `mcookie`.
pub fn mcookie(arguments: Vec<Vec<u8>>) -> i32 {
    if let Err(message) = command_line(Spec { short: "v", long: &[], permute: true }, arguments) {
        return usage("mcookie", &message, 1);
    }
    match bytes("mcookie") {
        Ok(bytes) => print("mcookie", format!("{}\n", hex(&bytes)).as_bytes()),
        Err(code) => code,
    }
}

/// `uuidgen`.
pub fn uuidgen(arguments: Vec<Vec<u8>>) -> i32 {
    let long =
        [long("random", Takes::Nothing, 'r'), long("hex", Takes::Nothing, 'x'), long("time", Takes::Nothing, 't')];
    let options = match command_line(Spec { short: "rtx", long: &long, permute: true }, arguments) {
        Ok((options, _)) => options,
        Err(message) => return usage("uuidgen", &message, 1),
    };
    if options.iter().any(|(key, _)| *key == 't') {
        print_error("uuidgen", "UUIDs of the time (-t) are not supported");
        return 1;
    }
    match bytes("uuidgen") {
        Ok(mut bytes) => {
            // Version 4, variant 1.
            bytes[6] = bytes[6] & 0x0f | 0x40;
            bytes[8] = bytes[8] & 0x3f | 0x80;
            let text = hex(&bytes);
            let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
            let text = [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-");
            print("uuidgen", format!("{text}\n").as_bytes())
        }
        Err(code) => code,
    }
}
