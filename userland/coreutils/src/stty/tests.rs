//! Settings by arguments, and the printed forms. The expected texts are those of GNU on Linux.

use tidebox_rt::TerminalMode;

use super::change::{Rejected, apply, saved};
use super::show::{all, changed};

/// The settings of a new terminal of the sandbox.
fn fresh() -> TerminalMode {
    let mut characters = [0; 19];
    for (at, value) in
        [(0, 3), (1, 0x1c), (2, 0x7f), (3, 0x15), (4, 4), (6, 1), (8, 0x11), (9, 0x13), (10, 0x1a), (12, 0x12)]
    {
        characters[at] = value;
    }
    (characters[13], characters[14], characters[15]) = (0x0f, 0x17, 0x16);
    TerminalMode { input: 0x6100, output: 5, control: 0xbf, local: 0x8a3b, characters, rows: 24, columns: 80 }
}

fn words(text: &str) -> Vec<Vec<u8>> {
    text.split(' ').map(|word| word.as_bytes().to_vec()).collect()
}

fn after(text: &str) -> TerminalMode {
    let mut mode = fresh();
    apply(&mut mode, &words(text)).expect("the words are valid");
    mode
}

#[test]
fn all_settings_are_printed_in_lines_of_the_width() {
    let expected = "\
speed 38400 baud; rows 24; columns 80; line = 0;
intr = ^C; quit = ^\\; erase = ^?; kill = ^U; eof = ^D; eol = <undef>;
eol2 = <undef>; swtch = <undef>; start = ^Q; stop = ^S; susp = ^Z; rprnt = ^R;
werase = ^W; lnext = ^V; discard = ^O; min = 1; time = 0;
-parenb -parodd -cmspar cs8 -hupcl -cstopb cread -clocal -crtscts
-ignbrk -brkint -ignpar -parmrk -inpck -istrip -inlcr -igncr icrnl -ixon -ixoff
-iuclc -ixany imaxbel iutf8
opost -olcuc -ocrnl onlcr -onocr -onlret -ofill -ofdel nl0 cr0 tab0 bs0 vt0 ff0
isig icanon iexten echo echoe echok -echonl -noflsh -xcase -tostop -echoprt
echoctl echoke -flusho -extproc
";
    assert_eq!(all(&fresh()), expected);
}

#[test]
fn changes_are_those_from_sane() {
    assert_eq!(changed(&fresh()), "speed 38400 baud; line = 0;\n-brkint iutf8\n");
    assert_eq!(changed(&after("sane")), "speed 38400 baud; line = 0;\n");
    assert_eq!(
        changed(&after("sane -echo -icanon intr ^A")),
        "speed 38400 baud; line = 0;\nintr = ^A; min = 1; time = 0;\n-icanon -echo\n"
    );
}

#[test]
fn raw_and_cooked_set_several_flags() {
    let raw = after("raw -echo");
    assert_eq!((raw.input, raw.output & 1, raw.local & 0o13), (0, 0, 0));
    let cooked = after("raw cooked");
    assert_eq!((cooked.output & 1, cooked.local & 0o3, cooked.input & 0o400), (1, 3, 0o400));
    assert_eq!(after("cbreak").local & 0o12, 0o10);
    assert_eq!(after("raw -raw"), cooked);
}

#[test]
fn keys_numbers_and_sizes_are_parsed() {
    let mode = after("intr ^X quit undef erase ^? kill x eof 0x1 min 2 time 010 rows 30 cols 100");
    assert_eq!(mode.characters[..7], [0x18, 0, 0x7f, b'x', 1, 8, 2]);
    assert_eq!((mode.rows, mode.columns), (30, 100));
    let mut mode = fresh();
    assert_eq!(apply(&mut mode, &words("size speed")), Ok(vec!["size", "speed"]));
    for (text, rejected) in [
        ("nonsense", Rejected::Invalid(b"nonsense".to_vec())),
        ("-rows", Rejected::Invalid(b"-rows".to_vec())),
        ("-cs8", Rejected::Invalid(b"-cs8".to_vec())),
        ("rows", Rejected::Missing(b"rows".to_vec())),
        ("rows x", Rejected::NotInteger(b"x".to_vec())),
        ("min 300", Rejected::NotInteger(b"300".to_vec())),
    ] {
        assert_eq!(apply(&mut mode, &words(text)), Err(rejected), "{text}");
    }
}

#[test]
fn saved_settings_can_be_restored() {
    let text = saved(&fresh());
    assert!(text.starts_with("6100:5:bf:8a3b:3:1c:7f:15:4:0:1:0:11:13:1a:0:12:f:17:16:0:0:"), "{text}");
    let mut mode = after("raw intr ^A");
    apply(&mut mode, &words(&text)).expect("the form is that of -g");
    assert_eq!(mode, fresh());
}
