//! Does any input break the import of an OpenAI chat?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_openai_chat(data));
