//! How a command ends when it does not end well: the exit code, and one line that says why.

use std::io;
use std::path::Path;

use evergraph::graph::generate::GenerateError;
use evergraph::graph::read::ReadError;
use evergraph::graph::source::SourceError;
use evergraph::graph::write::WriteError;
use evergraph::{Error, ReplayError, StoreError};

/// The work failed.
pub(crate) const FAILED_EXIT: u8 = 1;
/// Ctrl-C ended the work: what shells report for a program that a signal 2 ended.
pub(crate) const INTERRUPTED_EXIT: u8 = 130;

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments do not go together.
    Usage(String),
    /// The work failed.
    Failed(String),
    /// The work was stopped by Ctrl-C.
    Interrupted,
    /// Nobody reads the results any more: no failure, but there is nothing left to do.
    PipeClosed,
}

impl Failure {
    /// Writing the results failed.
    pub(crate) fn of_stdout(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::PipeClosed,
            _ => Self::Failed(format!("cannot write the results: {error}")),
        }
    }

    /// Writing a file failed.
    pub(crate) fn of_file(path: &Path, error: &io::Error) -> Self {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "the folder does not exist".to_owned(),
            io::ErrorKind::PermissionDenied => "no permission to write here".to_owned(),
            io::ErrorKind::IsADirectory => "this is a folder; name a file in it".to_owned(),
            _ => error.to_string(),
        };
        Self::Failed(format!("{}: cannot write: {reason}", path.display()))
    }

    /// The program cannot find its own file to start it again.
    pub(crate) fn of_this_program(error: &io::Error) -> Self {
        Self::Failed(format!("cannot find the file of this program: {error}"))
    }

    fn told(message: &impl ToString, hint: Option<&str>) -> Self {
        let message = message.to_string();
        Self::Failed(match hint {
            Some(hint) => format!("{message} ({hint})"),
            None => message,
        })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Interrupted => Self::Interrupted,
            Error::Store(error) => error.into(),
            Error::Read(error) => error.into(),
            Error::Source(error) => error.into(),
            Error::Replay(error) => error.into(),
            error => Self::told(&error, None),
        }
    }
}

impl From<evergraph_bench::Error> for Failure {
    fn from(error: evergraph_bench::Error) -> Self {
        match error {
            evergraph_bench::Error::Interrupted => Self::Interrupted,
            evergraph_bench::Error::Output(error) => Self::of_stdout(&error),
            evergraph_bench::Error::Write { path, source } => Self::of_file(&path, &source),
            evergraph_bench::Error::Source(error) => error.into(),
            evergraph_bench::Error::Database(error) => error.into(),
            error => Self::told(&error, None),
        }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Read(error) => error.into(),
            SourceError::Generate(error) => error.into(),
            error => Self::told(&error, None),
        }
    }
}

impl From<GenerateError> for Failure {
    fn from(error: GenerateError) -> Self {
        match error {
            GenerateError::Cancelled => Self::Interrupted,
            error => Self::told(&error, None),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Cancelled => Self::Interrupted,
            ReadError::OptionRefused { .. } => Self::Usage(error.to_string()),
            error => Self::told(&error, read_hint(&error)),
        }
    }
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Self {
        let hint = match &error {
            ReplayError::Read { error: ReadError::Cancelled, .. } => return Self::Interrupted,
            ReplayError::Read { error, .. } => read_hint(error),
            ReplayError::Refused { error, .. } => store_hint(error),
            _ => None,
        };
        Self::told(&error, hint)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        if error == StoreError::Cancelled {
            return Self::Interrupted;
        }
        Self::told(&error, store_hint(&error))
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::told(&error, None)
    }
}

/// The option that the advice of an error amounts to.
fn read_hint(error: &ReadError) -> Option<&'static str> {
    Some(match error {
        ReadError::DuplicateEdge { .. } | ReadError::DuplicateVertex { .. } => {
            "--duplicates ignore"
        }
        ReadError::SelfLoop { .. } => "--self-loops allow, --self-loops drop",
        ReadError::MissingWeight { .. } | ReadError::NoWeights { .. } => "leave out --weighted",
        ReadError::UnknownFormat { .. } => "--format",
        ReadError::KeyNotANumber { .. } => "--keys text",
        _ => return None,
    })
}

/// The option that the advice of an error amounts to.
fn store_hint(error: &StoreError) -> Option<&'static str> {
    Some(match error {
        StoreError::NotWeighted => "--weighted",
        StoreError::NotFound { .. } => "evergraph load FILE --into PATH",
        StoreError::SelfLoop { .. } => "--self-loops allow",
        _ => return None,
    })
}
