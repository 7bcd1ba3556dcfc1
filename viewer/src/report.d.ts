// Written by build.mjs from the published schema.

/**
 * passed: everything held. failed: an assertion or a gate did not hold. error: it could not be judged. skipped: it was left out on purpose.
 */
export type Status = ("passed" | "failed" | "error" | "skipped")
/**
 * Where the values differ.
 * 
 * Items: One difference.
 */
export type Diff = {
/**
 * Where, as a JSON Pointer into the value that was looked at.
 */
pointer: string
/**
 * What was expected there: any JSON value.
 */
expected: {
[k: string]: unknown
}
/**
 * What was there: any JSON value.
 */
actual: {
[k: string]: unknown
}
/**
 * The side that has nothing there; its null is no value.
 */
absent?: ("expected" | "actual")
}[]
export type Count = number
/**
 * Where the values differ.
 * 
 * Items: One difference.
 */
export type Diff1 = {
/**
 * Where, as a JSON Pointer into the value that was looked at.
 */
pointer: string
/**
 * What was expected there: any JSON value.
 */
expected: {
[k: string]: unknown
}
/**
 * What was there: any JSON value.
 */
actual: {
[k: string]: unknown
}
/**
 * The side that has nothing there; its null is no value.
 */
absent?: ("expected" | "actual")
}[]
/**
 * What is behind the numbers of a gate, for pictures. At most 50 runs of a gate are listed, those that failed first; `left_out` says how many are not. A reader leaves a kind alone that it does not know.
 */
export type Evidence = (EvidenceTrajectoryAxes | EvidenceGoldenPath | EvidenceStability | EvidenceReliability | EvidenceDistractors | EvidenceRecovery | EvidenceNarrative | EvidenceToolEdges | EvidenceFaultMatrix | EvidenceTokenEfficiency | EvidenceToolSelection | EvidenceAblate | EvidenceScenario | EvidenceToolQuality)
/**
 * Where the values differ.
 * 
 * Items: One difference.
 */
export type Diff2 = {
/**
 * Where, as a JSON Pointer into the value that was looked at.
 */
pointer: string
/**
 * What was expected there: any JSON value.
 */
expected: {
[k: string]: unknown
}
/**
 * What was there: any JSON value.
 */
actual: {
[k: string]: unknown
}
/**
 * The side that has nothing there; its null is no value.
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
 * The command as it was typed, but for what has no part in judging; absent when a host judged.
 */
command?: string
/**
 * What the gates of the tests and their targets are, by the gates' keys.
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
 * Tests in which one did not.
 */
failed: number
/**
 * Tests that could not be judged.
 */
errors: number
/**
 * Tests that were left out on purpose.
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
 * Passed tests whose server does not follow a recommendation; absent where there are none.
 */
warnings?: number
}
/**
 * One agent with one model: its runs and its gates.
 */
export interface Test {
/**
 * 10 hexadecimal digits of a hash of the suite's path, the name, the model and the variant: the same test has the same one in every report.
 */
id?: string
/**
 * The agent's name.
 */
name: string
suite: Place
/**
 * The model; null when the agent names none.
 */
model?: (string | null)
/**
 * True when the agent has several models, so that the row is named `name [model]`.
 */
matrix?: boolean
/**
 * The variant, where the agent is judged in several: `4 distractors`.
 */
variant?: string
status: Status
reason?: Reason
/**
 * Whether a recording does not fit the suite, which `stale: warn` tolerates.
 */
stale?: boolean
/**
 * What its runs are held to: for each block of the suite a digest, by the block's key.
 */
checks?: {
[k: string]: string
}
/**
 * True when a recording has no fingerprint, so that it was not checked for staleness.
 */
unpinned?: boolean
/**
 * Things worth knowing that decide nothing.
 */
notes?: string[]
/**
 * What models noticed who were asked for advice. It decides nothing.
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
 * The model that said it.
 */
model: string
/**
 * What it noticed, in its own words.
 */
message: string
}[]
probe?: Probe
/**
 * The servers as they were spoken to, where the recording says so.
 */
