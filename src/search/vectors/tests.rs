use std::fs;

use proptest::prelude::*;

use super::*;

fn spec(dimension: usize) -> Spec {
    Spec {
        model: "test".to_owned(),
        dimension,
    }
}
