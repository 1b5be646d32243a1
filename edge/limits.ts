/** The limits and times of the edge that are no settings; tests hand in others (`EdgeOptions.limits`). */
import type { EngineLimits } from '#shared/engine-protocol/limits.ts';
import type { LimitOverrides } from '#shared/limits.ts';
import { modelLimits } from '#shared/models/limits.ts';
import { answeringLimits } from './agent/answering/limits.ts';
import { consultLimits, testCallerLimits } from './agent/limits.ts';
import { talkLimits } from './agent/talk-limits.ts';
import { testRoom } from './agent-test-room.ts';
import { agentTestTimes } from './agent-test-times.ts';
import { conferenceLimits } from './call/conference/limits.ts';
import { supervisionLimits } from './call/supervision/limits.ts';
import { callTimes } from './call/times.ts';
import { recordingLimits } from './media/recording/disk-room.ts';
import { workerLimits } from './media/worker-limits.ts';
import { shardLimits } from './shards/shard-slot.ts';
import { strangerLimits } from './signaling/admission/strangers.ts';
import { registrationTimes } from './signaling/registration/times.ts';
import { sessionIntervals } from './signaling/session/session-timer.ts';
import { referTimes } from './signaling/srf/environment.ts';
import { failoverProbes } from './trunks/failover.ts';
import { healthSettings } from './trunks/health.ts';

/** The engine has its own values (`engine/transport/limits.ts`); those of a test replace them. */
const engine: Partial<EngineLimits> = {};

export const edgeLimits = {
  answering: answeringLimits,
  calls: callTimes,
  conferences: conferenceLimits,
  supervision: supervisionLimits,
  consult: consultLimits,
  engine,
  failover: failoverProbes,
  models: modelLimits,
  probes: healthSettings,
  refers: referTimes,
  recordings: recordingLimits,
  registration: registrationTimes,
  session: sessionIntervals,
  shards: shardLimits,
  strangers: strangerLimits,
  talk: talkLimits,
  testCaller: testCallerLimits,
  workers: workerLimits,
  agentTests: agentTestTimes,
  testRoom,
};

export type EdgeLimits = typeof edgeLimits;
export type EdgeLimitOverrides = LimitOverrides<EdgeLimits>;