servers?: {
/**
 * Its name in the suite.
 */
name: string
/**
 * The protocol era: `legacy` or `modern`.
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
 * Each run with the assertions of its `expect:`.
 */
runs: Run[]
/**
 * Each gate, over all runs.
 */
gates: Gate[]
}
/**
 * Where the test is written.
 */
export interface Place {
/**
 * The suite file, from the root of its git repository; where it is in none, as it was named on the command line.
 */
file: string
/**
 * The line, from 1.
 */
line: number
}
/**
 * Why a row is an error or was skipped, and what to do about it.
 */
export interface Reason {
/**
 * Of what kind it is. More kinds may be added.
 */
kind?: string
/**
 * What is wrong, in one sentence.
 */
message: string
/**
 * More, a line each.
 */
details?: string[]
/**
 * What to do.
 */
help?: string
/**
 * The command that mends it, where one does.
 */
command?: string
}
/**
 * One probe of a server by `mcptest check`, whatever came of it.
 */
export interface Probe {
/**
 * Its id, which no other probe has: `ERRORS-unknown-tool`.
 */
id: string
/**
 * The family it belongs to.
 */
family: string
/**
 * What a good server does, in a few words.
 */
title: string
/**
 * What was sent, cut short.
 */
sent: string
/**
 * What came, cut short.
 */
came: string
/**
 * What the specification says.
 */
says: string
/**
 * Where it says so: the revision and the section.
 */
section: string
/**
 * What is not as it should be, though the specification does not insist on it.
 */
warning?: string
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
 * The gates that fail this run, by their keys. Such a run has failed, though the gate may pass over all runs.
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
 * What it is called where it came from: the id of its trace.
 */
trace_id?: string
/**
 * The line of its file, from 1, where it is a line of one.
 */
line?: number
/**
 * Why it ended, in the word that was recorded.
 */
stop_reason?: string
/**
 * How many turns the model took, where the recording has them.
 */
turns?: number
tokens?: Tokens
/**
 * What it cost, where that is known.
 */
cost_usd?: number
/**
 * The whole recorded run (see trace.schema.json), where traces are embedded.
 */
trace?: {

}
/**
 * How many calls the run made.
 */
calls?: number
/**
 * How long the run took, or the call of a tool test, as it was recorded.
 */
duration_ms?: number
scores?: Numbers
/**
 * Every assertion with its evidence.
 */
expectations: Expectation[]
}
/**
 * What it took, where that is known.
 */
export interface Tokens {
/**
 * Read by the model, those from a cache included.
 */
prompt?: number
/**
 * Written by the model, its thoughts included.
 */
completion?: number
/**
 * Both together.
 */
total?: number
/**
 * Of the prompt, what was read from a cache.
 */
cache_read?: number
/**
 * Of the prompt, what was written to a cache.
 */
cache_write?: number
/**
 * Of what was written to a cache, what is kept for an hour.
 */
cache_write_1h?: number
/**
 * Of the completion, the model's thoughts.
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
 * One assertion and what it saw.
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
 * Whether it held.
 */
passed: boolean
/**
 * What was there: any JSON value; missing when nothing was there.
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
 * Why it failed, in one sentence.
 */
reason?: string
grade?: Grade
}
/**
 * What judges said, where the matcher asks them.
 */
export interface Grade {
/**
 * The run, from 1.
 */
run: number
/**
 * Which check asked, by its path in the test: `expect[1]`.
 */
check: string
/**
 * Of what was asked.
 */
fingerprint: string
/**
 * What was asked, of whom, and about what.
 */
asked: {
/**
 * A digest of the rubric, of the text that is compared with, or of a scorer's command.
 */
rubric: string
/**
 * The models that judge.
 */
judges: string[]
/**
 * How often each is asked.
 */
samples: number
/**
 * The version of the words around the rubric.
 */
template: number
/**
 * A digest of what is judged.
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
 * What each judge said, as often as each was asked.
 */
votes?: {
/**
 * The model.
 */
model: string
/**
 * Which of its samples this is, from 1.
 */
sample: number
/**
 * From 0 to 1: what its answers come to.
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
 * From 0 to 1; of a yes or no it is 1 or 0.
 */
score: number
/**
 * Why, in the judge's words.
 */
reason: string
}[]
tokens?: Tokens1
/**
 * What it cost, where that is known.
 */
cost_usd?: number
}[]
scores?: Numbers1
}
/**
 * What it took.
 */
