// Written by build.mjs from the published schema.

/**
 * Reports side by side. Fields may be added without a new schema_version; fields are not removed and do not change their meaning.
 */
export type McptestCompare = (Two | Several)
export type Share = number
export type Difference = number
export type Verdict = ("better" | "worse" | "no_evidence" | "not_enough_runs")

/**
 * Two reports, test by test.
 */
export interface Two {
/**
 * The version of this format.
 */
schema_version: 1
a: Side
b: Side1
/**
 * `worse` if all tests together are worse, or any single test; otherwise `better` in the same way.
 */
verdict: ("better" | "worse" | "no_evidence" | "not_enough_runs")
/**
 * The verdict in a sentence or two.
 */
sentence: string
/**
 * The pass rate of the first: the mean over the compared tests. This field and the next five are absent if no test could be compared.
 */
rate_a?: number
/**
 * The pass rate of the second.
 */
rate_b?: number
/**
 * The second pass rate less the first.
 */
difference?: number
/**
 * The lower bound of the 95% interval of the difference.
 */
low?: number
/**
 * The upper bound.
 */
high?: number
/**
 * The two-sided mid-p of the permutation test within each test.
 */
p?: number
/**
 * True if `p` is from a fixed sample of the rearrangements, because they are too many to count; absent if all were counted.
 */
p_is_drawn?: boolean
/**
 * `p`, adjusted for all sides that are compared with the first; absent if there is only one.
 */
p_holm?: number
/**
 * The smallest drop that these runs show four times in five; absent if they would miss even a drop to 0 more often.
 */
smallest_drop?: number
/**
 * The number of further runs of each test, on each side, that would show a difference as large as this one, or any at all.
 */
more_runs?: number
/**
 * The tests that both have, in the order of the first.
 */
tests: Test[]
/**
 * Tests that only the first has.
 */
only_a: string[]
/**
 * Tests that only the second has.
 */
only_b: string[]
leaderboard?: Leaderboard
}
/**
 * The first report.
 */
export interface Side {
/**
 * Its name on the command line.
 */
name: string
/**
 * The number of its tests.
 */
tests: number
/**
 * The number of its judged runs.
 */
runs: number
}
/**
 * The second report.
 */
export interface Side1 {
/**
 * Its name on the command line.
 */
name: string
/**
 * The number of its tests.
 */
tests: number
/**
 * The number of its judged runs.
 */
runs: number
}
/**
 * One test.
 */
export interface Test {
/**
 * The suite's file, as in the first report.
 */
suite: string
/**
 * The agent's name.
 */
name: string
/**
 * The model, if it names one.
 */
model: (string | null)
/**
 * The variant, if it has several, as in the report.
 */
variant?: {
[k: string]: unknown
}
/**
 * Its status in the first.
 */
status_a: ("passed" | "failed" | "error" | "skipped")
/**
 * Its status in the second.
 */
status_b: ("passed" | "failed" | "error" | "skipped")
/**
 * The number of its runs in the first.
 */
runs_a: number
/**
 * The number of its runs in the second.
 */
runs_b: number
/**
 * The number of passed runs in the first.
 */
passed_a: number
/**
 * The number of passed runs in the second.
 */
passed_b: number
/**
 * The number of runs in the first that ended in an error; they count as not passed.
 */
broken_a?: number
/**
 * The number of runs in the second that ended in an error.
 */
broken_b?: number
rate_a?: Share
rate_b?: Share
/**
 * The second pass rate less the first; absent if it could not be compared.
 */
difference?: number
/**
 * The lower bound of its 95% interval.
 */
low?: number
/**
 * The upper bound.
 */
high?: number
/**
 * The two-sided mid-p of the permutation test.
 */
p?: number
/**
 * `p`, adjusted for all tests that could have shown a change; absent if this test could not.
 */
p_holm?: number
/**
 * The verdict on its runs; absent if it could not be compared.
 */
verdict?: ("better" | "worse" | "no_evidence" | "not_enough_runs")
/**
 * True if it passed in the first and fails in the second, with equal expectations.
 */
has_regressed?: boolean
/**
 * The reason why it could not be compared.
 */
not_compared?: string
/**
 * The keys of its gates that measured something in the first and nothing in the second.
 */
no_longer_exercised?: string[]
/**
 * The numbers of its gates and scorers.
 */
targets: Target[]
/**
 * The tools that only one of the two called.
 */
calls: Tool[]
first_difference?: FirstDifference
}
/**
 * A number on both sides; `null` means not measured.
 */
export interface Target {
/**
 * The gate's key; absent for a number that a scorer gave each run.
 */
gate?: string
target: string
/**
 * The value of the first; of a scorer the mean over its runs.
 */
a: (number | null)
/**
 * The value of the second.
 */
b: (number | null)
/**
 * The direction of good values, if known.
 */
better?: ("high" | "low")
/**
 * The two-sided mid-p of the permutation test, if each run has a number.
 */
p?: number
}
export interface Tool {
tool: string
/**
 * The number of runs of the first that called it.
 */
runs_a: number
/**
 * The number of runs of the second that called it.
 */
runs_b: number
}
/**
 * The first call at which the typical runs differ.
 */
export interface FirstDifference {
/**
 * The call, from 1.
 */
call: number
/**
 * The tool that the first calls there; `null` if the first has ended.
 */
a: (string | null)
/**
 * The tool that the second calls there.
 */
b: (string | null)
}
/**
 * The models of both, if there are several.
 */
export interface Leaderboard {
/**
 * The k of pass@k and pass^k: the number of runs of the test with the fewest, up to a limit.
 */
k: number
models: Model[]
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
export interface Model {
/**
 * The model, or the side of a comparison of several.
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
low: Difference
high: Difference
/**
 * The two-sided mid-p, adjusted for all models that are compared with the first.
 */
p: number
verdict: Verdict
}
/**
 * More than two reports: each further report compared with the first.
 */
export interface Several {
/**
 * The version of this format.
 */
schema_version: 1
first: Side2
/**
 * `worse` if any side is worse; otherwise `better`, otherwise `no_evidence`, in the same way.
 */
verdict: ("better" | "worse" | "no_evidence" | "not_enough_runs")
/**
 * Each other side compared with the first; the p-values are adjusted for all of them.
 */
sides: Two[]
leaderboard?: Leaderboard1
}
/**
 * The first report.
 */
export interface Side2 {
/**
 * Its name on the command line.
 */
name: string
/**
 * The number of its tests.
 */
tests: number
/**
 * The number of its judged runs.
 */
runs: number
}
/**
 * All sides; absent if the first has no runs.
 */
export interface Leaderboard1 {
/**
 * The k of pass@k and pass^k: the number of runs of the test with the fewest, up to a limit.
 */
k: number
models: Model[]
/**
 * The tests that only some of them have. They are not counted.
 */
tests_left_out?: string[]
/**
 * The models that have no test in common with the others.
 */
models_left_out?: string[]
}
