// Which picture a gate has: by its tables, or by the kind of its evidence.
import type { ComponentChildren } from 'preact';
import type { Row } from '../data';
import type { Gate } from '../model';
import { Ablation, Distractors, Reliability } from './curves';
import { FaultMatrix, Stability } from './grids';
import { Narrative } from './narrative';
import { GoldenPath, ToolEdges, TrajectoryAxes } from './paths';
import { Scenario, ToolQuality, ToolSelection } from './tables';
import { Recovery, TokenEfficiency } from './time';
import { Trajectory } from './trajectory';

export function pictureOf(row: Row, gate: Gate): ComponentChildren {
  const of = gate.evidence;
  if (gate.tables?.length) return <Trajectory row={row} tables={gate.tables} />;
  switch (of?.kind) {
    case 'trajectory_axes': return <TrajectoryAxes row={row} of={of} />;
    case 'golden_path': return <GoldenPath row={row} of={of} />;
    case 'stability': return <Stability row={row} of={of} />;
    case 'reliability': return <Reliability of={of} />;
    case 'distractors': return <Distractors row={row} of={of} />;
    case 'recovery': return <Recovery row={row} of={of} />;
    case 'narrative': return <Narrative row={row} of={of} />;
    case 'tool_edges': return <ToolEdges of={of} />;
    case 'fault_matrix': return <FaultMatrix of={of} />;
    case 'token_efficiency': return <TokenEfficiency row={row} of={of} />;
    case 'tool_selection': return <ToolSelection of={of} />;
    case 'ablate': return <Ablation of={of} />;
    case 'scenario': return <Scenario row={row} of={of} />;
    case 'tool_quality': return <ToolQuality of={of} />;
    default: return null; // A later version may have more kinds.
  }
}
