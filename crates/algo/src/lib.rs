//! Graph algorithms, one per file, generic over what they read.
#![forbid(unsafe_code)]
