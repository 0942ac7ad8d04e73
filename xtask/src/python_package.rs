//! The Python package: built by maturin, and tested as users get it, installed into a fresh virtual environment outside of the
//! repository.

mod installed;
mod pack_wheel;
mod types;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::docs;
use crate::notices;
use crate::project::{Project, empty_dir};
use crate::setup;
use crate::step::Progress;

const RETRY: &str = "cargo xtask python";

/// Builds the wheel.
const MATURIN: &str = "maturin==1.16.0";

/// Packs a wheel.
const WHEEL: &str = "wheel==0.45.1";

/// Packages for the tests.
const TEST_PACKAGES: [&str; 4] = ["pytest==9.2.0", "pytest-timeout==2.4.0", types::MYPY, types::PYRIGHT];

/// Prints the reasons of tests that are skipped or expected to fail.
const REASONS: &str = "-rsx";

/// Adapters that `cargo xtask test` tests, too: their environments are small. `cargo xtask python` tests all.
const QUICK_FRAMEWORKS: [&str; 2] = ["langchain", "openai_agents"];

/// Choice of adapters whose frameworks are installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frameworks {
    Quick,
    All,
}

/// Maximum size of the wheel in bytes. Every user downloads it.
const MAX_BYTES: u64 = 60 * 1024 * 1024;

/// Runs `cargo xtask python`: builds the wheel for users.
pub(crate) fn python(project: &Project, progress: &mut Progress) -> Result<()> {
    setup::guests(project, progress)?;
    let wheel = wheel(project, progress)?;
    installed::test_archive(project, progress, &wheel)?;
    let pack = pack_wheel::build(project, progress, &wheel)?;
    installed::test_pack(project, progress, &wheel, &pack)?;
    test(project, progress, &wheel, Frameworks::All)
}

/// Builds the wheel from the current guest programs and returns its path.
pub(crate) fn wheel(project: &Project, progress: &mut Progress) -> Result<PathBuf> {
    let built = build(project, progress)?;
    let wheel = add_programs(project, progress, &built)?;
    let bytes = fs::metadata(&wheel)?.len();
    ensure!(bytes <= MAX_BYTES, "{} has {bytes} bytes, more than {MAX_BYTES}", wheel.display());
    progress.print(&format!("{}: {:.1} MiB", wheel.display(), bytes as f64 / f64::from(1 << 20)));
    Ok(wheel)
}

/// Tests the package with a wheel of the unoptimised library that the tests of the workspace share. maturin would build all
/// dependencies again, because the features of its packages are others than those of the workspace.
pub(crate) fn step(project: &Project, progress: &mut Progress, frameworks: Frameworks) -> Result<()> {
    let build = project.cargo(&["build", "--locked", "--workspace", "--lib", "--tests"]);
    progress.run("build the library of the Python package", build, RETRY)?;
    let wheel = assemble(project, progress)?;
    test(project, progress, &wheel, frameworks)
}

