/**
 * Every error code of the HTTP API, with its status and its default message. Each code has a line in docs/errors.md; a
 * test compares the two.
 */
export interface ApiErrorRule {
  readonly status: number;
  /** One sentence for a person; code that raises the error may use a more specific one. */
  readonly message: string;
}

export const apiErrors = {
  INVALID_PARAMETER: { status: 400, message: 'A value is missing, mistyped or out of range.' },
  UNKNOWN_PROPERTY: { status: 400, message: 'The body has an unknown property.' },
  INVALID_JSON: { status: 400, message: 'The body must be a JSON object.' },
  INVALID_CURSOR: { status: 400, message: 'The cursor does not match an entry of this list.' },
  INVALID_GRAPH: { status: 400, message: 'The pathway graph is invalid.' },
  INVALID_SIP_ENDPOINT: { status: 400, message: 'The SIP endpoint is neither a host nor a SIP URI.' },
  TRANSPORT_NOT_ALLOWED: { status: 400, message: 'SIP is carried over TLS only; set transport to "tls".' },
  SECURE_MEDIA_REQUIRED: { status: 400, message: 'Media is SRTP only; secure_media cannot be false.' },
  REGISTRAR_REQUIRED: {
    status: 400,
    message:
      'Registration needs a registrar: give the inbound direction a sip_endpoint, or attach an outbound configuration.',
  },
  REGISTRATION_NOT_CONFIGURED: {
    status: 400,
    message: 'The number has no inbound configuration with auth_mode register.',
  },
  DUPLICATE_SIP_CONFIG: { status: 400, message: 'The number already has an identical configuration.' },
  TARGET_NOT_ALLOWED: { status: 400, message: 'The target address is not a public address.' },
  AGENT_SOURCE_CONFLICT: {
    status: 400,
    message: 'Give at most one of prompt, pathway_id, persona_id, stream_url and realtime.',
  },
  NO_OUTBOUND_ROUTE: {
    status: 400,
    message:
      'No number of the organization has an outbound configuration that can make this call; attach one.',
  },
  REFER_NOT_SUPPORTED: { status: 400, message: 'The peer of the call does not support REFER.' },
  INVALID_PHONE_NUMBER: { status: 400, message: 'The phone number is not an E.164 number.' },
  SIP_CONFIG_LIMIT: {
    status: 400,
    message: 'A number has at most 10 SIP configurations; detach one first.',
  },
  FAILOVER_OUTBOUND_ONLY: { status: 400, message: 'Failover belongs to outbound configurations.' },
  FAILOVER_ENDPOINTS_REQUIRED: {
    status: 400,
    message: 'Failover is enabled, but there is no endpoint for it.',
  },
  NO_ALERT_RECIPIENTS: {
    status: 400,
    message: 'This alert has no recipients: configure some for the organization.',
  },
  ACTION_NOT_FOUND: { status: 400, message: 'The integration has no such action.' },
  INVALID_INPUT_SCHEMA: { status: 400, message: 'The input schema is not a valid JSON Schema of an object.' },
  UNKNOWN_TEMPLATE_REFERENCE: {
    status: 400,
    message: 'The body uses inputs that are not in the input schema.',
  },
  OUTBOUND_NOT_CONFIGURED: { status: 400, message: 'The number has no outbound configuration.' },
  INVALID_PHONE_NUMBERS: { status: 400, message: 'Some entries are not E.164 numbers.' },
  TARGET_PORT_DATE_TOO_EARLY: { status: 400, message: 'Ports need at least 7 days.' },
  PIN_REQUIRED: { status: 400, message: 'Porting this number requires the PIN of its carrier.' },
  DOCUMENT_NOT_FOUND: { status: 400, message: 'There is no such document.' },
  NOT_PORTABLE: { status: 400, message: 'A number cannot be ported here.' },
  CONSENT_REQUIRED: { status: 400, message: 'The letter can only be signed with consent.' },
  NAME_MISMATCH: { status: 400, message: 'The name is not that of the authorized representative.' },
  INVALID_INBOUND_NUMBERS: { status: 400, message: 'The organization does not have all of these numbers.' },
  EMPTY_TRANSCRIPT: { status: 400, message: 'The conversation has no words from the caller.' },
  NUMBER_NOT_TESTABLE: { status: 400, message: 'The number does not answer with the tested agent.' },
  NO_SCENARIOS: { status: 400, message: 'The pathway has no enabled scenario.' },
  TOO_MANY_SCENARIOS: {
    status: 400,
    message:
      'The pathway has more than 50 enabled scenarios; name at most 50 in scenario_ids, or disable some.',
  },
  SIMULATION_LIMIT: {
    status: 400,
    message:
      'A simulation set has at most 1000 runs; lower simulations_per_scenario, or name fewer scenarios.',
  },
  AUTH_FAILURE: { status: 401, message: 'Unauthorized' },
  SIP_NOT_ENABLED: { status: 403, message: 'SIP is not enabled for this organization.' },
  OPERATOR_KEY_REQUIRED: { status: 403, message: 'This endpoint needs an operator key.' },
  ROLE_TOO_LOW: { status: 403, message: 'The role of this key is too low for this endpoint.' },
  CSRF_TOKEN_INVALID: {
    status: 403,
    message:
      'A request of a session that changes something needs the header X-CSRF-Token, with the token of GET /v1/session.',
  },
  ORIGIN_NOT_ALLOWED: { status: 403, message: 'The widget may not be used on this page.' },
  VOICE_DISABLED: { status: 403, message: 'The widget takes no calls.' },
  ROUTE_NOT_FOUND: { status: 404, message: 'There is no such path; GET /openapi.json lists all.' },
  NUMBER_NOT_FOUND: { status: 404, message: 'The organization has no such number.' },
  SIP_CONFIG_NOT_FOUND: { status: 404, message: 'The number has no such SIP configuration.' },
  CALL_NOT_FOUND: { status: 404, message: 'There is no such call.' },
  TRACE_NOT_FOUND: { status: 404, message: 'The call has no SIP trace, or it has expired.' },
  RECORDING_NOT_FOUND: { status: 404, message: 'The call has no recording, or it was deleted.' },
  RECORDING_STORAGE_NOT_FOUND: { status: 404, message: 'No storage of recordings is set.' },
  DISCOVERY_NOT_FOUND: { status: 404, message: 'There is no such discovery.' },
  TEST_CALL_NOT_FOUND: { status: 404, message: 'There is no such test call.' },
  PATHWAY_NOT_FOUND: { status: 404, message: 'There is no such pathway.' },
  PERSONA_NOT_FOUND: { status: 404, message: 'There is no such persona.' },
  VERSION_NOT_FOUND: { status: 404, message: 'The pathway has no such version.' },
  TOOL_NOT_FOUND: { status: 404, message: 'There is no such tool.' },
  PORT_NOT_FOUND: { status: 404, message: 'There is no such port request.' },
  SIGNATURE_LINK_NOT_FOUND: { status: 404, message: 'There is no such signature link.' },
  SCENARIO_NOT_FOUND: { status: 404, message: 'There is no such scenario.' },
  TEST_AGENT_NOT_FOUND: { status: 404, message: 'There is no such agent of others.' },
  TEMPLATE_NOT_FOUND: { status: 404, message: 'There is no such template.' },
  RUN_NOT_FOUND: { status: 404, message: 'There is no such run.' },
  BATCH_NOT_FOUND: { status: 404, message: 'There is no such batch.' },
  TEST_MATRIX_NOT_FOUND: { status: 404, message: 'There is no such matrix of test runs.' },
  TEST_WATCH_NOT_FOUND: { status: 404, message: 'There is no such watch.' },
  TEST_NOISE_NOT_FOUND: { status: 404, message: 'There is no such noise.' },
  TEST_LOAD_NOT_FOUND: { status: 404, message: 'There is no such load.' },
  SIMULATION_SET_NOT_FOUND: { status: 404, message: 'There is no such simulation set.' },
  TORNADO_NOT_FOUND: { status: 404, message: 'There is no such tornado session.' },
  NO_ACTIVE_SESSION: { status: 404, message: 'No tornado session is active.' },
  CHAT_NOT_FOUND: { status: 404, message: 'There is no such chat.' },
  /** In the body of a tool: 400. */
  INTEGRATION_NOT_FOUND: { status: 404, message: 'There is no such integration.' },
  RESOURCE_NOT_FOUND: { status: 404, message: 'There is no such connected resource, or it is not active.' },
  CONFERENCE_NOT_FOUND: { status: 404, message: 'There is no such open conference.' },
  KEY_NOT_FOUND: { status: 404, message: 'The organization has no such key.' },
  DELIVERY_NOT_FOUND: { status: 404, message: 'The organization has no such webhook delivery.' },
  PHONE_SESSION_NOT_FOUND: { status: 404, message: 'The organization has no such phone session.' },
  SUPERVISOR_NOT_FOUND: { status: 404, message: 'The call has no such supervisor.' },
  SESSION_NOT_FOUND: { status: 404, message: 'There is no such open session.' },
  EDGE_NOT_FOUND: { status: 404, message: 'No edge with this id ever connected.' },
  WIDGET_NOT_FOUND: { status: 404, message: 'There is no such widget.' },
  THREAD_NOT_FOUND: { status: 404, message: 'The widget has no such thread.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'Method not allowed for this path.' },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    message: 'This Idempotency-Key was used with another body on the same path.',
  },
  CALL_NOT_ACTIVE: { status: 409, message: 'The call is not in progress, or is being transferred already.' },
  PARK_SLOT_TAKEN: { status: 409, message: 'Another call is parked in this slot.' },
  CALL_NOT_PARKED: { status: 409, message: 'The call is not parked.' },
  CALL_WITHOUT_AGENT: { status: 409, message: 'The parked call has no agent any more.' },
  CONFERENCE_FULL: { status: 409, message: 'The conference is full, or no other one can be opened.' },
  CALLS_APART: {
    status: 409,
    message: 'The calls are on two edges, or in two media shards of one, and cannot be joined.',
  },
  CALL_NOT_IN_CONFERENCE: { status: 409, message: 'The call is not in this conference.' },
  SUPERVISOR_NOT_THERE: {
    status: 409,
    message: 'The supervisor has not joined the call yet, or has left it.',
  },
  CALL_TAKEN_OVER: { status: 409, message: 'Another supervisor has taken the call over.' },
  AGENT_TAKES_NO_TEXT: { status: 409, message: 'The agent of the call cannot be told a text now.' },
  RECORDING_NOT_ACTIVE: { status: 409, message: 'The call is not being recorded.' },
  RECORDING_NOT_READY: {
    status: 409,
    message: 'The edge has not sent all of the recording; retry when the call has ended.',
  },
  DISCOVERY_IN_PROGRESS: {
    status: 409,
    message: 'An organization can run 1 discovery at a time; wait for the one that is running.',
  },
  NUMBER_IN_USE: { status: 409, message: 'The number belongs to another organization.' },
  DELIVERY_WAITING: { status: 409, message: 'The webhook is still being delivered.' },
  KEY_NOT_ACTIVE: { status: 409, message: 'The key is revoked or has expired.' },
  PHONE_SESSION_ENDED: { status: 409, message: 'The phone session is revoked or has expired.' },
  LAST_ADMIN_KEY: {
    status: 409,
    message:
      'This is the last admin key of the organization that does not expire; rotate it, or create another one first.',
  },
  EDGE_CONNECTED: { status: 409, message: 'The edge is connected, or was within the last 30 s.' },
  PORT_ALREADY_IN_PROGRESS: { status: 409, message: 'A number is being ported already.' },
  PORT_NOT_CANCELABLE: { status: 409, message: 'The port has ended and cannot be canceled.' },
  INVALID_TRANSITION: {
    status: 409,
    message: 'The number cannot change from its current state to that one.',
  },
  ALREADY_SIGNED: { status: 409, message: 'The letter is signed already.' },
  SIGNATURE_LINK_EXPIRED: { status: 410, message: 'The signature link is no longer valid.' },
  QUOTA_EXCEEDED: {
    status: 409,
    message:
      'The quota that details.quota names is reached; delete some of these, or ask the operator for more.',
  },
  DOCUMENT_IN_USE: {
    status: 409,
    message: 'A port request uses the document; it is stored with that request.',
  },
  PATHWAY_IN_USE: { status: 409, message: 'The pathway is in use.' },
  CHAT_COMPLETED: { status: 409, message: 'The chat has ended.' },
  PROMOTION_BLOCKED: { status: 409, message: 'Required test scenarios have not passed on this content.' },
  PERSONA_IN_USE: { status: 409, message: 'The persona is in use.' },
  GRAPH_CHANGED: { status: 409, message: 'The graph was changed after it was read.' },
  VERSION_IN_PRODUCTION: { status: 409, message: 'The version is in production.' },
  THREAD_ENDED: { status: 409, message: 'The thread has ended.' },
  HANDOFF_REQUIRED: {
    status: 409,
    message: 'The AI agent answers this thread until it is handed over to a live agent.',
  },
  SCENARIO_NAME_TAKEN: { status: 409, message: 'Another scenario of the pathway or persona has this name.' },
  TEST_AGENT_NOT_PROVEN: {
    status: 409,
    message: 'Nobody has shown that this agent may be called: prove its ownership first.',
  },
  TEST_AGENT_IN_USE: { status: 409, message: 'Scenarios test this agent; delete those in details first.' },
  RUN_NOT_ACTIVE: { status: 409, message: 'The run has ended.' },
  RUN_NOT_FINISHED: { status: 409, message: 'The run has not ended yet.' },
  RUN_IN_GROUP: {
    status: 409,
    message: 'The run belongs to the batch or simulation set in details; delete that.',
  },
  NOT_ENDED: { status: 409, message: 'It has not ended; cancel it first, or wait for its end.' },
  RUN_NOT_FAILED: { status: 409, message: 'Only failed runs can be analyzed.' },
  RUN_RECORD_DELETED: { status: 410, message: 'The conversation of the run has been deleted.' },
  TEST_LOAD_ACTIVE: {
    status: 409,
    message: 'A load of this organization is running; wait for it, or cancel it.',
  },
  TORNADO_ALREADY_ACTIVE: {
    status: 409,
    message: 'A pathway can run 1 tornado session at a time; wait for the one that is running, or cancel it.',
  },
  TORNADO_BASE_CHANGED: {
    status: 409,
    message: 'The version that the session fixed was changed since.',
  },
  TORNADO_NOT_ACTIVE: { status: 409, message: 'The session has ended.' },
  ANSWER_TOO_LARGE: {
    status: 400,
    message: 'The answer would be larger than 16 MiB; request a smaller page (limit) or fewer details.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: 'The body is larger than 1 MiB (an upload: 11 MiB); send less per request.',
  },
  FILE_TOO_LARGE: { status: 413, message: 'The file is larger than 10 MiB; send a smaller one.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'The body must be application/json.' },
  UNSUPPORTED_FILE_TYPE: { status: 415, message: 'The file is not a PDF, JPEG, PNG, GIF or WebP.' },
  RANGE_NOT_SATISFIABLE: { status: 416, message: 'The recording has no such part; see Content-Range.' },
  RATE_LIMITED: {
    status: 429,
    message: 'The limit in details.scope is reached; retry after the seconds in Retry-After.',
  },
  INTERNAL_ERROR: { status: 500, message: 'Internal error' },
  MODEL_UNAVAILABLE: { status: 502, message: 'The language model gave no usable answer; try again.' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'A part of the service is not available; try again.' },
} as const satisfies Record<string, ApiErrorRule>;

export type ApiErrorCode = keyof typeof apiErrors;

export function isApiErrorCode(code: string): code is ApiErrorCode {
  return Object.hasOwn(apiErrors, code);
}

/** One error in a response body (contract 1.3). */
export interface ErrorItem {
  readonly error: ApiErrorCode;
  readonly code: ApiErrorCode;
  readonly message: string;
  readonly details?: Record<string, unknown>;
}

/** Builds the body form of an error. `message` defaults to the code's. */
export function errorItem(
  code: ApiErrorCode,
  details?: Record<string, unknown>,
  message?: string,
): ErrorItem {
  const item = { error: code, code, message: message ?? apiErrors[code].message };
  return details ? { ...item, details } : item;
}

/** Rejects a request. Thrown by rules and routes; the API's error handler writes the response. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly items: readonly ErrorItem[];
  /** Code of the first error, which also gives the status. */
  readonly code: ApiErrorCode;
  readonly statusCode: number;
  /** Seconds for a `Retry-After` header, if waiting helps. */
  readonly retryAfter: number | undefined;

  protected constructor(
    items: readonly [ErrorItem, ...ErrorItem[]],
    retryAfter: number | undefined = undefined,
    statusCode: number = apiErrors[items[0].code].status,
  ) {
    super(items[0].message);
    this.items = items;
    this.code = items[0].code;
    this.statusCode = statusCode;
    this.retryAfter = retryAfter;
  }

  static of(code: ApiErrorCode, details?: Record<string, unknown>, message?: string): ApiError {
    return new ApiError([errorItem(code, details, message)]);
  }

  /** A value that violates a rule of the contract. `path` is a JSON pointer, `?query`, `:path` or `@header`. */
  static invalid(path: string, rule: string): ApiError {
    return ApiError.of('INVALID_PARAMETER', { path, rule }, `${path || 'body'}: ${rule}`);
  }

  static many(items: readonly [ErrorItem, ...ErrorItem[]]): ApiError {
    return new ApiError(items);
  }

  /** The same error with another status, for the few codes whose status depends on where the value was. */
  answeredWith(statusCode: number): ApiError {
    const [first, ...others] = this.items;
    return first ? new ApiError([first, ...others], this.retryAfter, statusCode) : this;
  }

  /** The same error with a `Retry-After` header. */
  waiting(seconds: number): ApiError {
    const [first, ...others] = this.items;
    return first ? new ApiError([first, ...others], seconds) : this;
  }

  /** 503 with `Retry-After`: a dependency of the request is away. */
  static unavailable(message: string, retryAfter: number): ApiError {
    return new ApiError([errorItem('SERVICE_UNAVAILABLE', undefined, message)], retryAfter);
  }
}
