//! Does any input break the import of runs of AgentDojo?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_agentdojo(data));
