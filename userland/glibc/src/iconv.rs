//! `iconv`: converts texts between character sets.

mod charset;

use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Output, read_all, write_file};
use tidebox_gnu::tool::print;

use charset::{Characters, Charset, likeness};

tidebox_gnu::options! {
    /// Options of `iconv`.
    enum Flag {
        FromCode = "-f, --from-code=NAME", "encoding of original text";
        ToCode = "-t, --to-code=NAME", "encoding for output\n\n Information:";
        List = "-l, --list", "list all known coded character sets\n\n Output control:";
        Omit = "-c", "omit invalid characters from output";
        Output = "-o, --output=FILE", "output file";
        Silent = "-s, --silent", "suppress warnings";
        Verbose = "--verbose", "print progress information\n\n";
        Help = "-?, --help", "Give this help list";
        Usage = "--usage", "Give a short usage message";
        Version = "-V, --version", "Print program version";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax {
    version: "iconv (Tidebox), with the command line of GNU libc 2.36\n",
    usage_exit_code: 64,
    ..Syntax::new("iconv", USAGE, 29)
};

const USAGE: &str = "\
Usage: iconv [OPTION...] [FILE...]
Convert encoding of given files from one encoding to another.

 Input/Output format specification:
";

/// Names that `-l` lists. More names are supported.
const NAMES: &str = "ASCII// BIG5// CP1250// CP1251// CP1252// CP1253// CP1254// CP1255// CP1256// CP1257// CP1258// \
                     EUC-JP// EUC-KR// GB18030// GBK// IBM866// ISO-2022-JP// ISO-8859-1// ISO-8859-2// ISO-8859-3// \
                     ISO-8859-4// ISO-8859-5// ISO-8859-6// ISO-8859-7// ISO-8859-8// ISO-8859-10// ISO-8859-13// \
                     ISO-8859-14// ISO-8859-15// ISO-8859-16// KOI8-R// KOI8-U// LATIN1// MACINTOSH// SHIFT_JIS// \
                     UCS-2// UCS-2BE// UCS-2LE// UCS-4// UCS-4LE// UTF-8// UTF-16// UTF-16BE// UTF-16LE// UTF-32// \
                     UTF-32BE// UTF-32LE//";

/// Conversion mode.
struct Conversion {
    from: Charset,
    to: Charset,
    /// `-c` or `//IGNORE`: unconvertible characters are skipped; `//IGNORE` still fails at the end.
    omit: bool,
    ignore: bool,
    /// `//TRANSLIT`
    likeness: bool,
}

/// Runs `iconv`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut from, mut to, mut output, mut omit, mut list) = (String::new(), String::new(), None, false, false);
    let files = SYNTAX.parse(arguments, |flag, value| {
        match flag {
            Flag::FromCode => from = String::from_utf8_lossy(&value).into_owned(),
            Flag::ToCode => to = String::from_utf8_lossy(&value).into_owned(),
            Flag::Output => output = Some(value),
            Flag::Omit => omit = true,
            Flag::List => list = true,
            Flag::Usage => return Err(print("iconv", SYNTAX.help().as_bytes())),
            _ => {}
        }
        Ok(())
    });
    let mut files = match files {
        Ok(files) => files,
        Err(code) => return code,
    };
    if list {
        return print("iconv", NAMES.split(' ').map(|name| format!("{name}\n")).collect::<String>().as_bytes());
    }
    let (to_name, suffixes) = to.split_once("//").unwrap_or((to.as_str(), ""));
    let from_name = from.split_once("//").map_or(from.as_str(), |(name, _)| name);
    let named = |name: &str| if name.is_empty() { Some(Charset::Utf8) } else { Charset::named(name) };
    let (Some(from), Some(to)) = (named(from_name), named(to_name)) else {
        print_error("iconv", "failed to start conversion processing: No such file or directory");
        return 1;
    };
    let ignore = suffixes.contains("IGNORE");
    let conversion = Conversion { from, to, omit: omit || ignore, ignore, likeness: suffixes.contains("TRANSLIT") };
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut text = to.mark().to_vec();
    let mut code = 0;
    for file in &files {
        match read_all(file) {
            Ok(bytes) => {
                if let Err(message) = conversion.convert(&bytes, &mut text) {
                    flush(&mut text, output.as_deref());
                    print_error("iconv", &message);
                    code = 1;
                    break;
                }
            }
            Err(error) => {
                let name = String::from_utf8_lossy(file).into_owned();
                print_error("iconv", &format!("cannot open input file `{name}': {}", error.text()));
                code = 1;
            }
        }
    }
    let failed = flush(&mut text, output.as_deref());
    code.max(i32::from(failed))
}

/// Writes pending output; true if that fails.
fn flush(text: &mut Vec<u8>, output: Option<&[u8]>) -> bool {
    let text = std::mem::take(text);
    match output {
        Some(_) if text.is_empty() => false,
        Some(name) => write_file(name, &text)
            .map_err(|error| print_error("iconv", &format!("unable to allocate buffer for output: {}", error.text())))
            .is_err(),
        None => {
            let mut out = Output::standard();
            out.push(&text);
            out.finish("iconv", 0) != 0
        }
    }
}

impl Conversion {
    fn convert(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let illegal = |at: usize| Err(format!("illegal input sequence at position {at}"));
        let mut characters: Characters = Vec::new();
        let (mut at, mut left_out) = (0, false);
        // Output converted before an error is written before the message.
        let wrong = loop {
            match self.from.decode(bytes, at, &mut characters) {
                Ok(()) => break None,
                Err(wrong) => match wrong.length {
                    Some(length) if self.omit => {
                        left_out = true;
                        at = wrong.at + length;
                    }
                    _ => break Some(wrong),
                },
            }
        };
        for (char, at) in characters {
            if self.to.encode(char, out) || (self.likeness && self.write_likeness(char, out)) {
                continue;
            }
            if !self.omit {
                return illegal(at);
            }
            left_out = true;
        }
        match wrong {
            Some(wrong) if wrong.length.is_some() => illegal(wrong.at),
            Some(_) => Err("incomplete character or shift sequence at end of buffer".to_owned()),
            None if left_out && self.ignore => illegal(bytes.len()),
            None => Ok(()),
        }
    }

    fn write_likeness(&self, char: char, out: &mut Vec<u8>) -> bool {
        likeness(char).unwrap_or("?").chars().all(|char| self.to.encode(char, out))
    }
}
