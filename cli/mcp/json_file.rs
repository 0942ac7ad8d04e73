//! Changes of JSON files that keep every other byte: order, indentation and spacing are those of the user.

use std::ops::Range;

use serde_json::Value;

/// Sets the member at `path` to a value, creating missing objects on the path. The error is one line without the file's name.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let before: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let mut expected = before;
    set_value(&mut expected, path, value)?;
    let changed = splice(text, path, value)?;
    // The scanner is simple; the parser decides.
    match serde_json::from_str::<Value>(&changed) {
        Ok(parsed) if parsed == expected => Ok(changed),
        _ => Err("its layout is not supported".to_owned()),
    }
}

/// Returns the array of strings at `path` with a string added. `None` if it has it already.
pub(super) fn with_string(text: &str, path: &[&str], added: &str) -> Result<Option<Value>, String> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let root: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let found = path.iter().try_fold(&root, |value, key| value.get(key));
    let mut values = match found {
        None => Vec::new(),
        Some(Value::Array(values)) => values.clone(),
        Some(_) => return Err(format!("{:?} is not an array", path.join("."))),
    };
    if values.iter().any(|value| value == added) {
        return Ok(None);
    }
    values.push(Value::from(added));
    Ok(Some(Value::Array(values)))
}

fn set_value(root: &mut Value, path: &[&str], value: &Value) -> Result<(), String> {
    let mut current = root;
    for (depth, key) in path.iter().enumerate() {
        let Value::Object(object) = current else {
            return Err(format!("{:?} is not an object", path.get(..depth).unwrap_or_default().join(".")));
        };
        current = object.entry(*key).or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    *current = value.clone();
    Ok(())
}

/// Replaces or inserts the bytes of the member.
fn splice(text: &str, path: &[&str], value: &Value) -> Result<String, String> {
    let unsupported = || "its layout is not supported".to_owned();
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0 };
    scanner.skip_space();
    let mut object = scanner.at;
    for (depth, key) in path.iter().enumerate() {
        let members = Scanner { bytes: text.as_bytes(), at: object }.members().ok_or_else(unsupported)?;
        let rest = path.get(depth + 1..).unwrap_or_default();
        match members.iter().rev().find(|member| member.key == *key) {
            Some(member) if rest.is_empty() => {
                let indent = indentation(text, member.value.start);
                let written = write_value(value, &indent)?;
                return replace(text, member.value.clone(), &written).ok_or_else(unsupported);
            }
            Some(member) => object = member.value.start,
            None => {
                let nested = rest.iter().rev().fold(value.clone(), |inner, key| serde_json::json!({ *key: inner }));
                return insert(text, object, &members, key, &nested);
            }
        }
    }
    Err(unsupported())
}

/// Inserts a member at the start of an object.
fn insert(text: &str, object: usize, members: &[Member], key: &str, value: &Value) -> Result<String, String> {
    let outer = indentation(text, object);
    let start = object + 1;
    let space = members.first().and_then(|first| text.get(start..first.start));
    let inner = match members.first() {
        Some(first) if space.is_some_and(|space| space.contains('\n')) => indentation(text, first.start),
        _ => format!("{outer}  "),
    };
    let key = serde_json::to_string(key).map_err(|error| error.to_string())?;
    let member = format!("{key}: {}", write_value(value, &inner)?);
    let changed = match space {
        Some("") => replace(text, start..start, &format!("{member}, ")),
        Some(space) => replace(text, start..start, &format!("{space}{member},")),
        None => {
            // An empty object may contain white space.
            let end = text.get(start..).and_then(|rest| rest.find('}')).map(|end| start + end);
            end.and_then(|end| replace(text, start..end, &format!("\n{inner}{member}\n{outer}")))
        }
    };
    changed.ok_or_else(|| "its layout is not supported".to_owned())
}

/// Formats a value over several lines, which start with the indentation.
fn write_value(value: &Value, indent: &str) -> Result<String, String> {
    let pretty = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    Ok(pretty.replace('\n', &format!("\n{indent}")))
}

/// Returns the white space at the start of the line of a byte.
fn indentation(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.chars().take_while(|char| *char == ' ' || *char == '\t').collect()
}

fn replace(text: &str, range: Range<usize>, by: &str) -> Option<String> {
    Some([text.get(..range.start)?, by, text.get(range.end..)?].concat())
}

