//! `pip` and virtual environments.

use tidebox::{PipExt, SandboxBackend, WheelSource};

use super::{fails, prints, ready, run, sandbox};

#[tokio::test]
async fn installed_packages_need_no_download() {
    let Some(sandbox) = sandbox() else { return };
    let response = run(&sandbox, "pip install numpy 'pandas>=1' && python3 -m pip install -q pytest; echo $?").await;
    let text = response.stdout_text().into_owned();
    assert!(text.starts_with("Requirement already satisfied: numpy in ") && text.ends_with("\n0\n"), "{text}");
    prints(&sandbox, "printf '# ours\\nnumpy\\npytest>=7  # tests\\n' > r.txt; pip install -q -r r.txt", "").await;
    prints(&sandbox, "pip freeze | grep -c '^numpy=='; pip list | head -1 | cut -c1-7", "1\nPackage\n").await;
}

#[tokio::test]
async fn downloads_are_denied_with_a_hint_by_default() {
    let Some(sandbox) = sandbox() else { return };
    for pip in ["pip", "python3 -m pip"] {
        fails(&sandbox, &format!("{pip} install nosuch-package"), 1, "tidebox exec --pip").await;
    }
    fails(&sandbox, "pip install 'numpy<1'", 1, "numpy<1: not installed, and this sandbox may not download packages")
        .await;
    fails(&sandbox, "pip install", 1, "You must give at least one requirement to install").await;
    fails(&sandbox, "pip install ./here", 1, "only packages of the index can be installed").await;
    fails(&sandbox, "pip install -r nosuch.txt", 1, "Could not open requirements file").await;
}

/// A wheel with a module, a command and a dependency, built by the sandbox's Python.
const MAKE: &str = r#"
cat > make.py <<'P'
import zipfile

def wheel(name, files, more=""):
    with zipfile.ZipFile(f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        info = f"{name}-1.0.dist-info/"
        archive.writestr(info + "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{more}")
        archive.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(info + "entry_points.txt", f"[console_scripts]\n{name}-says = {name}:main\n")
        archive.writestr(info + "RECORD", "")

wheel("greeting", {"greeting.py": "import tone\n\ndef main():\n    print(tone.WORD)\n"}, "Requires-Dist: tone\n")
wheel("tone", {"tone/__init__.py": "WORD = 'hello'\n", "tone/data.txt": "x"})
P
python3 make.py"#;

#[tokio::test]
async fn allowed_packages_and_dependencies_are_downloaded() {
    if !ready() {
        return;
    }
    let maker = sandbox().expect("python is installed");
    assert_eq!(run(&maker, MAKE).await.exit_code, Some(0));
    let dir = std::env::temp_dir().join(format!("tidebox-wheels-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory can be created");
    for name in ["greeting", "tone"] {
        let file = format!("{name}-1.0-py3-none-any.whl");
        let found = maker.download_files(vec![format!("/workspace/{file}").into_bytes()]).await.expect("it exists");
        let bytes = found.into_iter().next().expect("a response").result.expect("the wheel exists");
        std::fs::write(dir.join(file), bytes).expect("it can be written");
    }
    let builder = tidebox::sandbox().expect("the engine starts").pip(WheelSource::Directory(dir.clone()));
    let sandbox = builder.build().expect("the sandbox is built");
    prints(&sandbox, "pip install greeting", "Successfully installed greeting-1.0 tone-1.0\n").await;
    prints(&sandbox, "cd /tmp; python3 -c 'import greeting; greeting.main()'", "hello\n").await;
    prints(&sandbox, "~/.local/bin/greeting-says; pip freeze | grep greeting", "hello\ngreeting==1.0\n").await;
    prints(&sandbox, "pip install -q greeting; ls /tmp", "").await;
    fails(&sandbox, "pip install nosuch-package", 1, "ERROR: ").await;
    fails(&sandbox, "tidebox-packages /tmp --index-url=x", 1, "is not a package name").await;
    fails(&sandbox, "tidebox-packages /tmp", 1, "(1 to 100 packages)").await;
    let inside = "python3 -m venv env; . env/bin/activate; pip install -q tone; \
        python3 -c 'import tone; print(tone.__file__)'; tone-says 2>&1 | tail -1 | cut -c1-11";
    prints(&sandbox, inside, "/workspace/env/lib/python3.15/site-packages/tone/__init__.py\nImportError\n").await;
    std::fs::remove_dir_all(&dir).expect("the directory can be removed");
}

#[tokio::test]
async fn a_virtual_environment_has_separate_packages() {
    let Some(sandbox) = sandbox() else { return };
    let made = "python3 -m venv .venv && echo 'x = 5' > .venv/lib/python3.15/site-packages/mine.py; ls .venv";
    prints(&sandbox, made, "bin\ninclude\nlib\npyvenv.cfg\n").await;
    fails(&sandbox, "python3 -c 'import mine'", 1, "ModuleNotFoundError: No module named 'mine'").await;
    let program = "import mine, numpy, sys; print(mine.x, sys.prefix, sys.executable)";
    let expected = "5 /workspace/.venv /workspace/.venv/bin/python3\n";
    prints(&sandbox, &format!(".venv/bin/python3 -c '{program}'"), expected).await;
    prints(&sandbox, &format!("source .venv/bin/activate; cd /; python3 -c '{program}'"), expected).await;
    let left =
        "source .venv/bin/activate; deactivate; echo \"${VIRTUAL_ENV-none}\"; python3 -c 'import mine' 2>&1 | tail -1";
    prints(&sandbox, left, "none\nModuleNotFoundError: No module named 'mine'\n").await;
}
