//! Where the workspace is, and how other programs are run in it.

use std::error::Error;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// What every step returns: there is no caller that tells one error from another.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// The checkout that the command was started for.
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Finds the checkout through the variable that `cargo run` sets, so that one build folder may
    /// serve several checkouts.
    pub(crate) fn find() -> Outcome<Self> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .ok_or("CARGO_MANIFEST_DIR is not set; start this as `cargo xtask`")?;
        let root = Path::new(&manifest).parent().ok_or("xtask has no parent folder")?;
        Ok(Self { root: root.to_path_buf() })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where cargo builds.
    pub(crate) fn target(&self) -> PathBuf {
        self.root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
    }

    /// A `cargo` of the toolchain that runs this, started at the root.
    pub(crate) fn cargo<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = self.command(cargo);
        command.args(args);
        command
    }

    /// Any other program, started at the root.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        // `cargo run` sets these for xtask; a build below must not see them, or it would differ
        // from the same build started by hand and be made again.
        for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_VERSION"] {
            command.env_remove(name);
        }
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }
}

/// Runs a program that speaks to the terminal itself; `true` when it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> Outcome<bool> {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    Ok(status.success())
}

/// Runs a program for what it prints; its errors go to the terminal.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| not_started(command, &error))?;
    if !output.status.success() {
        return Err(format!("{} failed: {}", describe(command), output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a program and hands over each line as it is printed, errors and output in one order.
pub(crate) fn each_line(mut command: Command, mut take: impl FnMut(&str)) -> Outcome<ExitStatus> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().map_err(|error| not_started(&command, &error))?;
    // The command holds the writing end: the pipe ends when the last process lets go of it.
    drop(command);
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        take(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']));
        line.clear();
    }
    Ok(child.wait()?)
}

fn not_started(command: &Command, error: &io::Error) -> String {
    format!("{} did not start: {error}", describe(command))
}

fn describe(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|arg| arg.to_string_lossy()));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_streams_arrive_in_the_order_they_were_written() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; echo three; exit 3"]);
        let mut lines = Vec::new();
        let status = each_line(command, |line| lines.push(line.to_owned())).expect("sh starts");
        assert_eq!(lines, ["one", "two", "three"]);
        assert_eq!(status.code(), Some(3));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = output(&mut Command::new("no-such-program")).expect_err("it is not there");
        assert!(error.to_string().starts_with("no-such-program did not start"), "{error}");
    }
}
