// Written by build.mjs from the published schema.

/**
 * passed: everything held. failed: an assertion or a gate did not hold. error: it could not be judged. skipped: it was skipped on purpose.
 */
export type Status = ("passed" | "failed" | "error" | "skipped")
export type Count = number
/**
 * The differences of the values.
 * 
 * Items: One difference.
 */
export type Diff = {
/**
 * The place, as a JSON Pointer into the actual value.
 */
pointer: string
/**
 * The expected value: any JSON value.
 */
expected: {
[k: string]: unknown
}
/**
 * The actual value: any JSON value.
 */
actual: {
[k: string]: unknown
}
/**
 * The side without a value; its null is not a value.
 */
absent?: ("expected" | "actual")
}[]
/**
 * The differences of the values.
 * 
 * Items: One difference.
 */
export type Diff1 = {
/**
 * The place, as a JSON Pointer into the actual value.
 */
pointer: string
/**
 * The expected value: any JSON value.
 */
expected: {
[k: string]: unknown
}
/**
 * The actual value: any JSON value.
 */
actual: {
[k: string]: unknown
}
/**
 * The side without a value; its null is not a value.
 */
absent?: ("expected" | "actual")
}[]
/**
 * The data behind the numbers of a gate, for pictures. It lists at most 50 runs of a gate, failed runs first; `left_out` counts the others. Readers ignore unknown kinds.
 */
export type Evidence = (EvidenceTrajectoryAxes | EvidenceGoldenPath | EvidenceStability | EvidenceReliability | EvidenceDistractors | EvidenceRecovery | EvidenceNarrative | EvidenceToolEdges | EvidenceFaultMatrix | EvidenceTokenEfficiency | EvidenceToolSelection | EvidenceAblate | EvidenceScenario | EvidenceToolQuality)
/**
 * The differences of the values.
 * 
 * Items: One difference.
 */
export type Diff2 = {
/**
 * The place, as a JSON Pointer into the actual value.
 */
pointer: string
/**
 * The expected value: any JSON value.
 */
expected: {
[k: string]: unknown
}
/**
 * The actual value: any JSON value.
 */
actual: {
[k: string]: unknown
}
/**
 * The side without a value; its null is not a value.
 */
absent?: ("expected" | "actual")
}[]

/**
 * The verdict of one invocation with its evidence. Fields may be added without a new schema_version; fields are not removed and do not change their meaning.
 */
export interface McptestReport {
/**
 * The version of this format.
 */
schema_version: 1
summary: Summary
/**
 * One entry per agent and model, in the order of the suites.
 */
tests: Test[]
coverage?: Coverage
leaderboard?: Leaderboard
/**
 * The version of mcptest that judged.
 */
version?: string
/**
 * The command as typed, without options that do not affect judging; absent if a host judged.
 */
command?: string
/**
 * The definitions of the tests' gates and their targets, by the gates' keys.
 */
gates?: {
[k: string]: GateDefinition
}
}
/**
 * The totals.
 */
export interface Summary {
/**
 * All tests.
 */
tests: number
/**
 * Tests in which every assertion and gate held.
 */
passed: number
/**
 * Tests in which an assertion or a gate did not hold.
 */
failed: number
/**
 * Tests that could not be judged.
 */
errors: number
/**
 * Probes of a server among the errors that had no result in time; absent if 0.
 */
not_finished?: number
/**
 * Tests that were skipped on purpose.
 */
skipped: number
/**
 * Recorded runs that were judged.
 */
runs: number
/**
 * Gates that were scored.
 */
gates: number
/**
 * Gates that measured nothing.
 */
not_exercised?: number
/**
 * Passed tests whose server does not follow a recommendation; absent if 0.
 */
warnings?: number
}
/**
 * One agent with one model: its runs and its gates.
 */
