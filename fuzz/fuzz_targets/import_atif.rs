//! Does any input break the import of ATIF trajectories?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_atif(data));
