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
 * `worse` where all tests together are worse, or any one of them; else `better` in the same way.
 */
verdict: ("better" | "worse" | "no_evidence" | "not_enough_runs")
/**
 * The verdict in a sentence or two.
 */
sentence: string
/**
 * The pass rate of the first: the mean over the tests that could be compared. It and the next five are absent where there is none.
 */
rate_a?: number
/**
 * The pass rate of the second.
 */
rate_b?: number
/**
 * The second less the first.
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
 * Whether `p` is from a fixed sample of the rearrangements, because there are too many to count them all; absent where all were counted.
 */
p_is_drawn?: boolean
/**
 * The same, adjusted for all sides that are compared with the first; absent where there is one.
 */
p_holm?: number
/**
 * The smallest drop that so many runs show four times in five; absent where even a fall to 0 is missed more often.
 */
smallest_drop?: number
/**
 * How many more runs of each test, on each side, would show a difference as large as this one, or any at all.
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
 * What is compared with.
 */
export interface Side {
/**
 * What it is called on the command line.
 */
name: string
/**
 * How many tests it has.
 */
tests: number
/**
 * How many runs of them were judged.
 */
runs: number
}
/**
 * What is compared.
 */
export interface Side1 {
/**
 * What it is called on the command line.
 */
name: string
/**
 * How many tests it has.
 */
tests: number
/**
 * How many runs of them were judged.
 */
runs: number
}
/**
 * One test.
 */
export interface Test {
/**
 * The suite's file, as the first has it.
 */
suite: string
/**
 * The agent's name.
 */
name: string
/**
 * The model, when it names one.
 */
model: (string | null)
/**
 * The variant, when it has several, as in the report.
 */
variant?: {
[k: string]: unknown
}
/**
 * How it ended in the first.
 */
status_a: ("passed" | "failed" | "error" | "skipped")
/**
 * How it ended in the second.
 */
status_b: ("passed" | "failed" | "error" | "skipped")
/**
 * How many runs it has in the first.
 */
runs_a: number
/**
 * How many in the second.
 */
runs_b: number
/**
 * How many of them passed in the first.
 */
passed_a: number
/**
 * How many in the second.
 */
passed_b: number
/**
 * How many runs of the first ended in an error; they count as not passed.
 */
broken_a?: number
/**
 * How many of the second.
 */
broken_b?: number
rate_a?: Share
rate_b?: Share
/**
 * The second pass rate less the first; absent where it could not be compared.
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
 * The same, adjusted for all tests that could have shown a change; absent where this one could not.
 */
p_holm?: number
/**
 * What its runs say; absent where it could not be compared.
 */
verdict?: ("better" | "worse" | "no_evidence" | "not_enough_runs")
/**
 * Whether it passed in the first and fails in the second, held to the same.
 */
has_regressed?: boolean
/**
 * Why it could not be compared.
 */
not_compared?: string
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
 * A number on both sides; `null` is not measured.
 */
export interface Target {
/**
 * The gate's key; absent for a number that a scorer gave each run.
 */
gate?: string
target: string
/**
 * The first's; of a scorer the mean over its runs.
 */
a: (number | null)
/**
 * The second's.
 */
b: (number | null)
/**
 * Which values are good, where that is known.
 */
better?: ("high" | "low")
/**
 * The two-sided mid-p of the permutation test, where each run has a number.
 */
p?: number
}
export interface Tool {
tool: string
/**
 * In how many runs of the first it was called.
 */
runs_a: number
/**
 * In how many of the second.
 */
runs_b: number
}
/**
 * Where the typical runs part.
 */
export interface FirstDifference {
/**
 * The call, from 1.
 */
call: number
/**
 * The tool that the first calls there; `null` where it has ended.
 */
a: (string | null)
/**
 * The tool that the second calls there.
 */
b: (string | null)
}
/**
 * The models of both, where there are several.
 */
export interface Leaderboard {
/**
 * Of how many runs pass@k and pass^k speak: the fewest that any test has, up to a limit.
 */
k: number
models: Model[]
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
export interface Model {
/**
 * The model, or the side of a comparison of several.
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
low: Difference
high: Difference
/**
 * The two-sided mid-p, adjusted for all models that are compared with the first.
 */
p: number
verdict: Verdict
}
/**
 * More than two reports: each but the first compared with the first.
 */
export interface Several {
/**
 * The version of this format.
 */
schema_version: 1
first: Side2
/**
 * `worse` where any side is worse; else `better`, else `no_evidence`, in the same way.
 */
verdict: ("better" | "worse" | "no_evidence" | "not_enough_runs")
/**
 * Each other side compared with the first; p-values are adjusted for all of them.
 */
sides: Two[]
leaderboard?: Leaderboard1
}
/**
 * What is compared with.
 */
export interface Side2 {
/**
 * What it is called on the command line.
 */
name: string
/**
 * How many tests it has.
 */
tests: number
/**
 * How many runs of them were judged.
 */
runs: number
}
/**
 * All sides; absent where the first has no runs.
 */
export interface Leaderboard1 {
/**
 * Of how many runs pass@k and pass^k speak: the fewest that any test has, up to a limit.
 */
k: number
models: Model[]
/**
 * The tests that only some of them have, which are not counted.
 */
tests_left_out?: string[]
/**
 * The models that have no test in common with the others.
 */
models_left_out?: string[]
}
