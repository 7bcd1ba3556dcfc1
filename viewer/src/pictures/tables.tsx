// Evidence that reads best as a table: choices of tools, rules on tools, and a world before and after.
import { Differences } from '../assertions';
import type { Row } from '../data';
import { whole } from '../format';
import { linkTo } from '../parts';
import { Json, Text } from '../text';
import { Picker } from './picker';
import type { Evidence } from './kinds';

const COLUMNS = [['missed', 'missed'], ['right', 'right'], ['extra', 'not asked for']] as const;

/** Three columns instead of overlapping circles. */
export const ToolSelection = ({ of }: { of: Evidence<'tool_selection'> }) => (
  <div class="chosen">
    {COLUMNS.map(([key, title]) => {
      const tools = of.tools.filter((tool) => tool[key] > 0);
      return (
        <section key={key} class={key}>
          <h3>{title} {whole(tools.reduce((sum, tool) => sum + tool[key], 0))}</h3>
          {tools.map((tool) => <p key={tool.name} data-tool={tool.name} data-count={tool[key]}><code><Text of={tool.name} /></code> ×{tool[key]}</p>)}
        </section>
      );
    })}
  </div>
);

export const ToolQuality = ({ of }: { of: Evidence<'tool_quality'> }) =>
  of.tools.length === 0 ? null : (
    <div class="scroll" tabIndex={0}>
      <table class="numbers whole-words">
        <thead><tr>{['Tool', 'Rule', 'What is wrong'].map((name) => <th key={name} scope="col" class="left">{name}</th>)}</tr></thead>
        <tbody>
          {of.tools.map((one, at) => (
            <tr key={at} data-rule={one.rule}>
              <th scope="row" class="mono"><Text of={[one.server, one.tool].filter(Boolean).join('.')} /></th>
              <td class="left mono"><Text of={one.rule} /><p class="dim">{one.level}</p></td>
              <td class="left"><Text of={one.message} code /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );

export const Scenario = ({ row, of }: { row: Row; of: Evidence<'scenario'> }) => (
  <Picker items={of.runs} label={(run) => run.run} leftOut={of.left_out}>
    {(run) => (
      <>
        {run.left_at_call && <p><span class="tag failed">left the path</span> at <a href={linkTo(row, run.run, run.left_at_call)} data-left-at={run.left_at_call}>call {run.left_at_call}</a> of run {run.run}</p>}
        {run.differences.length > 0 && <Differences of={run.differences} />}
        <div class="worlds">
          {run.expected !== undefined && <section><h3>Expected</h3><Json of={run.expected} /></section>}
          <section><h3>After run {run.run}</h3><Json of={run.after} /></section>
          <details open={run.expected === undefined}><summary>Before</summary><Json of={run.before} /></details>
        </div>
      </>
    )}
  </Picker>
);
