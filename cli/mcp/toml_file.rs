//! Changes of TOML files that keep every other line.

use toml::{Table, Value};

/// Table that contains the servers.
const SERVERS: &str = "mcp_servers";

/// Sets the server `name`. Tables below the server are kept. The error is one line without the file's name.
pub(super) fn set(text: &str, name: &str, command: &str, arguments: &[String]) -> Result<String, String> {
    let parse = |text: &str| text.parse::<Table>();
    let before = parse(text).map_err(|error| format!("it is not TOML: {}", error.message()))?;
    let entry = entry(name, command, arguments);
    let changed = match find_table(text, name) {
        Some((start, end)) => {
            [text.get(..start), Some(entry.as_str()), text.get(end..)].map(Option::unwrap_or_default).concat()
        }
        None => append(text, &entry),
    };
    // The search for the table's lines is simple; the parser decides.
    match parse(&changed) {
        Ok(after) if without(&after, name) == without(&before, name) && has_entry(&after, name, command, arguments) => {
            Ok(changed)
        }
        _ => Err("its layout is not supported".to_owned()),
    }
}

/// Formats the table of a server.
pub(super) fn entry(name: &str, command: &str, arguments: &[String]) -> String {
    // Strings and arrays of JSON are also those of TOML.
    let (command, arguments) = (serde_json::json!(command), serde_json::json!(arguments));
    format!("[{SERVERS}.{name}]\ncommand = {command}\nargs = {arguments}\n")
}

fn append(text: &str, entry: &str) -> String {
    match text.trim_end() {
        "" => entry.to_owned(),
        kept => format!("{kept}\n\n{entry}"),
    }
}

/// Returns the bytes from the header of the server's table to the next header.
fn find_table(text: &str, name: &str) -> Option<(usize, usize)> {
    let headers = [format!("[{SERVERS}.{name}]"), format!("[{SERVERS}.\"{name}\"]")];
    let mut at = 0;
    let mut start = None;
    for line in text.split_inclusive('\n') {
        let header: String =
            line.split('#').next().unwrap_or_default().chars().filter(|char| !char.is_whitespace()).collect();
        match start {
            None if headers.contains(&header) => start = Some(at),
            Some(start) if header.starts_with('[') => return Some((start, at)),
            _ => {}
        }
        at += line.len();
    }
    start.map(|start| (start, text.len()))
}

/// Returns the file's values without the server.
fn without(table: &Table, name: &str) -> Table {
    let mut table = table.clone();
    if let Some(Value::Table(servers)) = table.get_mut(SERVERS) {
        servers.remove(name);
        if servers.is_empty() {
            table.remove(SERVERS);
        }
    }
    table
}

fn has_entry(table: &Table, name: &str, command: &str, arguments: &[String]) -> bool {
    let Some(entry) = table.get(SERVERS).and_then(|servers| servers.get(name)) else { return false };
    let found = entry.get("args").and_then(Value::as_array);
    let is_same =
        |found: &Vec<Value>| found.iter().map(Value::as_str).eq(arguments.iter().map(|one| Some(one.as_str())));
    entry.get("command").and_then(Value::as_str) == Some(command) && found.is_some_and(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_tidebox(text: &str) -> Result<String, String> {
        set(text, "tidebox", "/bin/tidebox", &["mcp".to_owned(), "--env".to_owned(), "A=\"1\"".to_owned()])
    }

    #[test]
    fn a_server_is_added_after_the_other_lines() {
        let text = "# my settings\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"o\"";
        let written = set_tidebox(text).unwrap();
        assert!(
            written.starts_with(&format!("{text}\n\n[mcp_servers.tidebox]\ncommand = \"/bin/tidebox\"\n")),
            "{written}"
        );
        assert_eq!(set_tidebox(&written).unwrap(), written);
        assert!(set_tidebox("").unwrap().starts_with("[mcp_servers.tidebox]\n"));
    }

    #[test]
    fn a_server_is_replaced_between_its_neighbours() {
        let text = "[mcp_servers.a]\ncommand = \"a\"\n[ mcp_servers.tidebox ] # old\ncommand = \"old\"\n[mcp_servers.tidebox.env]\nX = \"1\"\n[z]\ny = [1,\n 2]\n";
        let written = set_tidebox(text).unwrap();
        assert!(
            written
                .starts_with("[mcp_servers.a]\ncommand = \"a\"\n[mcp_servers.tidebox]\ncommand = \"/bin/tidebox\"\n"),
            "{written}"
        );
        assert!(written.ends_with("[mcp_servers.tidebox.env]\nX = \"1\"\n[z]\ny = [1,\n 2]\n"), "{written}");
        assert!(!written.contains("old"), "{written}");
    }

    #[test]
    fn layouts_that_cannot_be_changed_are_rejected() {
        for text in ["x =", "mcp_servers = { a = { command = \"a\" } }\n", "mcp_servers = 1\n"] {
            assert!(set_tidebox(text).is_err(), "{text}");
        }
    }
}
