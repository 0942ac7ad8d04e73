//! A package with tests, created and tested in the sandbox.

use super::{run, sandbox};

const PACKAGE: &str = r#"
mkdir -p proj/shapes proj/tests && cd proj
cat > pyproject.toml <<'T'
[project]
name = "shapes"
version = "0.1"
T
cat > shapes/__init__.py <<'T'
from math import pi

def area(radius):
    if radius < 0:
        raise ValueError("no such circle")
    return pi * radius ** 2
T
cat > tests/test_shapes.py <<'T'
import pytest
from shapes import area

@pytest.mark.parametrize("radius, expected", [(0, 0), (1, 3.14159), (2, 12.56637)])
def test_area(radius, expected):
    assert area(radius) == pytest.approx(expected, abs=1e-4)

def test_negative():
    with pytest.raises(ValueError, match="no such"):
        area(-1)

def test_writes(tmp_path, capsys):
    (tmp_path / "a").write_text("b")
    print((tmp_path / "a").read_text())
    assert capsys.readouterr().out == "b\n"
T
"#;

#[tokio::test]
async fn a_package_is_created_and_its_tests_pass() {
    let Some(sandbox) = sandbox() else { return };
    let response = run(&sandbox, &format!("{PACKAGE} python3 -m pytest -q")).await;
    let out = String::from_utf8_lossy(&response.stdout).into_owned();
    assert_eq!(response.exit_code, Some(0), "{out}{}", String::from_utf8_lossy(&response.stderr));
    assert!(out.contains("5 passed"), "{out}");
}

#[tokio::test]
async fn a_failing_test_is_shown_with_its_values() {
    let Some(sandbox) = sandbox() else { return };
    let script = "printf 'def test_sum():\\n    a = [1, 2]\\n    assert sum(a) == 4\\n' > test_a.py; python3 -m pytest";
    let response = run(&sandbox, script).await;
    let out = String::from_utf8_lossy(&response.stdout).into_owned();
    assert_eq!(response.exit_code, Some(1), "{out}");
    assert!(out.contains("assert 3 == 4") && out.contains("1 failed"), "{out}");
}