/// Packs the unoptimised library and the Python files into a wheel.
fn assemble(project: &Project, progress: &mut Progress) -> Result<PathBuf> {
    let tools = venv(project, progress, "python-pack", &[WHEEL])?;
    let wheels = empty_dir(project.target.join("wheels/unoptimised"))?;
    let (tree, info) = (wheels.join("tree"), wheels.join("tree/tidebox-0.dist-info"));
    copy_tree(&project.root.join("python-bindings/python"), &tree)?;
    fs::create_dir_all(&info)?;
    let library = format!("{}_native{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let module = if cfg!(windows) { "_native.pyd" } else { "_native.abi3.so" };
    fs::copy(project.target.join("debug").join(library), tree.join("tidebox").join(module))?;
    fs::write(info.join("METADATA"), "Metadata-Version: 2.1\nName: tidebox\nVersion: 0\n")?;
    fs::write(info.join("WHEEL"), "Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\nTag: py3-none-any\n")?;
    fs::write(info.join("entry_points.txt"), entry_points(&project.root.join("python-bindings/pyproject.toml"))?)?;
    pack(progress, &tools, &tree, &wheels)?;
    Ok(wheels.join("tidebox-0-py3-none-any.whl"))
}

/// Packs the files of a wheel.
fn pack(progress: &mut Progress, tools: &Path, tree: &Path, to: &Path) -> Result<()> {
    let mut pack = Command::new(tools.join("python"));
    pack.args(["-m", "wheel", "pack", "--dest-dir"]).arg(to).arg(tree);
    progress.run("pack the wheel", pack, RETRY)
}

/// Returns the entry points of the package in the format of a wheel.
fn entry_points(pyproject: &Path) -> Result<String> {
    let text = fs::read_to_string(pyproject)?;
    let pyproject: toml::Table = text.parse().context("cannot read pyproject.toml")?;
    let project = pyproject["project"].as_table().context("pyproject.toml has no table `project`")?;
    let mut points = String::new();
    let mut group = |name: &str, table: Option<&toml::Value>| {
        let entries = table.and_then(toml::Value::as_table).into_iter().flatten();
        points.push_str(&format!("[{name}]\n"));
        for (name, target) in entries {
            points.push_str(&format!("{name} = {}\n", target.as_str().unwrap_or_default()));
        }
    };
    group("console_scripts", project.get("scripts"));
    for (name, table) in project.get("entry-points").and_then(toml::Value::as_table).into_iter().flatten() {
        group(name, Some(table));
    }
    Ok(points)
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "__pycache__" {
                copy_tree(&entry.path(), &target)?;
            }
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Builds the wheel for users.
fn build(project: &Project, progress: &mut Progress) -> Result<PathBuf> {
    let tools = venv(project, progress, "python-tools", &[MATURIN])?;
    let wheels = empty_dir(project.target.join("wheels/release"))?;
    let mut maturin = Command::new(tools.join("maturin"));
    maturin.args(["build", "--locked", "--quiet", "--release", "--manifest-path"]);
    maturin.arg(project.root.join("python-bindings/Cargo.toml")).arg("--out").arg(&wheels);
    maturin.args(["--interpreter", "python3"]).env("CARGO_TARGET_DIR", &project.target);
    progress.run("build the wheel", maturin, RETRY)?;
    let mut entries = fs::read_dir(&wheels).context("maturin wrote no wheel")?;
    Ok(entries.next().context("maturin wrote no wheel")??.path())
}

/// Adds the licences of this project and of the packages in it.
fn add_licences(project: &Project, tree: &Path) -> Result<()> {
    let mut entries = fs::read_dir(tree)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    entries.retain(|path| path.extension() == Some(OsStr::new("dist-info")));
    let licences = entries.first().context("the wheel has no directory dist-info")?.join("licenses");
    fs::create_dir_all(&licences)?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(project.root.join(name), licences.join(name))?;
    }
    fs::write(licences.join("THIRD-PARTY-NOTICES"), notices::text(project, "tidebox-python")?)?;
    Ok(())
}

/// Adds the guest programs to a wheel, compiled by its own library, so that the first command needs no compiler.
fn add_programs(project: &Project, progress: &mut Progress, wheel: &Path) -> Result<PathBuf> {
    let tools = venv(project, progress, "python-pack", &[WHEEL])?;
    let trees = empty_dir(project.target.join("wheels/tree"))?;
    let mut unpack = Command::new(tools.join("python"));
    unpack.args(["-m", "wheel", "unpack", "--dest"]).arg(&trees).arg(wheel);
    progress.run("unpack the wheel", unpack, RETRY)?;
    let tree = fs::read_dir(&trees)?.next().context("the wheel is empty")??.path();
    let mut compile = Command::new(tools.join("python"));
    // `-B`: the wheel gets no bytecode of this interpreter.
    compile.args(["-B", "-m", "tidebox", "warm", "--archive", "tidebox/programs"]).current_dir(&tree);
    progress.run("compile the programs of the wheel", compile, RETRY)?;
    add_licences(project, &tree)?;
    let packed = empty_dir(project.target.join("wheels/with-programs"))?;
    pack(progress, &tools, &tree, &packed)?;
    Ok(packed.join(wheel.file_name().context("the wheel has a name")?))
}

/// Installs the wheel into a new virtual environment, and runs the tests and the type checker there.
fn test(project: &Project, progress: &mut Progress, wheel: &Path, frameworks: Frameworks) -> Result<()> {
    let tests = empty_dir(project.target.join("python-tests"))?;
    let copied = tests.join("tests");
    fs::create_dir(&copied)?;
    for entry in fs::read_dir(project.root.join("python-bindings/tests"))? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("py")) {
            fs::copy(&path, copied.join(path.file_name().unwrap_or_default()))?;
        }
    }
    copy_tree(&project.root.join("examples/python"), &tests.join("examples"))?;
    for page in docs::PYTHON_PAGES {
        let from = project.root.join(page);
        fs::copy(&from, copied.join(from.file_name().unwrap_or_default()))?;
    }
    let python = venv(project, progress, "python-venv", &TEST_PACKAGES)?;
    install(progress, &python, wheel)?;
    let source = tests.join("source");
    copy_tree(&project.root.join("python-bindings/python"), &source)?;
    types::check_package(progress, &python, &tests)?;
    let mut pytest = Command::new(python.join("python"));
    pytest
        .args(["-X", "dev", "-W", "error", "-m", "pytest", "-q", REASONS, "--timeout=300", "tests"])
        .current_dir(&tests);
    progress.run_tests("tests of the Python package", pytest, RETRY)?;
    test_deepagents(project, progress, wheel, &tests)?;
    test_frameworks(project, progress, wheel, &tests, frameworks)
}