export interface Tokens1 {
/**
 * Read by the model, those from a cache included.
 */
prompt?: number
/**
 * Written by the model, its thoughts included.
 */
completion?: number
/**
 * Both together.
 */
total?: number
/**
 * Of the prompt, what was read from a cache.
 */
cache_read?: number
/**
 * Of the prompt, what was written to a cache.
 */
cache_write?: number
/**
 * Of what was written to a cache, what is kept for an hour.
 */
cache_write_1h?: number
/**
 * Of the completion, the model's thoughts.
 */
reasoning?: number
}
/**
 * What a scorer gave in place of judges.
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
 * Why the gate measured nothing; null when it did measure.
 */
not_exercised?: (string | null)
/**
 * Over how many runs it was scored, when the others of its test are errors.
 */
scored_runs?: number
/**
 * The runs that the gate fails by themselves, where it scores run by run.
 */
failed_runs?: Count[]
/**
 * Every number the gate computes, by name; null is not measured.
 */
targets: {
[k: string]: number | null
}
/**
 * What was asserted of the targets.
 */
expectations: Expectation[]
/**
 * The expected calls beside the recorded ones: for its run it says what the explanation says in sentences.
 */
tables?: CallTable[]
/**
 * What to look at, shortest first.
 */
explanation: Finding[]
/**
 * What the row says of the gate whatever its verdict is.
 */
remarks?: Remark[]
/**
 * What judges said of the runs, where the gate asks them.
 */
grades?: Grade1[]
evidence?: Evidence
/**
 * The gate's numbers in words, for gates whose numbers say more together.
 */
summary?: string
/**
 * A line of the gate's own that is printed to the letter.
 */
line?: string
}
/**
 * The expected calls beside the recorded ones of one run.
 */
export interface CallTable {
/**
 * The run, from 1.
 */
run?: number
/**
 * How the expected calls are meant, in the suite's word.
 */
mode: string
/**
 * How many calls are not as expected, in words.
 */
summary: string
/**
 * The calls in order.
 */
rows: {
/**
 * matched: as expected. changed: another tool, or other arguments. missing: not made. extra: not expected. swapped: made, but not in this place.
 */
how: ("matched" | "changed" | "missing" | "extra" | "swapped")
expected?: Call
recorded?: Call
diff?: Diff1
/**
 * How many calls in a row match, in place of a row for each.
 */
count?: number
}[]
/**
 * What the rows do not show.
 */
notes?: string[]
/**
 * How many further rows are not as expected.
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
 * What is asked of its arguments, or what they are; of a changed call those that differ, by their paths: any JSON value.
 */
args?: {
[k: string]: unknown
}
}
/**
 * One thing a gate found.
 */
