//! Grouping of items into commands.

use crate::input::{Item, Items};
use crate::options::Options;

/// One item exceeds the size of a command.
const LINE_TOO_LONG: &str = "argument line too long";

/// The items of one command exceed its size.
const LIST_TOO_LONG: &str = "argument list too long";

/// Iterator over the commands to run.
pub(crate) struct Batches<'a> {
    options: &'a Options,
    items: Items,
    /// An item that did not fit into the last command.
    left: Option<Item>,
    /// True until the first command is built.
    first: bool,
    ended: bool,
    /// Error found after the items read; their command runs first.
    trouble: Option<String>,
}

impl<'a> Batches<'a> {
    pub(crate) fn new(options: &'a Options, items: Items) -> Self {
        Self { options, items, left: None, first: true, ended: false, trouble: None }
    }

    /// Returns the arguments of the next command, or `None` at the end.
    pub(crate) fn next_command(&mut self) -> Result<Option<Vec<Vec<u8>>>, String> {
        if let Some(message) = self.trouble.take() {
            return Err(message);
        }
        if self.ended {
            return Ok(None);
        }
        if let Some(replace) = &self.options.replace {
            return self.replaced(replace);
        }
        let mut words = self.options.command.clone();
        let mut bytes: usize = words.iter().map(|word| word.len() + 1).sum();
        if bytes > self.options.most_bytes {
            return Err("cannot fit single argument within argument list size limit".to_owned());
        }
        let (mut count, mut lines) = (0, 0);
        loop {
            let item = match self.next_item() {
                Ok(Some(item)) => item,
                Ok(None) => break,
                Err(message) if count > 0 && !self.options.exit_when_long => {
                    self.trouble = Some(message);
                    return Ok(Some(words));
                }
                Err(message) => return Err(message),
            };
            let longer = bytes.saturating_add(item.bytes.len() + 1);
            if longer > self.options.most_bytes {
                if count == 0 {
                    return Err(LINE_TOO_LONG.to_owned());
                }
                if self.options.exit_when_long && self.is_counted() {
                    return Err(LIST_TOO_LONG.to_owned());
                }
                self.left = Some(item);
                break;
            }
            bytes = longer;
            count += 1;
            lines += usize::from(item.ends_line);
            words.push(item.bytes);
            let enough = |most: Option<usize>, have: usize| most.is_some_and(|most| have >= most);
            if enough(self.options.most_items, count) || enough(self.options.most_lines, lines) {
                break;
            }
        }
        // Without items the command runs once, unless `-r` is given.
        let runs = count > 0 || (self.first && !self.options.not_when_empty);
        self.ended = count == 0;
        self.first = false;
        Ok(runs.then_some(words))
    }

    /// Returns the number of bytes that were read and belong to no item.
    pub(crate) fn unread(&self) -> usize {
        self.items.unread()
    }

    /// Returns whether the number of items or lines per command is given, so that fewer are an error.
    fn is_counted(&self) -> bool {
        self.options.most_items.is_some() || self.options.most_lines.is_some()
    }

    fn next_item(&mut self) -> Result<Option<Item>, String> {
        match self.left.take() {
            Some(item) => Ok(Some(item)),
            None => self.items.next_item(),
        }
    }

    fn replaced(&mut self, replace: &[u8]) -> Result<Option<Vec<Vec<u8>>>, String> {
        let Some(item) = self.items.next_item()? else {
            self.ended = true;
            return Ok(None);
        };
        let (name, arguments) = self.options.command.split_first().map_or((None, &[][..]), |(n, a)| (Some(n), a));
        let words: Vec<Vec<u8>> =
            name.cloned().into_iter().chain(arguments.iter().map(|word| fill_in(word, replace, &item.bytes))).collect();
        let most = self.options.most_bytes;
        if item.bytes.len() >= most {
            return Err(LINE_TOO_LONG.to_owned());
        }
        if words.iter().any(|word| word.len() + 1 >= most) {
            return Err("command too long".to_owned());
        }
        if words.iter().map(|word| word.len() + 1).sum::<usize>() > most {
            return Err(LIST_TOO_LONG.to_owned());
        }
        Ok(Some(words))
    }
}

fn fill_in(word: &[u8], replace: &[u8], item: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len() + item.len());
    let mut rest = word;
    while let Some(at) = rest.windows(replace.len().max(1)).position(|window| window == replace) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.extend_from_slice(item);
        rest = rest.get(at + replace.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}
