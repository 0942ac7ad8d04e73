//! Paths of the host in arguments.

use std::path::Path;

/// Options whose value starts with a path of the host.
const PATH_OPTIONS: [&str; 5] = ["--config", "--file", "--mount", "--save", "--snapshot"];

/// Joins the host's relative paths in the arguments to `base`.
pub(crate) fn absolute_paths(arguments: &[String], base: &Path) -> Vec<String> {
    let absolute = |path: &str| match Path::new(path).is_absolute() {
        true => path.to_owned(),
        false => base.join(path).to_string_lossy().into_owned(),
    };
    let mut is_path = false;
    let convert = |argument: &String| {
        let (option, value) = argument.split_once('=').unwrap_or((argument.as_str(), ""));
        let takes_path = PATH_OPTIONS.contains(&option);
        let converted = match (is_path, takes_path && argument.contains('=')) {
            (true, _) => absolute(argument),
            (false, true) => format!("{option}={}", absolute(value)),
            (false, false) => argument.clone(),
        };
        is_path = !is_path && takes_path && !argument.contains('=');
        converted
    };
    arguments.iter().map(convert).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_of_the_host_become_absolute() {
        let arguments = [
            "--mount",
            ".:/workspace/repo:cow",
            "--env",
            "A=b",
            "--save=state",
            "--file",
            "/etc/hosts:/h",
            "--config",
            "c.toml",
        ];
        let arguments = arguments.map(str::to_owned);
        let expected = [
            "--mount",
            "/p/.:/workspace/repo:cow",
            "--env",
            "A=b",
            "--save=/p/state",
            "--file",
            "/etc/hosts:/h",
            "--config",
            "/p/c.toml",
        ];
        assert_eq!(absolute_paths(&arguments, Path::new("/p")), expected);
    }
}