export interface Finding {
/**
 * The run it was found in, from 1; missing when it concerns all.
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
 * What a reader should know of a gate whatever its verdict is.
 */
export interface Remark {
/**
 * A few words that are read after the gate's key: `walked 1 of 3 steps`.
 */
message: string
/**
 * Whether the gate judged only a part of what its block names, so that `--deny-vacuous` fails it.
 */
is_partial?: boolean
}
/**
 * What judges or a scorer said of one run, to one question.
 */
export interface Grade1 {
/**
 * The run, from 1.
 */
run: number
/**
 * Which check asked, by its path in the test: `expect[1]`.
 */
check: string
/**
 * Of what was asked.
 */
fingerprint: string
/**
 * What was asked, of whom, and about what.
 */
asked: {
/**
 * A digest of the rubric, of the text that is compared with, or of a scorer's command.
 */
rubric: string
/**
 * The models that judge.
 */
judges: string[]
/**
 * How often each is asked.
 */
samples: number
/**
 * The version of the words around the rubric.
 */
template: number
/**
 * A digest of what is judged.
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
 * What each judge said, as often as each was asked.
 */
votes?: {
/**
 * The model.
 */
model: string
/**
 * Which of its samples this is, from 1.
 */
sample: number
/**
 * From 0 to 1: what its answers come to.
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
 * From 0 to 1; of a yes or no it is 1 or 0.
 */
score: number
/**
 * Why, in the judge's words.
 */
reason: string
}[]
tokens?: Tokens1
/**
 * What it cost, where that is known.
 */
cost_usd?: number
}[]
scores?: Numbers1
}
/**
 * Which calls came before those that build on them.
 */
export interface EvidenceTrajectoryAxes {
/**
 * The gate's key.
 */
kind: "trajectory_axes"
/**
 * The runs, those that failed first.
 */
runs: AxesRun[]
/**
 * How many further runs are not listed.
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
 * How many further calls are not listed.
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
 * The call of the later tool that came too soon, else its first, from 1.
 */
after_call?: number
/**
 * Whether the edge holds.
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
 * The first call of the earlier tool that did not fail, else the last that did, from 1.
 */
from_call?: number
/**
 * The call of the later tool that came too soon, else its first, from 1.
 */
to_call?: number
/**
 * Whether the edge holds.
 */
held: boolean
/**
 * Why it does not hold.
 */
what?: string
}
/**
 * Which calls walk which step of the path.
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
 * The runs, those that failed first.
 */
runs: PathRun[]
/**
 * How many further runs are not listed.
 */
left_out?: number
}
/**
 * How one run walked the path.
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
 * How many further calls are not listed.
 */
calls_left_out?: number
/**
 * The steps of the path that it did not walk, from 1.
 */
missed: number[]
}
/**
 * One call beside the path.
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
 * Whether it walks no step of the path.
 */
detour: boolean
}
/**
 * How alike the runs are, pair by pair.
 */
export interface EvidenceStability {
/**
 * The gate's key.
 */
kind: "stability"
/**
 * The runs that are compared here.
 */
runs: number[]
/**
 * Row i has what run i and each run before it have in common, from 0 to 1.
 */
similarity: (number | null)[][]
/**
 * The mean over all pairs, also those of runs that are not listed.
 */
mean: number
/**
 * The dimensions that were measured.
 */
dimensions: Dimension[]
/**
 * How many further runs are not listed.
 */
left_out?: number
}
/**
 * A dimension of how steady the runs are.
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
 * How likely it is that many runs in a row pass.
 */
export interface EvidenceReliability {
/**
 * The gate's key.
 */
kind: "reliability"
/**
 * How many runs were judged.
 */
runs: number
/**
 * How many passed.
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
 * The chance that k runs in a row all pass.
 */
export interface CurvePoint {
/**
 * How many runs.
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
 * The chance that k drawn runs all passed; null when k runs cannot be drawn.
 */
unbiased: (number | null)
}
/**
 * How often the choice was right.
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
 * The accuracy that the suite asks to be proved.
 */
asked_floor?: number
}
/**
 * How often the choice was right among so many distractors.
 */
