"""Completes the tree of the wheel `tidebox-python`: arguments are the tree, which has the wheels of the pack, and the version."""

import email
import pathlib
import sys
import zipfile

tree, version = pathlib.Path(sys.argv[1]), sys.argv[2]
package, info = tree / "tidebox_python", tree / f"tidebox_python-{version}.dist-info"

metadata = f"""\
Metadata-Version: 2.4
Name: tidebox-python
Version: {version}
Summary: The files of Tidebox's pack python, for the extra tidebox[python]
Requires-Python: >=3.10
License-File: THIRD-PARTY-NOTICES
Description-Content-Type: text/markdown

CPython for WebAssembly with numpy, pandas and others, and pytest. Install it by `pip install "tidebox[python]"`.

The wheels in this package are unchanged files of their projects. Tidebox verifies them by their SHA-256.

"""
notices = "The wheels in this package are unchanged. Each has a licence of its own.\n"
for path in sorted(package.glob("*.whl")):
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.split("/")[0].endswith(".dist-info")]
        about = email.message_from_bytes(archive.read(next(name for name in names if name.endswith("/METADATA"))))
        licence = about["License-Expression"] or about["License"] or "see below"
        texts = [name for name in names if "licen" in name.lower() or name.split("/")[-1] in ("AUTHORS", "COPYING", "NOTICE")]
        if not texts:
            sys.exit(f"{path.name} has no file with its licence")
        notices += f"\n{'=' * 80}\n{about['Name']} {about['Version']}: {licence.splitlines()[0]}\n"
        metadata += f"- {about['Name']} {about['Version']}\n"
        for name in texts:
            notices += f"\n--- {name}\n\n{archive.read(name).decode(errors='replace')}\n"
info.mkdir()
(info / "METADATA").write_text(metadata)
(info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
(info / "licenses").mkdir()
(info / "licenses/THIRD-PARTY-NOTICES").write_text(notices)
(package / "__init__.py").write_text('"""The wheels of the pack `python`. The package `tidebox` reads them."""\n')
