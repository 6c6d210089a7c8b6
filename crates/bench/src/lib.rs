//! What `evergraph bench` measures.
#![forbid(unsafe_code)]
