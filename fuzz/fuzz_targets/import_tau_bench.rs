//! Does any input break the import of results of tau-bench?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_tau_bench(data));
