//! Models of the window, for loom.
