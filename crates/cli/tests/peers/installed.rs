//! Where the peers are.

use std::path::{Path, PathBuf};

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// A program of target/peers.
pub(crate) fn peer(program: &str) -> String {
    let place = repository().join("target/peers").join(program);
    assert!(
        place.exists(),
        "target/peers/{program} is missing: run tests/peers/install"
    );
    place.display().to_string()
}

/// A program of the Node packages.
pub(crate) fn node(program: &str) -> String {
    peer(&format!("node_modules/.bin/{program}"))
}

/// A `PATH` that finds the peers' own Node first.
pub(crate) fn path() -> (String, String) {
    let bin = PathBuf::from(node("node"))
        .parent()
        .unwrap()
        .display()
        .to_string();
    (
        "PATH".to_owned(),
        format!("{bin}:{}", std::env::var("PATH").unwrap_or_default()),
    )
}
