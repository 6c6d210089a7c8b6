//! A folder to work in, and the binary to run there.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// A folder of its own for each test. Commands run in it, so that messages name short paths.
pub(crate) struct Folder {
    folder: TempDir,
}

/// What a run of the binary came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().expect("a folder for a test") }
    }

    /// A folder with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("a file in the folder of a test");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names of all files.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder of a test");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("an entry").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    fn command(&self, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evergraph"));
        command.current_dir(self.folder.path()).args(words).stdin(Stdio::null());
        command
    }

    /// Runs the binary with the words of a line.
    pub(crate) fn run(&self, line: &str) -> Ran {
        self.run_words(line.split_whitespace())
    }

    pub(crate) fn run_words(&self, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
        ran(self.command(words).output().expect("the binary runs"))
    }

    /// As [`Folder::run`], with a variable of the environment that names a path in the folder.
    pub(crate) fn run_with(&self, line: &str, variable: &str, name: &str) -> Ran {
        let mut command = self.command(line.split_whitespace());
        ran(command.env(variable, self.path(name)).output().expect("the program starts"))
    }

    /// Starts the binary and does not wait for it.
    pub(crate) fn start(&self, line: &str) -> Child {
        let mut command = self.command(line.split_whitespace());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary starts")
    }

    /// Runs a line that must succeed without a word on standard error; its standard output.
    pub(crate) fn output(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{line}\n{}", ran.stdout);
        ran.stdout
    }

    /// Runs a line that must fail with one line, which holds all of `parts`.
    pub(crate) fn fails(&self, line: &str, parts: &[&str]) {
        let ran = self.run(line);
        let one_line = ran.stderr.lines().count() == 1 && ran.stderr.starts_with("error: ");
        assert!(ran.code == Some(1) && one_line && ran.stdout.is_empty(), "{line}: {ran:?}");
        for part in parts {
            assert!(ran.stderr.contains(part), "{line}: `{part}` is not in: {}", ran.stderr);
        }
    }

    /// Runs a line that must be refused as wrong usage, with a sentence that holds all of `parts`.
    pub(crate) fn misused(&self, line: &str, parts: &[&str]) {
        let ran = self.run(line);
        let told = ran.stderr.starts_with("error: ");
        assert!(ran.code == Some(2) && told && ran.stdout.is_empty(), "{line}: {ran:?}");
        for part in parts {
            assert!(ran.stderr.contains(part), "{line}: `{part}` is not in: {}", ran.stderr);
        }
    }
}

pub(crate) fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("the binary writes UTF-8");
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The folder of reference data that `EVERGRAPH_DATA` names or that is beside the checkout, if
/// there is one.
pub(crate) fn data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("EVERGRAPH_DATA").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    #[expect(clippy::print_stdout, reason = "a skipped test must say so")]
    {
        println!("skipped: there is no reference data at {}", folder.display());
    }
    None
}

/// A directed graph of five vertices, one of them unreached from 1, with weights.
pub(crate) const SMALL: &str = "1 2 0.5\n1 3 2\n2 3 0.25\n3 4 1\n5 1 4\n";
