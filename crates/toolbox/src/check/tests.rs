//! Is the registry whole?

use super::*;
use std::collections::BTreeSet;

#[test]
fn every_probe_has_a_family_an_id_of_its_own_and_a_section() {
    let mut ids = BTreeSet::new();
    for probe in probes() {
        assert!(ids.insert(probe.id), "{} appears twice", probe.id);
        assert!(
            FAMILIES.iter().any(|(family, _)| *family == probe.family()),
            "{}",
            probe.id
        );
        assert!(
            probe.sections.iter().any(|section| !section.is_empty()),
            "{} is in no era",
            probe.id
        );
        let texts = [probe.title, probe.says, probe.help];
        assert!(
            texts
                .iter()
                .all(|text| !text.is_empty() && !text.ends_with('.')),
            "{}",
            probe.id
        );
    }
}
