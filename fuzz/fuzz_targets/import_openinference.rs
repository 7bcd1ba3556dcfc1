//! Does any input break the import of OpenInference spans?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_openinference(data));
