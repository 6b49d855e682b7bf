#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cogtrix_fuzz::markdown(input));