export interface Test {
/**
 * 10 hexadecimal digits of a hash of the suite's path, the name, the model and the variant. A test has the same id in every report.
 */
id?: string
/**
 * The agent's name.
 */
name: string
suite: Place
/**
 * The model; null if the agent names none.
 */
model?: (string | null)
/**
 * True if the agent has several models, so that the row is named `name [model]`.
 */
matrix?: boolean
/**
 * The variant, if the agent is judged in several: `4 distractors`.
 */
variant?: string
status: Status
reason?: Reason
/**
 * True if a recording is stale, which `stale: warn` tolerates.
 */
stale?: boolean
/**
 * The expectations of its runs: for each block of the suite a digest, by the block's key.
 */
checks?: {
[k: string]: string
}
/**
 * True if a recording has no fingerprint, so that it was not checked for staleness.
 */
unpinned?: boolean
/**
 * Notes that affect no verdict.
 */
notes?: string[]
/**
 * The findings of models that were asked for advice. They affect no verdict.
 */
advice?: {
/**
 * The block that asked, by its key in the suite.
 */
key: string
/**
 * The run, from 1.
 */
run: number
/**
 * The model that gave it.
 */
model: string
/**
 * The finding, in the model's words.
 */
message: string
}[]
probe?: Probe
/**
 * The servers with their protocols, if the recording has them.
 */
servers?: {
/**
 * Its name in the suite.
 */
name: string
/**
 * The protocol: `legacy` or `modern`.
 */
era: string
/**
 * The protocol revision.
 */
protocol_version: string
}[]
/**
 * The agent's tags.
 */
tags?: string[]
/**
 * The command that judges this test alone.
 */
rerun: string
/**
 * Why it did not pass, in sentences. Only the report in HTML has them.
 */
causes?: Cause[]
/**
 * The lines of the suite around the checks that failed, where a report shows evidence.
 */
excerpts?: Excerpt[]
/**
 * Each run with the assertions of its `expect:`.
 */
runs: Run[]
/**
 * Each gate, over all runs.
 */
gates: Gate[]
}
/**
 * The place of the test in the suite.
 */
export interface Place {
/**
 * The suite file, from the root of its git repository, or else as named on the command line.
 */
file: string
/**
 * The line, from 1.
 */
line: number
}
/**
 * The reason why a row is an error or was skipped, with advice.
 */
export interface Reason {
/**
 * Its kind. More kinds may be added.
 */
kind?: string
/**
 * The problem, in one sentence.
 */
message: string
/**
 * Further details, a line each.
 */
details?: string[]
/**
 * The advice.
 */
help?: string
/**
 * The command that fixes it, if any.
 */
command?: string
}
/**
 * One probe of a server by `mcptest check`, whatever its outcome.
 */
export interface Probe {
/**
 * Its unique id: `ERRORS-unknown-tool`.
 */
id: string
/**
 * The family it belongs to.
 */
family: string
/**
 * The expected behaviour of a server, in a few words.
 */
title: string
/**
 * The sent messages, cut short.
 */
sent: string
/**
 * The received messages, cut short.
 */
came: string
/**
 * The requirement of the specification.
 */
says: string
/**
 * The revision and the section of the requirement.
 */
section: string
/**
 * The deviation from a recommendation, which the specification does not require.
 */
warning?: string
}
/**
 * One thing that keeps a test from passing.
 */
export interface Cause {
/**
 * The gate's key, `expect` for the checks of runs, or the kind of the error: `recording-missing`.
 */
key: string
/**
 * The problem, in one sentence.
 */
message: string
/**
 * The runs that it is about, from 1; missing if it concerns all.
 */
runs?: Count[]
/**
 * The path or the gate's number that does not hold, if it is one.
 */
target?: string
/**
 * More about it: the suite's own words, the reason, and where values differ.
 */
details?: string[]
/**
 * The line of the suite that asks for what did not hold.
 */
suite_line?: number
}
/**
 * Lines of a suite around a check that failed.
 */
export interface Excerpt {
/**
 * The number of its first line, from 1.
 */
first: number
/**
 * The lines.
 */
lines: string[]
}
/**
 * One run and its assertions.
 */
export interface Run {
/**
 * The run, from 1.
 */
index: number
status: Status
/**
 * The gates that fail this run, by their keys. Such a run has failed, even if the gate as a whole passes.
 */
failed_by?: string[]
reason?: Reason
/**
 * The tools called, in order: the first 50 of `calls`.
 */
tool_names?: string[]
/**
 * The file it was read from.
 */
source?: string
/**
 * The id of its trace in the source.
 */
trace_id?: string
/**
 * The line of its file, from 1, if the file has one run per line.
 */
line?: number
/**
 * The reason why it ended, in the recorded word.
 */
stop_reason?: string
/**
 * The number of the model's turns, if recorded.
 */
turns?: number
tokens?: Tokens
/**
 * Its cost, if known.
 */
cost_usd?: number
/**
 * The whole recorded run (see trace.schema.json), if traces are embedded.
 */
trace?: {

}
/**
 * The number of calls that the run made.
 */
calls?: number
/**
 * The recorded duration of the run, or of a tool test's call.
 */
duration_ms?: number
scores?: Numbers
/**
 * Every assertion with its evidence.
 */
expectations: Expectation[]
}
/**
 * Its tokens, if known.
 */
