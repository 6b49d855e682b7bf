//! End-to-end tests: one binary, one file for each capability.

mod layers;
