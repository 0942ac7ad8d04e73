//! `stty`: reports that no terminal exists.

use tidebox_gnu::message::{display_name, print_error};
use tidebox_gnu::options::Syntax;
use tidebox_rt::{Errno, Open};

const USAGE: &str = "\
Usage: stty [-F DEVICE | --file=DEVICE] [SETTING]...
  or:  stty [-F DEVICE | --file=DEVICE] [-a|--all]
  or:  stty [-F DEVICE | --file=DEVICE] [-g|--save]
Prints or changes settings of a terminal. A sandbox has no terminal.
";

tidebox_gnu::options! {
    /// Options of `stty`.
    enum Flag {
        All = "-a, --all", "";
        Save = "-g, --save", "";
        File = "-F, --file=DEVICE", "";
    }
}

/// Runs `stty`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    // Settings may start with a dash (`-echo`), so only known options reach the parser.
    let is_option = |word: &[u8]| word.starts_with(b"--") || word.starts_with(b"-F") || matches!(word, b"-a" | b"-g");
    let (mut words, mut rest) = (Vec::new(), arguments.into_iter());
    while let Some(word) = rest.next() {
        if is_option(&word) {
            let takes_next = word == b"-F" || word == b"--file";
            words.push(word);
            words.extend(rest.next().filter(|_| takes_next));
        }
    }
    let mut device = None;
    let parsed = Syntax::<Flag>::core("stty", USAGE, 0).parse::<i32>(words, |flag, value| {
        if flag == Flag::File {
            device = Some(value);
        }
        Ok(())
    });
    if let Err(code) = parsed {
        return code;
    }
    let name = device.as_ref().map_or("'standard input'".into(), |name| display_name(name));
    let opened = device.as_ref().map(|name| tidebox_rt::open(name, Open { read: true, ..Open::default() }));
    let errno = match opened {
        Some(Err(errno)) => errno,
        // The descriptor is closed when the process exits.
        _ => Errno::NOTTY,
    };
    print_error("stty", &format!("{name}: {}", errno.text()));
    1
}
