//! What is every gate written with?

pub(super) use super::facts::AgentFacts;
pub(super) use super::gate::{Documentation, Gate, GateKind, GateTrait, RunFailsBy};
pub(super) use super::outlook::Outlook;
pub(super) use super::recording::Recording;
pub(super) use super::scores::{RunScores, Scores};
pub(super) use super::shown::Shown;
pub(super) use super::target::{Target, Unit};
pub(super) use crate::problem::{Problem, Span};
pub(super) use crate::report::{AssertionDiff, Evidence, Finding, Number};
pub(super) use crate::suite::read::{Block, Field};
pub(super) use crate::trace::{Call, CallResult, CatalogueTool, Run, Tool, Trace};