export interface ChoicePoint {
/**
 * How many distractors there were.
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
 * Of the runs that chose at all, the share that chose correctly; absent when none chose.
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
 * What became of each failure.
 */
export interface EvidenceRecovery {
/**
 * The gate's key.
 */
kind: "recovery"
/**
 * The runs, those that failed first.
 */
runs: RecoveryRun[]
/**
 * How many further runs are not listed.
 */
left_out?: number
}
/**
 * Every time that calls of one run failed.
 */
export interface RecoveryRun {
/**
 * The run, from 1.
 */
run: number
/**
 * Each failure until the agent got past it.
 */
encounters: Encounter[]
}
/**
 * A failure, from the first call that failed until the agent got past it.
 */
export interface Encounter {
/**
 * The injected fault, by its name; absent when the call failed by itself.
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
 * When that call began.
 */
at_ms: number
/**
 * How long it hung before the agent was told or got past it.
 */
wait_ms: number
/**
 * Whether the agent was told.
 */
detected: boolean
/**
 * How long after the call began the agent was told.
 */
detected_ms?: number
/**
 * How long after the call began a later call succeeded.
 */
recovered_ms?: number
/**
 * The call that succeeded, from 1.
 */
recovered_by_call?: number
/**
 * The most that recovery may take.
 */
limit_ms?: number
/**
 * `recovered`, or what is held against the run: `not_recovered`, `recovery_too_slow`, `unclean_timeout`; `gave_up` where that is allowed.
 */
outcome: string
}
/**
 * Which claims are backed by which calls.
 */
export interface EvidenceNarrative {
/**
 * The gate's key.
 */
kind: "narrative"
/**
 * The runs, those that failed first.
 */
runs: NarrativeRun[]
/**
 * How many further runs are not listed.
 */
left_out?: number
}
/**
 * What one run claims, and what backs it.
 */
export interface NarrativeRun {
/**
 * The run, from 1.
 */
run: number
/**
 * The closing message; a long one is cut.
 */
text: string
/**
 * What it claims, in the order of the text.
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
 * Why, in a few words.
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
 * Who called what, and who handed over to whom.
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
 * The calls that somebody made to one tool, over all runs.
 */
export interface EdgeShown {
/**
 * Who called: `agent`, or `code` where generated code did.
 */
caller: string
/**
 * The tool.
 */
tool: string
/**
 * How many calls.
 */
calls: number
/**
 * Whether the tool is restricted.
 */
restricted: boolean
/**
 * Whether the policy forbids these calls.
 */
failed: boolean
}
/**
 * The hand-offs from one agent to another, over all runs.
 */
export interface Handoff {
/**
 * Who hands over.
 */
from: string
/**
 * Who takes over.
 */
to: string
/**
 * How often that was recorded; a declared one that never was has 0.
 */
count: number
/**
 * Whether it is expected.
 */
declared: boolean
}
/**
 * What came of each fault.
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
 * What came of one kind of fault in the calls of one tool.
 */
export interface FaultCell {
/**
 * The tool of the call that was to fail; `?` where it was not made.
 */
tool: string
/**
 * The kind of fault.
 */
fault: string
/**
 * How many combinations.
 */
runs: number
/**
 * How many made a call fail.
 */
met: number
/**
 * How many of these the agent got over.
 */
recovered: number
/**
 * survived: all that were met. lost: one was not got over. unmet: none made a call fail.
 */
status: ("survived" | "lost" | "unmet")
}
/**
 * What the runs took.
 */
export interface EvidenceTokenEfficiency {
/**
 * The gate's key.
 */
kind: "token_efficiency"
/**
 * The runs, those that failed first.
 */
runs: TokensOfRun[]
/**
 * What is asked.
 */
limits: LimitShown[]
/**
 * How many further runs are not listed.
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
 * Of the tools that were offered.
 */
surface?: number
/**
 * Read by the model.
 */
prompt?: number
/**
 * Written by the model.
 */
completion?: number
/**
 * All of them.
 */
total?: number
}
/**
 * The most that is asked of a target.
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
 * Which tools were chosen.
 */
export interface EvidenceToolSelection {
/**
 * The gate's key.
 */
kind: "tool_selection"
/**
 * The tools, those that were asked for first.
 */
tools: SelectedTool[]
}
/**
 * How often one tool was chosen, over all runs.
 */
export interface SelectedTool {
/**
 * The tool.
 */
name: string
/**
 * Runs that called it where it was asked for.
 */
right: number
/**
 * Runs that did not call it where it was asked for.
 */
missed: number
/**
 * Calls of it that were not asked for.
 */
extra: number
}
/**
 * What each set of tools is worth.
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
 * What is different without one set of tools.
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
 * Those that succeeded.
 */
passed: number
/**
 * Success with the tools less success without them, in points.
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
 * How many more calls a run makes without them.
 */
calls?: number
/**
 * How many more tokens a run takes.
 */
tokens?: number
/**
 * How many more dollars a run costs.
 */
cost_usd?: number
/**
 * The tool that is called in their place.
 */
instead?: string
}
/**
 * Where the runs led the world.
 */
export interface EvidenceScenario {
/**
 * The gate's key.
 */
kind: "scenario"
/**
 * The runs, those that failed first.
 */
runs: WorldRun[]
/**
 * How many further runs are not listed.
 */
left_out?: number
}
/**
 * Where the calls of one run led the world.
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
 * The expected state that is nearest, where a whole one is expected: any JSON value.
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
 * What rules say of the tools.
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
 * What a rule says of one tool.
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
 * How much it matters.
 */
level: string
/**
 * What is wrong.
 */
message: string
}
/**
 * What the tests exercised of their servers, with --coverage.
 */
