/**
 * Written by `node scripts/api-types.ts` from the OpenAPI document; do not edit.
 * Long because it is one table of operations.
 */
export interface Operations {
  /** Whether everything is ready */
  'GET /health': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly status: "ok" | "unavailable"; readonly checks: { readonly database: "ok" | "down"; readonly edges: number }; readonly edge: { readonly connected: number; readonly ids: readonly (string)[]; readonly draining: readonly (string)[]; readonly fleet: { readonly epoch: number; readonly members: readonly (string)[] }; readonly config_version: number; readonly applied_version: number | null; readonly storage: { readonly failing: readonly (string)[]; readonly refusing: readonly (string)[]; readonly lost: readonly (string)[] }; readonly parts: readonly ({ readonly id: string; readonly engine: "ok" | "down"; readonly media: "ok" | "down" | null; readonly disk: "ok" | "failing" | "refusing_calls"; readonly queue: "ok" | "waiting" | null; readonly certificate: "ok" | "expires_soon" | "expired" | "other_host" | null })[] }; readonly control: { readonly disk: "ok" | "failing"; readonly queue: "ok" | "waiting" }; readonly database: { readonly status: "ok" | "down" } };
  };
  /** Whether the process answers */
  'GET /health/live': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly status: "ok" };
  };
  /** Whether this process can serve requests */
  'GET /health/ready': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly status: "ok" | "unavailable"; readonly checks: { readonly database: "ok" | "down" }; readonly leaving: boolean };
  };
  /** Metrics in the text format of Prometheus */
  'GET /metrics': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: Response;
  };
  /** Create a tool */
  'POST /v2/tools': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly name: string; readonly description: string; readonly integration: string; readonly action: string; readonly input_schema?: { readonly [name: string]: unknown } | null; readonly body?: string | { readonly [name: string]: unknown } | null; readonly speech?: string | null; readonly timeout?: number; readonly cache?: boolean | "true" | "false"; readonly response_data?: (readonly ({ readonly name: string; readonly data: string; readonly context?: string })[]) | null; readonly max_retries?: number; readonly cooldown?: number; readonly resource_id?: string | null; readonly public?: boolean; readonly label?: string | null };
    answer: { readonly status: "success"; readonly data: { readonly id: string }; readonly errors: null };
  };
  /** The tools of the organization */
  'GET /v2/tools': {
    path: Readonly<Record<string, never>>;
    query: { readonly page?: number; readonly limit?: number; readonly search?: string; readonly orderBy?: "created_at"; readonly orderDirection?: "asc" | "desc" };
    body: undefined;
    answer: { readonly status: "success"; readonly data: { readonly tools: readonly ({ readonly id: string; readonly name: string; readonly description: string; readonly integration: string; readonly action: string; readonly input_schema: { readonly [name: string]: unknown } | null; readonly body: string | { readonly [name: string]: unknown } | null; readonly speech: string | null; readonly timeout: number; readonly cache: boolean; readonly response_data: (readonly ({ readonly name: string; readonly data: string; readonly context?: string })[]) | null; readonly max_retries: number; readonly cooldown: number; readonly resource_id: string | null; readonly public: boolean; readonly label: string | null; readonly is_active: boolean; readonly is_draft: boolean; readonly created_at: string; readonly updated_at: string; readonly omitted?: readonly (string)[] })[]; readonly pagination: { readonly page: number; readonly limit: number; readonly hasMore: boolean; readonly nextPage: number | null } }; readonly errors: null };
  };
  /** Update a tool; the merged tool is checked */
  'POST /v2/tools/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly name?: string; readonly description?: string; readonly integration?: string; readonly action?: string; readonly input_schema?: { readonly [name: string]: unknown } | null; readonly body?: string | { readonly [name: string]: unknown } | null; readonly speech?: string | null; readonly timeout?: number; readonly cache?: boolean | "true" | "false"; readonly response_data?: (readonly ({ readonly name: string; readonly data: string; readonly context?: string })[]) | null; readonly max_retries?: number; readonly cooldown?: number; readonly resource_id?: string | null; readonly public?: boolean; readonly label?: string | null };
    answer: { readonly status: "success"; readonly data: { readonly id: string }; readonly errors: null };
  };
  /** Delete a tool; calls in progress lose it */
  'DELETE /v2/tools/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly status: "success"; readonly data: { readonly id: string; readonly deleted: true }; readonly errors: null };
  };
  /** One tool */
  'GET /v2/tools/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly status: "success"; readonly data: { readonly id: string; readonly name: string; readonly description: string; readonly integration: string; readonly action: string; readonly input_schema: { readonly [name: string]: unknown } | null; readonly body: string | { readonly [name: string]: unknown } | null; readonly speech: string | null; readonly timeout: number; readonly cache: boolean; readonly response_data: (readonly ({ readonly name: string; readonly data: string; readonly context?: string })[]) | null; readonly max_retries: number; readonly cooldown: number; readonly resource_id: string | null; readonly public: boolean; readonly label: string | null; readonly is_active: boolean; readonly is_draft: boolean; readonly created_at: string; readonly updated_at: string }; readonly errors: null };
  };
  /** Results of a tool’s runs, newest first, without request or response data */
  'GET /v2/tools/{id}/logs': {
    path: { readonly id: string };
    query: { readonly page?: number; readonly limit?: number };
    body: undefined;
    answer: { readonly status: "success"; readonly data: { readonly logs: readonly ({ readonly id: string; readonly started_at: string; readonly source: string; readonly conversation_id: string | null; readonly success: boolean; readonly cached: boolean; readonly status_code: number | null; readonly duration_ms: number; readonly attempts: number; readonly error: string | null })[]; readonly pagination: { readonly page: number; readonly limit: number; readonly hasMore: boolean; readonly nextPage: number | null } }; readonly errors: null };
  };
  /** Run a tool; if the target fails, the response is 200 with success false */
  'POST /v2/tools/{id}/run': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly inputs?: { readonly [name: string]: unknown }; readonly variables?: { readonly [name: string]: unknown } };
    answer: { readonly status: "success"; readonly data: { readonly success: boolean; readonly statusCode: number | null; readonly data: unknown; readonly responseTime: number; readonly variables: { readonly [name: string]: unknown }; readonly error: string | null; readonly request: { readonly method: string; readonly url: string; readonly headers: { readonly [name: string]: string }; readonly body: string | null; readonly cut: boolean } | null }; readonly errors: null };
  };
  /** Create a widget */
  'POST /v1/widget': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly name: string; readonly pathway_id?: string; readonly persona_id?: string; readonly pathway_version?: number | "production" | "staging"; readonly config?: { readonly timeoutSeconds?: number; readonly greeting?: string | null; readonly blockedWords?: readonly (string)[]; readonly allowedOrigins?: readonly (string)[]; readonly voice?: boolean } };
    answer: { readonly status: 200; readonly data: { readonly widget: { readonly id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly pathway_version: number | "production" | "staging" | null; readonly created_at: string; readonly updated_at: string; readonly config: { readonly timeoutSeconds: number; readonly greeting: string | null; readonly blockedWords: readonly (string)[]; readonly allowedOrigins: readonly (string)[]; readonly voice: boolean } } }; readonly errors: null };
  };
  /** The widgets of the organization, newest first, without their config */
  'GET /v1/widget': {
    path: Readonly<Record<string, never>>;
    query: { readonly page?: number; readonly limit?: number };
    body: undefined;
    answer: { readonly status: 200; readonly data: { readonly widgets: readonly ({ readonly id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly pathway_version: number | "production" | "staging" | null; readonly created_at: string; readonly updated_at: string })[]; readonly total: number }; readonly errors: null };
  };
  /** One widget */
  'GET /v1/widget/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly status: 200; readonly data: { readonly widget: { readonly id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly pathway_version: number | "production" | "staging" | null; readonly created_at: string; readonly updated_at: string; readonly config: { readonly timeoutSeconds: number; readonly greeting: string | null; readonly blockedWords: readonly (string)[]; readonly allowedOrigins: readonly (string)[]; readonly voice: boolean } } }; readonly errors: null };
  };
  /** Change a widget; config is merged by key */
  'PATCH /v1/widget/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly name?: string; readonly pathway_id?: string; readonly persona_id?: string; readonly pathway_version?: number | "production" | "staging"; readonly config?: { readonly timeoutSeconds?: number; readonly greeting?: string | null; readonly blockedWords?: readonly (string)[]; readonly allowedOrigins?: readonly (string)[]; readonly voice?: boolean } };
    answer: { readonly status: 200; readonly data: { readonly widget: { readonly id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly pathway_version: number | "production" | "staging" | null; readonly created_at: string; readonly updated_at: string; readonly config: { readonly timeoutSeconds: number; readonly greeting: string | null; readonly blockedWords: readonly (string)[]; readonly allowedOrigins: readonly (string)[]; readonly voice: boolean } } }; readonly errors: null };
  };
  /** Delete a widget with its threads */
  'DELETE /v1/widget/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly status: 200; readonly data: { readonly id: string; readonly deleted: true }; readonly errors: null };
  };
  /** Credentials for one call to the widget’s agent; what is said becomes messages of the thread */
  'POST /v1/widget/{id}/threads/{thread_id}/call': {
    path: { readonly id: string; readonly thread_id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly status: 200; readonly data: { readonly phone_session_id: string; readonly credentials: { readonly username: string; readonly password: string; readonly realm: string; readonly url: string; readonly uri: string }; readonly expires_at: string }; readonly errors: null };
  };
  /** The threads of a widget, newest first */
  'GET /v1/widget/{id}/threads': {
    path: { readonly id: string };
    query: { readonly page?: number; readonly limit?: number; readonly thread_id?: string };
    body: undefined;
    answer: { readonly status: 200; readonly data: { readonly threads: readonly ({ readonly id: string; readonly created_at: string; readonly ended_at: string | null; readonly live_agent_handoff_at: string | null; readonly visitor_id: string | null; readonly messages: readonly ({ readonly id: string; readonly sender_type: "USER" | "ASSISTANT"; readonly created_at: string; readonly content: string; readonly original_content: string | null; readonly call_id: string | null })[]; readonly omitted?: readonly (string)[] })[]; readonly total: number }; readonly errors: null };
  };
  /** Start a thread */
  'POST /v1/widget/{id}/threads': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly visitor_id?: string | null; readonly request_data?: { readonly [name: string]: unknown } };
    answer: { readonly status: 200; readonly data: { readonly thread: { readonly id: string; readonly created_at: string; readonly ended_at: string | null; readonly live_agent_handoff_at: string | null; readonly visitor_id: string | null; readonly messages: readonly ({ readonly id: string; readonly sender_type: "USER" | "ASSISTANT"; readonly created_at: string; readonly content: string; readonly original_content: string | null; readonly call_id: string | null })[] } }; readonly errors: null };
  };
  /** Post a message, and get the agent’s answers */
  'POST /v1/widget/{id}/threads/{thread_id}/messages': {
    path: { readonly id: string; readonly thread_id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly content: string; readonly sender_type?: "USER" | "ASSISTANT" };
    answer: { readonly status: 200; readonly data: { readonly messages: readonly ({ readonly id: string; readonly sender_type: "USER" | "ASSISTANT"; readonly created_at: string; readonly content: string; readonly original_content: string | null; readonly call_id: string | null })[]; readonly thread: { readonly id: string; readonly created_at: string; readonly ended_at: string | null; readonly live_agent_handoff_at: string | null; readonly visitor_id: string | null } }; readonly errors: null };
  };
  /** Hand a thread to a live agent */
  'POST /v1/widget/{id}/threads/{thread_id}/handoff': {
    path: { readonly id: string; readonly thread_id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly status: 200; readonly data: { readonly thread: { readonly id: string; readonly created_at: string; readonly ended_at: string | null; readonly live_agent_handoff_at: string | null; readonly visitor_id: string | null; readonly messages: readonly ({ readonly id: string; readonly sender_type: "USER" | "ASSISTANT"; readonly created_at: string; readonly content: string; readonly original_content: string | null; readonly call_id: string | null })[] } }; readonly errors: null };
  };
  /** End a thread */
  'POST /v1/widget/{id}/threads/{thread_id}/end': {
    path: { readonly id: string; readonly thread_id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly status: 200; readonly data: { readonly thread: { readonly id: string; readonly created_at: string; readonly ended_at: string | null; readonly live_agent_handoff_at: string | null; readonly visitor_id: string | null; readonly messages: readonly ({ readonly id: string; readonly sender_type: "USER" | "ASSISTANT"; readonly created_at: string; readonly content: string; readonly original_content: string | null; readonly call_id: string | null })[] } }; readonly errors: null };
  };
  /** The script of the embeddable chat */
  'GET /widget/{id}/embed.js': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: Response;
  };
  /** Create a visitor session for one thread; called by pages, authorized by origin */
  'POST /v1/widget/{id}/session': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly visitor_id?: string };
    answer: { readonly status: 200; readonly data: { readonly token: string; readonly visitor_id: string; readonly thread_id: string; readonly expires_at: string }; readonly errors: null };
  };
  /** A thread as server-sent events: message, delta, handoff, ended */
  'GET /v1/widget/{id}/threads/{thread_id}/events': {
    path: { readonly id: string; readonly thread_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: Response;
  };
  /** Uploaded documents, newest first */
  'GET /v1/sip/port/document': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly data: { readonly documents: readonly ({ readonly document_sid: string; readonly media_type: string; readonly size: number; readonly created_at: string; readonly in_use: boolean })[]; readonly total_count: number }; readonly errors: null };
  };
  /** Upload a proof of ownership */
  'POST /v1/sip/port/document': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly file: string };
    answer: { readonly data: { readonly document_sid: string }; readonly errors: null };
  };
  /** One document */
  'GET /v1/sip/port/document/{document_sid}': {
    path: { readonly document_sid: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly document: { readonly document_sid: string; readonly media_type: string; readonly size: number; readonly created_at: string; readonly in_use: boolean } }; readonly errors: null };
  };
  /** Delete an unused document */
  'DELETE /v1/sip/port/document/{document_sid}': {
    path: { readonly document_sid: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** Whether numbers can be ported */
  'GET /v1/sip/port/check': {
    path: Readonly<Record<string, never>>;
    query: { readonly "phone_numbers[]"?: string | (readonly (string)[]); readonly phone_numbers?: string | (readonly (string)[]) };
    body: undefined;
    answer: { readonly data: { readonly results: readonly ({ readonly phone_number: string; readonly portable: boolean; readonly number_type: "mobile" | "landline" | "toll-free" | "voip" | "unknown"; readonly pin_required: boolean; readonly reason: string | null })[] }; readonly errors: null };
  };
  /** Request a port */
  'POST /v1/sip/port/initiate': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly phone_numbers: readonly (string)[]; readonly losing_carrier_information: { readonly customer_type: string; readonly business_name?: string; readonly customer_name?: string; readonly first_name?: string; readonly last_name?: string; readonly authorized_representative?: string; readonly authorized_representative_email?: string; readonly authorized_rep_email?: string; readonly account_number?: string; readonly account_telephone_number?: string; readonly notification_emails?: readonly (string)[]; readonly address: { readonly street: string; readonly street2?: string | null; readonly city: string; readonly state: string; readonly zip: string; readonly country?: string } }; readonly target_port_date?: string; readonly target_port_in_date?: string; readonly documents?: readonly (string)[]; readonly pin?: string };
    answer: { readonly data: { readonly port_request_id: string; readonly status: "waiting_for_signature"; readonly signature_url: string; readonly phone_numbers: readonly (string)[] }; readonly errors: null };
  };
  /** Port requests, newest first */
  'GET /v1/sip/port': {
    path: Readonly<Record<string, never>>;
    query: { readonly status?: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed"; readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly data: { readonly port_requests: readonly ({ readonly id: string; readonly status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed"; readonly phone_numbers: readonly ({ readonly number: string; readonly status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed" })[]; readonly authorized_rep_email: string; readonly notification_emails: readonly (string)[]; readonly target_port_date: string; readonly foc_date: string | null; readonly expected_completion: { readonly earliest: string; readonly latest: string } | null; readonly reason: string | null; readonly signature_url: string | null; readonly created_at: string; readonly updated_at: string })[] }; readonly errors: null };
  };
  /** One port request with its history */
  'GET /v1/sip/port/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly port_request: { readonly id: string; readonly status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed"; readonly phone_numbers: readonly ({ readonly number: string; readonly status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed" })[]; readonly authorized_rep_email: string; readonly notification_emails: readonly (string)[]; readonly target_port_date: string; readonly foc_date: string | null; readonly expected_completion: { readonly earliest: string; readonly latest: string } | null; readonly reason: string | null; readonly signature_url: string | null; readonly created_at: string; readonly updated_at: string; readonly losing_carrier_information: { readonly customer_type: "business" | "personal"; readonly business_name: string | null; readonly first_name: string; readonly last_name: string; readonly authorized_representative_email: string; readonly account_number: string | null; readonly account_telephone_number: string | null; readonly notification_emails: readonly (string)[]; readonly address: { readonly street: string; readonly street2: string | null; readonly city: string; readonly state: string; readonly zip: string; readonly country: string } }; readonly pin: "********" | null; readonly documents: readonly (string)[]; readonly signed_at: string | null; readonly signed_name: string | null; readonly history: readonly ({ readonly at: string; readonly from_status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed" | null; readonly to_status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed"; readonly actor: "customer" | "signer" | "operator" | "system"; readonly reason: string | null; readonly phone_numbers: readonly (string)[] })[] } }; readonly errors: null };
  };
  /** Cancel a port request */
  'DELETE /v1/sip/port/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly canceled: true }; readonly errors: null };
  };
  /** The letter of authorization as a PDF, or its text */
  'GET /v1/sip/port/{id}/letter': {
    path: { readonly id: string };
    query: { readonly format?: "pdf" | "text" };
    body: undefined;
    answer: Response;
  };
  /** Port requests of all organizations, newest first */
  'GET /v1/admin/ports': {
    path: Readonly<Record<string, never>>;
    query: { readonly status?: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed"; readonly org_id?: string; readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly data: { readonly port_requests: readonly ({ readonly id: string; readonly status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed"; readonly phone_numbers: readonly ({ readonly number: string; readonly status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed" })[]; readonly authorized_rep_email: string; readonly notification_emails: readonly (string)[]; readonly target_port_date: string; readonly foc_date: string | null; readonly expected_completion: { readonly earliest: string; readonly latest: string } | null; readonly reason: string | null; readonly signature_url: string | null; readonly created_at: string; readonly updated_at: string; readonly org_id: string })[]; readonly total_count: number }; readonly errors: null };
  };
  /** One port request */
  'GET /v1/admin/ports/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly port_request: { readonly id: string; readonly status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed"; readonly phone_numbers: readonly ({ readonly number: string; readonly status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed" })[]; readonly authorized_rep_email: string; readonly notification_emails: readonly (string)[]; readonly target_port_date: string; readonly foc_date: string | null; readonly expected_completion: { readonly earliest: string; readonly latest: string } | null; readonly reason: string | null; readonly signature_url: string | null; readonly created_at: string; readonly updated_at: string; readonly losing_carrier_information: { readonly customer_type: "business" | "personal"; readonly business_name: string | null; readonly first_name: string; readonly last_name: string; readonly authorized_representative_email: string; readonly account_number: string | null; readonly account_telephone_number: string | null; readonly notification_emails: readonly (string)[]; readonly address: { readonly street: string; readonly street2: string | null; readonly city: string; readonly state: string; readonly zip: string; readonly country: string } }; readonly pin: "********" | null; readonly documents: readonly (string)[]; readonly signed_at: string | null; readonly signed_name: string | null; readonly history: readonly ({ readonly at: string; readonly from_status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed" | null; readonly to_status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed"; readonly actor: "customer" | "signer" | "operator" | "system"; readonly reason: string | null; readonly phone_numbers: readonly (string)[] })[]; readonly org_id: string } }; readonly errors: null };
  };
  /** Move numbers of a port request to a state */
  'POST /v1/admin/ports/{id}/status': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly status: "submitted" | "in_progress" | "completed" | "failed" | "canceled"; readonly reason?: string; readonly phone_numbers?: readonly (string)[]; readonly foc_date?: string };
    answer: { readonly data: { readonly port_request: { readonly id: string; readonly status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed"; readonly phone_numbers: readonly ({ readonly number: string; readonly status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed" })[]; readonly authorized_rep_email: string; readonly notification_emails: readonly (string)[]; readonly target_port_date: string; readonly foc_date: string | null; readonly expected_completion: { readonly earliest: string; readonly latest: string } | null; readonly reason: string | null; readonly signature_url: string | null; readonly created_at: string; readonly updated_at: string; readonly losing_carrier_information: { readonly customer_type: "business" | "personal"; readonly business_name: string | null; readonly first_name: string; readonly last_name: string; readonly authorized_representative_email: string; readonly account_number: string | null; readonly account_telephone_number: string | null; readonly notification_emails: readonly (string)[]; readonly address: { readonly street: string; readonly street2: string | null; readonly city: string; readonly state: string; readonly zip: string; readonly country: string } }; readonly pin: "********" | null; readonly documents: readonly (string)[]; readonly signed_at: string | null; readonly signed_name: string | null; readonly history: readonly ({ readonly at: string; readonly from_status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed" | null; readonly to_status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed"; readonly actor: "customer" | "signer" | "operator" | "system"; readonly reason: string | null; readonly phone_numbers: readonly (string)[] })[]; readonly org_id: string } }; readonly errors: null };
  };
  /** The letter of authorization as a PDF, or its text */
  'GET /v1/admin/ports/{id}/letter': {
    path: { readonly id: string };
    query: { readonly format?: "pdf" | "text" };
    body: undefined;
    answer: Response;
  };
  /** A document of a port request */
  'GET /v1/admin/ports/{id}/documents/{document_id}': {
    path: { readonly id: string; readonly document_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: Response;
  };
  /** Alerts of trunks, newest first */
  'GET /v1/sip/alerts': {
    path: Readonly<Record<string, never>>;
    query: { readonly phone_number?: string; readonly state?: "open" | "resolved"; readonly kind?: "unreachable" | "failure_rate" | "response_time" | "certificate_expiring"; readonly limit?: number; readonly before?: string };
    body: undefined;
    answer: { readonly data: { readonly alerts: readonly ({ readonly alert_id: string; readonly kind: "unreachable" | "failure_rate" | "response_time" | "certificate_expiring"; readonly state: "open" | "resolved"; readonly phone_number: string; readonly configuration_id: string; readonly direction: "inbound" | "outbound"; readonly endpoint: string | null; readonly threshold: number; readonly value: number; readonly window_minutes: number | null; readonly raised_at: string; readonly resolved_at: string | null })[]; readonly next: string | null }; readonly errors: null };
  };
  /** Send a test notice over the alert channels of a configuration */
  'POST /v1/sip/alerts/test': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly phone_number: string; readonly direction: "inbound" | "outbound"; readonly configuration_id?: string };
    answer: { readonly data: { readonly channels: readonly ({ readonly channel: "email" | "sms" | "webhook"; readonly target_count: number; readonly ok: boolean; readonly error: string | null })[] }; readonly errors: null };
  };
  /** Run a scenario */
  'POST /v1/agent-testing/scenarios/{id}/run': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly version_number?: number; readonly webhook_url?: string; readonly seed?: number; readonly request_data_override?: { readonly [name: string]: unknown }; readonly transport?: "text" | "sip"; readonly phone_number?: string; readonly weather?: { readonly noise?: { readonly kind: "white" | "pink" | "babble" | "street" | "given"; readonly noise_id?: string; readonly snr_db: number }; readonly level_db?: number; readonly echo?: { readonly delay_ms: number; readonly level_db: number }; readonly telephone_band?: boolean; readonly loss_percent?: number; readonly loss_burst?: number; readonly jitter_ms?: number; readonly reorder_percent?: number; readonly drift_ppm?: number; readonly codec?: "PCMU" | "PCMA" | "G.729" | "Opus" | "G.722" } };
    answer: { readonly run_id: string; readonly status: "PENDING" | "RUNNING"; readonly data: { readonly run_id: string; readonly status: "PENDING" | "RUNNING" }; readonly errors: null };
  };
  /** Runs, newest first */
  'GET /v1/agent-testing/runs': {
    path: Readonly<Record<string, never>>;
    query: { readonly scenario_id?: string; readonly pathway_id?: string; readonly persona_id?: string; readonly agent_id?: string; readonly batch_id?: string; readonly status?: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly runs: readonly ({ readonly id: string; readonly scenario_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly batch_id: string | null; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly overall_score: number | null; readonly turn_count: number; readonly duration_ms: number | null; readonly created_at: string; readonly scenario: { readonly id: string; readonly name: string }; readonly usage: { readonly models: readonly ({ readonly role: "agent" | "caller" | "judge"; readonly model: string; readonly requests: number; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null })[]; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly unknown: readonly (string)[] } | null; readonly assertion_results: readonly ({ readonly assertion_id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly passed: boolean; readonly score: number; readonly weight: number; readonly is_required: boolean; readonly reasoning: string; readonly evidence: readonly ({ readonly turn: number; readonly quote: string })[]; readonly target: string | null; readonly expected: string | null })[]; readonly omitted?: readonly (string)[] })[]; readonly total_count: number; readonly data: { readonly runs: readonly ({ readonly id: string; readonly scenario_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly batch_id: string | null; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly overall_score: number | null; readonly turn_count: number; readonly duration_ms: number | null; readonly created_at: string; readonly scenario: { readonly id: string; readonly name: string }; readonly usage: { readonly models: readonly ({ readonly role: "agent" | "caller" | "judge"; readonly model: string; readonly requests: number; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null })[]; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly unknown: readonly (string)[] } | null; readonly assertion_results: readonly ({ readonly assertion_id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly passed: boolean; readonly score: number; readonly weight: number; readonly is_required: boolean; readonly reasoning: string; readonly evidence: readonly ({ readonly turn: number; readonly quote: string })[]; readonly target: string | null; readonly expected: string | null })[]; readonly omitted?: readonly (string)[] })[]; readonly total_count: number }; readonly errors: null };
  };
  /** One run */
  'GET /v1/agent-testing/runs/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly id: string; readonly scenario_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly batch_id: string | null; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly overall_score: number | null; readonly turn_count: number; readonly duration_ms: number | null; readonly created_at: string; readonly scenario: { readonly id: string; readonly name: string }; readonly usage: { readonly models: readonly ({ readonly role: "agent" | "caller" | "judge"; readonly model: string; readonly requests: number; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null })[]; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly unknown: readonly (string)[] } | null; readonly assertion_results: readonly ({ readonly assertion_id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly passed: boolean; readonly score: number; readonly weight: number; readonly is_required: boolean; readonly reasoning: string; readonly evidence: readonly ({ readonly turn: number; readonly quote: string })[]; readonly target: string | null; readonly expected: string | null })[]; readonly simulation_set_id: string | null; readonly tornado_session_id: string | null; readonly version_number: number; readonly content_hash: string; readonly chat_history: readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly turn: number; readonly node_id: string | null })[]; readonly variables_extracted: { readonly [name: string]: unknown }; readonly nodes_visited: readonly (string)[]; readonly current_node_id: string | null; readonly webhook_calls: readonly ({ readonly node_id: string; readonly url: string; readonly method: string; readonly status_code: number | null; readonly at: string; readonly body: string | null; readonly response: unknown; readonly mocked: boolean })[]; readonly tool_calls: readonly ({ readonly name: string; readonly node_id: string | null; readonly input: unknown; readonly ok: boolean; readonly result: unknown; readonly at: string; readonly mocked: boolean })[]; readonly service_tone_score: { readonly naturalness: number; readonly conciseness: number; readonly empathy: number; readonly flow_preservation: number; readonly back_channeling: number; readonly topic_transitions: number; readonly overall_tone_score: number; readonly issues: readonly (string)[]; readonly examples: readonly ({ readonly turn: number; readonly quote: string })[] } | null; readonly reasoning: string | null; readonly evaluator: { readonly caller: { readonly provider: string; readonly model: string; readonly deterministic: boolean }; readonly agent: { readonly provider: string; readonly model: string; readonly deterministic: boolean }; readonly judge: { readonly provider: string; readonly model: string; readonly deterministic: boolean } }; readonly seed: number; readonly trigger_source: "api" | "dashboard" | "ci" | "promotion" | "tornado" | "simulation" | "held_out" | "load"; readonly error_message: string | null; readonly started_at: string | null; readonly completed_at: string | null; readonly record_deleted_at: string | null; readonly transport: "text" | "sip"; readonly voice: { readonly call_id: string | null; readonly caller_call_id: string | null; readonly sip_call_id: string | null; readonly set_up_ms?: number | null; readonly answered_at?: string | null; readonly ended_at?: string | null; readonly codec: string | null; readonly turns: readonly ({ readonly turn: number; readonly response_latency_ms: number | null; readonly agent_at_ms?: number | null; readonly caller_at_ms?: number | null; readonly speech_ms: number; readonly silence_ms: number; readonly barge_in: boolean; readonly silent_after_ms: number | null; readonly overlap_ms: number; readonly transcript_source: "agent_log" | "transcription" })[]; readonly latency_ms: { readonly p50: number | null; readonly p95: number | null; readonly max: number | null }; readonly first_audio_ms: number | null; readonly longest_silence_ms: number | null; readonly overlap_ms: number; readonly media: { readonly packets_sent: number; readonly packets_received: number; readonly packets_lost: number; readonly jitter_ms: number | null; readonly round_trip_ms: number | null; readonly peer_loss_percent?: number; readonly rtcp_packets_received?: number; readonly peer_hears?: "yes" | "no" | "unknown"; readonly packets_from_elsewhere?: number; readonly mos: number | null; readonly mos_received?: number | null; readonly mos_sent?: number | null; readonly verdict: "two_way" | "send_only" | "receive_only" | "none"; readonly cause: string | null; readonly summary?: string; readonly keys?: "telephone-event" | "none" } | null; readonly caller_media: { readonly packets_sent: number; readonly packets_received: number; readonly packets_lost: number; readonly jitter_ms: number | null; readonly round_trip_ms: number | null; readonly peer_loss_percent?: number; readonly rtcp_packets_received?: number; readonly peer_hears?: "yes" | "no" | "unknown"; readonly packets_from_elsewhere?: number; readonly mos: number | null; readonly mos_received?: number | null; readonly mos_sent?: number | null; readonly verdict: "two_way" | "send_only" | "receive_only" | "none"; readonly cause: string | null; readonly summary?: string; readonly keys?: "telephone-event" | "none" } | null; readonly dtmf_sent: readonly (string)[]; readonly weather?: { readonly asked: { readonly noise?: { readonly kind: "white" | "pink" | "babble" | "street" | "given"; readonly noise_id?: string; readonly snr_db: number }; readonly level_db?: number; readonly echo?: { readonly delay_ms: number; readonly level_db: number }; readonly telephone_band?: boolean; readonly loss_percent?: number; readonly loss_burst?: number; readonly jitter_ms?: number; readonly reorder_percent?: number; readonly drift_ppm?: number; readonly codec?: "PCMU" | "PCMA" | "G.729" | "Opus" | "G.722" }; readonly done: { readonly packets: number; readonly dropped: number; readonly overtaken: number; readonly loud_dbov: number | null; readonly quiet_dbov: number | null } } } | null; readonly marks: readonly ({ readonly at_ms: number; readonly assertion_id: string; readonly name: string | null; readonly type: string; readonly status: string; readonly line: number })[]; readonly omitted?: readonly (string)[]; readonly data: { readonly id: string; readonly scenario_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly batch_id: string | null; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly overall_score: number | null; readonly turn_count: number; readonly duration_ms: number | null; readonly created_at: string; readonly scenario: { readonly id: string; readonly name: string }; readonly usage: { readonly models: readonly ({ readonly role: "agent" | "caller" | "judge"; readonly model: string; readonly requests: number; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null })[]; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly unknown: readonly (string)[] } | null; readonly assertion_results: readonly ({ readonly assertion_id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly passed: boolean; readonly score: number; readonly weight: number; readonly is_required: boolean; readonly reasoning: string; readonly evidence: readonly ({ readonly turn: number; readonly quote: string })[]; readonly target: string | null; readonly expected: string | null })[]; readonly simulation_set_id: string | null; readonly tornado_session_id: string | null; readonly version_number: number; readonly content_hash: string; readonly chat_history: readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly turn: number; readonly node_id: string | null })[]; readonly variables_extracted: { readonly [name: string]: unknown }; readonly nodes_visited: readonly (string)[]; readonly current_node_id: string | null; readonly webhook_calls: readonly ({ readonly node_id: string; readonly url: string; readonly method: string; readonly status_code: number | null; readonly at: string; readonly body: string | null; readonly response: unknown; readonly mocked: boolean })[]; readonly tool_calls: readonly ({ readonly name: string; readonly node_id: string | null; readonly input: unknown; readonly ok: boolean; readonly result: unknown; readonly at: string; readonly mocked: boolean })[]; readonly service_tone_score: { readonly naturalness: number; readonly conciseness: number; readonly empathy: number; readonly flow_preservation: number; readonly back_channeling: number; readonly topic_transitions: number; readonly overall_tone_score: number; readonly issues: readonly (string)[]; readonly examples: readonly ({ readonly turn: number; readonly quote: string })[] } | null; readonly reasoning: string | null; readonly evaluator: { readonly caller: { readonly provider: string; readonly model: string; readonly deterministic: boolean }; readonly agent: { readonly provider: string; readonly model: string; readonly deterministic: boolean }; readonly judge: { readonly provider: string; readonly model: string; readonly deterministic: boolean } }; readonly seed: number; readonly trigger_source: "api" | "dashboard" | "ci" | "promotion" | "tornado" | "simulation" | "held_out" | "load"; readonly error_message: string | null; readonly started_at: string | null; readonly completed_at: string | null; readonly record_deleted_at: string | null; readonly transport: "text" | "sip"; readonly voice: { readonly call_id: string | null; readonly caller_call_id: string | null; readonly sip_call_id: string | null; readonly set_up_ms?: number | null; readonly answered_at?: string | null; readonly ended_at?: string | null; readonly codec: string | null; readonly turns: readonly ({ readonly turn: number; readonly response_latency_ms: number | null; readonly agent_at_ms?: number | null; readonly caller_at_ms?: number | null; readonly speech_ms: number; readonly silence_ms: number; readonly barge_in: boolean; readonly silent_after_ms: number | null; readonly overlap_ms: number; readonly transcript_source: "agent_log" | "transcription" })[]; readonly latency_ms: { readonly p50: number | null; readonly p95: number | null; readonly max: number | null }; readonly first_audio_ms: number | null; readonly longest_silence_ms: number | null; readonly overlap_ms: number; readonly media: { readonly packets_sent: number; readonly packets_received: number; readonly packets_lost: number; readonly jitter_ms: number | null; readonly round_trip_ms: number | null; readonly peer_loss_percent?: number; readonly rtcp_packets_received?: number; readonly peer_hears?: "yes" | "no" | "unknown"; readonly packets_from_elsewhere?: number; readonly mos: number | null; readonly mos_received?: number | null; readonly mos_sent?: number | null; readonly verdict: "two_way" | "send_only" | "receive_only" | "none"; readonly cause: string | null; readonly summary?: string; readonly keys?: "telephone-event" | "none" } | null; readonly caller_media: { readonly packets_sent: number; readonly packets_received: number; readonly packets_lost: number; readonly jitter_ms: number | null; readonly round_trip_ms: number | null; readonly peer_loss_percent?: number; readonly rtcp_packets_received?: number; readonly peer_hears?: "yes" | "no" | "unknown"; readonly packets_from_elsewhere?: number; readonly mos: number | null; readonly mos_received?: number | null; readonly mos_sent?: number | null; readonly verdict: "two_way" | "send_only" | "receive_only" | "none"; readonly cause: string | null; readonly summary?: string; readonly keys?: "telephone-event" | "none" } | null; readonly dtmf_sent: readonly (string)[]; readonly weather?: { readonly asked: { readonly noise?: { readonly kind: "white" | "pink" | "babble" | "street" | "given"; readonly noise_id?: string; readonly snr_db: number }; readonly level_db?: number; readonly echo?: { readonly delay_ms: number; readonly level_db: number }; readonly telephone_band?: boolean; readonly loss_percent?: number; readonly loss_burst?: number; readonly jitter_ms?: number; readonly reorder_percent?: number; readonly drift_ppm?: number; readonly codec?: "PCMU" | "PCMA" | "G.729" | "Opus" | "G.722" }; readonly done: { readonly packets: number; readonly dropped: number; readonly overtaken: number; readonly loud_dbov: number | null; readonly quiet_dbov: number | null } } } | null; readonly marks: readonly ({ readonly at_ms: number; readonly assertion_id: string; readonly name: string | null; readonly type: string; readonly status: string; readonly line: number })[]; readonly omitted?: readonly (string)[] }; readonly errors: null };
  };
  /** Delete a run that has ended */
  'DELETE /v1/agent-testing/runs/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly deleted: true; readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** Cancel a run */
  'POST /v1/agent-testing/runs/{id}/cancel': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly id: string; readonly status: "CANCELLED"; readonly cancelled: true; readonly data: { readonly id: string; readonly status: "CANCELLED"; readonly cancelled: true }; readonly errors: null };
  };
  /** A run as server-sent events: state, turn, end */
  'GET /v1/agent-testing/runs/{id}/events': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: Response;
  };
  /** Run several scenarios */
  'POST /v1/agent-testing/batch-run': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly version_number?: number; readonly webhook_url?: string; readonly seed?: number; readonly scenario_ids: readonly (string)[] };
    answer: { readonly batch_id: string; readonly runs: readonly ({ readonly run_id: string; readonly scenario_id: string })[]; readonly data: { readonly batch_id: string; readonly runs: readonly ({ readonly run_id: string; readonly scenario_id: string })[] }; readonly errors: null };
  };
  /** Batches, newest first, without their runs */
  'GET /v1/agent-testing/batches': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly batches: readonly ({ readonly id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly total_scenarios: number; readonly passed_scenarios: number; readonly failed_scenarios: number; readonly trigger_source: "api" | "dashboard" | "ci" | "promotion" | "tornado" | "simulation" | "held_out" | "load"; readonly publish_on_pass: boolean; readonly published: boolean; readonly version_number: number | null; readonly created_at: string; readonly completed_at: string | null })[]; readonly total_count: number; readonly data: { readonly batches: readonly ({ readonly id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly total_scenarios: number; readonly passed_scenarios: number; readonly failed_scenarios: number; readonly trigger_source: "api" | "dashboard" | "ci" | "promotion" | "tornado" | "simulation" | "held_out" | "load"; readonly publish_on_pass: boolean; readonly published: boolean; readonly version_number: number | null; readonly created_at: string; readonly completed_at: string | null })[]; readonly total_count: number }; readonly errors: null };
  };
  /** Cancel the runs of a batch that have not ended; the batch ends with them */
  'POST /v1/agent-testing/batches/{id}/cancel': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly id: string; readonly cancelled_runs: number; readonly data: { readonly id: string; readonly cancelled_runs: number }; readonly errors: null };
  };
  /** One batch with its runs */
  'GET /v1/agent-testing/batches/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly total_scenarios: number; readonly passed_scenarios: number; readonly failed_scenarios: number; readonly trigger_source: "api" | "dashboard" | "ci" | "promotion" | "tornado" | "simulation" | "held_out" | "load"; readonly publish_on_pass: boolean; readonly published: boolean; readonly version_number: number | null; readonly created_at: string; readonly completed_at: string | null; readonly runs: readonly ({ readonly id: string; readonly scenario_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly batch_id: string | null; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly overall_score: number | null; readonly turn_count: number; readonly duration_ms: number | null; readonly created_at: string; readonly scenario: { readonly id: string; readonly name: string }; readonly usage: { readonly models: readonly ({ readonly role: "agent" | "caller" | "judge"; readonly model: string; readonly requests: number; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null })[]; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly unknown: readonly (string)[] } | null; readonly assertion_results: readonly ({ readonly assertion_id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly passed: boolean; readonly score: number; readonly weight: number; readonly is_required: boolean; readonly reasoning: string; readonly evidence: readonly ({ readonly turn: number; readonly quote: string })[]; readonly target: string | null; readonly expected: string | null })[]; readonly omitted?: readonly (string)[] })[]; readonly data: { readonly id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly total_scenarios: number; readonly passed_scenarios: number; readonly failed_scenarios: number; readonly trigger_source: "api" | "dashboard" | "ci" | "promotion" | "tornado" | "simulation" | "held_out" | "load"; readonly publish_on_pass: boolean; readonly published: boolean; readonly version_number: number | null; readonly created_at: string; readonly completed_at: string | null; readonly runs: readonly ({ readonly id: string; readonly scenario_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly batch_id: string | null; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly overall_score: number | null; readonly turn_count: number; readonly duration_ms: number | null; readonly created_at: string; readonly scenario: { readonly id: string; readonly name: string }; readonly usage: { readonly models: readonly ({ readonly role: "agent" | "caller" | "judge"; readonly model: string; readonly requests: number; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null })[]; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly unknown: readonly (string)[] } | null; readonly assertion_results: readonly ({ readonly assertion_id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly passed: boolean; readonly score: number; readonly weight: number; readonly is_required: boolean; readonly reasoning: string; readonly evidence: readonly ({ readonly turn: number; readonly quote: string })[]; readonly target: string | null; readonly expected: string | null })[]; readonly omitted?: readonly (string)[] })[] }; readonly errors: null };
  };
  /** Delete a batch that has ended, with its runs */
  'DELETE /v1/agent-testing/batches/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly deleted: true; readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** A batch as server-sent events: state, end */
  'GET /v1/agent-testing/batches/{id}/events': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: Response;
  };
  /** Run scenarios many times */
  'POST /v1/agent-testing/simulation-sets': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly version_number?: number; readonly webhook_url?: string; readonly seed?: number; readonly pathway_id?: string; readonly persona_id?: string; readonly scenario_ids: readonly (string)[]; readonly simulations_per_scenario: number; readonly pass_threshold?: number };
    answer: { readonly simulation_set_id: string; readonly status: "PENDING"; readonly simulations_per_scenario: number; readonly total_scenarios: number; readonly created_at: string; readonly data: { readonly simulation_set_id: string; readonly status: "PENDING"; readonly simulations_per_scenario: number; readonly total_scenarios: number; readonly created_at: string }; readonly errors: null };
  };
  /** Simulation sets, newest first, without their statistics */
  'GET /v1/agent-testing/simulation-sets': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly simulation_sets: readonly ({ readonly id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly simulations_per_scenario: number; readonly total_scenarios: number; readonly pass_threshold: number; readonly created_at: string; readonly completed_at: string | null })[]; readonly total_count: number; readonly data: { readonly simulation_sets: readonly ({ readonly id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly simulations_per_scenario: number; readonly total_scenarios: number; readonly pass_threshold: number; readonly created_at: string; readonly completed_at: string | null })[]; readonly total_count: number }; readonly errors: null };
  };
  /** Cancel the runs of a simulation set that have not ended; the set ends with them */
  'POST /v1/agent-testing/simulation-sets/{id}/cancel': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly id: string; readonly cancelled_runs: number; readonly data: { readonly id: string; readonly cancelled_runs: number }; readonly errors: null };
  };
  /** Delete a simulation set that has ended, with its runs */
  'DELETE /v1/agent-testing/simulation-sets/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly deleted: true; readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** One simulation set with its statistics */
  'GET /v1/agent-testing/simulation-sets/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly simulations_per_scenario: number; readonly total_scenarios: number; readonly pass_threshold: number; readonly statistics: { readonly per_scenario: { readonly [name: string]: { readonly scenario_id: string; readonly scenario_name: string; readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly cancelled: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly is_flaky: boolean; readonly flakiness: number | null; readonly scores: { readonly mean: number | null; readonly median: number | null; readonly stddev: number | null; readonly min: number | null; readonly max: number | null }; readonly worst_run_id: string | null; readonly common_failure_modes: readonly (string)[]; readonly confidence: "low" | "medium" | "high"; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly runs_without_cost: number } } }; readonly overall: { readonly avg_pass_rate: number | null; readonly flaky_count: number; readonly reliable_count: number; readonly total_runs: number; readonly errored: number; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly runs_without_cost: number } } }; readonly created_at: string; readonly completed_at: string | null; readonly data: { readonly id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly simulations_per_scenario: number; readonly total_scenarios: number; readonly pass_threshold: number; readonly statistics: { readonly per_scenario: { readonly [name: string]: { readonly scenario_id: string; readonly scenario_name: string; readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly cancelled: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly is_flaky: boolean; readonly flakiness: number | null; readonly scores: { readonly mean: number | null; readonly median: number | null; readonly stddev: number | null; readonly min: number | null; readonly max: number | null }; readonly worst_run_id: string | null; readonly common_failure_modes: readonly (string)[]; readonly confidence: "low" | "medium" | "high"; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly runs_without_cost: number } } }; readonly overall: { readonly avg_pass_rate: number | null; readonly flaky_count: number; readonly reliable_count: number; readonly total_runs: number; readonly errored: number; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly runs_without_cost: number } } }; readonly created_at: string; readonly completed_at: string | null }; readonly errors: null };
  };
  /** Run a scenario over versions, voices and weathers */
  'POST /v1/agent-testing/matrices': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly scenario_id: string; readonly versions?: readonly (number)[]; readonly voices?: readonly (string)[]; readonly weathers?: readonly ({ readonly name: string; readonly weather: { readonly noise?: { readonly kind: "white" | "pink" | "babble" | "street" | "given"; readonly noise_id?: string; readonly snr_db: number }; readonly level_db?: number; readonly echo?: { readonly delay_ms: number; readonly level_db: number }; readonly telephone_band?: boolean; readonly loss_percent?: number; readonly loss_burst?: number; readonly jitter_ms?: number; readonly reorder_percent?: number; readonly drift_ppm?: number; readonly codec?: "PCMU" | "PCMA" | "G.729" | "Opus" | "G.722" } })[]; readonly repeats?: number; readonly seed?: number; readonly transport?: "text" | "sip"; readonly phone_number?: string };
    answer: { readonly matrix_id: string; readonly status: "PENDING"; readonly total_cells: number; readonly repeats: number; readonly created_at: string; readonly data: { readonly matrix_id: string; readonly status: "PENDING"; readonly total_cells: number; readonly repeats: number; readonly created_at: string }; readonly errors: null };
  };
  /** One matrix as a table, with what breaks first */
  'GET /v1/agent-testing/matrices/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly id: string; readonly scenario_id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly cells: readonly ({ readonly version: number | null; readonly voice: string | null; readonly weather: string | null; readonly simulation_set_id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly statistics: { readonly scenario_id: string; readonly scenario_name: string; readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly cancelled: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly is_flaky: boolean; readonly flakiness: number | null; readonly scores: { readonly mean: number | null; readonly median: number | null; readonly stddev: number | null; readonly min: number | null; readonly max: number | null }; readonly worst_run_id: string | null; readonly common_failure_modes: readonly (string)[]; readonly confidence: "low" | "medium" | "high"; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly runs_without_cost: number } }; readonly difference: { readonly value: number; readonly interval: { readonly low: number; readonly high: number } | null } | null })[]; readonly first_break: { readonly simulation_set_id: string; readonly axis: "version" | "voice" | "weather" | "combination"; readonly value: string; readonly difference: number; readonly failure_mode: string | null; readonly run_id: string | null } | null; readonly created_at: string; readonly data: { readonly id: string; readonly scenario_id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly cells: readonly ({ readonly version: number | null; readonly voice: string | null; readonly weather: string | null; readonly simulation_set_id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly statistics: { readonly scenario_id: string; readonly scenario_name: string; readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly cancelled: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly is_flaky: boolean; readonly flakiness: number | null; readonly scores: { readonly mean: number | null; readonly median: number | null; readonly stddev: number | null; readonly min: number | null; readonly max: number | null }; readonly worst_run_id: string | null; readonly common_failure_modes: readonly (string)[]; readonly confidence: "low" | "medium" | "high"; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly runs_without_cost: number } }; readonly difference: { readonly value: number; readonly interval: { readonly low: number; readonly high: number } | null } | null })[]; readonly first_break: { readonly simulation_set_id: string; readonly axis: "version" | "voice" | "weather" | "combination"; readonly value: string; readonly difference: number; readonly failure_mode: string | null; readonly run_id: string | null } | null; readonly created_at: string }; readonly errors: null };
  };
  /** Run scenarios as calls at once, level by level */
  'POST /v1/agent-testing/loads': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly scenario_ids: readonly (string)[]; readonly concurrency?: number; readonly ramp?: { readonly from: number; readonly to: number; readonly step: number }; readonly runs_per_level?: number; readonly seconds_per_level?: number; readonly version_number?: number; readonly transport?: "text" | "sip"; readonly phone_number?: string; readonly seed?: number };
    answer: { readonly load_id: string; readonly status: "RUNNING"; readonly levels: readonly (number)[]; readonly created_at: string; readonly data: { readonly load_id: string; readonly status: "RUNNING"; readonly levels: readonly (number)[]; readonly created_at: string }; readonly errors: null };
  };
  /** Loads, newest first, without their levels */
  'GET /v1/agent-testing/loads': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly loads: readonly ({ readonly id: string; readonly status: "RUNNING" | "COMPLETED" | "CANCELLED"; readonly reason: string | null; readonly scenario_ids: readonly (string)[]; readonly version_number: number | null; readonly phone_number: string | null; readonly runs_per_level: number | null; readonly seconds_per_level: number | null; readonly created_at: string; readonly completed_at: string | null })[]; readonly total_count: number; readonly data: { readonly loads: readonly ({ readonly id: string; readonly status: "RUNNING" | "COMPLETED" | "CANCELLED"; readonly reason: string | null; readonly scenario_ids: readonly (string)[]; readonly version_number: number | null; readonly phone_number: string | null; readonly runs_per_level: number | null; readonly seconds_per_level: number | null; readonly created_at: string; readonly completed_at: string | null })[]; readonly total_count: number }; readonly errors: null };
  };
  /** One load: what calls were like at each level, and the knee */
  'GET /v1/agent-testing/loads/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly id: string; readonly status: "RUNNING" | "COMPLETED" | "CANCELLED"; readonly reason: string | null; readonly scenario_ids: readonly (string)[]; readonly version_number: number | null; readonly phone_number: string | null; readonly runs_per_level: number | null; readonly seconds_per_level: number | null; readonly created_at: string; readonly completed_at: string | null; readonly levels: readonly ({ readonly concurrency: number; readonly simulation_set_id: string | null; readonly began_at: string | null; readonly ended_at: string | null; readonly figures: { readonly calls: number; readonly answered: number; readonly answered_share: number | null; readonly answered_interval: { readonly low: number; readonly high: number } | null; readonly concurrency_reached: number; readonly set_up_ms: { readonly p50: number | null; readonly p95: number | null }; readonly first_audio_ms: { readonly p50: number | null; readonly p95: number | null }; readonly latency_ms: { readonly answers: number; readonly p50: number | null; readonly p50_interval: { readonly low: number | null; readonly high: number | null } | null; readonly p95: number | null; readonly p95_interval: { readonly low: number | null; readonly high: number | null } | null }; readonly mos: { readonly p50: number | null; readonly min: number | null }; readonly loss_percent: { readonly p50: number | null; readonly max: number | null }; readonly passed: number; readonly failed: number; readonly errored: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly failures: readonly ({ readonly reason: string; readonly calls: number })[] } | null })[]; readonly knee: { readonly concurrency: number | null; readonly breaks_at: number | null; readonly because: "answered" | "latency" | "passed" | null; readonly sentence: string } | null; readonly data: { readonly id: string; readonly status: "RUNNING" | "COMPLETED" | "CANCELLED"; readonly reason: string | null; readonly scenario_ids: readonly (string)[]; readonly version_number: number | null; readonly phone_number: string | null; readonly runs_per_level: number | null; readonly seconds_per_level: number | null; readonly created_at: string; readonly completed_at: string | null; readonly levels: readonly ({ readonly concurrency: number; readonly simulation_set_id: string | null; readonly began_at: string | null; readonly ended_at: string | null; readonly figures: { readonly calls: number; readonly answered: number; readonly answered_share: number | null; readonly answered_interval: { readonly low: number; readonly high: number } | null; readonly concurrency_reached: number; readonly set_up_ms: { readonly p50: number | null; readonly p95: number | null }; readonly first_audio_ms: { readonly p50: number | null; readonly p95: number | null }; readonly latency_ms: { readonly answers: number; readonly p50: number | null; readonly p50_interval: { readonly low: number | null; readonly high: number | null } | null; readonly p95: number | null; readonly p95_interval: { readonly low: number | null; readonly high: number | null } | null }; readonly mos: { readonly p50: number | null; readonly min: number | null }; readonly loss_percent: { readonly p50: number | null; readonly max: number | null }; readonly passed: number; readonly failed: number; readonly errored: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly failures: readonly ({ readonly reason: string; readonly calls: number })[] } | null })[]; readonly knee: { readonly concurrency: number | null; readonly breaks_at: number | null; readonly because: "answered" | "latency" | "passed" | null; readonly sentence: string } | null }; readonly errors: null };
  };
  /** Delete a load that has ended, with its runs */
  'DELETE /v1/agent-testing/loads/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly deleted: true; readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** Cancel a load; its calls end at once */
  'POST /v1/agent-testing/loads/{id}/cancel': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly id: string; readonly cancelled_runs: number; readonly data: { readonly id: string; readonly cancelled_runs: number }; readonly errors: null };
  };
  /** Run scenarios, fix a fork of the pathway, and run again */
  'POST /v1/agent-testing/tornado/start': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly version_number?: number; readonly webhook_url?: string; readonly seed?: number; readonly pathway_id: string; readonly persona_id?: string; readonly scenario_ids?: readonly (string)[]; readonly max_iterations?: number; readonly timeout_ms?: number };
    answer: { readonly session_id: string; readonly status: "RUNNING"; readonly pathway_id: string; readonly max_iterations: number; readonly timeout_ms: number; readonly created_at: string; readonly data: { readonly session_id: string; readonly status: "RUNNING"; readonly pathway_id: string; readonly max_iterations: number; readonly timeout_ms: number; readonly created_at: string }; readonly errors: null };
  };
  /** Tornado sessions, newest first, without their iterations */
  'GET /v1/agent-testing/tornado': {
    path: Readonly<Record<string, never>>;
    query: { readonly pathway_id?: string; readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly sessions: readonly ({ readonly session_id: string; readonly status: "RUNNING" | "COMPLETED_ALL_PASSED" | "COMPLETED_PARTIAL" | "STUCK" | "TIMEOUT" | "ERROR" | "CANCELLED"; readonly pathway_id: string; readonly persona_id: string | null; readonly current_iteration: number; readonly max_iterations: number; readonly total_scenarios: number; readonly passed_scenarios: number; readonly failed_scenarios: number; readonly forked_version: number | null; readonly created_at: string; readonly completed_at: string | null })[]; readonly total_count: number; readonly data: { readonly sessions: readonly ({ readonly session_id: string; readonly status: "RUNNING" | "COMPLETED_ALL_PASSED" | "COMPLETED_PARTIAL" | "STUCK" | "TIMEOUT" | "ERROR" | "CANCELLED"; readonly pathway_id: string; readonly persona_id: string | null; readonly current_iteration: number; readonly max_iterations: number; readonly total_scenarios: number; readonly passed_scenarios: number; readonly failed_scenarios: number; readonly forked_version: number | null; readonly created_at: string; readonly completed_at: string | null })[]; readonly total_count: number }; readonly errors: null };
  };
  /** The running session of a pathway */
  'GET /v1/agent-testing/tornado/active': {
    path: Readonly<Record<string, never>>;
    query: { readonly pathway_id?: string; readonly persona_id?: string };
    body: undefined;
    answer: { readonly session_id: string; readonly status: "RUNNING"; readonly pathway_id: string; readonly persona_id: string | null; readonly current_iteration: number; readonly max_iterations: number; readonly total_scenarios: number; readonly passed_scenarios: number; readonly failed_scenarios: number; readonly created_at: string; readonly data: { readonly session_id: string; readonly status: "RUNNING"; readonly pathway_id: string; readonly persona_id: string | null; readonly current_iteration: number; readonly max_iterations: number; readonly total_scenarios: number; readonly passed_scenarios: number; readonly failed_scenarios: number; readonly created_at: string }; readonly errors: null };
  };
  /** Status of a tornado session */
  'GET /v1/agent-testing/tornado/{id}/status': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly session_id: string; readonly status: "RUNNING" | "COMPLETED_ALL_PASSED" | "COMPLETED_PARTIAL" | "STUCK" | "TIMEOUT" | "ERROR" | "CANCELLED"; readonly pathway_id: string; readonly persona_id: string | null; readonly base_version: number; readonly current_iteration: number; readonly max_iterations: number; readonly total_scenarios: number; readonly passed_scenarios: number; readonly failed_scenarios: number; readonly unfixable_count: number; readonly unfixable_ids: readonly (string)[]; readonly iterations: readonly ({ readonly iteration: number; readonly batch_id: string; readonly started_at: string; readonly completed_at: string | null; readonly version_number: number; readonly passed_ids: readonly (string)[]; readonly failed_ids: readonly (string)[]; readonly newly_unfixable_ids: readonly (string)[]; readonly avg_score: number | null; readonly held_out: { readonly variants: number; readonly passed: number } | null; readonly fix_plan: { readonly fixes: readonly ({ readonly id: string; readonly target_node: string | null; readonly description: string; readonly type: "prompt_edit" | "config_change" | "flow_change"; readonly status: "applied" | "reverted" | "skipped" })[]; readonly priority_order: readonly (string)[] } | null; readonly prompt_excerpt: string | null; readonly diff: (readonly ({ readonly op: "added" | "removed" | "changed"; readonly path: string; readonly before: unknown; readonly after: unknown })[]) | null; readonly omitted?: readonly (string)[] })[]; readonly elapsed_ms: number; readonly timeout_ms: number; readonly forked_version: number | null; readonly fixes: readonly ({ readonly id: string; readonly target_node: string | null; readonly description: string; readonly type: "prompt_edit" | "config_change" | "flow_change"; readonly scenario_ids: readonly (string)[]; readonly diff: readonly ({ readonly op: "added" | "removed" | "changed"; readonly path: string; readonly before: unknown; readonly after: unknown })[]; readonly omitted?: readonly (string)[] })[]; readonly held_out: { readonly variants: number; readonly passed: number } | null; readonly error_message: string | null; readonly created_at: string; readonly completed_at: string | null; readonly data: { readonly session_id: string; readonly status: "RUNNING" | "COMPLETED_ALL_PASSED" | "COMPLETED_PARTIAL" | "STUCK" | "TIMEOUT" | "ERROR" | "CANCELLED"; readonly pathway_id: string; readonly persona_id: string | null; readonly base_version: number; readonly current_iteration: number; readonly max_iterations: number; readonly total_scenarios: number; readonly passed_scenarios: number; readonly failed_scenarios: number; readonly unfixable_count: number; readonly unfixable_ids: readonly (string)[]; readonly iterations: readonly ({ readonly iteration: number; readonly batch_id: string; readonly started_at: string; readonly completed_at: string | null; readonly version_number: number; readonly passed_ids: readonly (string)[]; readonly failed_ids: readonly (string)[]; readonly newly_unfixable_ids: readonly (string)[]; readonly avg_score: number | null; readonly held_out: { readonly variants: number; readonly passed: number } | null; readonly fix_plan: { readonly fixes: readonly ({ readonly id: string; readonly target_node: string | null; readonly description: string; readonly type: "prompt_edit" | "config_change" | "flow_change"; readonly status: "applied" | "reverted" | "skipped" })[]; readonly priority_order: readonly (string)[] } | null; readonly prompt_excerpt: string | null; readonly diff: (readonly ({ readonly op: "added" | "removed" | "changed"; readonly path: string; readonly before: unknown; readonly after: unknown })[]) | null; readonly omitted?: readonly (string)[] })[]; readonly elapsed_ms: number; readonly timeout_ms: number; readonly forked_version: number | null; readonly fixes: readonly ({ readonly id: string; readonly target_node: string | null; readonly description: string; readonly type: "prompt_edit" | "config_change" | "flow_change"; readonly scenario_ids: readonly (string)[]; readonly diff: readonly ({ readonly op: "added" | "removed" | "changed"; readonly path: string; readonly before: unknown; readonly after: unknown })[]; readonly omitted?: readonly (string)[] })[]; readonly held_out: { readonly variants: number; readonly passed: number } | null; readonly error_message: string | null; readonly created_at: string; readonly completed_at: string | null }; readonly errors: null };
  };
  /** Create a version from the base and some of the fixes of an ended tornado session */
  'POST /v1/agent-testing/tornado/{id}/accept': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly fix_ids: readonly (string)[]; readonly name?: string };
    answer: { readonly pathway_id: string; readonly version_number: number; readonly name: string; readonly created_at: string; readonly data: { readonly pathway_id: string; readonly version_number: number; readonly name: string; readonly created_at: string }; readonly errors: null };
  };
  /** Delete a tornado session that has ended; the versions and batches that it created stay */
  'DELETE /v1/agent-testing/tornado/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly deleted: true; readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** Cancel a tornado session */
  'POST /v1/agent-testing/tornado/{id}/cancel': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly cancelled: true; readonly data: { readonly cancelled: true }; readonly errors: null };
  };
  /** What happens in the organization, as server-sent events */
  'GET /v1/events': {
    path: Readonly<Record<string, never>>;
    query: { readonly types?: string; readonly call_id?: string; readonly number?: string; readonly trunk_id?: string; readonly subject_id?: string };
    body: undefined;
    answer: Response;
  };
  /** This API as an OpenAPI 3.1 document */
  'GET /openapi.json': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: unknown;
  };
  /** The documentation: guides, and this API as pages */
  'GET /docs': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: Response;
  };
  /** The SIP configuration of a number */
  'GET /v1/sip': {
    path: Readonly<Record<string, never>>;
    query: { readonly phone_number: string };
    body: undefined;
    answer: { readonly data: { readonly inbound: { readonly id: string; readonly number: string; readonly org_id: string; readonly direction: "inbound" | "outbound"; readonly priority: number; readonly sip_endpoint: string | null; readonly headers: { readonly direction: string; readonly headers: readonly ({ readonly type: "custom"; readonly key: string; readonly value: string; readonly passthrough?: boolean } | { readonly type: "uui"; readonly target: string; readonly purpose?: string; readonly encoding: "hex"; readonly content?: string })[] } | null; readonly options: { readonly port: number; readonly transport: string; readonly secure_media: boolean; readonly transfer_mode: "disable_all" | "sip_only" | "enable_all"; readonly auth_mode?: "ip" | "register" | "digest"; readonly allowed_ips?: readonly (string)[]; readonly register_auth?: { readonly username: string; readonly password: string }; readonly digest_auth?: { readonly username: string; readonly password: string }; readonly sip_username?: string | null; readonly sip_password?: string | null; readonly sip_realm?: string | null }; readonly failover_config: { readonly enabled: boolean; readonly endpoints: readonly ({ readonly host: string; readonly port: number; readonly transport: string; readonly priority: number })[]; readonly triggers: readonly (string)[]; readonly failback: string; readonly active_priority: number } | null; readonly codec_config: { readonly codecs: readonly (string)[]; readonly transcode: boolean; readonly unavailable: readonly (string)[] }; readonly alert_config: { readonly enabled: boolean; readonly thresholds: { readonly unreachable_minutes: number; readonly failure_rate_percent: number; readonly failure_rate_window_minutes: number; readonly response_time_ms: number }; readonly channels: { readonly email: boolean; readonly sms: boolean; readonly webhook: string | null } }; readonly region_config: { readonly region: string | null; readonly strict: boolean } | null; readonly inbound_sources?: "listed" | "none" | "open"; readonly registration: { readonly state: "registering" | "registered" | "failed" | "ended"; readonly registrar: string; readonly expires_at: string | null; readonly next_try_at: string | null; readonly sip_code: number | null; readonly last_error: string | null; readonly at: string; readonly edge_id: string | null } | null; readonly applied: boolean; readonly health_status: "healthy" | "unreachable" | "unchecked"; readonly created_at: string; readonly updated_at: string } | null; readonly outbound: { readonly id: string; readonly number: string; readonly org_id: string; readonly direction: "inbound" | "outbound"; readonly priority: number; readonly sip_endpoint: string | null; readonly headers: { readonly direction: string; readonly headers: readonly ({ readonly type: "custom"; readonly key: string; readonly value: string; readonly passthrough?: boolean } | { readonly type: "uui"; readonly target: string; readonly purpose?: string; readonly encoding: "hex"; readonly content?: string })[] } | null; readonly options: { readonly port: number; readonly transport: string; readonly secure_media: boolean; readonly transfer_mode: "disable_all" | "sip_only" | "enable_all"; readonly auth_mode?: "ip" | "register" | "digest"; readonly allowed_ips?: readonly (string)[]; readonly register_auth?: { readonly username: string; readonly password: string }; readonly digest_auth?: { readonly username: string; readonly password: string }; readonly sip_username?: string | null; readonly sip_password?: string | null; readonly sip_realm?: string | null }; readonly failover_config: { readonly enabled: boolean; readonly endpoints: readonly ({ readonly host: string; readonly port: number; readonly transport: string; readonly priority: number })[]; readonly triggers: readonly (string)[]; readonly failback: string; readonly active_priority: number } | null; readonly codec_config: { readonly codecs: readonly (string)[]; readonly transcode: boolean; readonly unavailable: readonly (string)[] }; readonly alert_config: { readonly enabled: boolean; readonly thresholds: { readonly unreachable_minutes: number; readonly failure_rate_percent: number; readonly failure_rate_window_minutes: number; readonly response_time_ms: number }; readonly channels: { readonly email: boolean; readonly sms: boolean; readonly webhook: string | null } }; readonly region_config: { readonly region: string | null; readonly strict: boolean } | null; readonly inbound_sources?: "listed" | "none" | "open"; readonly registration: { readonly state: "registering" | "registered" | "failed" | "ended"; readonly registrar: string; readonly expires_at: string | null; readonly next_try_at: string | null; readonly sip_code: number | null; readonly last_error: string | null; readonly at: string; readonly edge_id: string | null } | null; readonly applied: boolean; readonly health_status: "healthy" | "unreachable" | "unchecked"; readonly created_at: string; readonly updated_at: string } | null; readonly configurations: readonly ({ readonly id: string; readonly number: string; readonly org_id: string; readonly direction: "inbound" | "outbound"; readonly priority: number; readonly sip_endpoint: string | null; readonly headers: { readonly direction: string; readonly headers: readonly ({ readonly type: "custom"; readonly key: string; readonly value: string; readonly passthrough?: boolean } | { readonly type: "uui"; readonly target: string; readonly purpose?: string; readonly encoding: "hex"; readonly content?: string })[] } | null; readonly options: { readonly port: number; readonly transport: string; readonly secure_media: boolean; readonly transfer_mode: "disable_all" | "sip_only" | "enable_all"; readonly auth_mode?: "ip" | "register" | "digest"; readonly allowed_ips?: readonly (string)[]; readonly register_auth?: { readonly username: string; readonly password: string }; readonly digest_auth?: { readonly username: string; readonly password: string }; readonly sip_username?: string | null; readonly sip_password?: string | null; readonly sip_realm?: string | null }; readonly failover_config: { readonly enabled: boolean; readonly endpoints: readonly ({ readonly host: string; readonly port: number; readonly transport: string; readonly priority: number })[]; readonly triggers: readonly (string)[]; readonly failback: string; readonly active_priority: number } | null; readonly codec_config: { readonly codecs: readonly (string)[]; readonly transcode: boolean; readonly unavailable: readonly (string)[] }; readonly alert_config: { readonly enabled: boolean; readonly thresholds: { readonly unreachable_minutes: number; readonly failure_rate_percent: number; readonly failure_rate_window_minutes: number; readonly response_time_ms: number }; readonly channels: { readonly email: boolean; readonly sms: boolean; readonly webhook: string | null } }; readonly region_config: { readonly region: string | null; readonly strict: boolean } | null; readonly inbound_sources?: "listed" | "none" | "open"; readonly registration: { readonly state: "registering" | "registered" | "failed" | "ended"; readonly registrar: string; readonly expires_at: string | null; readonly next_try_at: string | null; readonly sip_code: number | null; readonly last_error: string | null; readonly at: string; readonly edge_id: string | null } | null; readonly applied: boolean; readonly health_status: "healthy" | "unreachable" | "unchecked"; readonly created_at: string; readonly updated_at: string })[] }; readonly errors: null };
  };
  /** Attach SIP configurations to numbers */
  'POST /v1/sip/attach': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly phone_number?: string; readonly phone_numbers?: readonly (string)[]; readonly directions: readonly ("inbound" | "outbound" | { readonly type: "inbound"; readonly priority?: number; readonly auth_mode?: "ip" | "register" | "digest"; readonly register_auth?: { readonly username: string; readonly password: string }; readonly digest_auth?: { readonly username: string; readonly password: string }; readonly sip_endpoint?: string | null; readonly headers?: { readonly direction: "inbound"; readonly headers: readonly ({ readonly type: "custom"; readonly key: string; readonly value: string; readonly passthrough?: boolean } | { readonly type: "uui"; readonly target: string; readonly purpose?: string; readonly encoding: "hex"; readonly content?: string })[] } | null; readonly options?: { readonly port?: number; readonly transport?: "tls" | "udp" | "tcp"; readonly secure_media?: boolean; readonly transfer_mode?: "disable_all" | "sip_only" | "enable_all"; readonly allowed_ips?: readonly (string)[] } } | { readonly type: "outbound"; readonly priority?: number; readonly sip_endpoint?: string; readonly headers?: { readonly direction: "outbound"; readonly headers: readonly ({ readonly type: "custom"; readonly key: string; readonly value: string; readonly passthrough?: boolean } | { readonly type: "uui"; readonly target: string; readonly purpose?: string; readonly encoding: "hex"; readonly content?: string })[] } | null; readonly options?: { readonly port?: number; readonly transport?: "tls" | "udp" | "tcp"; readonly secure_media?: boolean; readonly transfer_mode?: "disable_all" | "sip_only" | "enable_all"; readonly sip_username?: string | null; readonly sip_password?: string | null; readonly sip_realm?: string | null } })[]; readonly service?: "sip"; readonly sip_endpoint?: string; readonly options?: { readonly port?: number; readonly transport?: "tls" | "udp" | "tcp"; readonly secure_media?: boolean; readonly transfer_mode?: "disable_all" | "sip_only" | "enable_all"; readonly sip_username?: string | null; readonly sip_password?: string | null; readonly sip_realm?: string | null }; readonly auth_mode?: "ip" | "register" | "digest"; readonly register_auth?: { readonly username: string; readonly password: string }; readonly digest_auth?: { readonly username: string; readonly password: string } };
    answer: { readonly data: { readonly configured: readonly (string)[]; readonly failed: readonly ({ readonly phone_number: string; readonly error: string; readonly message: string })[]; readonly register_password_for_pbx?: string; readonly warnings: readonly (string)[] }; readonly errors: null };
  };
  /** Update a SIP configuration */
  'POST /v1/sip/update': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly phone_number: string; readonly updates: { readonly type: "inbound"; readonly priority?: number; readonly auth_mode?: "ip" | "register" | "digest"; readonly register_auth?: { readonly username: string; readonly password: string }; readonly digest_auth?: { readonly username: string; readonly password: string }; readonly sip_endpoint?: string | null; readonly headers?: { readonly direction: "inbound"; readonly headers: readonly ({ readonly type: "custom"; readonly key: string; readonly value: string; readonly passthrough?: boolean } | { readonly type: "uui"; readonly target: string; readonly purpose?: string; readonly encoding: "hex"; readonly content?: string })[] } | null; readonly options?: { readonly port?: number; readonly transport?: "tls" | "udp" | "tcp"; readonly secure_media?: boolean; readonly transfer_mode?: "disable_all" | "sip_only" | "enable_all"; readonly allowed_ips?: readonly (string)[] }; readonly id?: string } | { readonly type: "outbound"; readonly priority?: number; readonly sip_endpoint?: string; readonly headers?: { readonly direction: "outbound"; readonly headers: readonly ({ readonly type: "custom"; readonly key: string; readonly value: string; readonly passthrough?: boolean } | { readonly type: "uui"; readonly target: string; readonly purpose?: string; readonly encoding: "hex"; readonly content?: string })[] } | null; readonly options?: { readonly port?: number; readonly transport?: "tls" | "udp" | "tcp"; readonly secure_media?: boolean; readonly transfer_mode?: "disable_all" | "sip_only" | "enable_all"; readonly sip_username?: string | null; readonly sip_password?: string | null; readonly sip_realm?: string | null }; readonly id?: string } };
    answer: { readonly data: { readonly inbound: { readonly id: string; readonly number: string; readonly org_id: string; readonly direction: "inbound" | "outbound"; readonly priority: number; readonly sip_endpoint: string | null; readonly headers: { readonly direction: string; readonly headers: readonly ({ readonly type: "custom"; readonly key: string; readonly value: string; readonly passthrough?: boolean } | { readonly type: "uui"; readonly target: string; readonly purpose?: string; readonly encoding: "hex"; readonly content?: string })[] } | null; readonly options: { readonly port: number; readonly transport: string; readonly secure_media: boolean; readonly transfer_mode: "disable_all" | "sip_only" | "enable_all"; readonly auth_mode?: "ip" | "register" | "digest"; readonly allowed_ips?: readonly (string)[]; readonly register_auth?: { readonly username: string; readonly password: string }; readonly digest_auth?: { readonly username: string; readonly password: string }; readonly sip_username?: string | null; readonly sip_password?: string | null; readonly sip_realm?: string | null }; readonly failover_config: { readonly enabled: boolean; readonly endpoints: readonly ({ readonly host: string; readonly port: number; readonly transport: string; readonly priority: number })[]; readonly triggers: readonly (string)[]; readonly failback: string; readonly active_priority: number } | null; readonly codec_config: { readonly codecs: readonly (string)[]; readonly transcode: boolean; readonly unavailable: readonly (string)[] }; readonly alert_config: { readonly enabled: boolean; readonly thresholds: { readonly unreachable_minutes: number; readonly failure_rate_percent: number; readonly failure_rate_window_minutes: number; readonly response_time_ms: number }; readonly channels: { readonly email: boolean; readonly sms: boolean; readonly webhook: string | null } }; readonly region_config: { readonly region: string | null; readonly strict: boolean } | null; readonly inbound_sources?: "listed" | "none" | "open"; readonly registration: { readonly state: "registering" | "registered" | "failed" | "ended"; readonly registrar: string; readonly expires_at: string | null; readonly next_try_at: string | null; readonly sip_code: number | null; readonly last_error: string | null; readonly at: string; readonly edge_id: string | null } | null; readonly applied: boolean; readonly health_status: "healthy" | "unreachable" | "unchecked"; readonly created_at: string; readonly updated_at: string } | null; readonly outbound: { readonly id: string; readonly number: string; readonly org_id: string; readonly direction: "inbound" | "outbound"; readonly priority: number; readonly sip_endpoint: string | null; readonly headers: { readonly direction: string; readonly headers: readonly ({ readonly type: "custom"; readonly key: string; readonly value: string; readonly passthrough?: boolean } | { readonly type: "uui"; readonly target: string; readonly purpose?: string; readonly encoding: "hex"; readonly content?: string })[] } | null; readonly options: { readonly port: number; readonly transport: string; readonly secure_media: boolean; readonly transfer_mode: "disable_all" | "sip_only" | "enable_all"; readonly auth_mode?: "ip" | "register" | "digest"; readonly allowed_ips?: readonly (string)[]; readonly register_auth?: { readonly username: string; readonly password: string }; readonly digest_auth?: { readonly username: string; readonly password: string }; readonly sip_username?: string | null; readonly sip_password?: string | null; readonly sip_realm?: string | null }; readonly failover_config: { readonly enabled: boolean; readonly endpoints: readonly ({ readonly host: string; readonly port: number; readonly transport: string; readonly priority: number })[]; readonly triggers: readonly (string)[]; readonly failback: string; readonly active_priority: number } | null; readonly codec_config: { readonly codecs: readonly (string)[]; readonly transcode: boolean; readonly unavailable: readonly (string)[] }; readonly alert_config: { readonly enabled: boolean; readonly thresholds: { readonly unreachable_minutes: number; readonly failure_rate_percent: number; readonly failure_rate_window_minutes: number; readonly response_time_ms: number }; readonly channels: { readonly email: boolean; readonly sms: boolean; readonly webhook: string | null } }; readonly region_config: { readonly region: string | null; readonly strict: boolean } | null; readonly inbound_sources?: "listed" | "none" | "open"; readonly registration: { readonly state: "registering" | "registered" | "failed" | "ended"; readonly registrar: string; readonly expires_at: string | null; readonly next_try_at: string | null; readonly sip_code: number | null; readonly last_error: string | null; readonly at: string; readonly edge_id: string | null } | null; readonly applied: boolean; readonly health_status: "healthy" | "unreachable" | "unchecked"; readonly created_at: string; readonly updated_at: string } | null; readonly configurations: readonly ({ readonly id: string; readonly number: string; readonly org_id: string; readonly direction: "inbound" | "outbound"; readonly priority: number; readonly sip_endpoint: string | null; readonly headers: { readonly direction: string; readonly headers: readonly ({ readonly type: "custom"; readonly key: string; readonly value: string; readonly passthrough?: boolean } | { readonly type: "uui"; readonly target: string; readonly purpose?: string; readonly encoding: "hex"; readonly content?: string })[] } | null; readonly options: { readonly port: number; readonly transport: string; readonly secure_media: boolean; readonly transfer_mode: "disable_all" | "sip_only" | "enable_all"; readonly auth_mode?: "ip" | "register" | "digest"; readonly allowed_ips?: readonly (string)[]; readonly register_auth?: { readonly username: string; readonly password: string }; readonly digest_auth?: { readonly username: string; readonly password: string }; readonly sip_username?: string | null; readonly sip_password?: string | null; readonly sip_realm?: string | null }; readonly failover_config: { readonly enabled: boolean; readonly endpoints: readonly ({ readonly host: string; readonly port: number; readonly transport: string; readonly priority: number })[]; readonly triggers: readonly (string)[]; readonly failback: string; readonly active_priority: number } | null; readonly codec_config: { readonly codecs: readonly (string)[]; readonly transcode: boolean; readonly unavailable: readonly (string)[] }; readonly alert_config: { readonly enabled: boolean; readonly thresholds: { readonly unreachable_minutes: number; readonly failure_rate_percent: number; readonly failure_rate_window_minutes: number; readonly response_time_ms: number }; readonly channels: { readonly email: boolean; readonly sms: boolean; readonly webhook: string | null } }; readonly region_config: { readonly region: string | null; readonly strict: boolean } | null; readonly inbound_sources?: "listed" | "none" | "open"; readonly registration: { readonly state: "registering" | "registered" | "failed" | "ended"; readonly registrar: string; readonly expires_at: string | null; readonly next_try_at: string | null; readonly sip_code: number | null; readonly last_error: string | null; readonly at: string; readonly edge_id: string | null } | null; readonly applied: boolean; readonly health_status: "healthy" | "unreachable" | "unchecked"; readonly created_at: string; readonly updated_at: string })[]; readonly register_password_for_pbx?: string; readonly warnings?: readonly (string)[] }; readonly errors: null };
  };
  /** Remove SIP configurations */
  'POST /v1/sip/detach': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly phone_number?: string; readonly phone_numbers?: readonly (string)[]; readonly directions: readonly ("inbound" | "outbound" | { readonly type: "inbound" | "outbound"; readonly id?: string })[]; readonly service?: "sip" };
    answer: { readonly data: { readonly detached: readonly (string)[]; readonly failed: readonly ({ readonly phone_number: string; readonly error: string; readonly message: string; readonly direction: string })[] }; readonly errors: null };
  };
  /** Set failover, codecs and alerts of a SIP configuration */
  'PATCH /v1/sip/config': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly phone_number: string; readonly direction: "inbound" | "outbound"; readonly configuration_id?: string; readonly failover_config?: { readonly enabled?: boolean; readonly endpoints?: readonly ({ readonly host: string; readonly port?: number; readonly transport?: "tls" | "udp" | "tcp"; readonly priority: number })[]; readonly triggers?: readonly ("unreachable" | "auth_failure" | "timeout")[]; readonly failback?: "auto" | "manual"; readonly failback_now?: true } | null; readonly codec_config?: { readonly codecs?: readonly ("PCMU" | "PCMA" | "G.729" | "Opus" | "G.722")[]; readonly transcode?: boolean } | null; readonly alert_config?: { readonly enabled?: boolean; readonly thresholds?: { readonly unreachable_minutes?: number; readonly failure_rate_percent?: number; readonly failure_rate_window_minutes?: number; readonly response_time_ms?: number }; readonly channels?: { readonly email?: boolean; readonly sms?: boolean; readonly webhook?: string | null } } | null; readonly region_config?: { readonly region?: string | null; readonly strict?: boolean } | null };
    answer: { readonly data: { readonly id: string; readonly number: string; readonly org_id: string; readonly direction: "inbound" | "outbound"; readonly priority: number; readonly sip_endpoint: string | null; readonly headers: { readonly direction: string; readonly headers: readonly ({ readonly type: "custom"; readonly key: string; readonly value: string; readonly passthrough?: boolean } | { readonly type: "uui"; readonly target: string; readonly purpose?: string; readonly encoding: "hex"; readonly content?: string })[] } | null; readonly options: { readonly port: number; readonly transport: string; readonly secure_media: boolean; readonly transfer_mode: "disable_all" | "sip_only" | "enable_all"; readonly auth_mode?: "ip" | "register" | "digest"; readonly allowed_ips?: readonly (string)[]; readonly register_auth?: { readonly username: string; readonly password: string }; readonly digest_auth?: { readonly username: string; readonly password: string }; readonly sip_username?: string | null; readonly sip_password?: string | null; readonly sip_realm?: string | null }; readonly failover_config: { readonly enabled: boolean; readonly endpoints: readonly ({ readonly host: string; readonly port: number; readonly transport: string; readonly priority: number })[]; readonly triggers: readonly (string)[]; readonly failback: string; readonly active_priority: number } | null; readonly codec_config: { readonly codecs: readonly (string)[]; readonly transcode: boolean; readonly unavailable: readonly (string)[] }; readonly alert_config: { readonly enabled: boolean; readonly thresholds: { readonly unreachable_minutes: number; readonly failure_rate_percent: number; readonly failure_rate_window_minutes: number; readonly response_time_ms: number }; readonly channels: { readonly email: boolean; readonly sms: boolean; readonly webhook: string | null } }; readonly region_config: { readonly region: string | null; readonly strict: boolean } | null; readonly inbound_sources?: "listed" | "none" | "open"; readonly registration: { readonly state: "registering" | "registered" | "failed" | "ended"; readonly registrar: string; readonly expires_at: string | null; readonly next_try_at: string | null; readonly sip_code: number | null; readonly last_error: string | null; readonly at: string; readonly edge_id: string | null } | null; readonly applied: boolean; readonly health_status: "healthy" | "unreachable" | "unchecked"; readonly created_at: string; readonly updated_at: string; readonly warnings: readonly (string)[] }; readonly errors: null };
  };
  /** Numbers with SIP configurations, ascending */
  'GET /v1/sip/numbers': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly data: { readonly numbers: readonly ({ readonly phone_number: string; readonly directions: readonly (string)[]; readonly sip_endpoint: string | null; readonly health_status: string; readonly configuration_count: number })[] }; readonly errors: null };
  };
  /** Health of a number’s trunk */
  'GET /v1/sip/status': {
    path: Readonly<Record<string, never>>;
    query: { readonly phone_number: string };
    body: undefined;
    answer: { readonly data: { readonly status: "healthy" | "unreachable" | "unchecked"; readonly response_time_ms: number | null; readonly checked_at: string | null; readonly uptime_percentage: number | null; readonly uptime_percentage_30d: number | null; readonly average_response_time_ms: number | null; readonly endpoints: readonly ({ readonly configuration_id: string; readonly host: string; readonly port: number; readonly priority: number; readonly status: string; readonly response_time_ms: number | null; readonly checked_at: string | null; readonly consecutive_failures: number; readonly active: boolean; readonly edge_id: string | null; readonly certificate: { readonly subject: string; readonly issuer: string; readonly names: readonly (string)[]; readonly valid_from: string; readonly expires_at: string; readonly seen_at: string } | null })[] }; readonly errors: null };
  };
  /** Probes of a number’s trunk in the last 30 days, by hour */
  'GET /v1/sip/status/history': {
    path: Readonly<Record<string, never>>;
    query: { readonly phone_number: string };
    body: undefined;
    answer: { readonly data: { readonly hours: readonly ({ readonly hour: string; readonly probes: number; readonly healthy_probes: number; readonly uptime_percentage: number | null; readonly average_response_time_ms: number | null })[] }; readonly errors: null };
  };
  /** Parse a destination string */
  'POST /v1/sip/parse-destination': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly input: string };
    answer: { readonly data: { readonly valid: boolean; readonly parsed: { readonly host: string; readonly port?: number; readonly user?: string; readonly transport?: "udp" | "tcp" | "tls"; readonly is_private_ip: boolean; readonly normalized: string } | null }; readonly errors: null };
  };
  /** Addresses and ports for firewalls */
  'GET /v1/sip/firewall-ips': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly region: string; readonly ip_addresses: readonly (string)[]; readonly ports: { readonly sip: string; readonly rtp: string } }; readonly errors: null };
  };
  /** What to configure in a PBX */
  'GET /v1/sip/outbound-setup': {
    path: Readonly<Record<string, never>>;
    query: { readonly phone_number?: string; readonly pbx?: "asterisk" | "freepbx" | "issabel" | "sangoma" | "freeswitch" | "fusionpbx" | "signalwire" | "kamailio" };
    body: undefined;
    answer: { readonly data: { readonly sip_server: string; readonly port: number; readonly transport: string; readonly srtp: string; readonly codecs: readonly (string)[]; readonly instructions: string; readonly credentials?: { readonly username: string; readonly password: string; readonly realm: string | null }; readonly files?: readonly ({ readonly path: string; readonly text: string })[] }; readonly errors: null };
  };
  /** Discover the SIP capabilities of a host */
  'POST /v1/sip/discover': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly host: string; readonly port?: number; readonly transport?: "udp" | "tcp" | "tls" };
    answer: { readonly data: { readonly discovery_id: string; readonly host: string; readonly status: "running" | "completed" | "failed"; readonly error: { readonly code: "DNS_FAILURE" | "DISCOVERY_TIMEOUT" | "INTERNAL_ERROR" | "TARGET_NOT_ALLOWED"; readonly message: string } | null; readonly resolved_addresses: readonly (string)[]; readonly srv_records: readonly ({ readonly service: string; readonly target: string; readonly port: number; readonly priority: number; readonly weight: number })[]; readonly attempts: readonly ({ readonly address: string; readonly port: number; readonly transport: "udp" | "tcp" | "tls"; readonly response_time_ms: number | null; readonly response_code: number | null; readonly user_agent: string | null; readonly error: "timeout" | "refused" | "unreachable" | "tls_error" | null; readonly message?: string })[]; readonly recommended: { readonly port: number; readonly transport: "udp" | "tcp" | "tls"; readonly detected_system: string; readonly confidence: number; readonly evidence: readonly (string)[]; readonly user_agent: string | null; readonly codecs: readonly (string)[]; readonly methods: readonly (string)[]; readonly usable: boolean; readonly reason: string } | null; readonly tls: { readonly version: string; readonly cipher: string; readonly subject: string; readonly issuer: string; readonly valid_to: string; readonly trusted: boolean } | null; readonly started_at: string; readonly completed_at: string | null }; readonly errors: null };
  };
  /** Status of a discovery */
  'GET /v1/sip/discover/status': {
    path: Readonly<Record<string, never>>;
    query: { readonly discovery_id: string };
    body: undefined;
    answer: { readonly data: { readonly discovery_id: string; readonly host: string; readonly status: "running" | "completed" | "failed"; readonly error: { readonly code: "DNS_FAILURE" | "DISCOVERY_TIMEOUT" | "INTERNAL_ERROR" | "TARGET_NOT_ALLOWED"; readonly message: string } | null; readonly resolved_addresses: readonly (string)[]; readonly srv_records: readonly ({ readonly service: string; readonly target: string; readonly port: number; readonly priority: number; readonly weight: number })[]; readonly attempts: readonly ({ readonly address: string; readonly port: number; readonly transport: "udp" | "tcp" | "tls"; readonly response_time_ms: number | null; readonly response_code: number | null; readonly user_agent: string | null; readonly error: "timeout" | "refused" | "unreachable" | "tls_error" | null; readonly message?: string })[]; readonly recommended: { readonly port: number; readonly transport: "udp" | "tcp" | "tls"; readonly detected_system: string; readonly confidence: number; readonly evidence: readonly (string)[]; readonly user_agent: string | null; readonly codecs: readonly (string)[]; readonly methods: readonly (string)[]; readonly usable: boolean; readonly reason: string } | null; readonly tls: { readonly version: string; readonly cipher: string; readonly subject: string; readonly issuer: string; readonly valid_to: string; readonly trusted: boolean } | null; readonly started_at: string; readonly completed_at: string | null }; readonly errors: null };
  };
  /** Place a test call over a trunk */
  'POST /v1/sip/test-call': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly phone_number: string; readonly to?: string; readonly configuration_id?: string; readonly max_seconds?: number; readonly dtmf?: string };
    answer: { readonly data: { readonly call_id: string; readonly message: string }; readonly errors: null };
  };
  /** Status of a test call */
  'GET /v1/sip/test-call/status': {
    path: Readonly<Record<string, never>>;
    query: { readonly call_id: string };
    body: undefined;
    answer: { readonly data: { readonly call_id: string; readonly status: "queued" | "initiated" | "ringing" | "in-progress" | "completed" | "failed" | "busy" | "no-answer"; readonly result: "pending" | "connected" | "failed" | "busy" | "no_answer"; readonly duration_seconds: number; readonly sip_code: number | null; readonly sip_call_id: string | null; readonly codec: string | null; readonly error: string | null; readonly diagnosis: string | null; readonly timeline: readonly ({ readonly event: "initiated" | "trying" | "ringing" | "early_media" | "answered" | "media_confirmed" | "dtmf_sent" | "failover" | "completed" | "failed" | "busy" | "no_answer"; readonly at: string; readonly detail: string })[]; readonly media: { readonly packets_sent: number; readonly packets_received: number; readonly verdict: "two_way" | "send_only" | "receive_only" | "none" } | null }; readonly errors: null };
  };
  /** Register a number at its PBX now */
  'POST /v1/sip/register-now': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly phone_number: string; readonly configuration_id?: string };
    answer: { readonly data: { readonly configuration_id: string; readonly finished: boolean; readonly registration: { readonly state: "registering" | "registered" | "failed" | "ended"; readonly registrar: string; readonly expires_at: string | null; readonly next_try_at: string | null; readonly sip_code: number | null; readonly last_error: string | null; readonly at: string; readonly edge_id: string | null } | null }; readonly errors: null };
  };
  /** Put a call on hold with music */
  'POST /v1/calls/{call_id}/hold': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly status: "success"; readonly message: string };
  };
  /** End the hold of a call */
  'POST /v1/calls/{call_id}/resume': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly status: "success"; readonly message: string };
  };
  /** Park a call in a slot */
  'POST /v1/calls/{call_id}/park': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly slot: string; readonly timeout_s?: number; readonly on_timeout?: "agent" | "end" };
    answer: { readonly status: "success"; readonly message: string };
  };
  /** Join a parked call with another call, with a number that is called, or with its agent again */
  'POST /v1/calls/{call_id}/retrieve': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly call_id?: string; readonly phone_number?: string };
    answer: { readonly status: "success"; readonly message: string };
  };
  /** Open conferences with their parties, newest first */
  'GET /v1/conferences': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly before?: string };
    body: undefined;
    answer: { readonly data: { readonly conferences: readonly ({ readonly conference_id: string; readonly name: string; readonly edge_id: string; readonly opened_at: string; readonly parties: readonly ({ readonly call_id: string; readonly direction: "inbound" | "outbound"; readonly from: string; readonly to: string; readonly joined_at: string; readonly moderator: boolean; readonly muted: boolean; readonly speaking: boolean })[] })[]; readonly next: string | null }; readonly errors: null };
  };
  /** One open conference with its parties */
  'GET /v1/conferences/{conference_id}': {
    path: { readonly conference_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly conference: { readonly conference_id: string; readonly name: string; readonly edge_id: string; readonly opened_at: string; readonly parties: readonly ({ readonly call_id: string; readonly direction: "inbound" | "outbound"; readonly from: string; readonly to: string; readonly joined_at: string; readonly moderator: boolean; readonly muted: boolean; readonly speaking: boolean })[] } }; readonly errors: null };
  };
  /** Mute a party: the others do not hear it */
  'POST /v1/conferences/{conference_id}/parties/{call_id}/mute': {
    path: { readonly conference_id: string; readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly data: { readonly message: string }; readonly errors: null };
  };
  /** Let the others hear a party again */
  'POST /v1/conferences/{conference_id}/parties/{call_id}/unmute': {
    path: { readonly conference_id: string; readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly data: { readonly message: string }; readonly errors: null };
  };
  /** Remove a party, which ends its call */
  'DELETE /v1/conferences/{conference_id}/parties/{call_id}': {
    path: { readonly conference_id: string; readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly message: string }; readonly errors: null };
  };
  /** Supervisors of a call, newest first */
  'GET /v1/calls/{call_id}/supervisors': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly supervisors: readonly ({ readonly id: string; readonly call_id: string; readonly leg_call_id: string | null; readonly caller: string; readonly mode: "listen" | "whisper" | "barge" | "take_over"; readonly state: "waiting" | "joined" | "left" | "expired"; readonly created_at: string; readonly expires_at: string; readonly joined_at: string | null; readonly left_at: string | null })[] }; readonly errors: null };
  };
  /** Create credentials with which a browser joins a call as its supervisor */
  'POST /v1/calls/{call_id}/supervisors': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly caller?: string };
    answer: { readonly data: { readonly supervisor: { readonly id: string; readonly call_id: string; readonly leg_call_id: string | null; readonly caller: string; readonly mode: "listen" | "whisper" | "barge" | "take_over"; readonly state: "waiting" | "joined" | "left" | "expired"; readonly created_at: string; readonly expires_at: string; readonly joined_at: string | null; readonly left_at: string | null }; readonly credentials: { readonly username: string; readonly password: string; readonly realm: string; readonly url: string; readonly uri: string } }; readonly errors: null };
  };
  /** Listen, whisper, speak to both, or take the call over and give it back */
  'PATCH /v1/calls/{call_id}/supervisors/{id}': {
    path: { readonly call_id: string; readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly mode: "listen" | "whisper" | "barge" | "take_over"; readonly note?: string | null };
    answer: { readonly data: { readonly supervisor: { readonly id: string; readonly call_id: string; readonly leg_call_id: string | null; readonly caller: string; readonly mode: "listen" | "whisper" | "barge" | "take_over"; readonly state: "waiting" | "joined" | "left" | "expired"; readonly created_at: string; readonly expires_at: string; readonly joined_at: string | null; readonly left_at: string | null } }; readonly errors: null };
  };
  /** Let a supervisor leave: the call goes on */
  'DELETE /v1/calls/{call_id}/supervisors/{id}': {
    path: { readonly call_id: string; readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly supervisor: { readonly id: string; readonly call_id: string; readonly leg_call_id: string | null; readonly caller: string; readonly mode: "listen" | "whisper" | "barge" | "take_over"; readonly state: "waiting" | "joined" | "left" | "expired"; readonly created_at: string; readonly expires_at: string; readonly joined_at: string | null; readonly left_at: string | null } }; readonly errors: null };
  };
  /** Tell the model of a call’s agent something that the other party does not hear */
  'POST /v1/calls/{call_id}/whisper': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly text: string };
    answer: { readonly status: "success"; readonly message: string };
  };
  /** List calls, newest first */
  'GET /v1/calls': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly before?: string; readonly phone_number?: string; readonly other_party?: string; readonly direction?: "inbound" | "outbound"; readonly status?: "queued" | "initiated" | "ringing" | "in-progress" | "completed" | "failed" | "busy" | "no-answer" | "canceled"; readonly from_date?: string; readonly to_date?: string; readonly pathway_id?: string; readonly persona_id?: string; readonly trunk_id?: string; readonly termination?: string };
    body: undefined;
    answer: { readonly data: { readonly calls: readonly ({ readonly call_id: string; readonly parent_id: string | null; readonly to: string; readonly from: string; readonly direction: "inbound" | "outbound"; readonly status: string; readonly completed: boolean; readonly started_at: string; readonly answered_at: string | null; readonly end_at: string | null; readonly call_length: number; readonly corrected_duration: number; readonly answered_by: "human" | "voicemail" | "screening" | "unknown" | null; readonly call_ended_by: "ASSISTANT" | "USER" | "API" | "ERROR" | null; readonly termination: string | null; readonly error_message: string | null; readonly pathway_id: string | null; readonly pathway_version: number | null; readonly persona_id: string | null; readonly transferred_to: string | null; readonly sip_call_id: string | null; readonly trunk_id: string | null })[]; readonly next: string | null }; readonly errors: null };
  };
  /** Place a call */
  'POST /v1/calls': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly phone_number: string; readonly from?: string; readonly task?: string; readonly pathway_id?: string; readonly persona_id?: string; readonly stream_url?: string; readonly realtime?: { readonly connection: string; readonly instructions: string }; readonly pathway_version?: number | "production" | "staging"; readonly start_node_id?: string; readonly first_sentence?: string | null; readonly wait_for_greeting?: boolean | "true" | "false"; readonly block_interruptions?: boolean | "true" | "false"; readonly ignore_button_press?: boolean | "true" | "false"; readonly voice?: string; readonly model?: "base" | "turbo"; readonly language?: string; readonly temperature?: number; readonly interruption_threshold?: number; readonly timezone?: string; readonly transfer_phone_number?: string | null; readonly transfer_list?: { readonly [name: string]: string } | null; readonly max_duration?: number; readonly tools?: readonly (string)[]; readonly voicemail?: { readonly action?: "hangup" | "leave_message" | "ignore"; readonly message?: string }; readonly precall_dtmf_sequence?: string | null; readonly request_data?: { readonly [name: string]: unknown }; readonly metadata?: { readonly [name: string]: unknown }; readonly webhook?: string | null; readonly recording?: { readonly mode: "off" | "audio"; readonly announcement?: "none" | "tone" | "spoken"; readonly announcement_text?: string | null; readonly pause_key?: string | null }; readonly key_terms?: readonly (string)[] };
    answer: { readonly status: "success"; readonly message: string; readonly call_id: string; readonly batch_id: null };
  };
  /** How many calls there were, how many were answered, how long they took and how they sounded */
  'GET /v1/sip/calls/aggregates': {
    path: Readonly<Record<string, never>>;
    query: { readonly by?: "hour" | "day"; readonly per?: "trunk" | "all"; readonly from_date?: string; readonly to_date?: string; readonly trunk_id?: string; readonly direction?: "inbound" | "outbound"; readonly limit?: number; readonly after?: string };
    body: undefined;
    answer: { readonly data: { readonly complete: boolean; readonly aggregates: readonly ({ readonly period: string; readonly trunk_id: string | null; readonly calls: number; readonly answered: number; readonly asr_percent: number; readonly talk_seconds: number; readonly acd_seconds: number | null; readonly measured: number; readonly mos: { readonly p1: number; readonly p5: number; readonly p25: number; readonly p50: number; readonly p75: number; readonly p95: number } | null })[]; readonly next: string | null }; readonly errors: null };
  };
  /** The quality of a call, every 5 seconds, also while it is in progress */
  'GET /v1/sip/calls/{call_id}/quality': {
    path: { readonly call_id: string };
    query: { readonly after_ms?: number };
    body: undefined;
    answer: { readonly data: { readonly id: string; readonly started_at: string; readonly ended_at: string | null; readonly reported_at: string | null; readonly age_ms: number | null; readonly truncated: boolean; readonly samples: readonly ({ readonly at_ms: number; readonly duration_ms: number; readonly relayed: boolean; readonly held: boolean; readonly packets_received: number; readonly packets_lost: number; readonly packets_late: number | null; readonly jitter_ms: number | null; readonly jitter_buffer_ms: number | null; readonly level_received_dbov: number | null; readonly packets_sent: number; readonly peer_loss_percent: number | null; readonly level_sent_dbov: number | null; readonly round_trip_ms: number | null; readonly mos: number | null; readonly mos_received: number | null; readonly mos_sent: number | null; readonly clock_late_ms: number | null })[] }; readonly errors: null };
  };
  /** The turns of a conversation: what was heard, understood and said when */
  'GET /v1/sip/calls/{call_id}/timeline': {
    path: { readonly call_id: string };
    query: { readonly after?: number; readonly limit?: number };
    body: undefined;
    answer: { readonly data: { readonly id: string; readonly started_at: string; readonly ended_at: string | null; readonly reported_at: string | null; readonly age_ms: number | null; readonly truncated: boolean; readonly turns: readonly ({ readonly turn: number; readonly input: "speech" | "keys" | "silence" | null; readonly from_ms: number; readonly response_ms: number | null; readonly spans: readonly ({ readonly span: "caller_speech" | "heard" | "understood" | "model_first_token" | "speech_first_sound" | "agent_speech" | "barge_in"; readonly from_ms: number; readonly to_ms: number | null; readonly outcome?: "resumed" | "interrupted" })[] })[]; readonly next: string | null }; readonly errors: null };
  };
  /** Refused calls to the organization’s numbers: who, why, and what to change; newest first */
  'GET /v1/sip/refused': {
    path: Readonly<Record<string, never>>;
    query: { readonly phone_number?: string; readonly reason?: "source_not_allowed" | "wrong_credentials" | "challenged" | "phone_session_missing" | "phone_session_wrong" | "phone_session_expired" | "phone_session_revoked" | "phone_session_used_up" | "phone_session_other_number" | "phone_session_elsewhere" | "phone_session_no_call" | "number_unknown" | "no_agent" | "media_refused" | "agent_unavailable" | "capacity" | "organization_share" | "no_media_port" | "draining" | "no_configuration" | "storage" | "malformed" | "extension" | "body" | "encoding" | "session_interval" | "replaces" | "test_key" | "failed"; readonly source?: string; readonly from_date?: string; readonly to_date?: string; readonly limit?: number; readonly before?: string };
    body: undefined;
    answer: { readonly data: { readonly refused: readonly ({ readonly id: string; readonly org_id: string | null; readonly source: string | null; readonly phone_number: string | null; readonly reason: "source_not_allowed" | "wrong_credentials" | "challenged" | "phone_session_missing" | "phone_session_wrong" | "phone_session_expired" | "phone_session_revoked" | "phone_session_used_up" | "phone_session_other_number" | "phone_session_elsewhere" | "phone_session_no_call" | "number_unknown" | "no_agent" | "media_refused" | "agent_unavailable" | "capacity" | "organization_share" | "no_media_port" | "draining" | "no_configuration" | "storage" | "malformed" | "extension" | "body" | "encoding" | "session_interval" | "replaces" | "test_key" | "failed"; readonly summary: string; readonly advice: string; readonly attempts: number; readonly unanswered: number; readonly first_at: string; readonly last_at: string; readonly sip_status: number; readonly detail: string | null; readonly from: string | null; readonly dialed: string | null; readonly user_agent: string | null; readonly call_id: string | null; readonly edge_id: string; readonly cursor: string })[]; readonly next: string | null }; readonly errors: null };
  };
  /** Refused calls of all organizations, and those to numbers that are configured nowhere */
  'GET /v1/admin/refused': {
    path: Readonly<Record<string, never>>;
    query: { readonly org_id?: string; readonly source?: string; readonly from_date?: string; readonly to_date?: string; readonly limit?: number; readonly before?: string };
    body: undefined;
    answer: { readonly data: { readonly refused: readonly ({ readonly id: string; readonly org_id: string | null; readonly source: string | null; readonly phone_number: string | null; readonly reason: "source_not_allowed" | "wrong_credentials" | "challenged" | "phone_session_missing" | "phone_session_wrong" | "phone_session_expired" | "phone_session_revoked" | "phone_session_used_up" | "phone_session_other_number" | "phone_session_elsewhere" | "phone_session_no_call" | "number_unknown" | "no_agent" | "media_refused" | "agent_unavailable" | "capacity" | "organization_share" | "no_media_port" | "draining" | "no_configuration" | "storage" | "malformed" | "extension" | "body" | "encoding" | "session_interval" | "replaces" | "test_key" | "failed"; readonly summary: string; readonly advice: string; readonly attempts: number; readonly unanswered: number; readonly first_at: string; readonly last_at: string; readonly sip_status: number; readonly detail: string | null; readonly from: string | null; readonly dialed: string | null; readonly user_agent: string | null; readonly call_id: string | null; readonly edge_id: string; readonly cursor: string })[]; readonly next: string | null }; readonly errors: null };
  };
  /** The call log, newest first */
  'GET /v1/sip/calls': {
    path: Readonly<Record<string, never>>;
    query: { readonly phone_number?: string; readonly limit?: number; readonly before?: string; readonly direction?: "inbound" | "outbound"; readonly status?: string; readonly from_date?: string; readonly to_date?: string; readonly other_party?: string; readonly termination?: string; readonly max_mos?: number; readonly trunk_id?: string };
    body: undefined;
    answer: { readonly data: { readonly calls: readonly ({ readonly id: string; readonly call_id: string | null; readonly parent_id: string | null; readonly direction: "inbound" | "outbound"; readonly from: string; readonly to: string; readonly status: string; readonly sip_code: number | null; readonly outcome: string; readonly duration_seconds: number; readonly started_at: string; readonly answered_at: string | null; readonly ended_at: string | null; readonly source_ip: string | null; readonly edge_id: string; readonly trunk_id: string | null; readonly codec: string | null; readonly hangup_by: string | null; readonly termination: string | null; readonly termination_detail: string | null; readonly failover_attempts: readonly ({ readonly host: string; readonly port: number; readonly priority: number; readonly started_at: string; readonly sip_code: number | null; readonly error: string | null; readonly duration_ms: number })[]; readonly media: { readonly packets_sent: number; readonly packets_received: number; readonly packets_lost: number; readonly jitter_ms: number | null; readonly round_trip_ms: number | null; readonly peer_loss_percent?: number; readonly rtcp_packets_received?: number; readonly peer_hears?: "yes" | "no" | "unknown"; readonly packets_from_elsewhere?: number; readonly mos: number | null; readonly mos_received?: number | null; readonly mos_sent?: number | null; readonly verdict: "two_way" | "send_only" | "receive_only" | "none"; readonly cause: string | null; readonly summary?: string; readonly keys?: "telephone-event" | "none" } | null })[]; readonly next: string | null }; readonly errors: null };
  };
  /** One call of the log */
  'GET /v1/sip/calls/{call_id}': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly call: { readonly id: string; readonly call_id: string | null; readonly parent_id: string | null; readonly direction: "inbound" | "outbound"; readonly from: string; readonly to: string; readonly status: string; readonly sip_code: number | null; readonly outcome: string; readonly duration_seconds: number; readonly started_at: string; readonly answered_at: string | null; readonly ended_at: string | null; readonly source_ip: string | null; readonly edge_id: string; readonly trunk_id: string | null; readonly codec: string | null; readonly hangup_by: string | null; readonly termination: string | null; readonly termination_detail: string | null; readonly failover_attempts: readonly ({ readonly host: string; readonly port: number; readonly priority: number; readonly started_at: string; readonly sip_code: number | null; readonly error: string | null; readonly duration_ms: number })[]; readonly media: { readonly packets_sent: number; readonly packets_received: number; readonly packets_lost: number; readonly jitter_ms: number | null; readonly round_trip_ms: number | null; readonly peer_loss_percent?: number; readonly rtcp_packets_received?: number; readonly peer_hears?: "yes" | "no" | "unknown"; readonly packets_from_elsewhere?: number; readonly mos: number | null; readonly mos_received?: number | null; readonly mos_sent?: number | null; readonly verdict: "two_way" | "send_only" | "receive_only" | "none"; readonly cause: string | null; readonly summary?: string; readonly keys?: "telephone-event" | "none" } | null } }; readonly errors: null };
  };
  /** The SIP messages of a call */
  'GET /v1/sip/calls/{call_id}/trace': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly call_id: string; readonly truncated: boolean; readonly messages: readonly ({ readonly seq: number; readonly at: string; readonly direction: "sent" | "received"; readonly local: string; readonly remote: string; readonly transport: "tls" | "wss"; readonly start_line: string; readonly raw: string })[] }; readonly errors: null };
  };
  /** The SIP messages of a call as a capture file of decrypted packets */
  'GET /v1/sip/calls/{call_id}/trace.pcap': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: Response;
  };
  /** Search what was said in calls, newest first */
  'GET /v1/calls/transcripts': {
    path: Readonly<Record<string, never>>;
    query: { readonly query: string; readonly limit?: number; readonly before?: string };
    body: undefined;
    answer: { readonly data: { readonly lines: readonly ({ readonly id: string; readonly call_id: string; readonly created_at: string; readonly user: "user" | "assistant" | "agent-action"; readonly text: string; readonly direction: "inbound" | "outbound"; readonly from: string; readonly to: string; readonly started_at: string })[]; readonly next: string | null }; readonly errors: null };
  };
  /** One call, running or ended */
  'GET /v1/calls/{call_id}': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly call_id: string; readonly parent_id: string | null; readonly to: string; readonly from: string; readonly direction: "inbound" | "outbound"; readonly status: string; readonly completed: boolean; readonly started_at: string; readonly answered_at: string | null; readonly end_at: string | null; readonly call_length: number; readonly corrected_duration: number; readonly answered_by: "human" | "voicemail" | "screening" | "unknown" | null; readonly call_ended_by: "ASSISTANT" | "USER" | "API" | "ERROR" | null; readonly termination: string | null; readonly error_message: string | null; readonly pathway_id: string | null; readonly pathway_version: number | null; readonly persona_id: string | null; readonly transferred_to: string | null; readonly sip_call_id: string | null; readonly trunk_id: string | null; readonly c_id: string; readonly batch_id: null; readonly inbound: boolean; readonly queue_status: string; readonly created_at: string; readonly max_duration: number | null; readonly request_data: { readonly [name: string]: unknown }; readonly metadata: { readonly [name: string]: unknown }; readonly variables: { readonly [name: string]: unknown }; readonly concatenated_transcript: string; readonly transcripts: readonly ({ readonly id: string; readonly created_at: string; readonly text: string; readonly user: "user" | "assistant" | "agent-action"; readonly confidence: number | null; readonly language: string | null })[]; readonly pathway_logs: readonly ({ readonly role: string; readonly text: string; readonly node_id: string | null; readonly node_name: string | null; readonly created_at: string })[]; readonly omitted?: readonly (string)[] };
  };
  /** End a call */
  'POST /v1/calls/{call_id}/stop': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly cause?: number; readonly headers?: { readonly [name: string]: string } };
    answer: { readonly status: "success"; readonly message: string };
  };
  /** Transfer a call */
  'POST /v1/calls/active/transfer': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly call_id: string; readonly transfer_number: string; readonly method?: "bridge" | "refer"; readonly announcement?: string; readonly accept_key?: string };
    answer: { readonly data: { readonly message: string }; readonly errors: null };
  };
  /** Where recordings of the organization are stored outside */
  'GET /v1/org/recording-storage': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly storage: { readonly url: string; readonly bucket: string; readonly region: string; readonly prefix: string; readonly path_style: boolean; readonly access_key_id: string; readonly created_at: string; readonly waiting: number; readonly last_error: string | null; readonly last_error_at: string | null } | null; readonly former: readonly ({ readonly url: string; readonly bucket: string; readonly prefix: string; readonly access_key_id: string; readonly recordings: number; readonly last_error: string | null; readonly last_error_at: string | null })[] }; readonly errors: null };
  };
  /** Set where recordings of the organization are stored outside */
  'PUT /v1/org/recording-storage': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly url: string; readonly bucket: string; readonly region?: string; readonly prefix?: string; readonly path_style?: boolean; readonly access_key_id: string; readonly secret_access_key?: string };
    answer: { readonly data: { readonly storage: { readonly url: string; readonly bucket: string; readonly region: string; readonly prefix: string; readonly path_style: boolean; readonly access_key_id: string; readonly created_at: string; readonly waiting: number; readonly last_error: string | null; readonly last_error_at: string | null } | null; readonly former: readonly ({ readonly url: string; readonly bucket: string; readonly prefix: string; readonly access_key_id: string; readonly recordings: number; readonly last_error: string | null; readonly last_error_at: string | null })[] }; readonly errors: null };
  };
  /** Store new recordings of the organization in the deployment again */
  'DELETE /v1/org/recording-storage': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly storage: { readonly url: string; readonly bucket: string; readonly region: string; readonly prefix: string; readonly path_style: boolean; readonly access_key_id: string; readonly created_at: string; readonly waiting: number; readonly last_error: string | null; readonly last_error_at: string | null } | null; readonly former: readonly ({ readonly url: string; readonly bucket: string; readonly prefix: string; readonly access_key_id: string; readonly recordings: number; readonly last_error: string | null; readonly last_error_at: string | null })[] }; readonly errors: null };
  };
  /** Try a storage: write, read and delete a small object */
  'POST /v1/org/recording-storage/test': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly url: string; readonly bucket: string; readonly region?: string; readonly prefix?: string; readonly path_style?: boolean; readonly access_key_id: string; readonly secret_access_key?: string };
    answer: { readonly data: { readonly ok: boolean; readonly failed: "write" | "read" | "multipart" | "delete" | null; readonly message: string | null }; readonly errors: null };
  };
  /** Where recordings of organizations without their own are stored outside */
  'GET /v1/admin/recording-storage': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly storage: { readonly url: string; readonly bucket: string; readonly region: string; readonly prefix: string; readonly path_style: boolean; readonly access_key_id: string; readonly created_at: string; readonly waiting: number; readonly last_error: string | null; readonly last_error_at: string | null } | null; readonly former: readonly ({ readonly url: string; readonly bucket: string; readonly prefix: string; readonly access_key_id: string; readonly recordings: number; readonly last_error: string | null; readonly last_error_at: string | null })[] }; readonly errors: null };
  };
  /** Set where recordings of organizations without their own are stored outside */
  'PUT /v1/admin/recording-storage': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly url: string; readonly bucket: string; readonly region?: string; readonly prefix?: string; readonly path_style?: boolean; readonly access_key_id: string; readonly secret_access_key?: string };
    answer: { readonly data: { readonly storage: { readonly url: string; readonly bucket: string; readonly region: string; readonly prefix: string; readonly path_style: boolean; readonly access_key_id: string; readonly created_at: string; readonly waiting: number; readonly last_error: string | null; readonly last_error_at: string | null } | null; readonly former: readonly ({ readonly url: string; readonly bucket: string; readonly prefix: string; readonly access_key_id: string; readonly recordings: number; readonly last_error: string | null; readonly last_error_at: string | null })[] }; readonly errors: null };
  };
  /** Store new recordings of organizations without their own in the deployment again */
  'DELETE /v1/admin/recording-storage': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly storage: { readonly url: string; readonly bucket: string; readonly region: string; readonly prefix: string; readonly path_style: boolean; readonly access_key_id: string; readonly created_at: string; readonly waiting: number; readonly last_error: string | null; readonly last_error_at: string | null } | null; readonly former: readonly ({ readonly url: string; readonly bucket: string; readonly prefix: string; readonly access_key_id: string; readonly recordings: number; readonly last_error: string | null; readonly last_error_at: string | null })[] }; readonly errors: null };
  };
  /** Try a storage: write, read and delete a small object */
  'POST /v1/admin/recording-storage/test': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly url: string; readonly bucket: string; readonly region?: string; readonly prefix?: string; readonly path_style?: boolean; readonly access_key_id: string; readonly secret_access_key?: string };
    answer: { readonly data: { readonly ok: boolean; readonly failed: "write" | "read" | "multipart" | "delete" | null; readonly message: string | null }; readonly errors: null };
  };
  /** Recordings, newest first */
  'GET /v1/calls/recordings': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly before?: string };
    body: undefined;
    answer: { readonly data: { readonly recordings: readonly ({ readonly recording_id: string; readonly call_id: string; readonly started_at: string; readonly state: "uploading" | "ready"; readonly duration_ms: number | null; readonly size: number | null; readonly ended: "call_ended" | "edge_disk_full" | "edge_disk_failed" | "edge_disk_slow" | "edge_restarted" | "damaged" | null; readonly pauses: readonly ({ readonly from_ms: number; readonly to_ms: number })[] })[]; readonly next: string | null }; readonly errors: null };
  };
  /** When a call was recorded, and why the recording ended */
  'GET /v1/calls/{call_id}/recording/details': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly recording: { readonly recording_id: string; readonly call_id: string; readonly started_at: string; readonly state: "uploading" | "ready"; readonly duration_ms: number | null; readonly size: number | null; readonly ended: "call_ended" | "edge_disk_full" | "edge_disk_failed" | "edge_disk_slow" | "edge_restarted" | "damaged" | null; readonly pauses: readonly ({ readonly from_ms: number; readonly to_ms: number })[] } }; readonly errors: null };
  };
  /** How loud a recording is over its time, for a drawing */
  'GET /v1/calls/{call_id}/recording/peaks': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly duration_ms: number; readonly peaks: { readonly peer: readonly (number)[]; readonly agent: readonly (number)[] } }; readonly errors: null };
  };
  /** The recording of a call as a WAV file, or as Opus in Ogg */
  'GET /v1/calls/{call_id}/recording': {
    path: { readonly call_id: string };
    query: { readonly format?: "wav" | "opus" };
    body: undefined;
    answer: Response;
  };
  /** Delete a recording for good */
  'DELETE /v1/calls/{call_id}/recording': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly status: "success"; readonly message: string };
  };
  /** The recording of a run over a call, as that of its call */
  'GET /v1/agent-testing/runs/{id}/recording': {
    path: { readonly id: string };
    query: { readonly format?: "wav" | "opus" };
    body: undefined;
    answer: Response;
  };
  /** Record nothing of a running call until resume */
  'POST /v1/calls/{call_id}/recording/pause': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly status: "success"; readonly message: string };
  };
  /** Record again after a pause */
  'POST /v1/calls/{call_id}/recording/resume': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly status: "success"; readonly message: string };
  };
  /** Phone sessions of the organization, newest first */
  'GET /v1/phone-sessions': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number; readonly state?: "open" | "ended" };
    body: undefined;
    answer: { readonly data: { readonly phone_sessions: readonly ({ readonly id: string; readonly phone_number: string | null; readonly to: string | null; readonly pathway_id: string | null; readonly pathway_version: number | null; readonly persona_id: string | null; readonly caller: string; readonly purpose: string | null; readonly calls: number; readonly calls_made: number; readonly last_call_id: string | null; readonly edge_id: string; readonly state: "open" | "expired" | "revoked"; readonly created_at: string; readonly expires_at: string; readonly revoked_at: string | null })[]; readonly total_count: number }; readonly errors: null };
  };
  /** Create credentials with which a browser calls an agent, or a party over a trunk */
  'POST /v1/phone-sessions': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly phone_number?: string; readonly to?: string; readonly pathway_id?: string; readonly pathway_version?: number | "production" | "staging"; readonly persona_id?: string; readonly caller: string; readonly purpose?: string | null; readonly calls?: number; readonly expires_in_seconds?: number };
    answer: { readonly data: { readonly phone_session: { readonly id: string; readonly phone_number: string | null; readonly to: string | null; readonly pathway_id: string | null; readonly pathway_version: number | null; readonly persona_id: string | null; readonly caller: string; readonly purpose: string | null; readonly calls: number; readonly calls_made: number; readonly last_call_id: string | null; readonly edge_id: string; readonly state: "open" | "expired" | "revoked"; readonly created_at: string; readonly expires_at: string; readonly revoked_at: string | null }; readonly credentials: { readonly username: string; readonly password: string; readonly realm: string; readonly url: string; readonly uri: string } }; readonly errors: null };
  };
  /** One phone session */
  'GET /v1/phone-sessions/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly phone_session: { readonly id: string; readonly phone_number: string | null; readonly to: string | null; readonly pathway_id: string | null; readonly pathway_version: number | null; readonly persona_id: string | null; readonly caller: string; readonly purpose: string | null; readonly calls: number; readonly calls_made: number; readonly last_call_id: string | null; readonly edge_id: string; readonly state: "open" | "expired" | "revoked"; readonly created_at: string; readonly expires_at: string; readonly revoked_at: string | null } }; readonly errors: null };
  };
  /** Revoke a phone session: it begins no more calls */
  'DELETE /v1/phone-sessions/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly phone_session: { readonly id: string; readonly phone_number: string | null; readonly to: string | null; readonly pathway_id: string | null; readonly pathway_version: number | null; readonly persona_id: string | null; readonly caller: string; readonly purpose: string | null; readonly calls: number; readonly calls_made: number; readonly last_call_id: string | null; readonly edge_id: string; readonly state: "open" | "expired" | "revoked"; readonly created_at: string; readonly expires_at: string; readonly revoked_at: string | null } }; readonly errors: null };
  };
  /** Keys of the organization, newest first */
  'GET /v1/org/keys': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number; readonly state?: "active" | "ended" };
    body: undefined;
    answer: { readonly data: { readonly keys: readonly ({ readonly id: string; readonly name: string; readonly role: "read" | "member" | "admin"; readonly begins: string; readonly state: "active" | "expired" | "revoked"; readonly created_at: string; readonly last_used_at: string | null; readonly expires_at: string | null; readonly revoked_at: string | null })[]; readonly total_count: number }; readonly errors: null };
  };
  /** Create a key */
  'POST /v1/org/keys': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly name: string; readonly role: "read" | "member" | "admin" };
    answer: { readonly data: { readonly key: { readonly id: string; readonly name: string; readonly role: "read" | "member" | "admin"; readonly begins: string; readonly state: "active" | "expired" | "revoked"; readonly created_at: string; readonly last_used_at: string | null; readonly expires_at: string | null; readonly revoked_at: string | null }; readonly secret: string }; readonly errors: null };
  };
  /** One key */
  'GET /v1/org/keys/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly key: { readonly id: string; readonly name: string; readonly role: "read" | "member" | "admin"; readonly begins: string; readonly state: "active" | "expired" | "revoked"; readonly created_at: string; readonly last_used_at: string | null; readonly expires_at: string | null; readonly revoked_at: string | null } }; readonly errors: null };
  };
  /** Revoke a key at once, with the sessions it began */
  'DELETE /v1/org/keys/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly key: { readonly id: string; readonly name: string; readonly role: "read" | "member" | "admin"; readonly begins: string; readonly state: "active" | "expired" | "revoked"; readonly created_at: string; readonly last_used_at: string | null; readonly expires_at: string | null; readonly revoked_at: string | null } }; readonly errors: null };
  };
  /** Replace a key by a new one with its name and role */
  'POST /v1/org/keys/{id}/rotate': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly overlap_seconds?: number };
    answer: { readonly data: { readonly key: { readonly id: string; readonly name: string; readonly role: "read" | "member" | "admin"; readonly begins: string; readonly state: "active" | "expired" | "revoked"; readonly created_at: string; readonly last_used_at: string | null; readonly expires_at: string | null; readonly revoked_at: string | null }; readonly secret: string; readonly former: { readonly id: string; readonly name: string; readonly role: "read" | "member" | "admin"; readonly begins: string; readonly state: "active" | "expired" | "revoked"; readonly created_at: string; readonly last_used_at: string | null; readonly expires_at: string | null; readonly revoked_at: string | null } }; readonly errors: null };
  };
  /** Sign a browser in with a key: the answer sets the cookie of a session */
  'POST /v1/session': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly data: { readonly role: "read" | "member" | "admin" | "operator"; readonly key: { readonly id: string; readonly name: string; readonly begins: string }; readonly organization: { readonly id: string; readonly name: string; readonly sip_enabled: boolean } | null; readonly session: { readonly id: string; readonly key: { readonly id: string; readonly name: string; readonly begins: string }; readonly role: "read" | "member" | "admin" | "operator"; readonly created_at: string; readonly last_used_at: string; readonly idle_until: string; readonly expires_at: string; readonly address: string; readonly user_agent: string | null } | null; readonly csrf_token: string | null }; readonly errors: null };
  };
  /** Who is signed in, with which role, and the CSRF token */
  'GET /v1/session': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly role: "read" | "member" | "admin" | "operator"; readonly key: { readonly id: string; readonly name: string; readonly begins: string }; readonly organization: { readonly id: string; readonly name: string; readonly sip_enabled: boolean } | null; readonly session: { readonly id: string; readonly key: { readonly id: string; readonly name: string; readonly begins: string }; readonly role: "read" | "member" | "admin" | "operator"; readonly created_at: string; readonly last_used_at: string; readonly idle_until: string; readonly expires_at: string; readonly address: string; readonly user_agent: string | null } | null; readonly csrf_token: string | null }; readonly errors: null };
  };
  /** Sign out: the session of the cookie ends */
  'DELETE /v1/session': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly id: string }; readonly errors: null };
  };
  /** Open sessions, newest first */
  'GET /v1/sessions': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly data: { readonly sessions: readonly ({ readonly id: string; readonly key: { readonly id: string; readonly name: string; readonly begins: string }; readonly role: "read" | "member" | "admin" | "operator"; readonly created_at: string; readonly last_used_at: string; readonly idle_until: string; readonly expires_at: string; readonly address: string; readonly user_agent: string | null; readonly current: boolean })[]; readonly total_count: number }; readonly errors: null };
  };
  /** End a session at once */
  'DELETE /v1/sessions/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly id: string }; readonly errors: null };
  };
  /** Settings of the organization */
  'GET /v1/org/settings': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly org_id: string; readonly name: string; readonly region: string; readonly sip_enabled: boolean; readonly alert_emails: readonly (string)[]; readonly alert_sms_numbers: readonly (string)[]; readonly event_webhook_url: string | null; readonly call_limits: { readonly concurrent: number | null; readonly per_minute: number | null; readonly allowed_prefixes: readonly (string)[]; readonly blocked_prefixes: readonly (string)[] } | null; readonly call_ceiling: { readonly concurrent: number | null; readonly per_minute: number | null }; readonly recording: { readonly mode: "off" | "audio"; readonly announcement: "none" | "tone" | "spoken"; readonly announcement_text: string | null; readonly pause_key: string | null } | null; readonly realtime: readonly ({ readonly name: string; readonly protocol: "openai" | "gemini" | "elevenlabs"; readonly url: string; readonly model: string; readonly has_api_key: boolean })[]; readonly pronunciations: readonly ({ readonly text: string; readonly say: string; readonly whole_words?: boolean; readonly match_case?: boolean })[]; readonly key_terms: readonly (string)[]; readonly model_prices: { readonly currency: string; readonly models: readonly ({ readonly model: string; readonly input: number; readonly output: number })[] } | null; readonly supervision_tone: boolean }; readonly errors: null };
  };
  /** Change settings of the organization */
  'PATCH /v1/org/settings': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly alert_emails?: readonly (string)[]; readonly alert_sms_numbers?: readonly (string)[]; readonly event_webhook_url?: string | null; readonly call_limits?: { readonly concurrent?: number | null; readonly per_minute?: number | null; readonly allowed_prefixes?: (readonly (string)[]) | null; readonly blocked_prefixes?: (readonly (string)[]) | null } | null; readonly recording?: { readonly mode: "off" | "audio"; readonly announcement?: "none" | "tone" | "spoken"; readonly announcement_text?: string | null; readonly pause_key?: string | null } | null; readonly realtime?: readonly ({ readonly name: string; readonly protocol: "openai" | "gemini" | "elevenlabs"; readonly url: string; readonly model: string; readonly api_key?: string | null })[]; readonly pronunciations?: readonly ({ readonly text: string; readonly say: string; readonly whole_words?: boolean; readonly match_case?: boolean })[]; readonly key_terms?: readonly (string)[]; readonly model_prices?: { readonly currency: string; readonly models: readonly ({ readonly model: string; readonly input: number; readonly output: number })[] } | null; readonly supervision_tone?: boolean };
    answer: { readonly data: { readonly org_id: string; readonly name: string; readonly region: string; readonly sip_enabled: boolean; readonly alert_emails: readonly (string)[]; readonly alert_sms_numbers: readonly (string)[]; readonly event_webhook_url: string | null; readonly call_limits: { readonly concurrent: number | null; readonly per_minute: number | null; readonly allowed_prefixes: readonly (string)[]; readonly blocked_prefixes: readonly (string)[] } | null; readonly call_ceiling: { readonly concurrent: number | null; readonly per_minute: number | null }; readonly recording: { readonly mode: "off" | "audio"; readonly announcement: "none" | "tone" | "spoken"; readonly announcement_text: string | null; readonly pause_key: string | null } | null; readonly realtime: readonly ({ readonly name: string; readonly protocol: "openai" | "gemini" | "elevenlabs"; readonly url: string; readonly model: string; readonly has_api_key: boolean })[]; readonly pronunciations: readonly ({ readonly text: string; readonly say: string; readonly whole_words?: boolean; readonly match_case?: boolean })[]; readonly key_terms: readonly (string)[]; readonly model_prices: { readonly currency: string; readonly models: readonly ({ readonly model: string; readonly input: number; readonly output: number })[] } | null; readonly supervision_tone: boolean }; readonly errors: null };
  };
  /** Replace the secret that signs webhooks */
  'POST /v1/org/webhook-secret': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly data: { readonly secret: string; readonly created_at: string }; readonly errors: null };
  };
  /** Changes of the organization’s settings, newest first */
  'GET /v1/org/audit': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly before?: string; readonly area?: string; readonly subject_id?: string; readonly actor?: string; readonly from_date?: string; readonly to_date?: string };
    body: undefined;
    answer: { readonly data: { readonly entries: readonly ({ readonly id: string; readonly org_id: string | null; readonly at: string; readonly actor: { readonly kind: "api_key" | "operator" | "command_line" | "system"; readonly key: string | null }; readonly request_id: string | null; readonly area: string; readonly subject_id: string; readonly action: string; readonly changed_fields: readonly (string)[] })[]; readonly next: string | null }; readonly errors: null };
  };
  /** Changes of all organizations and of the deployment, newest first */
  'GET /v1/admin/audit': {
    path: Readonly<Record<string, never>>;
    query: { readonly org_id?: string; readonly limit?: number; readonly before?: string; readonly area?: string; readonly subject_id?: string; readonly actor?: string; readonly from_date?: string; readonly to_date?: string };
    body: undefined;
    answer: { readonly data: { readonly entries: readonly ({ readonly id: string; readonly org_id: string | null; readonly at: string; readonly actor: { readonly kind: "api_key" | "operator" | "command_line" | "system"; readonly key: string | null }; readonly request_id: string | null; readonly area: string; readonly subject_id: string; readonly action: string; readonly changed_fields: readonly (string)[] })[]; readonly next: string | null }; readonly errors: null };
  };
  /** Webhook deliveries of the last days, newest first, without their bodies */
  'GET /v1/org/webhook-deliveries': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly before?: string; readonly state?: "waiting" | "given_up" };
    body: undefined;
    answer: { readonly data: { readonly deliveries: readonly ({ readonly id: string; readonly type: string; readonly url: string; readonly subject_id: string; readonly state: "waiting" | "delivered" | "given_up"; readonly created_at: string; readonly attempts: number; readonly first_attempt_at: string | null; readonly next_attempt_at: string | null; readonly delivered_at: string | null; readonly last_status: number | null; readonly last_error: string | null })[]; readonly next: string | null }; readonly errors: null };
  };
  /** One webhook delivery with its body */
  'GET /v1/org/webhook-deliveries/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly delivery: { readonly id: string; readonly type: string; readonly url: string; readonly subject_id: string; readonly state: "waiting" | "delivered" | "given_up"; readonly created_at: string; readonly attempts: number; readonly first_attempt_at: string | null; readonly next_attempt_at: string | null; readonly delivered_at: string | null; readonly last_status: number | null; readonly last_error: string | null; readonly body: string | null } }; readonly errors: null };
  };
  /** Send a webhook again that was delivered or given up */
  'POST /v1/org/webhook-deliveries/{id}/redeliver': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly data: { readonly delivery: { readonly id: string; readonly type: string; readonly url: string; readonly subject_id: string; readonly state: "waiting" | "delivered" | "given_up"; readonly created_at: string; readonly attempts: number; readonly first_attempt_at: string | null; readonly next_attempt_at: string | null; readonly delivered_at: string | null; readonly last_status: number | null; readonly last_error: string | null } }; readonly errors: null };
  };
  /** Edges with their calls, by id */
  'GET /v1/admin/edges': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly data: { readonly edges: readonly ({ readonly id: string; readonly software: string; readonly version: "older" | "same" | "newer" | null; readonly sip: { readonly host: string; readonly port: number; readonly wss_url: string | null }; readonly rtp: { readonly ip: string; readonly port_min: number; readonly port_max: number }; readonly region: string | null; readonly weight: number; readonly draining: boolean; readonly draining_since: string | null; readonly connected: boolean; readonly connected_since: string | null; readonly last_seen_at: string; readonly takes_calls: boolean | null; readonly calls: number | null; readonly load: { readonly most_calls: number | null; readonly rtp_ports: number | null; readonly rtp_ports_in_use: number | null; readonly host_load: number | null } | null; readonly engine: "up" | "down" | null; readonly disk: "ok" | "failing" | "refusing_calls" | null; readonly certificate: { readonly expires_at: string; readonly other_host: boolean } | null; readonly config_version: number | null })[]; readonly total_count: number }; readonly errors: null };
  };
  /** One edge */
  'GET /v1/admin/edges/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly edge: { readonly id: string; readonly software: string; readonly version: "older" | "same" | "newer" | null; readonly sip: { readonly host: string; readonly port: number; readonly wss_url: string | null }; readonly rtp: { readonly ip: string; readonly port_min: number; readonly port_max: number }; readonly region: string | null; readonly weight: number; readonly draining: boolean; readonly draining_since: string | null; readonly connected: boolean; readonly connected_since: string | null; readonly last_seen_at: string; readonly takes_calls: boolean | null; readonly calls: number | null; readonly load: { readonly most_calls: number | null; readonly rtp_ports: number | null; readonly rtp_ports_in_use: number | null; readonly host_load: number | null } | null; readonly engine: "up" | "down" | null; readonly disk: "ok" | "failing" | "refusing_calls" | null; readonly certificate: { readonly expires_at: string; readonly other_host: boolean } | null; readonly config_version: number | null } }; readonly errors: null };
  };
  /** Drain an edge or take it back into service; set its weight and region */
  'PATCH /v1/admin/edges/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly draining?: boolean; readonly weight?: number; readonly region?: string | null };
    answer: { readonly data: { readonly edge: { readonly id: string; readonly software: string; readonly version: "older" | "same" | "newer" | null; readonly sip: { readonly host: string; readonly port: number; readonly wss_url: string | null }; readonly rtp: { readonly ip: string; readonly port_min: number; readonly port_max: number }; readonly region: string | null; readonly weight: number; readonly draining: boolean; readonly draining_since: string | null; readonly connected: boolean; readonly connected_since: string | null; readonly last_seen_at: string; readonly takes_calls: boolean | null; readonly calls: number | null; readonly load: { readonly most_calls: number | null; readonly rtp_ports: number | null; readonly rtp_ports_in_use: number | null; readonly host_load: number | null } | null; readonly engine: "up" | "down" | null; readonly disk: "ok" | "failing" | "refusing_calls" | null; readonly certificate: { readonly expires_at: string; readonly other_host: boolean } | null; readonly config_version: number | null } }; readonly errors: null };
  };
  /** Remove an edge that is gone for good */
  'DELETE /v1/admin/edges/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly id: string }; readonly errors: null };
  };
  /** Addresses of the SIP proxies that may name the source of a request */
  'GET /v1/admin/proxies': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly addresses: readonly (string)[] }; readonly errors: null };
  };
  /** Replace that list */
  'PUT /v1/admin/proxies': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly addresses: readonly (string)[] };
    answer: { readonly data: { readonly addresses: readonly (string)[] }; readonly errors: null };
  };
  /** Numbers of the organization, ascending */
  'GET /v1/inbound': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly inbound_numbers: readonly ({ readonly phone_number: string; readonly label: string | null; readonly source: "sip" | "ported" | "provisioned"; readonly created_at: string; readonly updated_at: string; readonly prompt: string | null; readonly pathway_id: string | null; readonly pathway_version: number | "production" | "staging" | null; readonly start_node_id: string | null; readonly persona_id: string | null; readonly stream_url: string | null; readonly realtime: { readonly connection: string; readonly instructions: string } | null; readonly first_sentence: string | null; readonly wait_for_greeting: boolean; readonly block_interruptions: boolean; readonly ignore_button_press: boolean; readonly voice: string | null; readonly voice_id: string | null; readonly model: string; readonly language: string; readonly temperature: number; readonly interruption_threshold: number; readonly timezone: string; readonly max_duration: number; readonly transfer_phone_number: string | null; readonly transfer_list: { readonly [name: string]: string } | null; readonly fallback_number: string | null; readonly tools: readonly (string)[]; readonly request_data: { readonly [name: string]: unknown }; readonly metadata: { readonly [name: string]: unknown }; readonly webhook: string | null; readonly call_limits: { readonly concurrent: number | null; readonly per_minute: number | null; readonly allowed_prefixes: readonly (string)[]; readonly blocked_prefixes: readonly (string)[] } | null; readonly recording: { readonly mode: "off" | "audio"; readonly announcement: "none" | "tone" | "spoken"; readonly announcement_text: string | null; readonly pause_key: string | null } | null; readonly key_terms: readonly (string)[]; readonly omitted?: readonly (string)[] })[] };
  };
  /** One number */
  'GET /v1/inbound/{phone_number}': {
    path: { readonly phone_number: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly phone_number: string; readonly label: string | null; readonly source: "sip" | "ported" | "provisioned"; readonly created_at: string; readonly updated_at: string; readonly prompt: string | null; readonly pathway_id: string | null; readonly pathway_version: number | "production" | "staging" | null; readonly start_node_id: string | null; readonly persona_id: string | null; readonly stream_url: string | null; readonly realtime: { readonly connection: string; readonly instructions: string } | null; readonly first_sentence: string | null; readonly wait_for_greeting: boolean; readonly block_interruptions: boolean; readonly ignore_button_press: boolean; readonly voice: string | null; readonly voice_id: string | null; readonly model: string; readonly language: string; readonly temperature: number; readonly interruption_threshold: number; readonly timezone: string; readonly max_duration: number; readonly transfer_phone_number: string | null; readonly transfer_list: { readonly [name: string]: string } | null; readonly fallback_number: string | null; readonly tools: readonly (string)[]; readonly request_data: { readonly [name: string]: unknown }; readonly metadata: { readonly [name: string]: unknown }; readonly webhook: string | null; readonly call_limits: { readonly concurrent: number | null; readonly per_minute: number | null; readonly allowed_prefixes: readonly (string)[]; readonly blocked_prefixes: readonly (string)[] } | null; readonly recording: { readonly mode: "off" | "audio"; readonly announcement: "none" | "tone" | "spoken"; readonly announcement_text: string | null; readonly pause_key: string | null } | null; readonly key_terms: readonly (string)[] };
  };
  /** Set what answers a number */
  'POST /v1/inbound/{phone_number}': {
    path: { readonly phone_number: string };
    query: Readonly<Record<string, never>>;
    body: { readonly prompt?: string | null; readonly pathway_id?: string | "" | null; readonly pathway_version?: number | "production" | "staging" | null; readonly start_node_id?: string | null; readonly persona_id?: string | null; readonly stream_url?: string | null; readonly realtime?: { readonly connection: string; readonly instructions: string } | null; readonly first_sentence?: string | null; readonly wait_for_greeting?: boolean | "true" | "false" | null; readonly block_interruptions?: boolean | "true" | "false" | null; readonly ignore_button_press?: boolean | "true" | "false" | null; readonly voice?: string | null; readonly voice_id?: string | null; readonly model?: "base" | "turbo" | null; readonly language?: string | null; readonly temperature?: number | null; readonly interruption_threshold?: number | null; readonly timezone?: string | null; readonly max_duration?: number | null; readonly transfer_phone_number?: string | null; readonly transfer_list?: { readonly [name: string]: string } | null; readonly fallback_number?: string | null; readonly tools?: (readonly (string)[]) | null; readonly request_data?: { readonly [name: string]: unknown } | null; readonly metadata?: { readonly [name: string]: unknown } | null; readonly webhook?: string | null; readonly label?: string | null; readonly call_limits?: { readonly concurrent?: number | null; readonly per_minute?: number | null; readonly allowed_prefixes?: (readonly (string)[]) | null; readonly blocked_prefixes?: (readonly (string)[]) | null } | null; readonly recording?: { readonly mode: "off" | "audio"; readonly announcement?: "none" | "tone" | "spoken"; readonly announcement_text?: string | null; readonly pause_key?: string | null } | null; readonly key_terms?: (readonly (string)[]) | null };
    answer: { readonly status: "success"; readonly message: string; readonly updates: { readonly [name: string]: unknown } };
  };
  /** Create a pathway */
  'POST /v1/pathway/create': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly name: string; readonly description?: string };
    answer: { readonly status: "success"; readonly pathway_id: string };
  };
  /** Pathways, newest first */
  'GET /v1/pathway': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number; readonly graphs?: boolean };
    body: undefined;
    answer: readonly ({ readonly pathway_id: string; readonly name: string; readonly description: string | null; readonly nodes: readonly ({ readonly [name: string]: unknown })[]; readonly edges: readonly ({ readonly [name: string]: unknown })[]; readonly production_version: number | null; readonly staging_version: number | null; readonly created_at: string; readonly updated_at: string; readonly omitted?: readonly (string)[] })[];
  };
  /** One pathway */
  'GET /v1/pathway/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly pathway_id: string; readonly name: string; readonly description: string | null; readonly nodes: readonly ({ readonly [name: string]: unknown })[]; readonly edges: readonly ({ readonly [name: string]: unknown })[]; readonly production_version: number | null; readonly staging_version: number | null; readonly created_at: string; readonly updated_at: string };
  };
  /** Update a pathway’s live graph */
  'POST /v1/pathway/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly name?: string; readonly description?: string; readonly nodes?: readonly ({ readonly [name: string]: unknown })[]; readonly edges?: readonly ({ readonly [name: string]: unknown })[]; readonly expected_hash?: string };
    answer: { readonly status: "success"; readonly message: string; readonly pathway_data: { readonly pathway_id: string; readonly name: string; readonly description: string | null; readonly nodes: readonly ({ readonly [name: string]: unknown })[]; readonly edges: readonly ({ readonly [name: string]: unknown })[] }; readonly warnings: readonly ({ readonly path: string; readonly rule: string; readonly message: string })[] };
  };
  /** Delete a pathway */
  'DELETE /v1/pathway/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly status: "success"; readonly pathway_id: string };
  };
  /** The versions of a pathway, newest first */
  'GET /v1/pathway/{id}/versions': {
    path: { readonly id: string };
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: readonly ({ readonly id: number; readonly version_number: number; readonly name: string; readonly created_at: string; readonly is_latest: boolean; readonly environments: readonly (string)[]; readonly content_hash: string })[];
  };
  /** The graph of one version; 0 is the live one */
  'GET /v1/pathway/{id}/version/{version_id}': {
    path: { readonly id: string; readonly version_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly name: string; readonly nodes: readonly ({ readonly [name: string]: unknown })[]; readonly edges: readonly ({ readonly [name: string]: unknown })[]; readonly version_number: number; readonly is_latest: boolean; readonly content_hash: string };
  };
  /** Replace the graph of a version */
  'POST /v1/pathway/{id}/version/{version_id}': {
    path: { readonly id: string; readonly version_id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly name: string; readonly nodes: readonly ({ readonly [name: string]: unknown })[]; readonly edges: readonly ({ readonly [name: string]: unknown })[]; readonly expected_hash?: string };
    answer: { readonly status: "success"; readonly message: string; readonly warnings: readonly ({ readonly path: string; readonly rule: string; readonly message: string })[] };
  };
  /** Delete a version */
  'DELETE /v1/pathway/{id}/version/{version_id}': {
    path: { readonly id: string; readonly version_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly status: "success"; readonly message: string };
  };
  /** Create a version from a graph */
  'POST /v1/pathway/{id}/version': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly name: string; readonly nodes: readonly ({ readonly [name: string]: unknown })[]; readonly edges: readonly ({ readonly [name: string]: unknown })[] };
    answer: { readonly status: "success"; readonly message: string; readonly data: { readonly id: number; readonly name: string; readonly version_number: number; readonly created_at: string }; readonly warnings: readonly ({ readonly path: string; readonly rule: string; readonly message: string })[] };
  };
  /** Publish a version to production or staging */
  'POST /v1/pathway/{id}/publish': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly version_id: number; readonly environment?: "production" | "staging"; readonly publish_on_pass?: boolean };
    answer: { readonly status: "success"; readonly message: string; readonly version_id: number; readonly environment: "production" | "staging" };
  };
  /** Whether a version may go into production, and what keeps it from that; starts no runs */
  'GET /v1/pathway/{id}/version/{version_id}/gate': {
    path: { readonly id: string; readonly version_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly version_id: number; readonly in_production: boolean; readonly passed: boolean; readonly blocking: number; readonly scenarios: readonly ({ readonly scenario_id: string; readonly name: string; readonly reason: "NO_RUN" | "RUN_IN_PROGRESS" | "RUN_FAILED" | "RUN_ERROR" | "RUN_CANCELLED" | "SCENARIO_CHANGED" | "TOO_FEW_RUNS"; readonly latest_run_id: string | null; readonly score: number | null; readonly runs_required: number; readonly runs_passed: number })[]; readonly waiting_batch_id: string | null };
  };
  /** Personas, newest first */
  'GET /v1/personas': {
    path: Readonly<Record<string, never>>;
    query: { readonly page?: number; readonly limit?: number };
    body: undefined;
    answer: { readonly data: readonly ({ readonly id: string; readonly name: string; readonly role: string | null; readonly description: string | null; readonly tags: readonly (string)[]; readonly created_at: string; readonly updated_at: string; readonly deleted_at: string | null; readonly current_production_version_id: string; readonly current_draft_version_id: string; readonly current_production_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly current_draft_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly inbound_numbers: readonly ({ readonly phone_number: string; readonly label: string | null; readonly persona_id: string })[]; readonly omitted?: readonly (string)[] })[]; readonly errors: null };
  };
  /** Create a persona */
  'POST /v1/personas': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly name: string; readonly role?: string | null; readonly description?: string | null; readonly tags?: (readonly (string)[]) | null; readonly orchestration_prompt?: string | null; readonly personality_prompt?: string | null; readonly call_config?: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean | "true" | "false"; readonly interruption_threshold?: number } | null; readonly default_tools?: (readonly (string)[]) | null; readonly pathway_conditions?: (readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version?: string | null; readonly start_node_id?: string | null })[]) | null };
    answer: { readonly data: { readonly id: string; readonly name: string; readonly role: string | null; readonly description: string | null; readonly tags: readonly (string)[]; readonly created_at: string; readonly updated_at: string; readonly deleted_at: string | null; readonly current_production_version_id: string; readonly current_draft_version_id: string; readonly current_production_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly current_draft_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly inbound_numbers: readonly ({ readonly phone_number: string; readonly label: string | null; readonly persona_id: string })[] }; readonly errors: null };
  };
  /** One persona */
  'GET /v1/personas/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly id: string; readonly name: string; readonly role: string | null; readonly description: string | null; readonly tags: readonly (string)[]; readonly created_at: string; readonly updated_at: string; readonly deleted_at: string | null; readonly current_production_version_id: string; readonly current_draft_version_id: string; readonly current_production_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly current_draft_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly inbound_numbers: readonly ({ readonly phone_number: string; readonly label: string | null; readonly persona_id: string })[] }; readonly errors: null };
  };
  /** Update a persona; prompts, conditions, call_config and tools change its draft */
  'PATCH /v1/personas/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly name?: string; readonly role?: string | null; readonly description?: string | null; readonly tags?: (readonly (string)[]) | null; readonly orchestration_prompt?: string | null; readonly personality_prompt?: string | null; readonly call_config?: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean | "true" | "false"; readonly interruption_threshold?: number } | null; readonly default_tools?: (readonly (string)[]) | null; readonly pathway_conditions?: (readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version?: string | null; readonly start_node_id?: string | null })[]) | null };
    answer: { readonly data: { readonly id: string; readonly name: string; readonly role: string | null; readonly description: string | null; readonly tags: readonly (string)[]; readonly created_at: string; readonly updated_at: string; readonly deleted_at: string | null; readonly current_production_version_id: string; readonly current_draft_version_id: string; readonly current_production_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly current_draft_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly inbound_numbers: readonly ({ readonly phone_number: string; readonly label: string | null; readonly persona_id: string })[] }; readonly errors: null };
  };
  /** Delete a persona */
  'DELETE /v1/personas/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** The versions of a persona, newest first */
  'GET /v1/personas/{id}/versions': {
    path: { readonly id: string };
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly data: readonly ({ readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string; readonly omitted?: readonly (string)[] })[]; readonly errors: null };
  };
  /** Promote the draft to production */
  'POST /v1/personas/{id}/versions/promote': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly publish_on_pass?: boolean };
    answer: { readonly data: { readonly id: string; readonly name: string; readonly role: string | null; readonly description: string | null; readonly tags: readonly (string)[]; readonly created_at: string; readonly updated_at: string; readonly deleted_at: string | null; readonly current_production_version_id: string; readonly current_draft_version_id: string; readonly current_production_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly current_draft_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly inbound_numbers: readonly ({ readonly phone_number: string; readonly label: string | null; readonly persona_id: string })[] }; readonly errors: null };
  };
  /** Let a persona answer numbers */
  'POST /v1/personas/{id}/inbound/attach': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly inbound_numbers: readonly (string)[] };
    answer: { readonly data: { readonly id: string; readonly name: string; readonly role: string | null; readonly description: string | null; readonly tags: readonly (string)[]; readonly created_at: string; readonly updated_at: string; readonly deleted_at: string | null; readonly current_production_version_id: string; readonly current_draft_version_id: string; readonly current_production_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly current_draft_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly inbound_numbers: readonly ({ readonly phone_number: string; readonly label: string | null; readonly persona_id: string })[] }; readonly errors: null };
  };
  /** Let a persona answer numbers no longer */
  'POST /v1/personas/{id}/inbound/detach': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly inbound_numbers: readonly (string)[] };
    answer: { readonly data: { readonly id: string; readonly name: string; readonly role: string | null; readonly description: string | null; readonly tags: readonly (string)[]; readonly created_at: string; readonly updated_at: string; readonly deleted_at: string | null; readonly current_production_version_id: string; readonly current_draft_version_id: string; readonly current_production_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly current_draft_version: { readonly id: string; readonly persona_id: string; readonly version_type: "production" | "draft"; readonly version_number: number; readonly orchestration_prompt: string | null; readonly personality_prompt: string | null; readonly pathway_conditions: readonly ({ readonly name: string; readonly prompt: string; readonly pathway_id: string; readonly pathway_version: string | null; readonly start_node_id: string | null })[]; readonly call_config: { readonly voice?: string; readonly language?: string; readonly max_duration?: number; readonly wait_for_greeting?: boolean; readonly interruption_threshold?: number }; readonly default_tools: readonly (string)[]; readonly content_hash: string; readonly promoted_from_version_id: string | null; readonly promoted_at: string | null; readonly created_at: string; readonly updated_at: string }; readonly inbound_numbers: readonly ({ readonly phone_number: string; readonly label: string | null; readonly persona_id: string })[] }; readonly errors: null };
  };
  /** Start a chat with a pathway */
  'POST /v1/pathway/chat/create': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly pathway_id: string; readonly pathway_version?: number | "production" | "staging"; readonly start_node_id?: string; readonly request_data?: { readonly [name: string]: unknown } };
    answer: { readonly data: { readonly chat_id: string; readonly message: string | null; readonly variables: { readonly [name: string]: unknown } }; readonly errors: null };
  };
  /** Send a message in a chat */
  'POST /v1/pathway/chat/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly message: string };
    answer: { readonly data: { readonly chat_id: string; readonly assistant_responses: readonly (string)[]; readonly current_node_id: string | null; readonly current_node_name: string | null; readonly chat_history: readonly ({ readonly role: "user" | "assistant"; readonly content: string })[]; readonly pathway_id: string; readonly pathway_version: number; readonly variables: { readonly [name: string]: unknown }; readonly completed: boolean }; readonly errors: null };
  };
  /** One chat */
  'GET /v1/pathway/chat/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly chat_id: string; readonly pathway_id: string; readonly pathway_version: number; readonly completed: boolean; readonly created_at: string; readonly last_message_at: string; readonly chat_history: readonly ({ readonly role: "user" | "assistant"; readonly content: string })[] }; readonly errors: null };
  };
  /** Delete a chat */
  'DELETE /v1/pathway/chat/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** Chats of the last 24 hours, latest message first */
  'GET /v1/pathway/chat': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly data: { readonly chats: readonly ({ readonly chat_id: string; readonly pathway_id: string; readonly pathway_version: number; readonly completed: boolean; readonly created_at: string; readonly last_message_at: string })[]; readonly total_count: number }; readonly errors: null };
  };
  /** The actions of an integration */
  'GET /v1/integrations/{integration}/actions': {
    path: { readonly integration: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly actions: readonly ({ readonly key: string; readonly name: string; readonly description: string; readonly input_schema: { readonly [name: string]: unknown } })[] }; readonly errors: null };
  };
  /** The connected resources of an integration, oldest first */
  'GET /v1/integrations/{integration}/resources': {
    path: { readonly integration: string };
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly data: { readonly resources: readonly ({ readonly id: string; readonly name: string; readonly status: "active" | "inactive" })[] }; readonly errors: null };
  };
  /** Connect a resource; its credentials are encrypted and never returned */
  'POST /v1/integrations/{integration}/resources': {
    path: { readonly integration: string };
    query: Readonly<Record<string, never>>;
    body: { readonly name: string; readonly credentials: { readonly [name: string]: unknown } };
    answer: { readonly data: { readonly resource: { readonly id: string; readonly name: string; readonly status: "active" | "inactive" } }; readonly errors: null };
  };
  /** One connected resource */
  'GET /v1/integrations/{integration}/resources/{resource_id}': {
    path: { readonly integration: string; readonly resource_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly resource: { readonly id: string; readonly name: string; readonly status: "active" | "inactive" } }; readonly errors: null };
  };
  /** Change a connected resource; with new credentials it is active again */
  'PATCH /v1/integrations/{integration}/resources/{resource_id}': {
    path: { readonly integration: string; readonly resource_id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly name?: string; readonly credentials?: { readonly [name: string]: unknown } };
    answer: { readonly data: { readonly resource: { readonly id: string; readonly name: string; readonly status: "active" | "inactive" } }; readonly errors: null };
  };
  /** Disconnect a resource; tools that use it fail from now on */
  'DELETE /v1/integrations/{integration}/resources/{resource_id}': {
    path: { readonly integration: string; readonly resource_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** Create a scenario */
  'POST /v1/agent-testing/scenarios': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly pathway_id?: string; readonly persona_id?: string; readonly agent_id?: string; readonly description?: string | null; readonly tester_persona_prompt?: string | null; readonly max_turns?: number; readonly request_data?: { readonly [name: string]: unknown } | null; readonly start_node_id?: string | null; readonly service_tone_enabled?: boolean; readonly is_required_for_promotion?: boolean; readonly promotion_repeats?: number; readonly category?: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM" | "VOICEMAIL_SCREENER"; readonly scenario_type?: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_name?: string | null; readonly enabled?: boolean; readonly input_messages?: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions?: string | null; readonly metadata?: { readonly [name: string]: unknown } | null; readonly name: string; readonly assertions?: readonly ({ readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "LLM_JUDGE"; readonly config: { readonly not?: boolean; readonly prompt: string; readonly output_type?: "boolean" | "score" | "categorical"; readonly threshold?: number; readonly pass_on_true?: boolean; readonly categories?: readonly (string)[]; readonly pass_categories?: readonly (string)[] } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "SERVICE_TONE"; readonly config: { readonly not?: boolean; readonly threshold?: number; readonly dimensions?: readonly ("naturalness" | "conciseness" | "empathy" | "flow_preservation" | "back_channeling" | "topic_transitions")[]; readonly rubric?: string } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "VARIABLE_EXTRACTED"; readonly config: { readonly not?: boolean; readonly variable_name: string; readonly expected_value?: string | number | boolean; readonly match?: "equals" | "contains" | "regex" } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "NODE_REACHED"; readonly config: { readonly not?: boolean; readonly node_id: string } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "NODES_VISITED"; readonly config: { readonly not?: boolean; readonly node_ids: readonly (string)[]; readonly mode?: "all" | "any"; readonly ordered?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "WEBHOOK_TRIGGERED"; readonly config: { readonly not?: boolean; readonly node_id?: string; readonly url?: string; readonly min_calls?: number; readonly body_match?: { readonly [name: string]: unknown } } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "REGEX_MATCH"; readonly config: { readonly not?: boolean; readonly pattern: string; readonly flags?: string; readonly target?: string; readonly negate?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "STRING_CHECK"; readonly config: { readonly not?: boolean; readonly value: string; readonly operator?: "equals" | "contains" | "starts_with" | "ends_with"; readonly case_sensitive?: boolean; readonly target?: string; readonly negate?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "CUSTOM_LLM"; readonly config: { readonly not?: boolean; readonly system_prompt: string; readonly model?: string; readonly output_type?: "boolean" | "score" | "categorical"; readonly threshold?: number; readonly pass_on_true?: boolean; readonly categories?: readonly (string)[]; readonly pass_categories?: readonly (string)[] } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "TRAVERSAL_MATCH"; readonly config: { readonly not?: boolean; readonly reference_path: readonly (string)[]; readonly mode?: "exact" | "subsequence" | "similarity"; readonly threshold?: number } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "TOOL_CALLED"; readonly config: { readonly not?: boolean; readonly name: string; readonly min_calls?: number; readonly max_calls?: number; readonly input_match?: { readonly [name: string]: unknown }; readonly ok?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "MEASUREMENT"; readonly config: { readonly not?: boolean; readonly measure: "latency_p50_ms" | "latency_p95_ms" | "latency_max_ms" | "first_audio_ms" | "barge_ins" | "barge_in_stop_ms" | "longest_silence_ms" | "talk_over_ms" | "turns" | "agent_tokens" | "agent_cost" | "run_tokens" | "run_cost"; readonly min?: number; readonly max?: number } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "HEARD_WORDS"; readonly config: { readonly not?: boolean; readonly values?: readonly (string)[]; readonly threshold?: number } })[] };
    answer: { readonly id: string; readonly org_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly scenario_type: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_prompt: string | null; readonly tester_persona_name: string | null; readonly max_turns: number; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly service_tone_enabled: boolean; readonly is_required_for_promotion: boolean; readonly promotion_repeats: number; readonly enabled: boolean; readonly input_messages: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions: string | null; readonly metadata: { readonly [name: string]: unknown } | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly created_at: string; readonly updated_at: string; readonly data: { readonly id: string; readonly org_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly scenario_type: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_prompt: string | null; readonly tester_persona_name: string | null; readonly max_turns: number; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly service_tone_enabled: boolean; readonly is_required_for_promotion: boolean; readonly promotion_repeats: number; readonly enabled: boolean; readonly input_messages: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions: string | null; readonly metadata: { readonly [name: string]: unknown } | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly created_at: string; readonly updated_at: string }; readonly errors: null };
  };
  /** Scenarios, newest first */
  'GET /v1/agent-testing/scenarios': {
    path: Readonly<Record<string, never>>;
    query: { readonly pathway_id?: string; readonly persona_id?: string; readonly agent_id?: string; readonly category?: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM" | "VOICEMAIL_SCREENER"; readonly enabled?: boolean; readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly scenarios: readonly ({ readonly id: string; readonly org_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly scenario_type: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_prompt: string | null; readonly tester_persona_name: string | null; readonly max_turns: number; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly service_tone_enabled: boolean; readonly is_required_for_promotion: boolean; readonly promotion_repeats: number; readonly enabled: boolean; readonly input_messages: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions: string | null; readonly metadata: { readonly [name: string]: unknown } | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly created_at: string; readonly updated_at: string; readonly most_recent_run: { readonly id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly score: number | null; readonly completed_at: string | null } | null; readonly omitted?: readonly (string)[] })[]; readonly data: { readonly scenarios: readonly ({ readonly id: string; readonly org_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly scenario_type: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_prompt: string | null; readonly tester_persona_name: string | null; readonly max_turns: number; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly service_tone_enabled: boolean; readonly is_required_for_promotion: boolean; readonly promotion_repeats: number; readonly enabled: boolean; readonly input_messages: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions: string | null; readonly metadata: { readonly [name: string]: unknown } | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly created_at: string; readonly updated_at: string; readonly most_recent_run: { readonly id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly score: number | null; readonly completed_at: string | null } | null; readonly omitted?: readonly (string)[] })[] }; readonly errors: null };
  };
  /** Change a scenario */
  'PUT /v1/agent-testing/scenarios/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly description?: string | null; readonly tester_persona_prompt?: string | null; readonly max_turns?: number; readonly request_data?: { readonly [name: string]: unknown } | null; readonly start_node_id?: string | null; readonly service_tone_enabled?: boolean; readonly is_required_for_promotion?: boolean; readonly promotion_repeats?: number; readonly category?: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM" | "VOICEMAIL_SCREENER"; readonly scenario_type?: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_name?: string | null; readonly enabled?: boolean; readonly input_messages?: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions?: string | null; readonly metadata?: { readonly [name: string]: unknown } | null; readonly name?: string; readonly assertions?: readonly ({ readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "LLM_JUDGE"; readonly config: { readonly not?: boolean; readonly prompt: string; readonly output_type?: "boolean" | "score" | "categorical"; readonly threshold?: number; readonly pass_on_true?: boolean; readonly categories?: readonly (string)[]; readonly pass_categories?: readonly (string)[] } } | { readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "SERVICE_TONE"; readonly config: { readonly not?: boolean; readonly threshold?: number; readonly dimensions?: readonly ("naturalness" | "conciseness" | "empathy" | "flow_preservation" | "back_channeling" | "topic_transitions")[]; readonly rubric?: string } } | { readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "VARIABLE_EXTRACTED"; readonly config: { readonly not?: boolean; readonly variable_name: string; readonly expected_value?: string | number | boolean; readonly match?: "equals" | "contains" | "regex" } } | { readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "NODE_REACHED"; readonly config: { readonly not?: boolean; readonly node_id: string } } | { readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "NODES_VISITED"; readonly config: { readonly not?: boolean; readonly node_ids: readonly (string)[]; readonly mode?: "all" | "any"; readonly ordered?: boolean } } | { readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "WEBHOOK_TRIGGERED"; readonly config: { readonly not?: boolean; readonly node_id?: string; readonly url?: string; readonly min_calls?: number; readonly body_match?: { readonly [name: string]: unknown } } } | { readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "REGEX_MATCH"; readonly config: { readonly not?: boolean; readonly pattern: string; readonly flags?: string; readonly target?: string; readonly negate?: boolean } } | { readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "STRING_CHECK"; readonly config: { readonly not?: boolean; readonly value: string; readonly operator?: "equals" | "contains" | "starts_with" | "ends_with"; readonly case_sensitive?: boolean; readonly target?: string; readonly negate?: boolean } } | { readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "CUSTOM_LLM"; readonly config: { readonly not?: boolean; readonly system_prompt: string; readonly model?: string; readonly output_type?: "boolean" | "score" | "categorical"; readonly threshold?: number; readonly pass_on_true?: boolean; readonly categories?: readonly (string)[]; readonly pass_categories?: readonly (string)[] } } | { readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "TRAVERSAL_MATCH"; readonly config: { readonly not?: boolean; readonly reference_path: readonly (string)[]; readonly mode?: "exact" | "subsequence" | "similarity"; readonly threshold?: number } } | { readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "TOOL_CALLED"; readonly config: { readonly not?: boolean; readonly name: string; readonly min_calls?: number; readonly max_calls?: number; readonly input_match?: { readonly [name: string]: unknown }; readonly ok?: boolean } } | { readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "MEASUREMENT"; readonly config: { readonly not?: boolean; readonly measure: "latency_p50_ms" | "latency_p95_ms" | "latency_max_ms" | "first_audio_ms" | "barge_ins" | "barge_in_stop_ms" | "longest_silence_ms" | "talk_over_ms" | "turns" | "agent_tokens" | "agent_cost" | "run_tokens" | "run_cost"; readonly min?: number; readonly max?: number } } | { readonly id?: string; readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "HEARD_WORDS"; readonly config: { readonly not?: boolean; readonly values?: readonly (string)[]; readonly threshold?: number } })[] };
    answer: { readonly id: string; readonly org_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly scenario_type: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_prompt: string | null; readonly tester_persona_name: string | null; readonly max_turns: number; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly service_tone_enabled: boolean; readonly is_required_for_promotion: boolean; readonly promotion_repeats: number; readonly enabled: boolean; readonly input_messages: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions: string | null; readonly metadata: { readonly [name: string]: unknown } | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly created_at: string; readonly updated_at: string; readonly data: { readonly id: string; readonly org_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly scenario_type: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_prompt: string | null; readonly tester_persona_name: string | null; readonly max_turns: number; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly service_tone_enabled: boolean; readonly is_required_for_promotion: boolean; readonly promotion_repeats: number; readonly enabled: boolean; readonly input_messages: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions: string | null; readonly metadata: { readonly [name: string]: unknown } | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly created_at: string; readonly updated_at: string }; readonly errors: null };
  };
  /** Delete a scenario */
  'DELETE /v1/agent-testing/scenarios/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly deleted: true; readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** One scenario */
  'GET /v1/agent-testing/scenarios/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly id: string; readonly org_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly scenario_type: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_prompt: string | null; readonly tester_persona_name: string | null; readonly max_turns: number; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly service_tone_enabled: boolean; readonly is_required_for_promotion: boolean; readonly promotion_repeats: number; readonly enabled: boolean; readonly input_messages: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions: string | null; readonly metadata: { readonly [name: string]: unknown } | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly created_at: string; readonly updated_at: string; readonly data: { readonly id: string; readonly org_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly scenario_type: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_prompt: string | null; readonly tester_persona_name: string | null; readonly max_turns: number; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly service_tone_enabled: boolean; readonly is_required_for_promotion: boolean; readonly promotion_repeats: number; readonly enabled: boolean; readonly input_messages: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions: string | null; readonly metadata: { readonly [name: string]: unknown } | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly created_at: string; readonly updated_at: string }; readonly errors: null };
  };
  /** Ready-made scenarios */
  'GET /v1/agent-testing/templates': {
    path: Readonly<Record<string, never>>;
    query: { readonly category?: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM" | "VOICEMAIL_SCREENER" };
    body: undefined;
    answer: { readonly templates: readonly ({ readonly id: string; readonly name: string; readonly description: string; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly tester_persona_prompt: string; readonly tester_persona_name: string; readonly max_turns: number; readonly assertions: readonly ({ readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[] })[]; readonly data: { readonly templates: readonly ({ readonly id: string; readonly name: string; readonly description: string; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly tester_persona_prompt: string; readonly tester_persona_name: string; readonly max_turns: number; readonly assertions: readonly ({ readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[] })[] }; readonly errors: null };
  };
  /** Create a scenario from a template */
  'POST /v1/agent-testing/templates/{id}/clone': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly pathway_id?: string; readonly persona_id?: string; readonly agent_id?: string; readonly description?: string | null; readonly tester_persona_prompt?: string | null; readonly max_turns?: number; readonly request_data?: { readonly [name: string]: unknown } | null; readonly start_node_id?: string | null; readonly service_tone_enabled?: boolean; readonly is_required_for_promotion?: boolean; readonly promotion_repeats?: number; readonly name?: string };
    answer: { readonly scenario: { readonly id: string; readonly org_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly scenario_type: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_prompt: string | null; readonly tester_persona_name: string | null; readonly max_turns: number; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly service_tone_enabled: boolean; readonly is_required_for_promotion: boolean; readonly promotion_repeats: number; readonly enabled: boolean; readonly input_messages: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions: string | null; readonly metadata: { readonly [name: string]: unknown } | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly created_at: string; readonly updated_at: string }; readonly data: { readonly scenario: { readonly id: string; readonly org_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly scenario_type: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_prompt: string | null; readonly tester_persona_name: string | null; readonly max_turns: number; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly service_tone_enabled: boolean; readonly is_required_for_promotion: boolean; readonly promotion_repeats: number; readonly enabled: boolean; readonly input_messages: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions: string | null; readonly metadata: { readonly [name: string]: unknown } | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly created_at: string; readonly updated_at: string } }; readonly errors: null };
  };
  /** Draft a scenario from a call */
  'POST /v1/agent-testing/scenarios/generate-from-call': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly pathway_id?: string; readonly persona_id?: string; readonly call_id?: string; readonly transcript?: readonly ({ readonly role: "user" | "assistant"; readonly content: string })[] };
    answer: { readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly tester_persona_prompt: string; readonly tester_persona_name: string | null; readonly pathway_id: string | null; readonly persona_id: string | null; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly metadata: { readonly generated_by: string; readonly removed: readonly ({ readonly kind: string; readonly placeholder: string; readonly hint: string; readonly count: number })[] }; readonly data: { readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly tester_persona_prompt: string; readonly tester_persona_name: string | null; readonly pathway_id: string | null; readonly persona_id: string | null; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly metadata: { readonly generated_by: string; readonly removed: readonly ({ readonly kind: string; readonly placeholder: string; readonly hint: string; readonly count: number })[] } }; readonly errors: null };
  };
  /** Call an agent of others and say a code that proves its ownership */
  'POST /v1/agent-testing/agents/{id}/ownership': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly expires_at: string; readonly data: { readonly expires_at: string }; readonly errors: null };
  };
  /** Send back the code that an agent of others was told */
  'POST /v1/agent-testing/agents/{id}/ownership/confirm': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly code: string };
    answer: { readonly id: string; readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url: string | null; readonly model: string | null; readonly body: { readonly [name: string]: unknown } | null; readonly reply: string | null; readonly ended: string | null; readonly speaks_first: boolean; readonly timeout_ms: number; readonly connection: string | null; readonly instructions: string | null; readonly from: string | null; readonly to: string | null; readonly calls_per_minute: number | null; readonly proven_at: string | null; readonly headers: readonly ({ readonly name: string })[]; readonly created_at: string; readonly updated_at: string; readonly data: { readonly id: string; readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url: string | null; readonly model: string | null; readonly body: { readonly [name: string]: unknown } | null; readonly reply: string | null; readonly ended: string | null; readonly speaks_first: boolean; readonly timeout_ms: number; readonly connection: string | null; readonly instructions: string | null; readonly from: string | null; readonly to: string | null; readonly calls_per_minute: number | null; readonly proven_at: string | null; readonly headers: readonly ({ readonly name: string })[]; readonly created_at: string; readonly updated_at: string }; readonly errors: null };
  };
  /** Allow that an agent of others is called, without a proof of its ownership */
  'POST /v1/admin/test-agents/{id}/allow': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly id: string; readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url: string | null; readonly model: string | null; readonly body: { readonly [name: string]: unknown } | null; readonly reply: string | null; readonly ended: string | null; readonly speaks_first: boolean; readonly timeout_ms: number; readonly connection: string | null; readonly instructions: string | null; readonly from: string | null; readonly to: string | null; readonly calls_per_minute: number | null; readonly proven_at: string | null; readonly headers: readonly ({ readonly name: string })[]; readonly created_at: string; readonly updated_at: string; readonly data: { readonly id: string; readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url: string | null; readonly model: string | null; readonly body: { readonly [name: string]: unknown } | null; readonly reply: string | null; readonly ended: string | null; readonly speaks_first: boolean; readonly timeout_ms: number; readonly connection: string | null; readonly instructions: string | null; readonly from: string | null; readonly to: string | null; readonly calls_per_minute: number | null; readonly proven_at: string | null; readonly headers: readonly ({ readonly name: string })[]; readonly created_at: string; readonly updated_at: string }; readonly errors: null };
  };
  /** Agents of others that scenarios can test, newest first */
  'GET /v1/agent-testing/agents': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly agents: readonly ({ readonly id: string; readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url: string | null; readonly model: string | null; readonly body: { readonly [name: string]: unknown } | null; readonly reply: string | null; readonly ended: string | null; readonly speaks_first: boolean; readonly timeout_ms: number; readonly connection: string | null; readonly instructions: string | null; readonly from: string | null; readonly to: string | null; readonly calls_per_minute: number | null; readonly proven_at: string | null; readonly headers: readonly ({ readonly name: string })[]; readonly created_at: string; readonly updated_at: string })[]; readonly total_count: number; readonly data: { readonly agents: readonly ({ readonly id: string; readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url: string | null; readonly model: string | null; readonly body: { readonly [name: string]: unknown } | null; readonly reply: string | null; readonly ended: string | null; readonly speaks_first: boolean; readonly timeout_ms: number; readonly connection: string | null; readonly instructions: string | null; readonly from: string | null; readonly to: string | null; readonly calls_per_minute: number | null; readonly proven_at: string | null; readonly headers: readonly ({ readonly name: string })[]; readonly created_at: string; readonly updated_at: string })[]; readonly total_count: number }; readonly errors: null };
  };
  /** Name an agent of others that scenarios can test */
  'POST /v1/agent-testing/agents': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url?: string | null; readonly model?: string | null; readonly body?: { readonly [name: string]: unknown } | null; readonly reply?: string | null; readonly ended?: string | null; readonly speaks_first?: boolean; readonly timeout_ms?: number; readonly connection?: string | null; readonly instructions?: string | null; readonly from?: string | null; readonly to?: string | null; readonly calls_per_minute?: number; readonly headers?: readonly ({ readonly name: string; readonly value?: string })[] };
    answer: { readonly id: string; readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url: string | null; readonly model: string | null; readonly body: { readonly [name: string]: unknown } | null; readonly reply: string | null; readonly ended: string | null; readonly speaks_first: boolean; readonly timeout_ms: number; readonly connection: string | null; readonly instructions: string | null; readonly from: string | null; readonly to: string | null; readonly calls_per_minute: number | null; readonly proven_at: string | null; readonly headers: readonly ({ readonly name: string })[]; readonly created_at: string; readonly updated_at: string; readonly data: { readonly id: string; readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url: string | null; readonly model: string | null; readonly body: { readonly [name: string]: unknown } | null; readonly reply: string | null; readonly ended: string | null; readonly speaks_first: boolean; readonly timeout_ms: number; readonly connection: string | null; readonly instructions: string | null; readonly from: string | null; readonly to: string | null; readonly calls_per_minute: number | null; readonly proven_at: string | null; readonly headers: readonly ({ readonly name: string })[]; readonly created_at: string; readonly updated_at: string }; readonly errors: null };
  };
  /** One agent of others */
  'GET /v1/agent-testing/agents/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly id: string; readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url: string | null; readonly model: string | null; readonly body: { readonly [name: string]: unknown } | null; readonly reply: string | null; readonly ended: string | null; readonly speaks_first: boolean; readonly timeout_ms: number; readonly connection: string | null; readonly instructions: string | null; readonly from: string | null; readonly to: string | null; readonly calls_per_minute: number | null; readonly proven_at: string | null; readonly headers: readonly ({ readonly name: string })[]; readonly created_at: string; readonly updated_at: string; readonly data: { readonly id: string; readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url: string | null; readonly model: string | null; readonly body: { readonly [name: string]: unknown } | null; readonly reply: string | null; readonly ended: string | null; readonly speaks_first: boolean; readonly timeout_ms: number; readonly connection: string | null; readonly instructions: string | null; readonly from: string | null; readonly to: string | null; readonly calls_per_minute: number | null; readonly proven_at: string | null; readonly headers: readonly ({ readonly name: string })[]; readonly created_at: string; readonly updated_at: string }; readonly errors: null };
  };
  /** Replace the settings of an agent of others */
  'PUT /v1/agent-testing/agents/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url?: string | null; readonly model?: string | null; readonly body?: { readonly [name: string]: unknown } | null; readonly reply?: string | null; readonly ended?: string | null; readonly speaks_first?: boolean; readonly timeout_ms?: number; readonly connection?: string | null; readonly instructions?: string | null; readonly from?: string | null; readonly to?: string | null; readonly calls_per_minute?: number; readonly headers?: readonly ({ readonly name: string; readonly value?: string })[] };
    answer: { readonly id: string; readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url: string | null; readonly model: string | null; readonly body: { readonly [name: string]: unknown } | null; readonly reply: string | null; readonly ended: string | null; readonly speaks_first: boolean; readonly timeout_ms: number; readonly connection: string | null; readonly instructions: string | null; readonly from: string | null; readonly to: string | null; readonly calls_per_minute: number | null; readonly proven_at: string | null; readonly headers: readonly ({ readonly name: string })[]; readonly created_at: string; readonly updated_at: string; readonly data: { readonly id: string; readonly name: string; readonly format: "openai" | "form" | "stream" | "realtime" | "call"; readonly url: string | null; readonly model: string | null; readonly body: { readonly [name: string]: unknown } | null; readonly reply: string | null; readonly ended: string | null; readonly speaks_first: boolean; readonly timeout_ms: number; readonly connection: string | null; readonly instructions: string | null; readonly from: string | null; readonly to: string | null; readonly calls_per_minute: number | null; readonly proven_at: string | null; readonly headers: readonly ({ readonly name: string })[]; readonly created_at: string; readonly updated_at: string }; readonly errors: null };
  };
  /** Forget an agent of others */
  'DELETE /v1/agent-testing/agents/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly deleted: true; readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** Results of a pathway’s runs */
  'GET /v1/agent-testing/analytics/{pathwayId}': {
    path: { readonly pathwayId: string };
    query: { readonly days?: number };
    body: undefined;
    answer: { readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly cancelled: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly failure_rate: number | null; readonly avg_score: number | null; readonly runs: readonly ({ readonly id: string; readonly scenario_id: string; readonly scenario_name: string; readonly status: "passed" | "failed" | "error" | "cancelled"; readonly score: number | null; readonly created_at: string })[]; readonly data: { readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly cancelled: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly failure_rate: number | null; readonly avg_score: number | null; readonly runs: readonly ({ readonly id: string; readonly scenario_id: string; readonly scenario_name: string; readonly status: "passed" | "failed" | "error" | "cancelled"; readonly score: number | null; readonly created_at: string })[] }; readonly errors: null };
  };
  /** Health, reliability, trend and flow of a pathway’s runs */
  'GET /v1/agent-testing/analytics/{pathwayId}/enhanced': {
    path: { readonly pathwayId: string };
    query: { readonly days?: number };
    body: undefined;
    answer: { readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly cancelled: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly failure_rate: number | null; readonly avg_score: number | null; readonly omitted?: readonly (string)[]; readonly health_score: number | null; readonly health_components: { readonly pass_rate_lower: number | null; readonly avg_score: number | null; readonly reliability: number | null }; readonly reliability_score: number | null; readonly reliability_components: readonly ({ readonly scenario_id: string; readonly n: number; readonly c: number; readonly value: number })[]; readonly trend: { readonly weekly: "improving" | "declining" | "stable"; readonly recent: { readonly rate: number | null; readonly count: number; readonly distinct_conversations: number }; readonly prior: { readonly rate: number | null; readonly count: number; readonly distinct_conversations: number }; readonly delta: number | null; readonly interval: { readonly low: number; readonly high: number } | null; readonly daily_pass_rates: readonly ({ readonly date: string; readonly rate: number; readonly count: number })[] }; readonly node_failure_heatmap: readonly ({ readonly node_id: string; readonly node_name: string; readonly failure_count: number; readonly total_traversals: number; readonly failure_rate: number })[]; readonly weakest_link: { readonly node_id: string; readonly node_name: string; readonly failure_rate: number } | null; readonly sankey_data: { readonly nodes: readonly ({ readonly id: string; readonly name: string; readonly type: string; readonly category: "scenario" | "start" | "middle" | "end" | "outcome" })[]; readonly links: readonly ({ readonly source: string; readonly target: string; readonly value: number; readonly pass_count: number; readonly fail_count: number })[] }; readonly data: { readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly cancelled: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly failure_rate: number | null; readonly avg_score: number | null; readonly omitted?: readonly (string)[]; readonly health_score: number | null; readonly health_components: { readonly pass_rate_lower: number | null; readonly avg_score: number | null; readonly reliability: number | null }; readonly reliability_score: number | null; readonly reliability_components: readonly ({ readonly scenario_id: string; readonly n: number; readonly c: number; readonly value: number })[]; readonly trend: { readonly weekly: "improving" | "declining" | "stable"; readonly recent: { readonly rate: number | null; readonly count: number; readonly distinct_conversations: number }; readonly prior: { readonly rate: number | null; readonly count: number; readonly distinct_conversations: number }; readonly delta: number | null; readonly interval: { readonly low: number; readonly high: number } | null; readonly daily_pass_rates: readonly ({ readonly date: string; readonly rate: number; readonly count: number })[] }; readonly node_failure_heatmap: readonly ({ readonly node_id: string; readonly node_name: string; readonly failure_count: number; readonly total_traversals: number; readonly failure_rate: number })[]; readonly weakest_link: { readonly node_id: string; readonly node_name: string; readonly failure_rate: number } | null; readonly sankey_data: { readonly nodes: readonly ({ readonly id: string; readonly name: string; readonly type: string; readonly category: "scenario" | "start" | "middle" | "end" | "outcome" })[]; readonly links: readonly ({ readonly source: string; readonly target: string; readonly value: number; readonly pass_count: number; readonly fail_count: number })[] } }; readonly errors: null };
  };
  /** Pass rates of a pathway’s versions, newest first, in total and by scenario */
  'GET /v1/agent-testing/analytics/{pathwayId}/versions': {
    path: { readonly pathwayId: string };
    query: { readonly days?: number; readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly pathway_name: string; readonly versions: readonly ({ readonly version_number: number; readonly name: string | null; readonly created_at: string | null; readonly environments: readonly (string)[]; readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null })[]; readonly total_count: number; readonly scenarios: readonly ({ readonly scenario_id: string; readonly scenario_name: string; readonly is_required_for_promotion: boolean; readonly enabled: boolean; readonly results: readonly ({ readonly version_number: number; readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly is_flaky: boolean; readonly flakiness: number | null })[] })[]; readonly counted_runs: number; readonly omitted?: readonly (string)[]; readonly data: { readonly pathway_name: string; readonly versions: readonly ({ readonly version_number: number; readonly name: string | null; readonly created_at: string | null; readonly environments: readonly (string)[]; readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null })[]; readonly total_count: number; readonly scenarios: readonly ({ readonly scenario_id: string; readonly scenario_name: string; readonly is_required_for_promotion: boolean; readonly enabled: boolean; readonly results: readonly ({ readonly version_number: number; readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly is_flaky: boolean; readonly flakiness: number | null })[] })[]; readonly counted_runs: number; readonly omitted?: readonly (string)[] }; readonly errors: null };
  };
  /** Why a run failed */
  'POST /v1/agent-testing/runs/{id}/analyze': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly analysis: { readonly root_cause_class: "harness" | "model" | "prompt" | "flow" | "data"; readonly root_cause: string; readonly suggestions: readonly ({ readonly type: "prompt_change" | "node_config" | "flow_change" | "tone_improvement"; readonly target_node_id: string | null; readonly target_node_name: string | null; readonly description: string; readonly suggested_change: string; readonly confidence: number })[]; readonly node_id_to_name: { readonly [name: string]: string } }; readonly data: { readonly analysis: { readonly root_cause_class: "harness" | "model" | "prompt" | "flow" | "data"; readonly root_cause: string; readonly suggestions: readonly ({ readonly type: "prompt_change" | "node_config" | "flow_change" | "tone_improvement"; readonly target_node_id: string | null; readonly target_node_name: string | null; readonly description: string; readonly suggested_change: string; readonly confidence: number })[]; readonly node_id_to_name: { readonly [name: string]: string } } }; readonly errors: null };
  };
  /** Compare the judge with verdicts of people */
  'POST /v1/agent-testing/judges/calibrate': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly assertion?: { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "LLM_JUDGE"; readonly config: { readonly not?: boolean; readonly prompt: string; readonly output_type?: "boolean" | "score" | "categorical"; readonly threshold?: number; readonly pass_on_true?: boolean; readonly categories?: readonly (string)[]; readonly pass_categories?: readonly (string)[] } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "SERVICE_TONE"; readonly config: { readonly not?: boolean; readonly threshold?: number; readonly dimensions?: readonly ("naturalness" | "conciseness" | "empathy" | "flow_preservation" | "back_channeling" | "topic_transitions")[]; readonly rubric?: string } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "VARIABLE_EXTRACTED"; readonly config: { readonly not?: boolean; readonly variable_name: string; readonly expected_value?: string | number | boolean; readonly match?: "equals" | "contains" | "regex" } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "NODE_REACHED"; readonly config: { readonly not?: boolean; readonly node_id: string } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "NODES_VISITED"; readonly config: { readonly not?: boolean; readonly node_ids: readonly (string)[]; readonly mode?: "all" | "any"; readonly ordered?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "WEBHOOK_TRIGGERED"; readonly config: { readonly not?: boolean; readonly node_id?: string; readonly url?: string; readonly min_calls?: number; readonly body_match?: { readonly [name: string]: unknown } } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "REGEX_MATCH"; readonly config: { readonly not?: boolean; readonly pattern: string; readonly flags?: string; readonly target?: string; readonly negate?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "STRING_CHECK"; readonly config: { readonly not?: boolean; readonly value: string; readonly operator?: "equals" | "contains" | "starts_with" | "ends_with"; readonly case_sensitive?: boolean; readonly target?: string; readonly negate?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "CUSTOM_LLM"; readonly config: { readonly not?: boolean; readonly system_prompt: string; readonly model?: string; readonly output_type?: "boolean" | "score" | "categorical"; readonly threshold?: number; readonly pass_on_true?: boolean; readonly categories?: readonly (string)[]; readonly pass_categories?: readonly (string)[] } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "TRAVERSAL_MATCH"; readonly config: { readonly not?: boolean; readonly reference_path: readonly (string)[]; readonly mode?: "exact" | "subsequence" | "similarity"; readonly threshold?: number } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "TOOL_CALLED"; readonly config: { readonly not?: boolean; readonly name: string; readonly min_calls?: number; readonly max_calls?: number; readonly input_match?: { readonly [name: string]: unknown }; readonly ok?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "MEASUREMENT"; readonly config: { readonly not?: boolean; readonly measure: "latency_p50_ms" | "latency_p95_ms" | "latency_max_ms" | "first_audio_ms" | "barge_ins" | "barge_in_stop_ms" | "longest_silence_ms" | "talk_over_ms" | "turns" | "agent_tokens" | "agent_cost" | "run_tokens" | "run_cost"; readonly min?: number; readonly max?: number } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "HEARD_WORDS"; readonly config: { readonly not?: boolean; readonly values?: readonly (string)[]; readonly threshold?: number } }; readonly labelled: readonly ({ readonly run_id?: string; readonly transcript?: readonly ({ readonly role: "user" | "assistant"; readonly content: string })[]; readonly assertion?: { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "LLM_JUDGE"; readonly config: { readonly not?: boolean; readonly prompt: string; readonly output_type?: "boolean" | "score" | "categorical"; readonly threshold?: number; readonly pass_on_true?: boolean; readonly categories?: readonly (string)[]; readonly pass_categories?: readonly (string)[] } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "SERVICE_TONE"; readonly config: { readonly not?: boolean; readonly threshold?: number; readonly dimensions?: readonly ("naturalness" | "conciseness" | "empathy" | "flow_preservation" | "back_channeling" | "topic_transitions")[]; readonly rubric?: string } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "VARIABLE_EXTRACTED"; readonly config: { readonly not?: boolean; readonly variable_name: string; readonly expected_value?: string | number | boolean; readonly match?: "equals" | "contains" | "regex" } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "NODE_REACHED"; readonly config: { readonly not?: boolean; readonly node_id: string } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "NODES_VISITED"; readonly config: { readonly not?: boolean; readonly node_ids: readonly (string)[]; readonly mode?: "all" | "any"; readonly ordered?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "WEBHOOK_TRIGGERED"; readonly config: { readonly not?: boolean; readonly node_id?: string; readonly url?: string; readonly min_calls?: number; readonly body_match?: { readonly [name: string]: unknown } } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "REGEX_MATCH"; readonly config: { readonly not?: boolean; readonly pattern: string; readonly flags?: string; readonly target?: string; readonly negate?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "STRING_CHECK"; readonly config: { readonly not?: boolean; readonly value: string; readonly operator?: "equals" | "contains" | "starts_with" | "ends_with"; readonly case_sensitive?: boolean; readonly target?: string; readonly negate?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "CUSTOM_LLM"; readonly config: { readonly not?: boolean; readonly system_prompt: string; readonly model?: string; readonly output_type?: "boolean" | "score" | "categorical"; readonly threshold?: number; readonly pass_on_true?: boolean; readonly categories?: readonly (string)[]; readonly pass_categories?: readonly (string)[] } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "TRAVERSAL_MATCH"; readonly config: { readonly not?: boolean; readonly reference_path: readonly (string)[]; readonly mode?: "exact" | "subsequence" | "similarity"; readonly threshold?: number } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "TOOL_CALLED"; readonly config: { readonly not?: boolean; readonly name: string; readonly min_calls?: number; readonly max_calls?: number; readonly input_match?: { readonly [name: string]: unknown }; readonly ok?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "MEASUREMENT"; readonly config: { readonly not?: boolean; readonly measure: "latency_p50_ms" | "latency_p95_ms" | "latency_max_ms" | "first_audio_ms" | "barge_ins" | "barge_in_stop_ms" | "longest_silence_ms" | "talk_over_ms" | "turns" | "agent_tokens" | "agent_cost" | "run_tokens" | "run_cost"; readonly min?: number; readonly max?: number } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "HEARD_WORDS"; readonly config: { readonly not?: boolean; readonly values?: readonly (string)[]; readonly threshold?: number } }; readonly verdict: "pass" | "fail" })[] };
    answer: { readonly judge: { readonly provider: string; readonly model: string; readonly deterministic: boolean }; readonly total: number; readonly decided: number; readonly confusion: { readonly pass: { readonly pass: number; readonly fail: number; readonly undecided: number }; readonly fail: { readonly pass: number; readonly fail: number; readonly undecided: number } }; readonly agreement: { readonly value: number | null; readonly interval: { readonly low: number; readonly high: number } | null }; readonly kappa: { readonly value: number | null; readonly interval: { readonly low: number; readonly high: number } | null; readonly note: string | null }; readonly results: readonly ({ readonly verdict: "pass" | "fail"; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly agrees: boolean | null; readonly score: number; readonly reasoning: string })[]; readonly data: { readonly judge: { readonly provider: string; readonly model: string; readonly deterministic: boolean }; readonly total: number; readonly decided: number; readonly confusion: { readonly pass: { readonly pass: number; readonly fail: number; readonly undecided: number }; readonly fail: { readonly pass: number; readonly fail: number; readonly undecided: number } }; readonly agreement: { readonly value: number | null; readonly interval: { readonly low: number; readonly high: number } | null }; readonly kappa: { readonly value: number | null; readonly interval: { readonly low: number; readonly high: number } | null; readonly note: string | null }; readonly results: readonly ({ readonly verdict: "pass" | "fail"; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly agrees: boolean | null; readonly score: number; readonly reasoning: string })[] }; readonly errors: null };
  };
  /** Watches over production calls, newest first */
  'GET /v1/agent-testing/watches': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly watches: readonly ({ readonly id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly phone_number: string | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly sample_rate: number; readonly calls_per_day: number; readonly model_tokens_per_day: number; readonly drift_min_calls: number; readonly enabled: boolean; readonly today: { readonly judged: number; readonly skipped: number; readonly model_tokens: number }; readonly alarm: { readonly version: number | null; readonly good_version: number | null; readonly difference: number; readonly interval: { readonly low: number; readonly high: number }; readonly raised_at: string } | null; readonly created_at: string; readonly updated_at: string })[]; readonly data: { readonly watches: readonly ({ readonly id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly phone_number: string | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly sample_rate: number; readonly calls_per_day: number; readonly model_tokens_per_day: number; readonly drift_min_calls: number; readonly enabled: boolean; readonly today: { readonly judged: number; readonly skipped: number; readonly model_tokens: number }; readonly alarm: { readonly version: number | null; readonly good_version: number | null; readonly difference: number; readonly interval: { readonly low: number; readonly high: number }; readonly raised_at: string } | null; readonly created_at: string; readonly updated_at: string })[] }; readonly errors: null };
  };
  /** Judge production calls from now on */
  'POST /v1/agent-testing/watches': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly name: string; readonly assertions: readonly ({ readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "LLM_JUDGE"; readonly config: { readonly not?: boolean; readonly prompt: string; readonly output_type?: "boolean" | "score" | "categorical"; readonly threshold?: number; readonly pass_on_true?: boolean; readonly categories?: readonly (string)[]; readonly pass_categories?: readonly (string)[] } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "SERVICE_TONE"; readonly config: { readonly not?: boolean; readonly threshold?: number; readonly dimensions?: readonly ("naturalness" | "conciseness" | "empathy" | "flow_preservation" | "back_channeling" | "topic_transitions")[]; readonly rubric?: string } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "VARIABLE_EXTRACTED"; readonly config: { readonly not?: boolean; readonly variable_name: string; readonly expected_value?: string | number | boolean; readonly match?: "equals" | "contains" | "regex" } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "NODE_REACHED"; readonly config: { readonly not?: boolean; readonly node_id: string } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "NODES_VISITED"; readonly config: { readonly not?: boolean; readonly node_ids: readonly (string)[]; readonly mode?: "all" | "any"; readonly ordered?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "WEBHOOK_TRIGGERED"; readonly config: { readonly not?: boolean; readonly node_id?: string; readonly url?: string; readonly min_calls?: number; readonly body_match?: { readonly [name: string]: unknown } } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "REGEX_MATCH"; readonly config: { readonly not?: boolean; readonly pattern: string; readonly flags?: string; readonly target?: string; readonly negate?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "STRING_CHECK"; readonly config: { readonly not?: boolean; readonly value: string; readonly operator?: "equals" | "contains" | "starts_with" | "ends_with"; readonly case_sensitive?: boolean; readonly target?: string; readonly negate?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "CUSTOM_LLM"; readonly config: { readonly not?: boolean; readonly system_prompt: string; readonly model?: string; readonly output_type?: "boolean" | "score" | "categorical"; readonly threshold?: number; readonly pass_on_true?: boolean; readonly categories?: readonly (string)[]; readonly pass_categories?: readonly (string)[] } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "TRAVERSAL_MATCH"; readonly config: { readonly not?: boolean; readonly reference_path: readonly (string)[]; readonly mode?: "exact" | "subsequence" | "similarity"; readonly threshold?: number } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "TOOL_CALLED"; readonly config: { readonly not?: boolean; readonly name: string; readonly min_calls?: number; readonly max_calls?: number; readonly input_match?: { readonly [name: string]: unknown }; readonly ok?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "MEASUREMENT"; readonly config: { readonly not?: boolean; readonly measure: "latency_p50_ms" | "latency_p95_ms" | "latency_max_ms" | "first_audio_ms" | "barge_ins" | "barge_in_stop_ms" | "longest_silence_ms" | "talk_over_ms" | "turns" | "agent_tokens" | "agent_cost" | "run_tokens" | "run_cost"; readonly min?: number; readonly max?: number } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "HEARD_WORDS"; readonly config: { readonly not?: boolean; readonly values?: readonly (string)[]; readonly threshold?: number } })[]; readonly sample_rate?: number; readonly calls_per_day?: number; readonly model_tokens_per_day?: number; readonly drift_min_calls?: number; readonly enabled?: boolean; readonly pathway_id?: string; readonly persona_id?: string; readonly phone_number?: string };
    answer: { readonly id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly phone_number: string | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly sample_rate: number; readonly calls_per_day: number; readonly model_tokens_per_day: number; readonly drift_min_calls: number; readonly enabled: boolean; readonly today: { readonly judged: number; readonly skipped: number; readonly model_tokens: number }; readonly alarm: { readonly version: number | null; readonly good_version: number | null; readonly difference: number; readonly interval: { readonly low: number; readonly high: number }; readonly raised_at: string } | null; readonly created_at: string; readonly updated_at: string; readonly data: { readonly id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly phone_number: string | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly sample_rate: number; readonly calls_per_day: number; readonly model_tokens_per_day: number; readonly drift_min_calls: number; readonly enabled: boolean; readonly today: { readonly judged: number; readonly skipped: number; readonly model_tokens: number }; readonly alarm: { readonly version: number | null; readonly good_version: number | null; readonly difference: number; readonly interval: { readonly low: number; readonly high: number }; readonly raised_at: string } | null; readonly created_at: string; readonly updated_at: string }; readonly errors: null };
  };
  /** One watch: shares that passed by version, and whether the version in use has drifted */
  'GET /v1/agent-testing/watches/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly phone_number: string | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly sample_rate: number; readonly calls_per_day: number; readonly model_tokens_per_day: number; readonly drift_min_calls: number; readonly enabled: boolean; readonly today: { readonly judged: number; readonly skipped: number; readonly model_tokens: number }; readonly alarm: { readonly version: number | null; readonly good_version: number | null; readonly difference: number; readonly interval: { readonly low: number; readonly high: number }; readonly raised_at: string } | null; readonly created_at: string; readonly updated_at: string; readonly versions: readonly ({ readonly version: number | null; readonly calls: number; readonly passed: number; readonly failed: number; readonly undecided: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly first_at: string; readonly last_at: string })[]; readonly drift: { readonly state: "ok" | "drifted" | "unknown"; readonly compared: { readonly version: number | null; readonly good_version: number | null; readonly difference: number; readonly interval: { readonly low: number; readonly high: number } } | null }; readonly data: { readonly id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly phone_number: string | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly sample_rate: number; readonly calls_per_day: number; readonly model_tokens_per_day: number; readonly drift_min_calls: number; readonly enabled: boolean; readonly today: { readonly judged: number; readonly skipped: number; readonly model_tokens: number }; readonly alarm: { readonly version: number | null; readonly good_version: number | null; readonly difference: number; readonly interval: { readonly low: number; readonly high: number }; readonly raised_at: string } | null; readonly created_at: string; readonly updated_at: string; readonly versions: readonly ({ readonly version: number | null; readonly calls: number; readonly passed: number; readonly failed: number; readonly undecided: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly first_at: string; readonly last_at: string })[]; readonly drift: { readonly state: "ok" | "drifted" | "unknown"; readonly compared: { readonly version: number | null; readonly good_version: number | null; readonly difference: number; readonly interval: { readonly low: number; readonly high: number } } | null } }; readonly errors: null };
  };
  /** Change a watch; other assertions begin its figures anew */
  'PUT /v1/agent-testing/watches/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly name?: string; readonly assertions?: readonly ({ readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "LLM_JUDGE"; readonly config: { readonly not?: boolean; readonly prompt: string; readonly output_type?: "boolean" | "score" | "categorical"; readonly threshold?: number; readonly pass_on_true?: boolean; readonly categories?: readonly (string)[]; readonly pass_categories?: readonly (string)[] } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "SERVICE_TONE"; readonly config: { readonly not?: boolean; readonly threshold?: number; readonly dimensions?: readonly ("naturalness" | "conciseness" | "empathy" | "flow_preservation" | "back_channeling" | "topic_transitions")[]; readonly rubric?: string } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "VARIABLE_EXTRACTED"; readonly config: { readonly not?: boolean; readonly variable_name: string; readonly expected_value?: string | number | boolean; readonly match?: "equals" | "contains" | "regex" } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "NODE_REACHED"; readonly config: { readonly not?: boolean; readonly node_id: string } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "NODES_VISITED"; readonly config: { readonly not?: boolean; readonly node_ids: readonly (string)[]; readonly mode?: "all" | "any"; readonly ordered?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "WEBHOOK_TRIGGERED"; readonly config: { readonly not?: boolean; readonly node_id?: string; readonly url?: string; readonly min_calls?: number; readonly body_match?: { readonly [name: string]: unknown } } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "REGEX_MATCH"; readonly config: { readonly not?: boolean; readonly pattern: string; readonly flags?: string; readonly target?: string; readonly negate?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "STRING_CHECK"; readonly config: { readonly not?: boolean; readonly value: string; readonly operator?: "equals" | "contains" | "starts_with" | "ends_with"; readonly case_sensitive?: boolean; readonly target?: string; readonly negate?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "CUSTOM_LLM"; readonly config: { readonly not?: boolean; readonly system_prompt: string; readonly model?: string; readonly output_type?: "boolean" | "score" | "categorical"; readonly threshold?: number; readonly pass_on_true?: boolean; readonly categories?: readonly (string)[]; readonly pass_categories?: readonly (string)[] } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "TRAVERSAL_MATCH"; readonly config: { readonly not?: boolean; readonly reference_path: readonly (string)[]; readonly mode?: "exact" | "subsequence" | "similarity"; readonly threshold?: number } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "TOOL_CALLED"; readonly config: { readonly not?: boolean; readonly name: string; readonly min_calls?: number; readonly max_calls?: number; readonly input_match?: { readonly [name: string]: unknown }; readonly ok?: boolean } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "MEASUREMENT"; readonly config: { readonly not?: boolean; readonly measure: "latency_p50_ms" | "latency_p95_ms" | "latency_max_ms" | "first_audio_ms" | "barge_ins" | "barge_in_stop_ms" | "longest_silence_ms" | "talk_over_ms" | "turns" | "agent_tokens" | "agent_cost" | "run_tokens" | "run_cost"; readonly min?: number; readonly max?: number } } | { readonly name?: string | null; readonly is_required?: boolean; readonly weight?: number; readonly order?: number; readonly type: "HEARD_WORDS"; readonly config: { readonly not?: boolean; readonly values?: readonly (string)[]; readonly threshold?: number } })[]; readonly sample_rate?: number; readonly calls_per_day?: number; readonly model_tokens_per_day?: number; readonly drift_min_calls?: number; readonly enabled?: boolean };
    answer: { readonly id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly phone_number: string | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly sample_rate: number; readonly calls_per_day: number; readonly model_tokens_per_day: number; readonly drift_min_calls: number; readonly enabled: boolean; readonly today: { readonly judged: number; readonly skipped: number; readonly model_tokens: number }; readonly alarm: { readonly version: number | null; readonly good_version: number | null; readonly difference: number; readonly interval: { readonly low: number; readonly high: number }; readonly raised_at: string } | null; readonly created_at: string; readonly updated_at: string; readonly data: { readonly id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly phone_number: string | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly sample_rate: number; readonly calls_per_day: number; readonly model_tokens_per_day: number; readonly drift_min_calls: number; readonly enabled: boolean; readonly today: { readonly judged: number; readonly skipped: number; readonly model_tokens: number }; readonly alarm: { readonly version: number | null; readonly good_version: number | null; readonly difference: number; readonly interval: { readonly low: number; readonly high: number }; readonly raised_at: string } | null; readonly created_at: string; readonly updated_at: string }; readonly errors: null };
  };
  /** Delete a watch and its verdicts; the calls stay */
  'DELETE /v1/agent-testing/watches/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly deleted: true; readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** The judged calls of a watch, newest first */
  'GET /v1/agent-testing/watches/{id}/calls': {
    path: { readonly id: string };
    query: { readonly status?: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly version?: number; readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly calls: readonly ({ readonly call_id: string; readonly version: number | null; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly reasoning: string; readonly assertion_results: readonly ({ readonly assertion_id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly passed: boolean; readonly score: number; readonly weight: number; readonly is_required: boolean; readonly reasoning: string; readonly evidence: readonly ({ readonly turn: number; readonly quote: string })[]; readonly target: string | null; readonly expected: string | null })[]; readonly ended_at: string; readonly judged_at: string })[]; readonly total_count: number; readonly data: { readonly calls: readonly ({ readonly call_id: string; readonly version: number | null; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly reasoning: string; readonly assertion_results: readonly ({ readonly assertion_id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly passed: boolean; readonly score: number; readonly weight: number; readonly is_required: boolean; readonly reasoning: string; readonly evidence: readonly ({ readonly turn: number; readonly quote: string })[]; readonly target: string | null; readonly expected: string | null })[]; readonly ended_at: string; readonly judged_at: string })[]; readonly total_count: number }; readonly errors: null };
  };
  /** Create a scenario from a judged call: its caller, and the assertions that failed */
  'POST /v1/agent-testing/watches/{id}/calls/{call_id}/scenario': {
    path: { readonly id: string; readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: { readonly name?: string; readonly scenario_type?: "REPLAY" | "AGENT" };
    answer: { readonly id: string; readonly org_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly scenario_type: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_prompt: string | null; readonly tester_persona_name: string | null; readonly max_turns: number; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly service_tone_enabled: boolean; readonly is_required_for_promotion: boolean; readonly promotion_repeats: number; readonly enabled: boolean; readonly input_messages: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions: string | null; readonly metadata: { readonly [name: string]: unknown } | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly created_at: string; readonly updated_at: string; readonly data: { readonly id: string; readonly org_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly name: string; readonly description: string | null; readonly category: "VOICEMAIL" | "CALL_SCREENER" | "ANGRY_CALLER" | "BELLIGERENT_CALLER" | "CONFUSED_CALLER" | "HAPPY_PATH" | "EDGE_CASE" | "CUSTOM"; readonly scenario_type: "AGENT" | "REPLAY" | "HISTORICAL"; readonly tester_persona_prompt: string | null; readonly tester_persona_name: string | null; readonly max_turns: number; readonly request_data: { readonly [name: string]: unknown } | null; readonly start_node_id: string | null; readonly service_tone_enabled: boolean; readonly is_required_for_promotion: boolean; readonly promotion_repeats: number; readonly enabled: boolean; readonly input_messages: (readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly node_id?: string | null })[]) | null; readonly advanced_instructions: string | null; readonly metadata: { readonly [name: string]: unknown } | null; readonly assertions: readonly ({ readonly id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly config: { readonly [name: string]: unknown }; readonly is_required: boolean; readonly weight: number; readonly order: number })[]; readonly created_at: string; readonly updated_at: string }; readonly errors: null };
  };
  /** Noises for the weather of test runs, newest first */
  'GET /v1/agent-testing/noises': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly noises: readonly ({ readonly id: string; readonly name: string; readonly seconds: number; readonly created_at: string })[]; readonly data: { readonly noises: readonly ({ readonly id: string; readonly name: string; readonly seconds: number; readonly created_at: string })[] }; readonly errors: null };
  };
  /** Upload a noise for the weather of test runs */
  'POST /v1/agent-testing/noises': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: { readonly name: string; readonly wav: string };
    answer: { readonly id: string; readonly name: string; readonly seconds: number; readonly created_at: string; readonly data: { readonly id: string; readonly name: string; readonly seconds: number; readonly created_at: string }; readonly errors: null };
  };
  /** One noise, without its sound */
  'GET /v1/agent-testing/noises/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly id: string; readonly name: string; readonly seconds: number; readonly created_at: string; readonly data: { readonly id: string; readonly name: string; readonly seconds: number; readonly created_at: string }; readonly errors: null };
  };
  /** Delete a noise; runs with it end in ERROR from then on */
  'DELETE /v1/agent-testing/noises/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly deleted: true; readonly data: { readonly deleted: true }; readonly errors: null };
  };
  /** The letter of authorization, with a form to sign it */
  'GET /v1/sip/port/sign/{token}': {
    path: { readonly token: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: Response;
  };
  /** Sign the letter of authorization */
  'POST /v1/sip/port/sign/{token}': {
    path: { readonly token: string };
    query: { readonly letter?: string };
    body: { readonly name: string; readonly consent?: unknown };
    answer: { readonly data: { readonly signed: true; readonly signed_at: string; readonly status: "submitted" }; readonly errors: null };
  };
}

