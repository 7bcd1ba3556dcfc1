// The evidence of each kind of gate, as the schema says.
import type { Gate } from '../model';

type Any = NonNullable<Gate['evidence']>;
/** The evidence of the gates of one kind. */
export type Evidence<K extends Any['kind']> = Extract<Any, { kind: K }>;
