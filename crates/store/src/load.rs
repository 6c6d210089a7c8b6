//! A new database in memory that begins with a whole graph: its lists are made at once, in place of
//! by transactions.

use evergraph_graph::{EdgeList, Key, KeyKind, KeyRef};

use crate::options::{Options, Result, SelfLoops, Weights, kind_in_words};
use crate::{Database, Error};

impl Options {
    /// Makes a database in memory that holds a graph at its first version, on rayon's current thread
    /// pool. Edges have a direction if those of the list have one; where the list has no weights,
    /// they weigh 1.
    ///
    /// ```
    /// use evergraph_graph::{EdgeList, KeyTable};
    /// use evergraph_store::{Database, Version};
    /// let (keys, edges) = (KeyTable::dense(3), vec![(0, 1), (1, 2)]);
    /// let list = EdgeList { directed: false, keys, edges, weights: None };
    /// let db = Database::options().undirected().number_keys().load(&list)?;
    /// assert!(db.snapshot()?.has_edge(2u64, 1u64)?);
    /// assert_eq!(db.version(), Version(1));
    /// # Ok::<(), evergraph_store::Error>(())
    /// ```
    ///
    /// # Errors
    /// What a transaction that adds the same would be refused for.
    pub fn load(self, list: &EdgeList) -> Result<Database> {
        let weights = list.weights.as_deref().unwrap_or(&[]);
        let key = |v: u32| list.keys.key(v).map_or(Key::Number(v.into()), KeyRef::to_owned);
        let fits = match list.keys.kind() {
            KeyKind::Dense => self.keys != KeyKind::Text,
            kind => self.keys == kind,
        };
        if !fits {
            return Err(Error::WrongKeyKind { key: key(0), expected: kind_in_words(self.keys) });
        }
        if self.weights == Weights::None && !weights.is_empty() {
            return Err(Error::NotWeighted);
        }
        let named = |at: usize| (key(list.edges[at].0), key(list.edges[at].1));
        if let Some(at) = weights.iter().position(|weight| weight.is_nan()) {
            let (source_key, target_key) = named(at);
            return Err(Error::InvalidWeight { source_key, target_key });
        }
        let own = |&(u, v): &(u32, u32)| u == v;
        if self.self_loops == SelfLoops::Forbidden
            && let Some(at) = list.edges.iter().position(own)
        {
            return Err(Error::SelfLoop { key: named(at).0 });
        }
        let options = if list.directed { self.directed() } else { self.undirected() };
        match options.keys {
            KeyKind::Dense => Database::with_list(options.dense_keys(list.keys.len()), list),
            _ => Database::with_list(options, list),
        }
    }
}
