//! Why a commit was refused, in the user's words: with keys in place of ids.

use evergraph_graph::VertexId;

use super::read_set::ReadList;
use crate::database::Inner;
use crate::engine::fat_tree::{Read, Refusal, Stale};
use crate::error::{CommitError, Error, Subject};

/// Counts a refusal and gives its error. Whoever was refused still keeps ids from losing their
/// keys.
#[cold]
pub(super) fn refuse(db: &Inner, refusal: Refusal, reads: Option<&ReadList>) -> CommitError {
    db.count_refusal(refusal);
    let key = |v: VertexId| db.key_of(v);
    let edge = |source, target| Subject::Edge(key(source), key(target));
    let (operation, error) = match refusal {
        Refusal::UnknownVertex { vertex, operation } => {
            (operation, Error::UnknownVertex { key: key(vertex) })
        }
        Refusal::DuplicateVertex { vertex, operation } => {
            (operation, Error::DuplicateVertex { key: key(vertex) })
        }
        Refusal::VertexConflict { vertex, operation } => {
            (operation, Error::Conflict { subject: Subject::Vertex(key(vertex)) })
        }
        Refusal::DuplicateEdge { source, target, operation } => {
            let (source_key, target_key) = (key(source), key(target));
            (operation, Error::DuplicateEdge { source_key, target_key })
        }
        Refusal::MissingEdge { source, target, operation } => {
            let (source_key, target_key) = (key(source), key(target));
            (operation, Error::MissingEdge { source_key, target_key })
        }
        Refusal::EdgeConflict { source, target, operation } => {
            (operation, Error::Conflict { subject: edge(source, target) })
        }
        Refusal::Stale(stale) => {
            let subject = match stale {
                Stale::Found(Read::Vertex(v)) => Subject::Vertex(key(v)),
                Stale::Found(Read::Edge(source, target)) => edge(source, target),
                Stale::Found(Read::List(_, v)) => Subject::Neighbours(key(v)),
                Stale::Key(number) => {
                    let reads = reads.expect("only what was read can be stale");
                    Subject::Vertex(reads.key(number).clone())
                }
                Stale::Vertices => Subject::Vertices,
                Stale::Edges => Subject::Edges,
            };
            return CommitError { operation: None, error: Error::Conflict { subject } };
        }
        Refusal::Log(stopped) => return db.log_stopped(stopped),
        Refusal::MemoryLimit { limit, used } => {
            return CommitError { operation: None, error: Error::MemoryLimit { limit, used } };
        }
    };
    CommitError { operation: Some(operation), error }
}

/// The same for changes that are not those of a transaction.
pub(crate) fn refused(db: &Inner, refusal: Refusal) -> Error {
    refuse(db, refusal, None).error
}
