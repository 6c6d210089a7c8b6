//! Evergraph: a graph store for graphs that never stop changing.
#![forbid(unsafe_code)]
