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
}
/**
 * One agent with one model: its runs and its gates.
 */
export interface Test {
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
 * The suite file, as it was named on the command line.
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
 * How many calls the run made.
 */
calls?: number
/**
 * How long the call of a tool test took.
 */
duration_ms?: number
/**
 * Every assertion with its evidence.
 */
expectations: Expectation[]
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
 * The runs that do not meet what the gate asks of each, where it scores run by run.
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
 * The value, a text without its quotes.
 */
value: string
/**
 * Whether a call gave it.
 */
given: boolean
}[]
}[]
}
