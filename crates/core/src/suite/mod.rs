//! Text becomes a suite: typed, every block parsed by its gate, every target known.

pub(crate) mod read;
pub(crate) mod variables;

pub use variables::Text;