/// A member of an object: its decoded key, the start of the key, and the bytes of its value.
struct Member {
    key: String,
    start: usize,
    value: Range<usize>,
}

/// Finds the members of an object in text that was parsed before.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    /// Returns the members of the object at the position.
    fn members(mut self) -> Option<Vec<Member>> {
        let mut members = Vec::new();
        self.expect(b'{')?;
        self.skip_space();
        if self.peek()? == b'}' {
            return Some(members);
        }
        loop {
            self.skip_space();
            let start = self.at;
            self.skip_string()?;
            let key = serde_json::from_slice(self.bytes.get(start..self.at)?).ok()?;
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            let value = self.at;
            self.skip_value()?;
            members.push(Member { key, start, value: value..self.at });
            self.skip_space();
            match self.next()? {
                b',' => {}
                b'}' => return Some(members),
                _ => return None,
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => self.at += 1,
                _ => {}
            }
        }
    }

    /// Skips a value. Brackets are only counted, because the parser has checked them.
    fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0u32;
        loop {
            match self.peek()? {
                b'"' => self.skip_string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth == 0 => return Some(()),
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' if depth == 0 => return Some(()),
                byte if depth == 0 && byte.is_ascii_whitespace() => return Some(()),
                _ => self.at += 1,
            }
            let has_ended = matches!(self.bytes.get(self.at - 1), Some(b'"' | b'}' | b']'));
            if depth == 0 && has_ended {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missing_file_becomes_an_object_with_the_entry() {
        for empty in ["", "  \n", "{}\n"] {
            let written = set(empty, &["mcpServers", "tidebox"], &json!({"command": "tidebox"})).unwrap();
            assert_eq!(
                written,
                "{\n  \"mcpServers\": {\n    \"tidebox\": {\n      \"command\": \"tidebox\"\n    }\n  }\n}\n"
            );
        }
    }

    #[test]
    fn other_entries_keep_their_bytes() {
        let text = "{\n\t\"z\": 1.50,\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"a\\\"}b\",  \"args\": []}\n\t},\n\t\"a\": [1,{\"mcpServers\": 2}]\n}\n";
        let written = set(text, &["mcpServers", "tidebox"], &json!({"args": ["mcp"]})).unwrap();
        let entry = "\n\t\t\"tidebox\": {\n\t\t  \"args\": [\n\t\t    \"mcp\"\n\t\t  ]\n\t\t},";
        assert_eq!(written, text.replace("\"mcpServers\": {\n", &format!("\"mcpServers\": {{{entry}\n")));
        let again = set(&written, &["mcpServers", "tidebox"], &json!({"args": ["mcp"]})).unwrap();
        assert_eq!(again, written);
    }

    #[test]
    fn an_existing_entry_is_replaced() {
        let text = r#"{"mcpServers": {"tidebox": {"old": true}, "x": 1}, "y": null}"#;
        let written = set(text, &["mcpServers", "tidebox"], &json!("new")).unwrap();
        assert_eq!(written, r#"{"mcpServers": {"tidebox": "new", "x": 1}, "y": null}"#);
        let written = set(r#"{"x": 1}"#, &["a", "b"], &json!(2)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), json!({"x": 1, "a": {"b": 2}}));
    }

    #[test]
    fn files_that_are_not_plain_json_are_rejected() {
        for text in ["// comment\n{}", "[", "\"x\"", "[]", r#"{"mcpServers": []}"#, r#"{"mcpServers": 1}"#] {
            assert!(set(text, &["mcpServers", "tidebox"], &json!(1)).is_err(), "{text}");
        }
    }

    #[test]
    fn a_string_is_added_to_an_array_once() {
        let path = ["permissions", "deny"];
        assert_eq!(with_string("", &path, "Bash").unwrap(), Some(json!(["Bash"])));
        let text = r#"{"permissions": {"deny": ["Read", "Bash"]}}"#;
        assert_eq!(with_string(text, &path, "Bash").unwrap(), None);
        assert_eq!(with_string(text, &path, "Edit").unwrap(), Some(json!(["Read", "Bash", "Edit"])));
        assert!(with_string(r#"{"permissions": {"deny": "x"}}"#, &path, "Bash").is_err());
    }
}
