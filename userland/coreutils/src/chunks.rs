//! `split --filter`: the pieces are written to files of their own first, and each is then handed to its command.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use tidebox_gnu::command::Command;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::message::{complain, quoted, reason};
use tidebox_rt::{Fd, Open};

use crate::border::{Turn, os_string};
use crate::grammar;

/// Decides what becomes of a command line. `run` is the tool itself.
pub(crate) fn split(arguments: Vec<OsString>, run: fn(std::vec::IntoIter<OsString>) -> i32) -> Turn {
    let Some(items) = grammar::items("split", &arguments) else {
        return Turn::Run(arguments);
    };
    let mut words = vec![OsString::from("split")];
    let (mut filter, mut operands) = (None, Vec::new());
    for (name, item) in items {
        match (item, name) {
            (Item::Operand(operand), _) => operands.push(operand),
            (Item::Option(_, value), "filter") => filter = value,
            // Pieces are written at once in any case.
            (Item::Option('u', _), _) | (_, "unbuffered") => {}
            // `-20` is a number of lines, whose digits must stay together.
            (Item::Option('0'..='9', _), _)
                if !arguments.iter().any(|word| word.as_encoded_bytes().starts_with(b"--fi")) =>
            {
                return Turn::Run(arguments);
            }
            (Item::Option(letter, value), "") => {
                let value = value.unwrap_or_default();
                words.push(os_string(&[b"-", letter.to_string().as_bytes(), &value].concat()));
            }
            (Item::Option(_, Some(value)), name) => {
                words.push(os_string(&[format!("--{name}=").as_bytes(), value.as_slice()].concat()));
            }
            (Item::Option(_, None), name) => words.push(format!("--{name}").into()),
        }
    }
    let input = operands.first().cloned().unwrap_or_else(|| b"-".to_vec());
    let prefix = operands.get(1).cloned().unwrap_or_else(|| b"x".to_vec());
    let Some(filter) = filter else {
        words.extend(["--".into(), os_string(&input), os_string(&prefix)]);
        return Turn::Run(words);
    };
    let folder = std::env::var_os("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let folder = folder.join(format!("split-{}", tidebox_rt::getids().map_or(0, |ids| ids.pid)));
    if let Err(error) = fs::create_dir(&folder) {
        let name = quoted(folder.as_os_str().as_encoded_bytes());
        return Turn::Refuse(format!("cannot use temporary directory {name}: {}", reason(&error)), 1);
    }
    words.extend(["--".into(), os_string(&input), folder.join("x").into_os_string()]);
    let code = match run(words.into_iter()) {
        0 => hand_out(&folder, &prefix, &filter),
        code => code,
    };
    // What cannot be removed is in a folder for such things.
    let _ = fs::remove_dir_all(&folder);
    Turn::Answer(code)
}

/// Runs the command for every piece, in their order. The exit code.
fn hand_out(folder: &Path, prefix: &[u8], filter: &[u8]) -> i32 {
    let mut names: Vec<OsString> = match fs::read_dir(folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.file_name()).collect(),
        Err(error) => {
            complain("split", &reason(&error));
            return 1;
        }
    };
    names.sort();
    let shell = std::env::var_os("SHELL").map_or_else(|| b"/bin/sh".to_vec(), OsString::into_encoded_bytes);
    for name in names {
        let suffix = name.as_encoded_bytes().get(1..).unwrap_or_default();
        let shown = [prefix, suffix].concat();
        let path = folder.join(&name).into_os_string().into_encoded_bytes();
        let from = match tidebox_rt::open(&path, Open { read: true, ..Open::default() }) {
            Ok(from) => from,
            Err(error) => {
                complain("split", &format!("{}: {}", quoted(&path), error.text()));
                return 1;
            }
        };
        let mut environment = tidebox_rt::environ();
        environment.retain(|entry| !entry.starts_with(b"FILE="));
        environment.push([b"FILE=", shown.as_slice()].concat());
        let arguments: [&[u8]; 3] = [&shell, b"-c", filter];
        let descriptors: [(Fd, Fd); 3] = [(0, from), (1, 1), (2, 2)];
        let command =
            Command { environment: Some(&environment), descriptors: &descriptors, ..Command::new(&arguments) };
        let ended = command.run();
        // It was only read.
        let _ = tidebox_rt::close(from);
        match ended.map(|status| status.code()) {
            // A command that reads no more than it wants ends by a signal that is no failure.
            Ok(0 | 141) => {}
            Ok(code) => {
                let command = String::from_utf8_lossy(filter).into_owned();
                complain(
                    "split",
                    &format!("with FILE={}, exit {code} from command: {command}", String::from_utf8_lossy(&shown)),
                );
                return i32::from(code);
            }
            Err(error) => {
                complain(
                    "split",
                    &format!("failed to run command: \"{}\": {}", String::from_utf8_lossy(filter), error.text()),
                );
                return 1;
            }
        }
    }
    0
}