export interface Tokens {
/**
 * Tokens that the model read, including tokens from a cache.
 */
prompt?: number
/**
 * Tokens that the model wrote, including its thoughts.
 */
completion?: number
/**
 * The sum of both.
 */
total?: number
/**
 * Tokens of the prompt that were read from a cache.
 */
cache_read?: number
/**
 * Tokens of the prompt that were written to a cache.
 */
cache_write?: number
/**
 * Tokens written to a cache that keeps them for an hour.
 */
cache_write_1h?: number
/**
 * Tokens of the completion in the model's thoughts.
 */
reasoning?: number
}
/**
 * The numbers that scorers gave it.
 */
export interface Numbers {
[k: string]: number | boolean
}
/**
 * One assertion and its actual value.
 */
export interface Expectation {
/**
 * A path into the run, or a gate's target.
 */
target: string
/**
 * The matcher as written in the suite: any JSON value.
 */
matcher: {
[k: string]: unknown
}
/**
 * True if it held.
 */
passed: boolean
/**
 * The actual value: any JSON value; missing if the target has no value.
 */
actual?: {
[k: string]: unknown
}
diff?: Diff
/**
 * The suite's own words for this failure.
 */
message?: string
/**
 * The reason why it failed, in one sentence.
 */
reason?: string
grade?: Grade
/**
 * The line of the suite that it is written on, if it failed; missing for a default.
 */
suite_line?: number
}
/**
 * The judges' grade, if the matcher asks judges.
 */
export interface Grade {
/**
 * The run, from 1.
 */
run: number
/**
 * The check that asked, by its path in the test: `expect[1]`.
 */
check: string
/**
 * The fingerprint of the question.
 */
fingerprint: string
/**
 * The question, the judges, and the content to judge.
 */
asked: {
/**
 * A digest of the rubric, of the text to compare with, or of a scorer's command.
 */
rubric: string
/**
 * The models that judge.
 */
judges: string[]
/**
 * The number of answers from each judge.
 */
samples: number
/**
 * The version of the words around the rubric.
 */
template: number
/**
 * A digest of the judged content.
 */
evidence: string
/**
 * A digest of each file of a scorer.
 */
files?: {
[k: string]: string
}
}
/**
 * The answers of each judge, one for each sample.
 */
votes?: {
/**
 * The model.
 */
model: string
/**
 * The number of its sample, from 1.
 */
sample: number
/**
 * The score of its answers, from 0 to 1.
 */
score: number
/**
 * Its answer to each criterion or question.
 */
answers?: {
/**
 * The criterion's name, or the question's number in the tree.
 */
name: string
/**
 * From 0 to 1; 1 or 0 for yes or no.
 */
score: number
/**
 * The reason, in the judge's words.
 */
reason: string
}[]
tokens?: Tokens1
/**
 * Its cost, if known.
 */
cost_usd?: number
}[]
scores?: Numbers1
}
/**
 * Its tokens.
 */
export interface Tokens1 {
/**
 * Tokens that the model read, including tokens from a cache.
 */
prompt?: number
/**
 * Tokens that the model wrote, including its thoughts.
 */
completion?: number
/**
 * The sum of both.
 */
total?: number
/**
 * Tokens of the prompt that were read from a cache.
 */
cache_read?: number
/**
 * Tokens of the prompt that were written to a cache.
 */
cache_write?: number
/**
 * Tokens written to a cache that keeps them for an hour.
 */
cache_write_1h?: number
/**
 * Tokens of the completion in the model's thoughts.
 */
reasoning?: number
}
/**
 * The numbers of a scorer, if no judge was asked.
 */
export interface Numbers1 {
[k: string]: number | boolean
}
/**
 * One gate over the runs of a test.
 */
export interface Gate {
/**
 * The block's key in the suite, such as `golden_path`.
 */
key: string
status: Status
/**
 * The reason why the gate measured nothing; null if it measured.
 */
not_exercised?: (string | null)
/**
 * The number of scored runs, if the other runs of the test are errors.
 */
scored_runs?: number
/**
 * The runs that the gate fails by themselves, if it scores run by run.
 */
failed_runs?: Count[]
/**
 * Every number that the gate computes, by name; null means not measured.
 */
targets: {
[k: string]: number | null
}
/**
 * The assertions on the targets.
 */
expectations: Expectation[]
/**
 * The expected calls next to the recorded calls. For its run, it shows the explanation as a table.
 */
tables?: CallTable[]
/**
 * The findings to look at, shortest first.
 */
explanation: Finding[]
/**
 * Remarks that the row shows whatever the gate's verdict is.
 */
remarks?: Remark[]
/**
 * The judges' grades of the runs, if the gate asks judges.
 */
grades?: Grade1[]
evidence?: Evidence
/**
 * The gate's numbers in words, for gates whose numbers are clearer together.
 */
summary?: string
/**
 * A line from the gate that is printed verbatim.
 */
line?: string
/**
 * The line of the suite that its block begins on, if it failed.
 */
suite_line?: number
}
/**
 * The expected calls next to the recorded calls of one run.
 */
