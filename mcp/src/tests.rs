//! The list of tools, as clients and the documentation see it.

use std::collections::BTreeSet;

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::server::Settings;
use crate::tool::{TOOLS, find_tool};

const DOCS: &str = include_str!("../../docs/mcp.md");

fn describe(name: &str) -> rmcp::model::Tool {
    find_tool(name).unwrap().describe(&Settings::default())
}

fn properties(schema: &JsonObject) -> BTreeSet<String> {
    schema["properties"].as_object().unwrap().keys().cloned().collect()
}

fn required(schema: &JsonObject) -> Vec<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn the_documented_tools_are_those_of_the_server() {
    let section = DOCS.split("\n## Tools\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<_> = section.lines().filter_map(|line| line.strip_prefix("| `")).collect();
    assert_eq!(rows.len(), TOOLS.len(), "one row for each tool");
    for (row, tool) in rows.iter().zip(TOOLS) {
        let (name, rest) = row.split_once("` | ").unwrap();
        assert_eq!(name, tool.name);
        let documented: BTreeSet<_> = rest.split(" | ").next().unwrap().split('`').skip(1).step_by(2).collect();
        let schema = describe(name);
        for parameter in properties(&schema.input_schema) {
            assert!(documented.contains(parameter.as_str()), "{name}: {parameter} is missing in docs/mcp.md");
        }
        let hint = if tool.hints.read_only {
            "read-only"
        } else if tool.hints.destructive {
            "destructive"
        } else {
            "additive"
        };
        assert!(rest.ends_with(&format!("| {hint} |")), "{name}: {rest}");
    }
}

#[test]
fn schemas_are_self_contained_objects() {
    for tool in TOOLS {
        let description = tool.describe(&Settings::default());
        let output = description.output_schema.unwrap();
        for schema in [&description.input_schema, &output] {
            assert_eq!(schema["type"], "object", "{}", tool.name);
            let text = serde_json::to_string(schema).unwrap();
            for part in ["$ref", "$schema", "\"format\"", "additionalProperties"] {
                assert!(!text.contains(part), "{}: {part} in {text}", tool.name);
            }
        }
        assert!(!properties(&output).is_empty(), "{}", tool.name);
    }
}

#[test]
fn parameters_have_the_names_of_built_in_tools() {
    let expected: &[(&str, &[&str], &[&str])] = &[
        ("bash", &["command"], &["timeout", "run_in_background", "background", "description"]),
        ("read", &["file_path"], &["offset", "limit"]),
        ("write", &["file_path", "content"], &[]),
        ("edit", &["file_path", "old_string", "new_string"], &["replace_all"]),
        ("glob", &["pattern"], &["path"]),
        (
            "grep",
            &["pattern"],
            &[
                "path",
                "glob",
                "output_mode",
                "-i",
                "-n",
                "-o",
                "-A",
                "-B",
                "-C",
                "type",
                "head_limit",
                "offset",
                "multiline",
            ],
        ),
    ];
    for (name, needed, optional) in expected {
        let schema = describe(name).input_schema;
        assert_eq!(required(&schema), *needed, "{name}");
        let all: BTreeSet<_> = needed.iter().chain(*optional).map(|name| (*name).to_owned()).collect();
        assert_eq!(properties(&schema), all, "{name}");
    }
}

#[test]
fn all_four_hints_are_set() {
    let online = Settings { has_network: true, ..Settings::default() };
    for tool in TOOLS {
        let hints = tool.describe(&Settings::default()).annotations.unwrap();
        assert!(hints.read_only_hint.is_some() && hints.idempotent_hint.is_some(), "{}", tool.name);
        assert!(hints.destructive_hint.is_some(), "{}", tool.name);
        assert_eq!(hints.open_world_hint, Some(false), "{}: a sandbox without a network", tool.name);
        let online = tool.describe(&online).annotations.unwrap();
        assert_eq!(online.open_world_hint, Some(matches!(tool.name, "bash" | "run_python")), "{}", tool.name);
    }
}

#[test]
fn tool_names_are_unique() {
    let names: BTreeSet<_> = TOOLS.iter().map(|tool| tool.name).collect();
    assert_eq!(names.len(), TOOLS.len());
}