export interface Coverage {
/**
 * Tools called of the tools listed, rounded down; null when no recording lists a tool.
 */
percent: (number | null)
/**
 * The percent that was asked for.
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
 * The server's name in the suites; absent when a recording does not say it.
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
 * What was exercised.
 */
covered: number
/**
 * What there is.
 */
total: number
}
/**
 * Parameters that a call gave, also those of nested objects.
 */
export interface Share1 {
/**
 * What was exercised.
 */
covered: number
/**
 * What there is.
 */
total: number
}
/**
 * Values of enumerations and booleans that a call gave.
 */
export interface Share2 {
/**
 * What was exercised.
 */
covered: number
/**
 * What there is.
 */
total: number
}
/**
 * Tools of which a call succeeded.
 */
export interface Share3 {
/**
 * What was exercised.
 */
covered: number
/**
 * What there is.
 */
total: number
}
/**
 * Tools of which a call came back as an error.
 */
export interface Share4 {
/**
 * What was exercised.
 */
covered: number
/**
 * What there is.
 */
total: number
}
/**
 * What was exercised of one tool.
 */
export interface CoveredTool {
/**
 * The tool's name.
 */
name: string
/**
 * How often it was called.
 */
calls: number
/**
 * How many of the calls succeeded.
 */
successes: number
/**
 * How many of the calls came back as an error.
 */
errors: number
/**
 * Its parameters, those of nested objects by their paths.
 */
parameters: {
/**
 * The parameter's name, or its path in nested objects: `filter.city`.
 */
name: string
/**
 * Whether a call gave it.
 */
given: boolean
/**
 * The values that its schema names.
 */
values?: {
/**
 * The value, a string without its quotes.
 */
value: string
/**
 * Whether a call gave it.
 */
given: boolean
}[]
}[]
}
/**
 * The models side by side, where several ran the same tests.
 */
export interface Leaderboard {
/**
 * Of how many runs pass@k and pass^k speak: the fewest that any test has, up to a limit.
 */
k: number
/**
 * The models. Each is compared with the first.
 */
models: ModelRow[]
/**
 * The tests that only some of them have, which are not counted.
 */
tests_left_out?: string[]
/**
 * The models that have no test in common with the others.
 */
models_left_out?: string[]
}
/**
 * How one model did.
 */
export interface ModelRow {
/**
 * The model.
 */
model: string
/**
 * How many tests are counted: those that all models have.
 */
tests: number
/**
 * How many runs those are.
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
 * How likely at least one of k runs of a test passes, without bias: the mean over the tests.
 */
pass_k: number
/**
 * How likely all of k runs of a test pass, without bias: the mean over the tests.
 */
pass_hat_k: number
/**
 * Calls of tools per run.
 */
calls?: number
/**
 * Turns of the model per run, where they are known.
 */
turns?: number
/**
 * Tokens per run, where they are known.
 */
tokens?: number
/**
 * Dollars per run, where they are known.
 */
cost_usd?: number
/**
 * Milliseconds per run, where they are known.
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
 * What the difference comes to.
 */
verdict: ("better" | "worse" | "no_evidence" | "not_enough_runs")
}
/**
 * What a gate is.
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
 * What a target is.
 */
export interface TargetDefinition {
/**
 * What it says, in one line.
 */
doc: string
/**
 * What it counts.
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
