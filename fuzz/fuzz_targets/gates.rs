//! Does any text in a run make a gate or a report panic?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::gates(data));
