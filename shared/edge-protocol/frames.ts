/**
 * Messages between edge and control, as JSON text frames over one WebSocket that the edge opens
 * (`GET /v1/edge/link`, `Authorization: Bearer <edge token>`).
 *
 *     edge                                   control
 *      | hello (outbox id, config version)      |
 *      |--------------------------------------->|
 *      |      welcome (acknowledged sequence)   |
 *      |<---------------------------------------|
 *      |      config (whole, or changes)        |
 *      |<---------------------------------------|
 *      | applied (version)                      |
 *      |--------------------------------------->|
 *      | report (in order, at least once)       |
 *      |--------------------------------------->|
 *      |      ack (highest sequence stored)     |
 *      |<---------------------------------------|
 *      |      command        result             |
 *      |<-------------- ... ------------------->|
 *
 * Reports carry `seq`, which increases by one per report of an outbox. Control stores a report and its `seq` in one
 * transaction and ignores duplicates, so repeated delivery changes nothing.
 */
import { type Static, Type } from 'typebox';
import { EdgeCommand } from './commands.ts';
import { EdgeConfig, EdgeConfigChange } from './config.ts';
import { CallAnswer, CallCountFrame, CallsWanted, Learned, Membership } from './fleet.ts';
import { Report } from './reports.ts';
import { Iso } from './schema.ts';

export const EdgeToControl = Type.Union([
  Type.Object({
    type: Type.Literal('hello'),
    protocol: Type.Literal(1),
    /** stable across restarts: created once per data folder */
    edge_id: Type.String(),
    /** the outbox whose sequence numbers the reports carry */
    outbox_id: Type.String(),
    /** configuration version in use on the edge; 0: none */
    config_version: Type.Integer(),
    sip: Type.Object({
      host: Type.String(),
      port: Type.Integer(),
      /** of SIP over WSS; absent: it takes no calls of browsers */
      wss_port: Type.Optional(Type.Integer()),
    }),
    rtp: Type.Object({ ip: Type.String(), port_min: Type.Integer(), port_max: Type.Integer() }),
    /** codecs whose libraries are installed */
    codecs: Type.Array(Type.String()),
    software: Type.String(),
    /** the edge's clock when the frame was sent */
    at: Type.Optional(Iso),
    /** it shares its work with other edges (fleet.ts); absent: it does everything itself */
    fleet: Type.Optional(Type.Boolean()),
    /** it follows `move` */
    moves: Type.Optional(Type.Boolean()),
    /** which frames and reports it knows (revision.ts) */
    revision: Type.Optional(Type.Integer()),
  }),
  Type.Object({ type: Type.Literal('applied'), version: Type.Integer() }),
  Type.Object({ type: Type.Literal('report'), reports: Type.Array(Report) }),
  Type.Object({
    type: Type.Literal('result'),
    id: Type.String(),
    ok: Type.Boolean(),
    error: Type.Optional(Type.String()),
    /** code of shared/errors.ts for the API's response, if the command itself was at fault */
    code: Type.Optional(Type.String()),
  }),
  /** Every 10 s: the edge's metrics, Prometheus name to value. */
  Type.Object({
    type: Type.Literal('status'),
    metrics: Type.Record(Type.String(), Type.Number()),
    /** the edge's clock when the frame was sent */
    at: Type.Optional(Iso),
  }),
  CallCountFrame,
]);
export type EdgeToControl = Static<typeof EdgeToControl>;

export const ControlToEdge = Type.Union([
  Type.Object({
    type: Type.Literal('welcome'),
    acknowledged: Type.Integer(),
    /** it decides who does what in the fleet; absent: the edge does everything itself */
    fleet: Type.Optional(Type.Boolean()),
    /** which frames and reports it knows (revision.ts) */
    revision: Type.Optional(Type.Integer()),
  }),
  Type.Object({ type: Type.Literal('config'), config: EdgeConfig }),
  Type.Object({ type: Type.Literal('change'), change: EdgeConfigChange }),
  Type.Object({ type: Type.Literal('ack'), seq: Type.Integer() }),
  Type.Object({
    type: Type.Literal('command'),
    id: Type.String(),
    command: EdgeCommand,
    /**
     * on the edge's clock: an expired command is rejected, because its sender has already received a failure;
     * absent: never expires
     */
    expires_at: Type.Optional(Iso),
  }),
  /**
   * This control plane is shutting down, and others serve: the edge opens a second connection, which reaches another one,
   * and leaves this one open until that has its welcome.
   */
  Type.Object({ type: Type.Literal('move') }),
  Membership,
  Learned,
  CallAnswer,
  CallsWanted,
]);
export type ControlToEdge = Static<typeof ControlToEdge>;
