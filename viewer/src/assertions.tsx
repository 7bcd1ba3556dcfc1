// Assertions with the values that were found.
import type { Diff, Expectation } from './model';
import { Mark } from './parts';
import { brief, Json, Text } from './text';

/** Expected blue and dashed, recorded red: a wrong value is never green. */
export const Differences = ({ of }: { of: Diff }) => (
  <table class="diff">
    <tbody>
      {of.map((one, at) => (
        <tr key={at}>
          <th scope="row" class="mono"><Text of={one.pointer || 'all of it'} /></th>
          <td><span class="dim">expected</span> {one.absent === 'expected' ? <i>nothing</i> : <code class="expected"><Text of={brief(one.expected)} /></code>}</td>
          <td><span class="dim">recorded</span> {one.absent === 'actual' ? <i>nothing</i> : <code class="recorded"><Text of={brief(one.actual)} /></code>}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

/** One difference at the root says what the sentence above it says. */
const isWhole = (of: Diff) => of.length === 1 && !of[0].pointer && brief(of[0].expected).length + brief(of[0].actual).length < 200;

/** The details of an assertion besides its sentence: the suite's own words, the reason, and where values differ. */
export const AssertionDetail = ({ of }: { of: Expectation }) => (
  <>
    {of.message && <p><b><Text of={of.message} /></b></p>}
    {of.reason && <p><Text of={of.reason} code /></p>}
    {!!of.diff?.length && !isWhole(of.diff) && <Differences of={of.diff} />}
  </>
);

export const Assertions = ({ of }: { of: Expectation[] }) => (
  <ul class="assertions">
    {of.map((one, at) => (
      <li key={at}>
        <Mark of={one.passed ? 'passed' : 'failed'} /> <code><Text of={one.target} /></code> <code class="dim"><Text of={brief(one.matcher)} /></code>
        {one.message && <p><b><Text of={one.message} /></b></p>}
        {one.reason && <p><Text of={one.reason} code /></p>}
        {!!one.diff?.length && <Differences of={one.diff} />}
        {!one.passed && !one.diff?.length && one.actual !== undefined && <Json of={one.actual} />}
      </li>
    ))}
  </ul>
);
