//! Does any input break the import of OpenAI responses?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_openai_responses(data));
