/** Supervisors of live calls (contract 9.11). */
import { type Static, Type } from 'typebox';
import { Closed, Iso, Line, Nullable, OneOf, Plain, Text } from '#shared/api/common.ts';
import { PhoneCredentials } from '#shared/api/phone-sessions.ts';
import { longestPhoneCaller } from '#shared/phone-session.ts';
import { longestInstruction, supervisionModes } from '#shared/supervision.ts';

const Optional = Type.Optional;
const text = Type.String();

/** Most that are listed of a call. */
export const mostListedSupervisors = 100;

export const SupervisorCreate = Closed({
  caller: Optional(Line(1, longestPhoneCaller)),
});

export const SupervisorChange = Closed({
  mode: OneOf(supervisionModes),
  note: Optional(
    Nullable(
      Text(
        1,
        longestInstruction,
        'What its model is told of what was said, when the agent gets the call back',
      ),
    ),
  ),
});

export const WhisperOrder = Closed({
  text: Text(1, longestInstruction, 'What the model of the agent is told; the other party does not hear it'),
});

const SupervisorView = Type.Object({
  id: text,
  call_id: Type.String({ description: 'The supervised call' }),
  leg_call_id: Nullable(Type.String({ description: 'Its own call; null: it has made none yet' })),
  caller: text,
  mode: OneOf(supervisionModes),
  state: OneOf(['waiting', 'joined', 'left', 'expired'], 'waiting: it may join until expires_at'),
  created_at: Iso(),
  expires_at: Iso(),
  joined_at: Nullable(Iso()),
  left_at: Nullable(Iso()),
});
export type SupervisorView = Static<typeof SupervisorView>;

export const SupervisorPath = Type.Object({
  call_id: Type.String({ description: 'Id of the supervised call' }),
  id: Type.String({ description: 'Id of the supervisor' }),
});

export const SupervisorList = Plain(
  Type.Object({ supervisors: Type.Array(SupervisorView, { maxItems: mostListedSupervisors }) }),
);
export const SupervisorOne = Plain(Type.Object({ supervisor: SupervisorView }));
export const SupervisorMade = Plain(
  Type.Object({ supervisor: SupervisorView, credentials: PhoneCredentials }),
);
