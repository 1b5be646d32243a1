/** Which calls an edge records, and for whom it seals what it recorded. */
import { type Static, Type } from 'typebox';
import { Nullable, oneOf } from './schema.ts';

/** Set for an organization, a number or a call; the most specific one counts as a whole. */
export const RecordingChoice = Type.Object({
  /** `audio`: both sides, on separate channels */
  mode: oneOf(['off', 'audio']),
  /** played to the peer when the recording begins */
  announcement: oneOf(['none', 'tone', 'spoken']),
  /** for `spoken` */
  announcement_text: Nullable(Type.String()),
  /** key of the peer that pauses the recording, and resumes it */
  pause_key: Nullable(Type.String()),
});
export type RecordingChoice = Static<typeof RecordingChoice>;

/** Of an organization, in the configuration. */
export const OrgRecording = Type.Object({
  key_id: Type.String(),
  /** X25519, base64url; the private half stays with control */
  public_key: Type.String(),
  /** absent: no call is recorded, unless its number or its order says so */
  choice: Type.Optional(RecordingChoice),
});
export type OrgRecording = Static<typeof OrgRecording>;
