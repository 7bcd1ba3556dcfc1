//! Does any input break the import of Gemini contents?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_gemini(data));
