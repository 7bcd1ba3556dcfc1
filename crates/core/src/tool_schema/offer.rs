//! Which tools of a catalogue does a model see, under which names, with which schemas?

use super::{Fitted, fit, most_tools, wire_names};
use crate::provider::Family;
use crate::suite::ToolSchemas;
use crate::trace::CatalogueTool;
use serde_json::value::RawValue;

/// The tools of a run, each with its findings.
#[derive(Debug, Default)]
pub struct Offer {
    /// The tools that are offered, as their servers list them.
    pub catalogue: Vec<CatalogueTool>,
    /// The schema of each tool, as sent.
    pub fitted: Vec<Fitted>,
    /// The name of each on the wire.
    pub names: Vec<String>,
    /// The omitted tools.
    pub left_out: Vec<LeftOut>,
}

/// A tool that is not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The tool, as `server.tool`.
    pub tool: String,
    /// Why the provider would refuse it.
    pub why: String,
}

impl Offer {
    /// The tools of a catalogue in the form that a model of this family receives.
    pub fn new(catalogue: Vec<CatalogueTool>, family: &Family, how: ToolSchemas) -> Self {
        let mut offer = Self::default();
        let most = most_tools(family).filter(|_| how != ToolSchemas::AsIs);
        for mut tool in catalogue {
            let fitted = fitted(&tool, family, how);
            let sentences: Vec<String> = fitted
                .findings
                .iter()
                .map(|one| one.sentence(family))
                .collect();
            let refused = fitted
                .findings
                .iter()
                .find(|one| how == ToolSchemas::Omit && !one.rule.is_form);
            if let Some(finding) = refused {
                offer.leave_out(&tool, finding.refused(family));
            } else if let Some(most) = most.filter(|most| offer.catalogue.len() >= *most) {
                offer.leave_out(
                    &tool,
                    format!("{} refuses more than {most} tools", family.title),
                );
            } else {
                tool.mended = sentences;
                offer.catalogue.push(tool);
                offer.fitted.push(fitted);
            }
        }
        offer.name_all(family);
        offer
    }

    fn leave_out(&mut self, tool: &CatalogueTool, why: String) {
        self.left_out.push(LeftOut {
            tool: tool.full_name(),
            why,
        });
    }

    fn name_all(&mut self, family: &Family) {
        let pair =
            |tool: &CatalogueTool| (tool.server.clone().unwrap_or_default(), tool.name.clone());
        let pairs: Vec<(String, String)> = self.catalogue.iter().map(pair).collect();
        let borrowed: Vec<(&str, &str)> = pairs
            .iter()
            .map(|(server, tool)| (&**server, &**tool))
            .collect();
        self.names = wire_names(&borrowed);
        for ((tool, (server, own)), name) in self.catalogue.iter_mut().zip(&pairs).zip(&self.names)
        {
            if *name != format!("{server}__{own}") {
                tool.mended.push(format!(
                    "{} refuses its name, so it is offered as `{name}`",
                    family.title
                ));
            }
        }
    }
}

fn fitted(tool: &CatalogueTool, family: &Family, how: ToolSchemas) -> Fitted {
    let any = RawValue::from_string(r#"{"type":"object"}"#.to_owned()).unwrap_or_default();
    let schema = tool
        .input_schema
        .as_ref()
        .map_or(&*any, |schema| schema.text());
    if how == ToolSchemas::AsIs {
        Fitted::untouched(schema)
    } else {
        fit(schema, family)
    }
}