export interface CallTable {
/**
 * The run, from 1.
 */
run?: number
/**
 * The mode of matching, in the suite's word.
 */
mode: string
/**
 * The number of calls that differ, in words.
 */
summary: string
/**
 * The calls in order.
 */
rows: {
/**
 * matched: as expected. changed: another tool, or other arguments. missing: not made. extra: not expected. swapped: made, but in another place.
 */
how: ("matched" | "changed" | "missing" | "extra" | "swapped")
expected?: Call
recorded?: Call
diff?: Diff1
/**
 * The number of matching calls in a row, instead of a row for each.
 */
count?: number
}[]
/**
 * Notes on calls that the rows do not show.
 */
notes?: string[]
/**
 * The number of further rows that differ.
 */
left_out?: number
}
/**
 * One call of a table.
 */
export interface Call {
/**
 * Its number, from 1.
 */
number: number
/**
 * The tool, as written or recorded.
 */
tool: string
/**
 * The expected or recorded arguments; for a changed call only the differing ones, by their paths: any JSON value.
 */
args?: {
[k: string]: unknown
}
}
/**
 * A finding of a gate.
 */
export interface Finding {
/**
 * The run of the finding, from 1; missing if it concerns all runs.
 */
run?: number
/**
 * The finding, in one sentence.
 */
message: string
diff?: Diff
/**
 * The targets whose failed expectations it explains. Findings with such targets come first.
 */
targets?: string[]
}
/**
 * A remark on a gate that readers need whatever the verdict is.
 */
export interface Remark {
/**
 * A few words after the gate's key: `walked 1 of 3 steps`.
 */
message: string
/**
 * True if the gate judged only a part of its block, so that `--deny-vacuous` fails it.
 */
is_partial?: boolean
}
/**
 * The answers of judges or a scorer to one question about one run.
 */
export interface Grade1 {
/**
 * The run, from 1.
 */
run: number
/**
 * The check that asked, by its path in the test: `expect[1]`.
 */
check: string
/**
 * The fingerprint of the question.
 */
fingerprint: string
/**
 * The question, the judges, and the content to judge.
 */
asked: {
/**
 * A digest of the rubric, of the text to compare with, or of a scorer's command.
 */
rubric: string
/**
 * The models that judge.
 */
judges: string[]
/**
 * The number of answers from each judge.
 */
samples: number
/**
 * The version of the words around the rubric.
 */
template: number
/**
 * A digest of the judged content.
 */
evidence: string
/**
 * A digest of each file of a scorer.
 */
files?: {
[k: string]: string
}
}
/**
 * The answers of each judge, one for each sample.
 */
votes?: {
/**
 * The model.
 */
model: string
/**
 * The number of its sample, from 1.
 */
sample: number
/**
 * The score of its answers, from 0 to 1.
 */
score: number
/**
 * Its answer to each criterion or question.
 */
answers?: {
/**
 * The criterion's name, or the question's number in the tree.
 */
name: string
/**
 * From 0 to 1; 1 or 0 for yes or no.
 */
score: number
/**
 * The reason, in the judge's words.
 */
reason: string
}[]
tokens?: Tokens1
/**
 * Its cost, if known.
 */
cost_usd?: number
}[]
scores?: Numbers1
}
/**
 * Checks each call against the calls that it builds on.
 */
export interface EvidenceTrajectoryAxes {
/**
 * The gate's key.
 */
kind: "trajectory_axes"
/**
 * The runs, failed runs first.
 */
runs: AxesRun[]
/**
 * The number of further runs, which are not listed.
 */
left_out?: number
}
/**
 * The edges of both axes in one run.
 */
export interface AxesRun {
/**
 * The run, from 1.
 */
run: number
/**
 * The tools called, in order.
 */
calls: string[]
/**
 * The number of further calls, which are not listed.
 */
calls_left_out?: number
/**
 * The order edges.
 */
order: OrderEdge[]
/**
 * The dependencies.
 */
data: DataEdge[]
}
/**
 * One tool that must not run before another.
 */
export interface OrderEdge {
/**
 * The tool that runs first.
 */
before: string
/**
 * The tool that runs only then.
 */
after: string
/**
 * The first call of the earlier tool, from 1.
 */
before_call?: number
/**
 * The call of the later tool that came too soon, otherwise its first, from 1.
 */
after_call?: number
/**
 * True if the edge holds.
 */
held: boolean
}
/**
 * One tool that reads what another returned.
 */
