/** Supervisors of live calls (contract 9.11). */
import { type Static, Type } from 'typebox';
import { Closed, Iso, Line, Nullable, OneOf, Plain, Text } from '#shared/api/common.ts';
import { PhoneCredentials } from '#shared/api/phone-sessions.ts';
import { described } from '#shared/described.ts';
import { longestPhoneCaller } from '#shared/phone-session.ts';
import { longestInstruction, supervisionModes } from '#shared/supervision.ts';

const Optional = Type.Optional;

/** Most that are listed of a call. */
export const mostListedSupervisors = 100;

export const SupervisorCreate = Closed({
  caller: Optional(Line(1, longestPhoneCaller, 'Name of the supervisor; default: chosen by the service')),
});

export const SupervisorChange = Closed({
  mode: OneOf(supervisionModes, 'What it does: listens, whispers, speaks, or takes the call over'),
  note: Optional(
    Nullable(
      Text(
        1,
        longestInstruction,
        'What its model is told of what was said, when the agent gets the call back; null: nothing',
      ),
    ),
  ),
});

export const WhisperOrder = Closed({
  text: Text(1, longestInstruction, 'What the model of the agent is told; the other party does not hear it'),
});

const SupervisorView = Type.Object({
  id: Type.String({ description: 'Id of the supervisor' }),
  call_id: Type.String({ description: 'The supervised call' }),
  leg_call_id: Nullable(Type.String({ description: 'Its own call; null: it has made none yet' })),
  caller: Type.String({ description: 'Name of the supervisor' }),
  mode: OneOf(supervisionModes, 'What it does now'),
  state: OneOf(['waiting', 'joined', 'left', 'expired'], 'waiting: it may join until expires_at'),
  created_at: Iso('When it was created'),
  expires_at: Iso('Until when it may join'),
  joined_at: Nullable(Iso(), 'When it joined; null: it has not'),
  left_at: Nullable(Iso(), 'When it left; null: it has not'),
});
export type SupervisorView = Static<typeof SupervisorView>;

export const SupervisorPath = Type.Object({
  call_id: Type.String({ description: 'Id of the supervised call' }),
  id: Type.String({ description: 'Id of the supervisor' }),
});

export const SupervisorList = Plain(
  Type.Object({
    supervisors: Type.Array(SupervisorView, { maxItems: mostListedSupervisors, description: 'Newest first' }),
  }),
);
export const SupervisorOne = Plain(Type.Object({ supervisor: described(SupervisorView, 'The supervisor') }));
export const SupervisorMade = Plain(
  Type.Object({
    supervisor: described(SupervisorView, 'The supervisor'),
    credentials: described(PhoneCredentials, 'With what its browser calls'),
  }),
);