/** The data of each webhook, by type. */
export interface WebhookEvents {
  /** An alert of a trunk was raised */
  'sip.alert.raised': { readonly alert_id: string; readonly kind: "unreachable" | "failure_rate" | "response_time" | "certificate_expiring"; readonly state: "alert.raised" | "alert.resolved"; readonly phone_number: string; readonly configuration_id: string; readonly direction: "inbound" | "outbound"; readonly endpoint: string | null; readonly threshold: number; readonly value: number; readonly window_minutes: number | null; readonly raised_at: string; readonly resolved_at: string | null };
  /** An alert of a trunk was resolved */
  'sip.alert.resolved': { readonly alert_id: string; readonly kind: "unreachable" | "failure_rate" | "response_time" | "certificate_expiring"; readonly state: "alert.raised" | "alert.resolved"; readonly phone_number: string; readonly configuration_id: string; readonly direction: "inbound" | "outbound"; readonly endpoint: string | null; readonly threshold: number; readonly value: number; readonly window_minutes: number | null; readonly raised_at: string; readonly resolved_at: string | null };
  /** Somebody tests the alerts of a trunk */
  'sip.alert.test': { readonly state: "alert.test"; readonly phone_number: string; readonly configuration_id: string; readonly direction: "inbound" | "outbound"; readonly endpoint: string | null };
  /** A port request has another status */
  'port.status_changed': { readonly port_request_id: string; readonly from_status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed"; readonly to_status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed"; readonly reason: string | null; readonly phone_numbers: readonly ({ readonly number: string; readonly status: "waiting_for_signature" | "submitted" | "in_progress" | "completed" | "canceled" | "failed" })[] };
  /** A test run that belongs to no batch, set or tornado session has ended */
  'test_run.completed': { readonly id: string; readonly scenario_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly batch_id: string | null; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly overall_score: number | null; readonly turn_count: number; readonly duration_ms: number | null; readonly created_at: string; readonly scenario: { readonly id: string; readonly name: string }; readonly usage: { readonly models: readonly ({ readonly role: "agent" | "caller" | "judge"; readonly model: string; readonly requests: number; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null })[]; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly unknown: readonly (string)[] } | null; readonly assertion_results: readonly ({ readonly assertion_id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly passed: boolean; readonly score: number; readonly weight: number; readonly is_required: boolean; readonly reasoning: string; readonly evidence: readonly ({ readonly turn: number; readonly quote: string })[]; readonly target: string | null; readonly expected: string | null })[]; readonly simulation_set_id: string | null; readonly tornado_session_id: string | null; readonly version_number: number; readonly content_hash: string; readonly chat_history: readonly ({ readonly role: "user" | "assistant"; readonly content: string; readonly turn: number; readonly node_id: string | null })[]; readonly variables_extracted: { readonly [name: string]: unknown }; readonly nodes_visited: readonly (string)[]; readonly current_node_id: string | null; readonly webhook_calls: readonly ({ readonly node_id: string; readonly url: string; readonly method: string; readonly status_code: number | null; readonly at: string; readonly body: string | null; readonly response: unknown; readonly mocked: boolean })[]; readonly tool_calls: readonly ({ readonly name: string; readonly node_id: string | null; readonly input: unknown; readonly ok: boolean; readonly result: unknown; readonly at: string; readonly mocked: boolean })[]; readonly service_tone_score: { readonly naturalness: number; readonly conciseness: number; readonly empathy: number; readonly flow_preservation: number; readonly back_channeling: number; readonly topic_transitions: number; readonly overall_tone_score: number; readonly issues: readonly (string)[]; readonly examples: readonly ({ readonly turn: number; readonly quote: string })[] } | null; readonly reasoning: string | null; readonly evaluator: { readonly caller: { readonly provider: string; readonly model: string; readonly deterministic: boolean }; readonly agent: { readonly provider: string; readonly model: string; readonly deterministic: boolean }; readonly judge: { readonly provider: string; readonly model: string; readonly deterministic: boolean } }; readonly seed: number; readonly trigger_source: "api" | "dashboard" | "ci" | "promotion" | "tornado" | "simulation" | "held_out" | "load"; readonly error_message: string | null; readonly started_at: string | null; readonly completed_at: string | null; readonly record_deleted_at: string | null; readonly transport: "text" | "sip"; readonly voice: { readonly call_id: string | null; readonly caller_call_id: string | null; readonly sip_call_id: string | null; readonly set_up_ms?: number | null; readonly answered_at?: string | null; readonly ended_at?: string | null; readonly codec: string | null; readonly turns: readonly ({ readonly turn: number; readonly response_latency_ms: number | null; readonly agent_at_ms?: number | null; readonly caller_at_ms?: number | null; readonly speech_ms: number; readonly silence_ms: number; readonly barge_in: boolean; readonly silent_after_ms: number | null; readonly overlap_ms: number; readonly transcript_source: "agent_log" | "transcription" })[]; readonly latency_ms: { readonly p50: number | null; readonly p95: number | null; readonly max: number | null }; readonly first_audio_ms: number | null; readonly longest_silence_ms: number | null; readonly overlap_ms: number; readonly media: { readonly packets_sent: number; readonly packets_received: number; readonly packets_lost: number; readonly jitter_ms: number | null; readonly round_trip_ms: number | null; readonly peer_loss_percent?: number; readonly rtcp_packets_received?: number; readonly peer_hears?: "yes" | "no" | "unknown"; readonly packets_from_elsewhere?: number; readonly mos: number | null; readonly mos_received?: number | null; readonly mos_sent?: number | null; readonly verdict: "two_way" | "send_only" | "receive_only" | "none"; readonly cause: string | null; readonly summary?: string; readonly keys?: "telephone-event" | "none" } | null; readonly caller_media: { readonly packets_sent: number; readonly packets_received: number; readonly packets_lost: number; readonly jitter_ms: number | null; readonly round_trip_ms: number | null; readonly peer_loss_percent?: number; readonly rtcp_packets_received?: number; readonly peer_hears?: "yes" | "no" | "unknown"; readonly packets_from_elsewhere?: number; readonly mos: number | null; readonly mos_received?: number | null; readonly mos_sent?: number | null; readonly verdict: "two_way" | "send_only" | "receive_only" | "none"; readonly cause: string | null; readonly summary?: string; readonly keys?: "telephone-event" | "none" } | null; readonly dtmf_sent: readonly (string)[]; readonly weather?: { readonly asked: { readonly noise?: { readonly kind: "white" | "pink" | "babble" | "street" | "given"; readonly noise_id?: string; readonly snr_db: number }; readonly level_db?: number; readonly echo?: { readonly delay_ms: number; readonly level_db: number }; readonly telephone_band?: boolean; readonly loss_percent?: number; readonly loss_burst?: number; readonly jitter_ms?: number; readonly reorder_percent?: number; readonly drift_ppm?: number; readonly codec?: "PCMU" | "PCMA" | "G.729" | "Opus" | "G.722" }; readonly done: { readonly packets: number; readonly dropped: number; readonly overtaken: number; readonly loud_dbov: number | null; readonly quiet_dbov: number | null } } } | null; readonly marks: readonly ({ readonly at_ms: number; readonly assertion_id: string; readonly name: string | null; readonly type: string; readonly status: string; readonly line: number })[]; readonly omitted?: readonly (string)[] };
  /** A batch of test runs has ended */
  'test_batch.completed': { readonly id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly total_scenarios: number; readonly passed_scenarios: number; readonly failed_scenarios: number; readonly trigger_source: "api" | "dashboard" | "ci" | "promotion" | "tornado" | "simulation" | "held_out" | "load"; readonly publish_on_pass: boolean; readonly published: boolean; readonly version_number: number | null; readonly created_at: string; readonly completed_at: string | null; readonly runs: readonly ({ readonly id: string; readonly scenario_id: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly agent_id: string | null; readonly batch_id: string | null; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly overall_score: number | null; readonly turn_count: number; readonly duration_ms: number | null; readonly created_at: string; readonly scenario: { readonly id: string; readonly name: string }; readonly usage: { readonly models: readonly ({ readonly role: "agent" | "caller" | "judge"; readonly model: string; readonly requests: number; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null })[]; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly unknown: readonly (string)[] } | null; readonly assertion_results: readonly ({ readonly assertion_id: string; readonly type: "LLM_JUDGE" | "SERVICE_TONE" | "VARIABLE_EXTRACTED" | "NODE_REACHED" | "NODES_VISITED" | "WEBHOOK_TRIGGERED" | "REGEX_MATCH" | "STRING_CHECK" | "CUSTOM_LLM" | "TRAVERSAL_MATCH" | "TOOL_CALLED" | "MEASUREMENT" | "HEARD_WORDS"; readonly name: string | null; readonly status: "PASSED" | "FAILED" | "INCONCLUSIVE" | "ERROR"; readonly passed: boolean; readonly score: number; readonly weight: number; readonly is_required: boolean; readonly reasoning: string; readonly evidence: readonly ({ readonly turn: number; readonly quote: string })[]; readonly target: string | null; readonly expected: string | null })[]; readonly omitted?: readonly (string)[] })[] };
  /** A simulation set has ended */
  'simulation_set.completed': { readonly id: string; readonly status: "PENDING" | "RUNNING" | "PASSED" | "FAILED" | "ERROR" | "CANCELLED"; readonly simulations_per_scenario: number; readonly total_scenarios: number; readonly pass_threshold: number; readonly statistics: { readonly per_scenario: { readonly [name: string]: { readonly scenario_id: string; readonly scenario_name: string; readonly total_runs: number; readonly passed: number; readonly failed: number; readonly errored: number; readonly cancelled: number; readonly pass_rate: number | null; readonly distinct_conversations: number; readonly pass_rate_interval: { readonly low: number; readonly high: number } | null; readonly pass_rate_note: string | null; readonly is_flaky: boolean; readonly flakiness: number | null; readonly scores: { readonly mean: number | null; readonly median: number | null; readonly stddev: number | null; readonly min: number | null; readonly max: number | null }; readonly worst_run_id: string | null; readonly common_failure_modes: readonly (string)[]; readonly confidence: "low" | "medium" | "high"; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly runs_without_cost: number } } }; readonly overall: { readonly avg_pass_rate: number | null; readonly flaky_count: number; readonly reliable_count: number; readonly total_runs: number; readonly errored: number; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly currency: string | null; readonly runs_without_cost: number } } }; readonly created_at: string; readonly completed_at: string | null };
  /** A version passes fewer of the watched calls */
  'test_watch.drift_raised': { readonly watch_id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly phone_number: string | null; readonly alarm: { readonly version: number | null; readonly good_version: number | null; readonly difference: number; readonly interval: { readonly low: number; readonly high: number }; readonly raised_at: string }; readonly resolved_at: string | null };
  /** The drift of a watch is over */
  'test_watch.drift_resolved': { readonly watch_id: string; readonly name: string; readonly pathway_id: string | null; readonly persona_id: string | null; readonly phone_number: string | null; readonly alarm: { readonly version: number | null; readonly good_version: number | null; readonly difference: number; readonly interval: { readonly low: number; readonly high: number }; readonly raised_at: string }; readonly resolved_at: string | null };
  /** A tornado session has ended */
  'tornado.completed': { readonly session_id: string; readonly status: "RUNNING" | "COMPLETED_ALL_PASSED" | "COMPLETED_PARTIAL" | "STUCK" | "TIMEOUT" | "ERROR" | "CANCELLED"; readonly pathway_id: string; readonly persona_id: string | null; readonly base_version: number; readonly current_iteration: number; readonly max_iterations: number; readonly total_scenarios: number; readonly passed_scenarios: number; readonly failed_scenarios: number; readonly unfixable_count: number; readonly unfixable_ids: readonly (string)[]; readonly iterations: readonly ({ readonly iteration: number; readonly batch_id: string; readonly started_at: string; readonly completed_at: string | null; readonly version_number: number; readonly passed_ids: readonly (string)[]; readonly failed_ids: readonly (string)[]; readonly newly_unfixable_ids: readonly (string)[]; readonly avg_score: number | null; readonly held_out: { readonly variants: number; readonly passed: number } | null; readonly fix_plan: { readonly fixes: readonly ({ readonly id: string; readonly target_node: string | null; readonly description: string; readonly type: "prompt_edit" | "config_change" | "flow_change"; readonly status: "applied" | "reverted" | "skipped" })[]; readonly priority_order: readonly (string)[] } | null; readonly prompt_excerpt: string | null; readonly diff: (readonly ({ readonly op: "added" | "removed" | "changed"; readonly path: string; readonly before: unknown; readonly after: unknown })[]) | null; readonly omitted?: readonly (string)[] })[]; readonly elapsed_ms: number; readonly timeout_ms: number; readonly forked_version: number | null; readonly fixes: readonly ({ readonly id: string; readonly target_node: string | null; readonly description: string; readonly type: "prompt_edit" | "config_change" | "flow_change"; readonly scenario_ids: readonly (string)[]; readonly diff: readonly ({ readonly op: "added" | "removed" | "changed"; readonly path: string; readonly before: unknown; readonly after: unknown })[]; readonly omitted?: readonly (string)[] })[]; readonly held_out: { readonly variants: number; readonly passed: number } | null; readonly error_message: string | null; readonly created_at: string; readonly completed_at: string | null };
  /** A call has ended; the body is the call itself */
  'call.completed': { readonly call_id: string; readonly parent_id: string | null; readonly to: string; readonly from: string; readonly direction: "inbound" | "outbound"; readonly status: string; readonly completed: boolean; readonly started_at: string; readonly answered_at: string | null; readonly end_at: string | null; readonly call_length: number; readonly corrected_duration: number; readonly answered_by: "human" | "voicemail" | "screening" | "unknown" | null; readonly call_ended_by: "ASSISTANT" | "USER" | "API" | "ERROR" | null; readonly termination: string | null; readonly error_message: string | null; readonly pathway_id: string | null; readonly pathway_version: number | null; readonly persona_id: string | null; readonly transferred_to: string | null; readonly sip_call_id: string | null; readonly trunk_id: string | null; readonly c_id: string; readonly batch_id: null; readonly inbound: boolean; readonly queue_status: string; readonly created_at: string; readonly max_duration: number | null; readonly request_data: { readonly [name: string]: unknown }; readonly metadata: { readonly [name: string]: unknown }; readonly variables: { readonly [name: string]: unknown }; readonly concatenated_transcript: string; readonly transcripts: readonly ({ readonly id: string; readonly created_at: string; readonly text: string; readonly user: "user" | "assistant" | "agent-action"; readonly confidence: number | null; readonly language: string | null })[]; readonly pathway_logs: readonly ({ readonly role: string; readonly text: string; readonly node_id: string | null; readonly node_name: string | null; readonly created_at: string })[]; readonly omitted?: readonly (string)[] };
  /** A call has joined a conference */
  'conference.joined': { readonly conference_id: string; readonly name: string; readonly call_id: string; readonly direction: "inbound" | "outbound"; readonly from: string; readonly to: string; readonly at: string };
  /** A call has left a conference */
  'conference.left': { readonly conference_id: string; readonly name: string; readonly call_id: string; readonly direction: "inbound" | "outbound"; readonly from: string; readonly to: string; readonly at: string };
  /** A call begins to speak in a conference, and it is not the one that spoke last */
  'conference.speaking': { readonly conference_id: string; readonly name: string; readonly call_id: string; readonly direction: "inbound" | "outbound"; readonly from: string; readonly to: string; readonly at: string };
}

