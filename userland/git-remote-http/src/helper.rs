//! Commands of Git, one per line.

use std::io::{BufRead, Write};

use crate::advertisement::{Advertisement, Version};
use crate::fault::Fault;
use crate::options::{Answer, Options};
use crate::remote::Remote;
use crate::service::{self, Program};

/// Service for fetching.
const FETCH: &str = "git-upload-pack";

/// Service for pushing.
const PUSH: &str = "git-receive-pack";

/// Longest command line, and longest batch of commands.
const LINE_BYTES: u64 = 1 << 20;
const BATCH_BYTES: usize = 64 << 20;

const CAPABILITIES: &str = "stateless-connect\nfetch\noption\npush\ncheck-connectivity\nobject-format\n\n";

/// State of the helper.
#[derive(Debug)]
pub(crate) struct Helper {
    remote: Remote,
    options: Options,
    /// The last response of the server and the service that it is for.
    known: Option<(&'static str, Advertisement)>,
}

impl Helper {
    pub(crate) fn new(url: &str) -> Result<Self, Fault> {
        Ok(Self { remote: Remote::new(url)?, options: Options::default(), known: None })
    }

    /// Handles commands until Git ends or takes over the connection.
    pub(crate) fn run(&mut self, mut input: impl BufRead, mut output: impl Write) -> Result<(), Fault> {
        while let Some(line) = read_line(&mut input)? {
            let (command, rest) = line.split_once(' ').unwrap_or((&line, ""));
            let answer = match command {
                // An empty line ends a batch that is empty.
                "" => return Ok(()),
                "capabilities" => CAPABILITIES.as_bytes().to_vec(),
                "option" => {
                    let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
                    match self.options.set(name, value) {
                        Answer::Ok => b"ok\n".to_vec(),
                        Answer::Unsupported => b"unsupported\n".to_vec(),
                        Answer::Invalid => b"error invalid value\n".to_vec(),
                    }
                }
                "list" => self.list(if rest == "for-push" { PUSH } else { FETCH })?,
                "fetch" => self.fetch(&read_batch(&mut input, command, rest)?)?,
                "push" => self.push(&read_batch(&mut input, command, rest)?)?,
                "stateless-connect" if rest == FETCH => {
                    if self.connect(&mut input, &mut output)? {
                        return Ok(());
                    }
                    b"fallback\n".to_vec()
                }
                "stateless-connect" => b"fallback\n".to_vec(),
                _ => {
                    return Err(Fault::new(format!("unknown command '{}' from Git", crate::fault::printable(command))));
                }
            };
            output.write_all(&answer)?;
        }
        Ok(())
    }

    /// Passes protocol 2 through. Returns false if the server has only protocol 0.
    fn connect(&mut self, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<bool, Fault> {
        // Git asks before it lists the references, and again before it fetches.
        if self.known.as_ref().is_some_and(|(service, _)| *service == FETCH) {
            return Ok(false);
        }
        let advertisement = self.remote.advertisement(FETCH, true)?;
        if advertisement.version != Version::Two {
            self.known = Some((FETCH, advertisement));
            return Ok(false);
        }
        output.write_all(b"\n")?;
        output.write_all(&advertisement.packets)?;
        service::connect(&self.remote, FETCH, input, output)?;
        Ok(true)
    }

    /// References by protocol 0.
    fn advertisement(&mut self, service: &'static str) -> Result<&Advertisement, Fault> {
        let known = match self.known.take() {
            Some(known) if known.0 == service => known,
            _ => (service, self.remote.advertisement(service, false)?),
        };
        if known.1.version != Version::Zero {
            return Err(Fault::new(format!("'{}' selected a protocol that Git did not offer", self.remote.url())));
        }
        Ok(&self.known.insert(known).1)
    }

    fn list(&mut self, service: &'static str) -> Result<Vec<u8>, Fault> {
        let with_format = self.options.object_format;
        let references = self.advertisement(service)?.references()?;
        let mut answer = String::new();
        if with_format {
            answer.push_str(&format!(":object-format {}\n", references.object_format));
        }
        for reference in references.list {
            answer.push_str(&format!("{} {}\n", reference.value, reference.name));
        }
        answer.push('\n');
        Ok(answer.into_bytes())
    }

    fn fetch(&mut self, lines: &[String]) -> Result<Vec<u8>, Fault> {
        let mode = ["fetch-pack", "--stateless-rpc", "--stdin", "--lock-pack"];
        let mut arguments: Vec<String> = mode.iter().map(|word| (*word).to_owned()).collect();
        arguments.extend(self.options.fetch_arguments());
        arguments.push(self.remote.url().to_owned());
        self.run_program(FETCH, &arguments, lines)
    }

    fn push(&mut self, lines: &[String]) -> Result<Vec<u8>, Fault> {
        let mode = ["send-pack", "--stateless-rpc", "--helper-status", "--stdin"];
        let mut arguments: Vec<String> = mode.iter().map(|word| (*word).to_owned()).collect();
        arguments.extend(self.options.push_arguments());
        arguments.push(self.remote.url().to_owned());
        self.run_program(PUSH, &arguments, lines)
    }

    fn run_program(&mut self, service: &'static str, arguments: &[String], lines: &[String]) -> Result<Vec<u8>, Fault> {
        self.advertisement(service)?;
        // The references are those before the command.
        let Some((_, known)) = self.known.take() else { return Err(Fault::Reported) };
        let program = Program { arguments, service, lines, advertisement: &known.packets };
        let mut result = program.run(&self.remote)?;
        result.push(b'\n');
        Ok(result)
    }
}

/// Reads a line without its newline. `None` at the end.
fn read_line(input: &mut dyn BufRead) -> Result<Option<String>, Fault> {
    let mut line = Vec::new();
    std::io::Read::take(input, LINE_BYTES).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => match String::from_utf8(line) {
            Ok(line) => Ok(Some(line)),
            Err(_) => Err(Fault::new("names that are not UTF-8 are not supported over HTTP")),
        },
        Some(_) => Err(Fault::new("Git sent an incomplete command")),
    }
}

/// Reads the rest of a batch of commands, which ends with an empty line. Returns the arguments.
fn read_batch(input: &mut dyn BufRead, command: &str, first: &str) -> Result<Vec<String>, Fault> {
    let mut lines = vec![first.to_owned()];
    let mut bytes = 0;
    loop {
        let Some(line) = read_line(input)? else { return Err(Fault::new("Git ended within a batch of commands")) };
        if line.is_empty() {
            return Ok(lines);
        }
        bytes += line.len();
        match line.split_once(' ') {
            Some((name, rest)) if name == command && bytes <= BATCH_BYTES => lines.push(rest.to_owned()),
            _ => return Err(Fault::new(format!("Git sent an invalid batch of {command} commands"))),
        }
    }
}