/// Tests the adapter of each framework in a separate environment, because their packages exclude each other's versions.
fn test_frameworks(
    project: &Project,
    progress: &mut Progress,
    wheel: &Path,
    tests: &Path,
    chosen: Frameworks,
) -> Result<()> {
    let mut frameworks: Vec<PathBuf> = fs::read_dir(project.root.join("python-bindings/tests/frameworks"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    frameworks.sort();
    for from in frameworks.iter().filter(|path| path.join("requirements.txt").is_file()) {
        let name = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if chosen == Frameworks::Quick && !QUICK_FRAMEWORKS.contains(&name.as_str()) {
            progress.print(&format!("{name}: tested by `{RETRY}`, because its packages take minutes to install"));
            continue;
        }
        let python = framework_venv(project, progress, &format!("python-framework-{name}"), from, wheel)?;
        let dir = tests.join("frameworks").join(&name);
        copy_tree(from, &dir)?;
        let mut pytest = Command::new(python.join("python"));
        pytest.args(["-m", "pytest", "-q", REASONS]).current_dir(&dir).env("TIDEBOX_EXAMPLES", tests.join("examples"));
        progress.run_tests(&format!("tests of {name} in the Python package"), pytest, RETRY)?;
        types::check_adapter(progress, &project.target.join("python-venv"), &python, tests, &name)?;
        // The use of Deep Agents Code is a configuration file.
        if name != "deepagents_code" {
            run_examples(project, progress, &python, &name)?;
        }
    }
    Ok(())
}

/// Creates a virtual environment with the packages of `requirements.txt` and the wheel.
fn framework_venv(
    project: &Project,
    progress: &mut Progress,
    name: &str,
    tests: &Path,
    wheel: &Path,
) -> Result<PathBuf> {
    let wanted = fs::read_to_string(tests.join("requirements.txt"))?;
    let packages: Vec<&str> = wanted.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let python = venv(project, progress, name, &packages)?;
    install(progress, &python, wheel)?;
    Ok(python)
}

/// Runs the examples of the page about frameworks that use the adapter `name`.
fn run_examples(project: &Project, progress: &mut Progress, python: &Path, name: &str) -> Result<()> {
    let mut run = Command::new(python.join("python"));
    run.arg(project.root.join("python-bindings/tests/frameworks/run_examples.py"));
    run.arg(project.root.join("docs/python-frameworks.md")).arg(name).current_dir(&project.target);
    progress.run(&format!("examples of {name}"), run, RETRY)
}

/// Runs the standard tests of Deep Agents, and an agent with a scripted model, over the adapter of the package.
fn test_deepagents(project: &Project, progress: &mut Progress, wheel: &Path, tests: &Path) -> Result<()> {
    let from = project.root.join("tests/deepagents/python");
    let python = framework_venv(project, progress, "python-deepagents", &from, wheel)?;
    let dir = tests.join("deepagents");
    copy_tree(&from, &dir)?;
    let mut pytest = Command::new(python.join("python"));
    pytest.args(["-m", "pytest", REASONS]).current_dir(&dir).env_remove("TIDEBOX");
    progress.run_tests("standard tests of Deep Agents in the Python package", pytest, RETRY)?;
    types::check_adapter(progress, &project.target.join("python-venv"), &python, tests, "deepagents")?;
    run_examples(project, progress, &python, "deepagents")?;
    let mut example = Command::new(python.join("python"));
    example.arg(project.root.join("examples/python/deep_agent.py")).current_dir(&dir);
    progress.run("the example of Deep Agents", example, RETRY)
}

fn install(progress: &mut Progress, python: &Path, wheel: &Path) -> Result<()> {
    let mut install = Command::new(python.join("python"));
    install.args(["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]).arg(wheel);
    progress.run("install the wheel", install, RETRY)
}

/// Creates a virtual environment with packages, unless it has them, and returns its directory of programs.
pub(crate) fn venv(project: &Project, progress: &mut Progress, name: &str, packages: &[&str]) -> Result<PathBuf> {
    let dir = project.target.join(name);
    let bin = dir.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let stamp = dir.join("packages.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == packages.join("\n")) {
        return Ok(bin);
    }
    let mut create = Command::new("python3");
    create.args(["-m", "venv", "--clear"]).arg(&dir);
    progress.run(&format!("create the environment {name}"), create, RETRY)?;
    let mut install = Command::new(bin.join("python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
    progress.run(&format!("install {}", packages.join(" ")), install, RETRY)?;
    fs::write(&stamp, packages.join("\n"))?;
    Ok(bin)
}