/** The items of each list. */
export interface ListItems {
  'GET /v2/tools': Operations['GET /v2/tools']['answer']['data']['tools'][number];
  'GET /v2/tools/{id}/logs': Operations['GET /v2/tools/{id}/logs']['answer']['data']['logs'][number];
  'GET /v1/widget': Operations['GET /v1/widget']['answer']['data']['widgets'][number];
  'GET /v1/widget/{id}/threads': Operations['GET /v1/widget/{id}/threads']['answer']['data']['threads'][number];
  'GET /v1/sip/port/document': Operations['GET /v1/sip/port/document']['answer']['data']['documents'][number];
  'GET /v1/sip/port': Operations['GET /v1/sip/port']['answer']['data']['port_requests'][number];
  'GET /v1/admin/ports': Operations['GET /v1/admin/ports']['answer']['data']['port_requests'][number];
  'GET /v1/sip/alerts': Operations['GET /v1/sip/alerts']['answer']['data']['alerts'][number];
  'GET /v1/agent-testing/runs': Operations['GET /v1/agent-testing/runs']['answer']['data']['runs'][number];
  'GET /v1/agent-testing/batches': Operations['GET /v1/agent-testing/batches']['answer']['data']['batches'][number];
  'GET /v1/agent-testing/simulation-sets': Operations['GET /v1/agent-testing/simulation-sets']['answer']['data']['simulation_sets'][number];
  'GET /v1/agent-testing/loads': Operations['GET /v1/agent-testing/loads']['answer']['data']['loads'][number];
  'GET /v1/agent-testing/tornado': Operations['GET /v1/agent-testing/tornado']['answer']['data']['sessions'][number];
  'GET /v1/sip/numbers': Operations['GET /v1/sip/numbers']['answer']['data']['numbers'][number];
  'GET /v1/conferences': Operations['GET /v1/conferences']['answer']['data']['conferences'][number];
  'GET /v1/calls': Operations['GET /v1/calls']['answer']['data']['calls'][number];
  'GET /v1/sip/calls/aggregates': Operations['GET /v1/sip/calls/aggregates']['answer']['data']['aggregates'][number];
  'GET /v1/sip/calls/{call_id}/timeline': Operations['GET /v1/sip/calls/{call_id}/timeline']['answer']['data']['turns'][number];
  'GET /v1/sip/refused': Operations['GET /v1/sip/refused']['answer']['data']['refused'][number];
  'GET /v1/admin/refused': Operations['GET /v1/admin/refused']['answer']['data']['refused'][number];
  'GET /v1/sip/calls': Operations['GET /v1/sip/calls']['answer']['data']['calls'][number];
  'GET /v1/calls/transcripts': Operations['GET /v1/calls/transcripts']['answer']['data']['lines'][number];
  'GET /v1/calls/recordings': Operations['GET /v1/calls/recordings']['answer']['data']['recordings'][number];
  'GET /v1/phone-sessions': Operations['GET /v1/phone-sessions']['answer']['data']['phone_sessions'][number];
  'GET /v1/org/keys': Operations['GET /v1/org/keys']['answer']['data']['keys'][number];
  'GET /v1/sessions': Operations['GET /v1/sessions']['answer']['data']['sessions'][number];
  'GET /v1/org/audit': Operations['GET /v1/org/audit']['answer']['data']['entries'][number];
  'GET /v1/admin/audit': Operations['GET /v1/admin/audit']['answer']['data']['entries'][number];
  'GET /v1/org/webhook-deliveries': Operations['GET /v1/org/webhook-deliveries']['answer']['data']['deliveries'][number];
  'GET /v1/admin/edges': Operations['GET /v1/admin/edges']['answer']['data']['edges'][number];
  'GET /v1/inbound': Operations['GET /v1/inbound']['answer']['inbound_numbers'][number];
  'GET /v1/pathway': Operations['GET /v1/pathway']['answer'][number];
  'GET /v1/pathway/{id}/versions': Operations['GET /v1/pathway/{id}/versions']['answer'][number];
  'GET /v1/personas': Operations['GET /v1/personas']['answer']['data'][number];
  'GET /v1/personas/{id}/versions': Operations['GET /v1/personas/{id}/versions']['answer']['data'][number];
  'GET /v1/pathway/chat': Operations['GET /v1/pathway/chat']['answer']['data']['chats'][number];
  'GET /v1/integrations/{integration}/resources': Operations['GET /v1/integrations/{integration}/resources']['answer']['data']['resources'][number];
  'GET /v1/agent-testing/scenarios': Operations['GET /v1/agent-testing/scenarios']['answer']['data']['scenarios'][number];
  'GET /v1/agent-testing/agents': Operations['GET /v1/agent-testing/agents']['answer']['data']['agents'][number];
  'GET /v1/agent-testing/analytics/{pathwayId}/versions': Operations['GET /v1/agent-testing/analytics/{pathwayId}/versions']['answer']['data']['versions'][number];
  'GET /v1/agent-testing/watches/{id}/calls': Operations['GET /v1/agent-testing/watches/{id}/calls']['answer']['data']['calls'][number];
}