export interface DataEdge {
/**
 * The tool whose output is read.
 */
from: string
/**
 * The tool that reads it.
 */
to: string
/**
 * The first call of the earlier tool that did not fail, otherwise the last failed one, from 1.
 */
from_call?: number
/**
 * The call of the later tool that came too soon, otherwise its first, from 1.
 */
to_call?: number
/**
 * True if the edge holds.
 */
held: boolean
/**
 * The reason why it does not hold.
 */
what?: string
}
/**
 * Matches each call with its step of the path.
 */
export interface EvidenceGoldenPath {
/**
 * The gate's key.
 */
kind: "golden_path"
/**
 * The tools of the path.
 */
path: string[]
/**
 * The runs, failed runs first.
 */
runs: PathRun[]
/**
 * The number of further runs, which are not listed.
 */
left_out?: number
}
/**
 * The calls of one run and the steps of the path.
 */
export interface PathRun {
/**
 * The run, from 1.
 */
run: number
/**
 * Its calls, in order.
 */
calls: PathCall[]
/**
 * The number of further calls, which are not listed.
 */
calls_left_out?: number
/**
 * The steps of the path that it did not walk, from 1.
 */
missed: number[]
}
/**
 * One call and its step of the path.
 */
export interface PathCall {
/**
 * Its number, from 1.
 */
number: number
/**
 * The tool.
 */
tool: string
/**
 * The step of the path that it walks, from 1.
 */
step?: number
/**
 * True if it matches no step of the path.
 */
detour: boolean
}
/**
 * The similarity of the runs, pair by pair.
 */
export interface EvidenceStability {
/**
 * The gate's key.
 */
kind: "stability"
/**
 * The compared runs.
 */
runs: number[]
/**
 * Row i has the similarity of run i to each run before it, from 0 to 1.
 */
similarity: (number | null)[][]
/**
 * The mean over all pairs, including runs that are not listed.
 */
mean: number
/**
 * The dimensions that were measured.
 */
dimensions: Dimension[]
/**
 * The number of further runs, which are not listed.
 */
left_out?: number
}
/**
 * A dimension of the runs' stability.
 */
export interface Dimension {
/**
 * The target.
 */
name: string
/**
 * The value of the target.
 */
value: number
/**
 * The lowest value of a run.
 */
low?: number
/**
 * The highest value of a run.
 */
high?: number
}
/**
 * The probability that several runs in a row pass.
 */
export interface EvidenceReliability {
/**
 * The gate's key.
 */
kind: "reliability"
/**
 * The number of judged runs.
 */
runs: number
/**
 * The number of passed runs.
 */
passed: number
/**
 * A point for each number of runs, 50 at most.
 */
curve: CurvePoint[]
/**
 * The decay curve in whole percent: (c_k/k)^k over the first k runs, for each k.
 */
decay_curve?: number[]
}
/**
 * The probability that k runs in a row all pass.
 */
export interface CurvePoint {
/**
 * The number of runs.
 */
k: number
/**
 * The pass rate to the power of k.
 */
power: number
/**
 * The lower end of the 95% interval of the pass rate, to the power of k.
 */
low: number
/**
 * The upper end, to the power of k.
 */
high: number
/**
 * The probability that k drawn runs all passed; null if k runs cannot be drawn.
 */
unbiased: (number | null)
}
/**
 * The share of right choices.
 */
export interface EvidenceDistractors {
/**
 * The gate's key.
 */
kind: "distractors"
/**
 * This row's number of distractors; the other rows of a sweep have theirs.
 */
points: ChoicePoint[]
/**
 * The accuracy that these runs prove with 95% confidence.
 */
floor?: number
/**
 * The accuracy that the suite requires as proven.
 */
asked_floor?: number
}
/**
 * The share of right choices with this number of distractors.
 */
export interface ChoicePoint {
/**
 * The number of distractors.
 */
count: number
/**
 * Runs that chose correctly.
 */
correct: number
/**
 * Runs that were judged.
 */
runs: number
/**
 * The share that chose correctly, of the runs that chose at all; absent if none chose.
 */
accuracy?: number
/**
 * The lower end of the 95% interval of the correct runs among all.
 */
low: number
/**
 * The upper end.
 */
high: number
}
/**
 * The outcome of each failure.
 */
export interface EvidenceRecovery {
/**
 * The gate's key.
 */
kind: "recovery"
/**
 * The runs, failed runs first.
 */
runs: RecoveryRun[]
/**
 * The number of further runs, which are not listed.
 */
left_out?: number
}
/**
 * Every failure of one run.
 */
