//! Does the comparison keep its promise on pairs with known truth?

use super::*;

#[test]
fn a_drift_without_a_shift_is_found_in_at_most_a_twentieth_of_pairs_and_a_real_one_in_most() {
    for size in [(1, 10), (10, 3), (20, 1)] {
        let found = drifts(200, size, 0.0);
        assert!(found <= 10, "{found} of 200 pairs of {size:?}");
    }
    let found = drifts(40, (10, 10), 0.4);
    assert!(found >= 36, "{found} of 40");
}