export interface ListShape {
  /** The parameter that selects the next page. */
  readonly by: 'before' | 'after' | 'page' | 'offset';
  /** Where the items are in the answer. */
  readonly items: readonly string[];
  /** Largest page. */
  readonly most: number;
}

export const lists: Readonly<Record<keyof ListItems, ListShape>> = {
  'GET /v2/tools': { by: 'page', items: ['data', 'tools'], most: 1000 },
  'GET /v2/tools/{id}/logs': { by: 'page', items: ['data', 'logs'], most: 100 },
  'GET /v1/widget': { by: 'page', items: ['data', 'widgets'], most: 100 },
  'GET /v1/widget/{id}/threads': { by: 'page', items: ['data', 'threads'], most: 100 },
  'GET /v1/sip/port/document': { by: 'offset', items: ['data', 'documents'], most: 100 },
  'GET /v1/sip/port': { by: 'offset', items: ['data', 'port_requests'], most: 500 },
  'GET /v1/admin/ports': { by: 'offset', items: ['data', 'port_requests'], most: 500 },
  'GET /v1/sip/alerts': { by: 'before', items: ['data', 'alerts'], most: 500 },
  'GET /v1/agent-testing/runs': { by: 'offset', items: ['data', 'runs'], most: 100 },
  'GET /v1/agent-testing/batches': { by: 'offset', items: ['data', 'batches'], most: 100 },
  'GET /v1/agent-testing/simulation-sets': { by: 'offset', items: ['data', 'simulation_sets'], most: 100 },
  'GET /v1/agent-testing/loads': { by: 'offset', items: ['data', 'loads'], most: 100 },
  'GET /v1/agent-testing/tornado': { by: 'offset', items: ['data', 'sessions'], most: 100 },
  'GET /v1/sip/numbers': { by: 'offset', items: ['data', 'numbers'], most: 1000 },
  'GET /v1/conferences': { by: 'before', items: ['data', 'conferences'], most: 100 },
  'GET /v1/calls': { by: 'before', items: ['data', 'calls'], most: 500 },
  'GET /v1/sip/calls/aggregates': { by: 'after', items: ['data', 'aggregates'], most: 500 },
  'GET /v1/sip/calls/{call_id}/timeline': { by: 'after', items: ['data', 'turns'], most: 500 },
  'GET /v1/sip/refused': { by: 'before', items: ['data', 'refused'], most: 500 },
  'GET /v1/admin/refused': { by: 'before', items: ['data', 'refused'], most: 500 },
  'GET /v1/sip/calls': { by: 'before', items: ['data', 'calls'], most: 500 },
  'GET /v1/calls/transcripts': { by: 'before', items: ['data', 'lines'], most: 100 },
  'GET /v1/calls/recordings': { by: 'before', items: ['data', 'recordings'], most: 100 },
  'GET /v1/phone-sessions': { by: 'offset', items: ['data', 'phone_sessions'], most: 500 },
  'GET /v1/org/keys': { by: 'offset', items: ['data', 'keys'], most: 500 },
  'GET /v1/sessions': { by: 'offset', items: ['data', 'sessions'], most: 500 },
  'GET /v1/org/audit': { by: 'before', items: ['data', 'entries'], most: 500 },
  'GET /v1/admin/audit': { by: 'before', items: ['data', 'entries'], most: 500 },
  'GET /v1/org/webhook-deliveries': { by: 'before', items: ['data', 'deliveries'], most: 500 },
  'GET /v1/admin/edges': { by: 'offset', items: ['data', 'edges'], most: 500 },
  'GET /v1/inbound': { by: 'offset', items: ['inbound_numbers'], most: 500 },
  'GET /v1/pathway': { by: 'offset', items: [], most: 500 },
  'GET /v1/pathway/{id}/versions': { by: 'offset', items: [], most: 500 },
  'GET /v1/personas': { by: 'page', items: ['data'], most: 100 },
  'GET /v1/personas/{id}/versions': { by: 'offset', items: ['data'], most: 100 },
  'GET /v1/pathway/chat': { by: 'offset', items: ['data', 'chats'], most: 100 },
  'GET /v1/integrations/{integration}/resources': { by: 'offset', items: ['data', 'resources'], most: 500 },
  'GET /v1/agent-testing/scenarios': { by: 'offset', items: ['data', 'scenarios'], most: 500 },
  'GET /v1/agent-testing/agents': { by: 'offset', items: ['data', 'agents'], most: 100 },
  'GET /v1/agent-testing/analytics/{pathwayId}/versions': { by: 'offset', items: ['data', 'versions'], most: 50 },
  'GET /v1/agent-testing/watches/{id}/calls': { by: 'offset', items: ['data', 'calls'], most: 50 },
};

/** POSTs that take no Idempotency-Key. */
export const unkeyed: readonly string[] = [
  'POST /v1/widget/{id}/session',
  'POST /v1/session',
  'POST /v1/sip/port/sign/{token}',
];