export interface RecoveryRun {
/**
 * The run, from 1.
 */
run: number
/**
 * Each failure, until the agent recovered.
 */
encounters: Encounter[]
}
/**
 * A failure, from the first failed call until the agent recovered.
 */
export interface Encounter {
/**
 * The injected fault, by its name; absent if the call failed by itself.
 */
fault?: string
/**
 * The kind of the fault.
 */
kind?: string
/**
 * The first call that failed, from 1.
 */
call: number
/**
 * The time at which that call began.
 */
at_ms: number
/**
 * The time the call hung before the agent received the error or recovered.
 */
wait_ms: number
/**
 * True if the agent received the error.
 */
detected: boolean
/**
 * The time from the beginning of the call until the agent received the error.
 */
detected_ms?: number
/**
 * The time from the beginning of the call until a later call succeeded.
 */
recovered_ms?: number
/**
 * The call that succeeded, from 1.
 */
recovered_by_call?: number
/**
 * The time limit for recovery.
 */
limit_ms?: number
/**
 * `recovered`, or the reason why the run fails: `not_recovered`, `recovery_too_slow`, `unclean_timeout`; `gave_up` if that is allowed.
 */
outcome: string
}
/**
 * Matches each claim with the calls that back it.
 */
export interface EvidenceNarrative {
/**
 * The gate's key.
 */
kind: "narrative"
/**
 * The runs, failed runs first.
 */
runs: NarrativeRun[]
/**
 * The number of further runs, which are not listed.
 */
left_out?: number
}
/**
 * The claims of one run, with the calls that back them.
 */
export interface NarrativeRun {
/**
 * The run, from 1.
 */
run: number
/**
 * The closing message, cut if long.
 */
text: string
/**
 * Its claims, in the order of the text.
 */
claims: ClaimShown[]
/**
 * Calls that it never mentions.
 */
unmentioned: CallNamed[]
}
/**
 * One claim of a string.
 */
export interface ClaimShown {
/**
 * Where it begins, in code points from 0.
 */
start: number
/**
 * Where it ends.
 */
end: number
/**
 * supported: a call did it. failed: its calls were made and failed. absent: no call did it. unverified: the calls neither show nor refute it. denied: it denies what a call did.
 */
verdict: ("supported" | "failed" | "absent" | "unverified" | "denied")
/**
 * The calls that it is about, from 1.
 */
calls: number[]
/**
 * The reason, in a few words.
 */
ground: string
}
/**
 * One call.
 */
export interface CallNamed {
/**
 * Its number, from 1.
 */
number: number
/**
 * The tool.
 */
tool: string
}
/**
 * The callers of each tool, and the hand-offs between agents.
 */
export interface EvidenceToolEdges {
/**
 * The gate's key.
 */
kind: "tool_edges"
/**
 * The calls by their tools.
 */
edges: EdgeShown[]
/**
 * The hand-offs.
 */
handoffs: Handoff[]
}
/**
 * The calls of one caller to one tool, over all runs.
 */
export interface EdgeShown {
/**
 * The caller: `agent`, `code` for generated code, or the name of a sub-agent.
 */
caller: string
/**
 * The tool.
 */
tool: string
/**
 * The number of calls.
 */
calls: number
/**
 * True if the tool is restricted.
 */
restricted: boolean
/**
 * True if the policy forbids these calls.
 */
failed: boolean
}
/**
 * The hand-offs from one agent to another, over all runs.
 */
export interface Handoff {
/**
 * The agent that hands over.
 */
from: string
/**
 * The agent that takes over.
 */
to: string
/**
 * The number of recorded hand-offs; 0 for a declared one that was never recorded.
 */
count: number
/**
 * True if it is expected.
 */
declared: boolean
}
/**
 * The outcome of each fault.
 */
export interface EvidenceFaultMatrix {
/**
 * The gate's key.
 */
kind: "fault_matrix"
/**
 * The tools, in the order of their calls.
 */
tools: string[]
/**
 * The kinds of fault.
 */
faults: string[]
/**
 * Each combination that was tried.
 */
cells: FaultCell[]
}
/**
 * The outcome of one kind of fault in the calls of one tool.
 */
export interface FaultCell {
/**
 * The tool of the call that should fail; `?` if the call was not made.
 */
tool: string
/**
 * The kind of fault.
 */
fault: string
/**
 * The number of combinations.
 */
runs: number
/**
 * The number of combinations in which a call failed.
 */
met: number
/**
 * The number of these from which the agent recovered.
 */
recovered: number
/**
 * survived: the agent recovered from every fault that a call met. lost: it did not recover from one. unmet: no call met a fault.
 */
status: ("survived" | "lost" | "unmet")
}
/**
 * The tokens of the runs.
 */
