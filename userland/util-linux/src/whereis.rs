//! `whereis`: finds the program, source and manual of a command.

use tidebox_gnu::message::print_error;
use tidebox_gnu::tool::usage;

use tidebox_gnu::tool::print;

const HELP: &str = "
Usage:
 whereis [options] [-BMS <dir>... -f] <name>

Locate the binary, source, and manual-page files for a command.

Options:
 -b         search only for binaries
 -B <dirs>  define binaries lookup path
 -m         search only for manuals and infos
 -M <dirs>  define man and info lookup path
 -s         search only for sources
 -S <dirs>  define sources lookup path
 -f         terminate <dirs> argument list
 -u         search for unusual entries
 -l         output effective lookup paths

 -h, --help     display this help
 -V, --version  display version

For more details see whereis(1).
";

/// Search kinds: option letter, name in `-l`, and the directories besides `PATH`.
const KINDS: [(u8, &str, &[&str]); 3] = [
    (
        b'b',
        "bin",
        &[
            "/usr/bin",
            "/usr/sbin",
            "/bin",
            "/sbin",
            "/usr/lib",
            "/etc",
            "/usr/games",
            "/usr/local/bin",
            "/usr/local/sbin",
        ],
    ),
    (b'm', "man", &["/usr/share/man/man1", "/usr/share/man/man5", "/usr/share/man/man8", "/usr/share/info"]),
    (b's', "src", &["/usr/src", "/usr/local/src"]),
];

struct Search {
    folders: [Vec<Vec<u8>>; 3],
    wanted: [bool; 3],
    unusual: bool,
}

/// Runs `whereis`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    if arguments.is_empty() {
        return usage("whereis", "not enough arguments", 1);
    }
    let mut search =
        Search { folders: KINDS.map(|(_, _, folders)| standard(folders)), wanted: [false; 3], unusual: false };
    if let Some(path) = std::env::var_os("PATH") {
        let path = path.into_encoded_bytes();
        search.folders[0]
            .extend(path.split(|byte| *byte == b':').filter(|folder| !folder.is_empty()).map(<[u8]>::to_vec));
    }
    let mut out = Vec::new();
    let mut rest = arguments.into_iter().peekable();
    while let Some(word) = rest.next() {
        match word.as_slice() {
            b"--help" | b"-h" => return print("whereis", HELP.as_bytes()),
            b"--version" | b"-V" => return print("whereis", b"whereis from util-linux 2.38.1\n"),
            [b'-', letters @ ..] if !letters.is_empty() => {
                for letter in letters {
                    let at = KINDS.iter().position(|(key, _, _)| *key == letter.to_ascii_lowercase());
                    match (letter, at) {
                        (b'u', _) => search.unusual = true,
                        (b'f', _) => {}
                        (b'l', _) => search.list(&mut out),
                        (b'b' | b'm' | b's', Some(at)) => search.wanted[at] = true,
                        (b'B' | b'M' | b'S', Some(at)) => {
                            let mut folders = Vec::new();
                            while let Some(folder) = rest.next_if(|word| !word.starts_with(b"-")) {
                                folders.push(folder);
                            }
                            if rest.peek().is_none() {
                                print_error("whereis", "option -f is missing");
                                return 1;
                            }
                            search.folders[at] = folders;
                        }
                        _ => return usage("whereis", "bad usage", 1),
                    }
                }
            }
            name => {
                search.find(name, &mut out);
            }
        }
    }
    print("whereis", &out)
}

fn standard(folders: &[&str]) -> Vec<Vec<u8>> {
    folders.iter().map(|folder| folder.as_bytes().to_vec()).collect()
}

impl Search {
    /// Returns whether a kind is searched; by default all are.
    fn wants(&self, at: usize) -> bool {
        self.wanted.get(at).is_some_and(|wanted| *wanted) || self.wanted == [false; 3]
    }

    /// Existing directories, without duplicates.
    fn places(&self, at: usize) -> Vec<Vec<u8>> {
        let (mut places, mut known) = (Vec::new(), Vec::new());
        for folder in self.folders.get(at).into_iter().flatten() {
            let Ok(real) = std::fs::canonicalize(tidebox_rt::path_of_bytes(folder)) else {
                continue;
            };
            let real = real.into_os_string().into_encoded_bytes();
            if !known.contains(&real) {
                places.push(if folder.starts_with(b"/") { folder.clone() } else { real.clone() });
                known.push(real);
            }
        }
        places
    }

    fn list(&self, out: &mut Vec<u8>) {
        for (at, (_, name, _)) in KINDS.iter().enumerate() {
            for place in self.places(at) {
                out.extend_from_slice(&[name.as_bytes(), b": ", &place, b"\n"].concat());
            }
        }
    }

    fn find(&self, name: &[u8], out: &mut Vec<u8>) {
        let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
        let mut line = [base, b":"].concat();
        let mut usual = true;
        for at in (0..KINDS.len()).filter(|at| self.wants(*at)) {
            let mut count = 0;
            for place in self.places(at) {
                let mut entries = tidebox_rt::read_dir(&place).unwrap_or_default();
                entries.sort_by(|a, b| a.name.cmp(&b.name));
                for entry in entries.iter().filter(|entry| is_of(base, &entry.name, at == 0)) {
                    line.extend_from_slice(&[b" ", place.as_slice(), b"/", &entry.name].concat());
                    count += 1;
                }
            }
            usual &= count <= 1;
        }
        if !(self.unusual && usual) {
            line.push(b'\n');
            out.append(&mut line);
        }
    }
}

/// Returns whether a file belongs to a name. Sources and manuals may have a suffix of a number and an extension.
fn is_of(name: &[u8], file: &[u8], program: bool) -> bool {
    let Some(rest) = file.strip_prefix(name) else {
        return false;
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest.is_empty() || (!program && rest.get(digits) == Some(&b'.'))
}
