// Which picture a gate has: by its tables, or by the kind of its evidence.
import type { ComponentChildren } from 'preact';
import type { Row } from '../data';
import type { Gate } from '../model';
import { Trajectory } from './trajectory';

export function pictureOf(row: Row, gate: Gate): ComponentChildren {
  if (gate.tables?.length) return <Trajectory row={row} tables={gate.tables} />;
  return null;
}