export interface EvidenceTokenEfficiency {
/**
 * The gate's key.
 */
kind: "token_efficiency"
/**
 * The runs, failed runs first.
 */
runs: TokensOfRun[]
/**
 * The limits of the suite.
 */
limits: LimitShown[]
/**
 * The number of further runs, which are not listed.
 */
left_out?: number
}
/**
 * The tokens of one run.
 */
export interface TokensOfRun {
/**
 * The run, from 1.
 */
run: number
/**
 * Tokens of the offered tools.
 */
surface?: number
/**
 * Tokens that the model read.
 */
prompt?: number
/**
 * Tokens that the model wrote.
 */
completion?: number
/**
 * All tokens.
 */
total?: number
}
/**
 * The upper limit of a target.
 */
export interface LimitShown {
/**
 * The target.
 */
target: string
/**
 * The most that it may be.
 */
most: number
}
/**
 * The chosen tools.
 */
export interface EvidenceToolSelection {
/**
 * The gate's key.
 */
kind: "tool_selection"
/**
 * The tools, requested tools first.
 */
tools: SelectedTool[]
}
/**
 * The choices of one tool, over all runs.
 */
export interface SelectedTool {
/**
 * The tool.
 */
name: string
/**
 * Runs that called it when it was right.
 */
right: number
/**
 * Runs that did not call it when it was right.
 */
missed: number
/**
 * Calls of it when it was not right.
 */
extra: number
}
/**
 * The effect of each set of tools.
 */
export interface EvidenceAblate {
/**
 * The gate's key.
 */
kind: "ablate"
/**
 * The sets, in the order of the suite.
 */
rows: AblationRow[]
}
/**
 * The effect of removing one set of tools.
 */
export interface AblationRow {
/**
 * The tools that were removed.
 */
tool: string
/**
 * Runs without them.
 */
runs: number
/**
 * Runs that succeeded.
 */
passed: number
/**
 * The success rate with the tools less the rate without them, in points.
 */
drop: number
/**
 * The lower end of the 95% interval of the drop, in points.
 */
low: number
/**
 * The upper end.
 */
high: number
/**
 * The further calls that a run makes without them.
 */
calls?: number
/**
 * The further tokens that a run takes without them.
 */
tokens?: number
/**
 * The further dollars that a run costs without them.
 */
cost_usd?: number
/**
 * The tool that is called instead.
 */
instead?: string
}
/**
 * The state of the world after the runs.
 */
export interface EvidenceScenario {
/**
 * The gate's key.
 */
kind: "scenario"
/**
 * The runs, failed runs first.
 */
runs: WorldRun[]
/**
 * The number of further runs, which are not listed.
 */
left_out?: number
}
/**
 * The state of the world before and after the calls of one run.
 */
export interface WorldRun {
/**
 * The run, from 1.
 */
run: number
/**
 * The state before the first call: any JSON value.
 */
before: {
[k: string]: unknown
}
/**
 * The state after the last: any JSON value.
 */
after: {
[k: string]: unknown
}
/**
 * The nearest expected state, if the suite expects a whole state: any JSON value.
 */
expected?: {
[k: string]: unknown
}
/**
 * The call, from 1, at which the state left every golden path for good.
 */
left_at_call?: number
differences: Diff2
}
/**
 * The findings of rules in the tools.
 */
export interface EvidenceToolQuality {
/**
 * The gate's key.
 */
kind: "tool_quality"
/**
 * The findings, in the order of the tools.
 */
tools: ToolFinding[]
}
/**
 * A finding of a rule in one tool.
 */
export interface ToolFinding {
/**
 * The server of the tool.
 */
server?: string
/**
 * The tool.
 */
tool: string
/**
 * The rule.
 */
rule: string
/**
 * The severity.
 */
level: string
/**
 * The defect.
 */
message: string
}
/**
 * The parts of their servers that the tests exercised, with --coverage.
 */
export interface Coverage {
/**
 * Called tools, in percent of the listed tools, rounded down; null if no recording lists a tool.
 */
percent: (number | null)
/**
 * The required percent.
 */
threshold?: number
tools: Share
parameters: Share1
values: Share2
successes: Share3
errors: Share4
/**
 * Calls of tools that no recording lists.
 */
unlisted_calls: number
/**
 * Servers whose tools no recording lists.
 */
unmeasured: string[]
/**
 * The tools by their servers.
 */
servers: {
/**
 * The server's name in the suites; absent if a recording does not have it.
 */
name?: string
/**
 * Its tools by their names.
 */
tools: CoveredTool[]
}[]
}
/**
 * Tools that were called.
 */
