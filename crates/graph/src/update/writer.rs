//! Writing an update log.

use std::io::Write;
use std::path::Path;

use super::Update;
use crate::edges::EdgeList;
use crate::id::VertexId;
use crate::key::KeyRef;
use crate::write::text::Text;
use crate::write::{Encoder, WriteError};

/// Writes updates, a line each.
pub struct UpdateWriter<W: Write> {
    text: Text<Encoder<W>>,
}

impl<W: Write> UpdateWriter<W> {
    /// A log that goes to `out`, compressed as `name` says.
    pub fn new(out: W, name: &Path) -> Result<Self, WriteError> {
        Ok(Self { text: Text::new(Encoder::new(out, name)?) })
    }

    /// Writes one update.
    pub fn write(&mut self, update: Update<KeyRef<'_>>) -> Result<(), WriteError> {
        match update {
            Update::AddEdge { from, to, weight } => {
                self.words("a", [from, to])?;
                if let Some(weight) = weight {
                    self.weight(weight);
                }
            }
            Update::DeleteEdge { from, to } => self.words("d", [from, to])?,
            Update::SetWeight { from, to, weight } => {
                self.words("u", [from, to])?;
                self.weight(weight);
            }
            Update::AddVertex(vertex) => self.words("av", [vertex])?,
            Update::DeleteVertex(vertex) => self.words("dv", [vertex])?,
        }
        Ok(self.text.end_line()?)
    }

    /// Writes a workload over the vertices of `list`: first all vertices, those without edges too,
    /// then the updates by the keys of their vertices.
    pub fn write_workload(
        &mut self,
        list: &EdgeList,
        updates: impl IntoIterator<Item = Update<VertexId>>,
    ) -> Result<(), WriteError> {
        for key in list.keys.iter() {
            self.write(Update::AddVertex(key))?;
        }
        let key = |v| list.keys.key(v).expect("a workload names vertices of its graph");
        for update in updates {
            self.write(update.map(key))?;
        }
        Ok(())
    }

    /// Ends the log and gives `out` back. Without this the log is cut short.
    pub fn finish(self) -> Result<W, WriteError> {
        Ok(self.text.finish()?.finish()?)
    }

    fn words<const N: usize>(
        &mut self,
        verb: &str,
        keys: [KeyRef<'_>; N],
    ) -> Result<(), WriteError> {
        verb.bytes().for_each(|byte| self.text.byte(byte));
        for key in keys {
            self.text.byte(b' ');
            self.text.key(key)?;
        }
        Ok(())
    }

    fn weight(&mut self, weight: f64) {
        self.text.byte(b' ');
        self.text.weight(weight);
    }
}
