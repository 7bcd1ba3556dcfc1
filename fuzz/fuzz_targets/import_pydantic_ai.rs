//! Does any input break the import of messages of Pydantic AI?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_pydantic_ai(data));