export interface Share {
/**
 * The exercised number.
 */
covered: number
/**
 * The possible number.
 */
total: number
}
/**
 * Parameters that a call gave, including parameters of nested objects.
 */
export interface Share1 {
/**
 * The exercised number.
 */
covered: number
/**
 * The possible number.
 */
total: number
}
/**
 * Values of enumerations and booleans that a call gave.
 */
export interface Share2 {
/**
 * The exercised number.
 */
covered: number
/**
 * The possible number.
 */
total: number
}
/**
 * Tools with a successful call.
 */
export interface Share3 {
/**
 * The exercised number.
 */
covered: number
/**
 * The possible number.
 */
total: number
}
/**
 * Tools with a call that returned an error.
 */
export interface Share4 {
/**
 * The exercised number.
 */
covered: number
/**
 * The possible number.
 */
total: number
}
/**
 * The exercised parts of one tool.
 */
export interface CoveredTool {
/**
 * The tool's name.
 */
name: string
/**
 * The number of its calls.
 */
calls: number
/**
 * The number of its successful calls.
 */
successes: number
/**
 * The number of its calls that returned an error.
 */
errors: number
/**
 * Its parameters; a parameter of a nested object by its path.
 */
parameters: {
/**
 * The parameter's name, or its path in nested objects: `filter.city`.
 */
name: string
/**
 * True if a call gave it.
 */
given: boolean
/**
 * The values that its schema lists.
 */
values?: {
/**
 * The value, a string without its quotes.
 */
value: string
/**
 * True if a call gave it.
 */
given: boolean
}[]
}[]
}
/**
 * The models side by side, if several ran the same tests.
 */
export interface Leaderboard {
/**
 * The k of pass@k and pass^k: the number of runs of the test with the fewest, up to a limit.
 */
k: number
/**
 * The models. Each is compared with the first.
 */
models: ModelRow[]
/**
 * The tests that only some of them have. They are not counted.
 */
tests_left_out?: string[]
/**
 * The models that have no test in common with the others.
 */
models_left_out?: string[]
}
/**
 * The results of one model.
 */
export interface ModelRow {
/**
 * The model.
 */
model: string
/**
 * The number of counted tests: the tests that all models have.
 */
tests: number
/**
 * The number of runs of these tests.
 */
runs: number
/**
 * The share of runs that pass: the mean over the tests.
 */
pass_1: number
/**
 * The lower bound of its 95% interval over tests like these.
 */
low: number
/**
 * The upper bound.
 */
high: number
/**
 * The unbiased probability that at least one of k runs of a test passes: the mean over the tests.
 */
pass_k: number
/**
 * The unbiased probability that all of k runs of a test pass: the mean over the tests.
 */
pass_hat_k: number
/**
 * Calls of tools per run.
 */
calls?: number
/**
 * Turns of the model per run, if known.
 */
turns?: number
/**
 * Tokens per run, if known.
 */
tokens?: number
/**
 * Dollars per run, if known.
 */
cost_usd?: number
/**
 * Milliseconds per run, if known.
 */
duration_ms?: number
difference?: ModelDifference
}
/**
 * The difference to the first model, over the tests that both have.
 */
export interface ModelDifference {
/**
 * Its pass rate less that of the first model.
 */
value: number
/**
 * The lower bound of its 95% interval.
 */
low: number
/**
 * The upper bound.
 */
high: number
/**
 * The two-sided mid-p, adjusted for all models that are compared with the first.
 */
p: number
/**
 * The verdict on the difference.
 */
verdict: ("better" | "worse" | "no_evidence" | "not_enough_runs")
}
/**
 * The definition of a gate.
 */
export interface GateDefinition {
/**
 * Its question, in one line.
 */
summary: string
/**
 * Its page, under docs/.
 */
doc_anchor: string
/**
 * Its targets, by name.
 */
targets: {
[k: string]: TargetDefinition
}
}
/**
 * The definition of a target.
 */
export interface TargetDefinition {
/**
 * Its meaning, in one line.
 */
doc: string
/**
 * Its unit.
 */
unit: ("flag" | "percent" | "ratio" | "count" | "ms" | "tokens" | "usd" | "score")
/**
 * Its lowest and its highest value; null when it has no highest.
 * 
 * @minItems 2
 * @maxItems 2
 */
range: [unknown, unknown]
/**
 * Which values are good.
 */
better: ("high" | "low")
/**
 * The paragraph that defines it: a page under docs/ and its anchor.
 */
anchor: string
}
