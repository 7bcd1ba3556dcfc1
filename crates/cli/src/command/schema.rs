//! `mcptest schema`: for editors and for those who read reports.

use crate::args::Schema;
use crate::output::{self, Failure};

pub(super) fn run(args: &Schema) -> Result<u8, Failure> {
    let text = if args.report {
        mcptest_report::json::SCHEMA.to_owned()
    } else if args.calibration {
        mcptest_report::calibration::SCHEMA.to_owned()
    } else if args.baseline_diff {
        mcptest_report::baseline::SCHEMA.to_owned()
    } else if args.compare {
        mcptest_report::comparison::SCHEMA.to_owned()
    } else if args.manifest {
        format!("{:#}\n", mcptest_mock::manifest::json_schema())
    } else {
        format!(
            "{:#}\n",
            mcptest_core::suite::json_schema(mcptest_core::eval::GATES)
        )
    };
    output::own(&text)?;
    Ok(0)
}
