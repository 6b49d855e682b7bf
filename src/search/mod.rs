//! Search over what was said. Unit: one index. What to search for and what becomes of the hits is left to
//! memory.

pub mod vectors;
