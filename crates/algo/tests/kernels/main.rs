//! Every kernel against its verifier, on graphs that are large, odd, or cut into pieces.

mod random;
mod reference;
mod shapes;
mod support;
mod threads;
