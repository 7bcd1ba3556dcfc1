//! The mock server as its clients see it: on a pipe and over HTTP, in both eras, healthy and faulty.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on fails"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "`json!` makes a value where it is passed"
)]

mod faults;
mod http;
mod limits;
mod peer;
mod pipe;
mod reload;
mod support;
mod tape;
