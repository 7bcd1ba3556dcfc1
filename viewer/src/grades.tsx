// The answers of judges: their votes, and their answer to each criterion.
import type { Row } from './data';
import { number } from './format';
import type { Gate } from './model';
import { linkTo } from './parts';
import { Text } from './text';

type Grade = NonNullable<Gate['grades']>[number];
type Vote = NonNullable<Grade['votes']>[number];

const Score = ({ of }: { of: number }) => (
  <svg class="score" viewBox="0 0 60 10" width="60" height="10" aria-hidden="true">
    <rect class="base" y="2" width="60" height="6" rx="3" />
    <rect class="value" y="2" width={60 * of} height="6" rx="3" />
  </svg>
);

/** Criteria as rows, judges as columns. */
function Votes({ votes }: { votes: Vote[] }) {
  const criteria = [...new Set(votes.flatMap((vote) => (vote.answers ?? []).map((answer) => answer.name)))];
  return (
    <table class="numbers votes">
      <thead>
        <tr><th scope="col" class="left">Criterion</th>{votes.map((vote, at) => <th key={at} scope="col" class="left mono"><Text of={vote.model} />{vote.sample > 1 && ` #${vote.sample}`}</th>)}</tr>
      </thead>
      <tbody>
        <tr class="asserted"><th scope="row">the vote</th>{votes.map((vote, at) => <td key={at} class="left"><Score of={vote.score} /> <b>{number(vote.score)}</b></td>)}</tr>
        {criteria.map((name) => (
          <tr key={name}>
            <th scope="row"><Text of={name} /></th>
            {votes.map((vote, at) => {
              const answer = (vote.answers ?? []).find((one) => one.name === name);
              return <td key={at} class="left">{answer ? <><Score of={answer.score} /> {number(answer.score)} <p class="dim"><Text of={answer.reason} /></p></> : '–'}</td>;
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export const Grades = ({ row, grades }: { row: Row; grades: Grade[] }) => (
  <div class="grades">
    {grades.map((grade, at) => (
      <section key={at} data-grade={grade.check}>
        <h3><a href={linkTo(row, grade.run)}>run {grade.run}</a> <span class="mono dim"><Text of={grade.check} /></span></h3>
        {!!grade.votes?.length && <div class="scroll" tabIndex={0}><Votes votes={grade.votes} /></div>}
        {Object.entries(grade.scores ?? {}).map(([name, score]) => <p key={name} class="mono"><Text of={name} /> <b>{number(score as number)}</b></p>)}
      </section>
    ))}
  </div>
);
